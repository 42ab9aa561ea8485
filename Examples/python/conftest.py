"""Fixtures for pytest: a daemon of the test's own, on simulated devices whose clock the test moves.

    def test_something(simulation):
        simulation.add({"devices": [{"name": "Belt", "address": "C0:DE:00:00:00:01"}]})
        simulation.advance(10)

The daemon is the program that BLED names, or bled on the PATH. Copy this file and bled.py."""

import json
import os
import subprocess

import pytest

from bled import Session


class Simulation:
    """A daemon with simulated devices. Nothing happens until `advance` moves the clock."""

    def __init__(self, folder):
        self.folder = folder
        self.socket = str(folder / "bled.sock")
        self._sessions = []
        scenario = folder / "scenario.json"
        scenario.write_text('{ "clock": "manual", "seed": 1 }')
        read, write = os.pipe()
        self._process = subprocess.Popen(
            [os.environ.get("BLED", "bled"), "--adapter", f"simulated:{scenario}", "--socket", self.socket,
             "--ready-fd", str(write), "--log-level", "error"],
            pass_fds=[write], env={**os.environ, "STATE_DIRECTORY": str(folder)})
        os.close(write)
        with os.fdopen(read) as ready:
            # A daemon that cannot start ends the wait, too.
            if ready.readline() != "READY=1\n":
                raise RuntimeError(f"bled did not start, status {self._process.wait()}")
        self._control = self.session(name="test")

    def session(self, **options):
        """A connection to the daemon, which is closed at the end of the test."""
        session = Session(self.socket, **options)
        self._sessions.append(session)
        return session

    def advance(self, seconds):
        """Moves the clock; all that is due until then is done when it returns."""
        return self._control.call("simulation.advance", seconds=seconds)["time"]

    def add(self, scenario):
        """Puts the devices and phones of a scenario, a dictionary, on the air."""
        self._control.call("simulation.add", scenario=json.dumps(scenario))

    def change(self, device, **members):
        """Changes members of a device: `change("Belt", rssi=-90, faults={"mute": 0})`."""
        self._control.call("simulation.change", device=device, members=json.dumps(members))

    def written(self, device=None):
        """The first hundred writes to a device, or to all."""
        return self._control.call("simulation.written", **({"device": device} if device else {}))["writes"]

    def command(self, name, **params):
        """Another method: `command("disconnect", device="Belt", reason=8)`."""
        return self._control.call(f"simulation.{name}", **params)

    def close(self):
        for session in self._sessions:
            session.__exit__()
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def simulation(tmp_path):
    simulation = Simulation(tmp_path)
    yield simulation
    simulation.close()

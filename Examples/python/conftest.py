"""Fixtures for pytest: a daemon of the test's own, on simulated devices whose clock the test moves.

    def test_something(simulation):
        simulation.add({"devices": [{"name": "Belt", "address": "C0:DE:00:00:00:01"}]})
        simulation.advance(10)

The daemon is the program that BLED names, or bled on the PATH. Copy this file."""

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import bled.sync


class Simulation:
    """A daemon with simulated devices. Nothing happens until `advance` moves the clock."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.socket = str(folder / "bled.sock")
        self._clients: list[bled.sync.Client] = []
        scenario = folder / "scenario.json"
        scenario.write_text('{ "clock": "manual", "seed": 1 }')
        read, write = os.pipe()
        self._process = subprocess.Popen(
            [os.environ.get("BLED", "bled"), "--adapter", f"simulated:{scenario}", "--socket", self.socket,
             "--ready-fd", str(write), "--log-level", "error"],
            pass_fds=[write], env={**os.environ, "STATE_DIRECTORY": str(folder)})  # fmt: skip
        os.close(write)
        with os.fdopen(read) as ready:
            # A daemon that cannot start ends the wait, too.
            if ready.readline() != "READY=1\n":
                raise RuntimeError(f"bled did not start, status {self._process.wait()}")
        self._control = self.connect("test")

    def connect(self, name: str) -> bled.sync.Client:
        """A session with the daemon, which is closed at the end of the test."""
        client = bled.sync.connect(self.socket, name=name)
        self._clients.append(client)
        return client

    def advance(self, seconds: float) -> float:
        """Moves the clock; all that is due until then is done when it returns."""
        return self._control.run(self._control.session.simulation_advance(seconds=seconds)).time

    def add(self, scenario: dict[str, Any]) -> None:
        """Puts the devices and phones of a scenario on the air."""
        self._control.run(self._control.session.simulation_add(scenario=json.dumps(scenario)))

    def change(self, device: str, **members: Any) -> None:
        """Changes members of a device: `change("Belt", rssi=-90, faults={"mute": 0})`."""
        self._control.run(self._control.session.simulation_change(device=device, members=json.dumps(members)))

    def set_value(self, device: str, characteristic: str, value: bytes) -> None:
        """Gives a characteristic of a device another value."""
        session = self._control.session
        self._control.run(session.simulation_set_value(device=device, characteristic=characteristic, value=value))

    def vanish(self, device: str) -> None:
        """Moves a device out of range."""
        self._control.run(self._control.session.simulation_vanish(device=device))

    def written(self, device: str | None = None) -> Sequence[bled.SimulationWrite]:
        """The first hundred writes to a device, or to all."""
        return self._control.run(self._control.session.simulation_written(device=device)).writes

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def simulation(tmp_path: pathlib.Path) -> Iterator[Simulation]:
    simulation = Simulation(tmp_path)
    yield simulation
    simulation.close()

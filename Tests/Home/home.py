"""bled on an air of the tests with proxies on it, and Home Assistant's libraries as their clients."""

import asyncio
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests/BlueZ"))
from world import PATIENCE, PROGRAMS, Program, TestAir  # noqa: E402

BELT, ECHO, LOCK, PLAIN, FLEETING = (0xC0DE00000000 + number for number in (0x01, 0x04, 0x09, 0x0A, 0x0B))
SCENARIO = ROOT / "Tests/BlueZ/scenario.json"
# Clients of bleak-esphome know one port: each proxy has an address of its own.
PORT = 6053


class Home:
    """A machine with bled, and folders for what runs beside it."""

    def __init__(self, *scenarios, policy=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bled-home-"))
        self.programs = []
        self.socket = str(self.folder / "bled.sock")
        self.environment = {
            **os.environ, "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8", "RUNTIME_DIRECTORY": str(self.folder),
        }  # fmt: skip
        self.air = TestAir(self.folder, *(scenarios or (SCENARIO,)))
        self.policy = policy
        self.start_bled()

    def start(self, *arguments):
        program = Program([str(argument) for argument in arguments], self.environment)
        self.programs.append(program)
        return program

    def start_bled(self):
        arguments = [PROGRAMS / "bled", "--socket", self.socket, "--state-directory", self.folder / "state"]
        for adapter in self.air.adapters:
            arguments += ["--adapter", adapter]
        if self.policy is not None:
            (self.folder / "bled.json").write_text(json.dumps({"policy": self.policy}))
            arguments += ["--config", self.folder / "bled.json"]
        self.bled = self.start(*arguments)
        self.bled.expect("is ready on")

    def proxy(self, name, **configuration):
        return Proxy(self, name, configuration)

    def close(self):
        for program in reversed(self.programs):
            program.kill(signal.SIGKILL)
        self.air.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Proxy:
    """A bled-esphome."""

    def __init__(self, home, name, configuration):
        self.home = home
        self.name = name
        self.state = home.folder / name
        self.address = ".".join(["127"] + [str(random.randint(1, 254)) for _ in range(3)])
        self.file = home.folder / f"{name}.json"
        self.file.write_text(json.dumps({"name": name, "listen": self.address, "port": PORT, **configuration}))
        self.start()

    def command(self, *options):
        return [PROGRAMS / "bled-esphome", "--config", self.file, "--state-directory", self.state, *options]

    def start(self):
        self.program = self.home.start(*self.command("--socket", self.home.socket))
        self.program.expect("waits for clients on port")

    def stop(self):
        """Ends it; returns what it has counted."""
        self.program.kill(signal.SIGTERM)
        return self.program.text()

    def counters(self):
        """Its counters, by their names in its log."""
        start = len(self.program.lines)
        self.program.process.send_signal(signal.SIGUSR1)
        line = self.program.expect(r"clients now.*refused$", start).string
        words = line.replace("bled-esphome: ", "").replace(";", ",").split(", ")
        return {name: int(number) for number, _, name in (word.partition(" ") for word in words)}

    @property
    def key(self):
        program = self.home.start(*self.command("--show-key"))
        return program.finish().strip()


async def settled(condition, failure):
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(failure)
        await asyncio.sleep(0.02)

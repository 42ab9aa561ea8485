"""A daemon with devices on an air of its own for each test, and tests that are coroutines.

With BLED_OWN_HOST=1 the daemon has its own host (Tests/Client/test_air.py); tests that command the simulation are
skipped.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python/src"), str(ROOT / "Tests/Client")]

from test_air import IS_ON_OWN_HOST, TestAir  # noqa: E402

PROGRAMS = pathlib.Path(os.environ.get("BLED_PROGRAMS", ROOT / ".build/debug"))
# The time after which a test counts as hung, in seconds. No result depends on it.
PATIENCE = float(os.environ.get("BLED_TEST_PATIENCE", 120))

BELT = {
    "name": "Belt",
    "address": "C0:DE:00:00:00:01",
    "addressType": "random",
    "advertising": {
        "name": "Belt",
        "services": ["180D"],
        "manufacturerData": "4c000215",
        "serviceData": {"180F": "64"},
    },
    "services": [
        {
            "uuid": "180D",
            "characteristics": [
                {
                    "uuid": "2A37",
                    "properties": ["notify"],
                    "value": "0648",
                    "descriptors": [{"uuid": "2901", "text": "Rate"}],
                },
                {"uuid": "2A38", "properties": ["read"], "value": "01"},
                {"uuid": "2A39", "properties": ["write", "writeWithoutResponse"]},
            ],
        }
    ],
}
ECHO = {
    "name": "Echo",
    "address": "C0:DE:00:00:00:04",
    "addressType": "random",
    "advertising": {"name": "Echo"},
    "mtu": 517,
    "echoPSM": 128,
    "services": [
        {
            "uuid": "B1ED0001-5EED-4B1E-8D00-000000000000",
            "characteristics": [
                {
                    "uuid": "B1ED0002-5EED-4B1E-8D00-000000000000",
                    "properties": ["read", "write", "writeWithoutResponse", "notify"],
                    "text": "Write something.",
                    "rule": {"kind": "echo"},
                }
            ],
        }
    ],
}
ECHO_VALUE = "B1ED0002-5EED-4B1E-8D00-000000000000"
LOCK = {
    "name": "Lock",
    "address": "C0:DE:00:00:00:21",
    "addressType": "random",
    "advertising": {"name": "Lock"},
    "pairing": {"capability": "display", "passkey": 42},
    "services": [
        {"uuid": "FFF0", "characteristics": [{"uuid": "FFF1", "text": "open sesame", "security": "authenticated"}]}
    ],
}


# For tests that command the simulation.
simulation = pytest.mark.skipif(IS_ON_OWN_HOST, reason="it commands the simulation")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def limited() -> None:
        async with asyncio.timeout(PATIENCE):
            await pyfuncitem.obj(**arguments)

    asyncio.run(limited())
    return True


class Daemon:
    """bled with adapters on an air; `adapters` are their names."""

    def __init__(self, folder: pathlib.Path, scenario: dict[str, Any], *arguments: str, adapters: int = 1) -> None:
        self.socket = str(folder / "bled.sock")
        self._folder = folder
        self._arguments = arguments
        file = folder / "scenario.json"
        file.write_text(json.dumps(scenario))
        self._air = TestAir(folder, *[file] * adapters)
        self.adapters: list[str] = self._air.names
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self, adapters: int | None = None) -> None:
        """Starts it, with the first adapters or all, and waits until clients can connect."""
        read, write = os.pipe()
        chosen = [f"--adapter={name}" for name in self._air.adapters[:adapters]]
        self.process = subprocess.Popen(
            [
                PROGRAMS / "bled", *chosen, "--socket", self.socket,
                "--state-directory", self._folder / "state", "--ready-fd", str(write), "--log-level", "error",
                *self._arguments,
            ],
            pass_fds=[write],
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as ready:
            if ready.readline() != "READY=1\n":
                raise RuntimeError(f"bled did not start, status {self.process.wait()}")

    def end(self, number: int = signal.SIGTERM) -> None:
        """Ends it."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
            self.process = None

    def close(self) -> None:
        """Ends it, and its devices."""
        self.end()
        self._air.close()


class Daemons:
    """The daemons of a test."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._daemons: list[Daemon] = []

    def __call__(self, *arguments: str, adapters: int = 1, **scenario: Any) -> Daemon:
        folder = self._folder / str(len(self._daemons))
        folder.mkdir()
        daemon = Daemon(folder, {"seed": 1, **scenario}, *arguments, adapters=adapters)
        self._daemons.append(daemon)
        return daemon

    def close(self) -> None:
        """Ends them."""
        for daemon in self._daemons:
            daemon.close()


@pytest.fixture
def start(tmp_path: pathlib.Path) -> Iterator[Daemons]:
    """Starts daemons: start(devices=[…], phones=[…])."""
    daemons = Daemons(tmp_path)
    yield daemons
    daemons.close()


@pytest.fixture
def daemon(start: Daemons) -> Daemon:
    """A daemon with a belt, a device that sends back what it gets, and a lock."""
    return start(devices=[BELT, ECHO, LOCK])

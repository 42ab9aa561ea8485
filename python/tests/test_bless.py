"""bled.bless: programs for bless that are not changed, and a phone that visits."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pathlib
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bless.backends.attribute import GATTAttributePermissions
from bless.backends.characteristic import GATTCharacteristicProperties
from bless.exceptions import BlessError
from conftest import PATIENCE, ROOT, Daemon, Daemons, simulation

import bled
import bled.bless

LAMP = pathlib.Path(__file__).parent / "programs/bless_serve.py"
SERVICE, SWITCH, SECRET = (f"6F3C000{number}-5B1E-4A0D-9B6A-0D1E6B7F2A10" for number in (1, 2, 3))


@asynccontextmanager
async def running(daemon: Daemon, *arguments: str) -> AsyncIterator[Process]:
    """A program for bless, without a bus."""
    environment = {**os.environ, "BLED_SOCKET": daemon.socket, "PYTHONPATH": str(ROOT / "python/src")}
    environment |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-B", "-m", "bled.bless", *arguments]
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def line(process: Process) -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().rstrip("\n")


async def visit(client: bled.Client, *script: dict[str, Any], **members: Any) -> list[bled.SimulationVisitStep]:
    """A phone visits the lamp and goes; what it did."""
    phone = {"name": "Phone", "address": "C0:DE:00:00:01:02", "addressType": "random", "stay": 0, **members}
    visited = await client.simulation_visit(phone=json.dumps({**phone, "script": script}))
    return list(visited.steps)


def write(text: str) -> dict[str, Any]:
    """A step of a script."""
    return {"do": "write", "characteristic": SWITCH, "text": text}


def of(steps: list[bled.SimulationVisitStep], action: str, characteristic: str = SWITCH) -> list[Any]:
    """The values, or errors, of the steps of one kind."""
    found = [step for step in steps if step.action == action and step.characteristic == characteristic]
    return [step.value if step.error is None else step.error.code for step in found]


@simulation
async def test_a_program_that_is_not_changed(daemon: Daemon) -> None:
    read = {"do": "read", "characteristic": SWITCH}
    wait = {"do": "wait", "seconds": 0.5}
    text = "more than fits into one packet of the default size"
    async with bled.connect(daemon.socket) as client, running(daemon, str(LAMP), "2") as lamp:
        assert await line(lamp) == "advertising True False"
        steps = await visit(client, read, write("on"), read, write(text), read, mtu=23)
        assert of(steps, "read") == [b"off", b"on", text.encode()]
        assert await line(lamp) == "written b'on' False"
        assert await line(lamp) == f"written {text.encode()!r} False"
        steps = await visit(client, {"do": "subscribe", "characteristic": SWITCH}, write("1"), write("2"), wait)
        assert of(steps, "value") == [b"1", b"2"]
        assert await line(lamp) == "written b'1' True"
        assert await line(lamp) == "written b'2' True"
        # A function that fails refuses the request, and no other.
        steps = await visit(client, write("broken"), read, write("whole"), read)
        assert of(steps, "read") == [0x0E, b"whole"]
        assert await line(lamp) == "written b'broken' False"
        assert await line(lamp) == "written b'whole' False"
        secret = {"do": "read", "characteristic": SECRET}
        assert of(await visit(client, secret), "read", SECRET) == [0x05]
        await client.pairing_open(seconds=60)
        assert of(await visit(client, secret, pairing={}), "read", SECRET)[-1:] == [b""]
        # The server starts again.
        await visit(client, write("end"))
        assert await line(lamp) == "advertising True False"
        await visit(client, write("end"))
        assert await line(lamp) == "stopped False"
        assert await lamp.wait() == 0
        (session,) = (await client.session_list()).sessions
        assert session.mine


async def test_two_adapters(start: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on one of them, and what another program sees of it."""
    daemon = start(adapters=2)
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    async with bled.connect() as client, running(daemon, str(LAMP), "1") as lamp:
        assert await line(lamp) == "advertising True False"
        async with client.link(name="Lamp", adapter=daemon.adapters[1], timeout=PATIENCE) as link:
            (service,) = [entry for entry in await link.discover() if entry.uuid == SERVICE]
            switch, secret = service.characteristics or ()
            assert switch.properties == ("read", "write", "notify") and secret.properties == ("read",)
            (name,) = [entry for entry in switch.descriptors or () if entry.uuid == "2901"]
            assert await link.read(name.handle) == b"switch"
            with pytest.raises(bled.ATTError):
                await link.write(name.handle, b"other")
            await link.write(SWITCH, b"end")
        assert await line(lamp) == "stopped False"


@simulation
async def test_daemon_that_restarts(daemon: Daemon) -> None:
    async with running(daemon, str(LAMP), "1") as lamp:
        assert await line(lamp) == "advertising True False"
        daemon.end()
        daemon.start()
        async with bled.connect(daemon.socket) as client:
            await visit(client, write("again"))
            assert await line(lamp) == "written b'again' False"


@simulation
async def test_a_program_that_runs_on_org_bluez(daemon: Daemon) -> None:
    """The one of the tests of bled-bluez."""
    async with bled.connect(daemon.socket) as client:
        async with running(daemon, str(ROOT / "Tests/BlueZ/programs/served_bless.py")) as served:
            assert await line(served) == "advertising"
            value = "12345678-1234-5678-1234-56789ABCDEF1"
            steps = await visit(
                client,
                {"do": "write", "characteristic": value, "value": "07"},
                {"do": "read", "characteristic": value},
                {"do": "subscribe", "characteristic": value},
                {"do": "wait", "seconds": 2},
            )
            assert await line(served) == "written b'\\x07'"
            assert of(steps, "read", value) == [b"\x07"]
            numbers = [int.from_bytes(sent, "little") for sent in of(steps, "value", value)]
            assert len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_stop_at_once(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the server has had a turn of the event loop: nothing stays on the air."""
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    server = bled.bless.Server("Lamp")
    await server.add_new_service(SERVICE)
    for _ in range(2):
        async with server:
            assert await server.is_advertising()
        assert not await server.is_advertising()
    async with bled.connect() as client:
        (session,) = (await client.session_list()).sessions
        assert session.mine


async def test_starts_at_once(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two starts at the same time one fails, and there is one session; a stop meanwhile ends it."""
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    server = bled.bless.Server("Lamp")
    await server.add_new_service(SERVICE)
    one, other = await asyncio.gather(server.start(), server.start(), return_exceptions=True)
    assert one is True and isinstance(other, BlessError)
    async with bled.connect() as client:
        assert len((await client.session_list()).sessions) == 2
        await server.stop()
        await asyncio.gather(server.start(), server.stop())
        assert not await server.is_advertising()
        assert len((await client.session_list()).sessions) == 1


async def test_a_stop_ends_starts_that_hang(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon answers nothing."""
    path = str(tmp_path / "bled.sock")
    monkeypatch.setenv("BLED_SOCKET", path)
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            asked.set()
        writer.close()

    listener = await asyncio.start_unix_server(silent, path)
    try:
        server = bled.bless.Server("Lamp")
        starts = [asyncio.create_task(server.start()) for _ in range(2)]
        await asked.wait()
        assert await server.stop()
        assert await asyncio.gather(*starts) == [False, False]
        # A start that is cancelled is no stop.
        start = asyncio.create_task(server.start())
        await asyncio.sleep(0)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
    finally:
        listener.close()


async def test_a_start_that_is_cancelled_at_its_end(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its session is open by then: it ends."""
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    server = bled.bless.Server("Lamp")
    await server.add_new_service(SERVICE)
    open_session = server._open

    async def cancelled() -> bled.Client:
        client = await open_session()
        # Before the start, which waits for this, has its turn.
        asyncio.get_running_loop().call_soon(start.cancel)
        return client

    monkeypatch.setattr(server, "_open", cancelled)
    start = asyncio.create_task(server.start())
    with pytest.raises(asyncio.CancelledError):
        await start
    async with bled.connect() as client:
        (session,) = (await client.session_list()).sessions
        assert session.mine


class Refusals(logging.Handler):
    """The lines of the server's log that say why it does not publish."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first = asyncio.Event()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a line."""
        self.lines.append(record.getMessage())
        self.first.set()


async def test_daemon_that_refuses_for_a_while(start: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon restarts without the adapter of the server: that is logged once, and the services are published when
    it is back."""
    daemon = start(adapters=2)
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    refusals = Refusals()
    log = logging.getLogger("bled.bless.server")
    log.addHandler(refusals)
    try:
        async with bled.bless.Server("Lamp", adapter=daemon.adapters[1]) as server:
            daemon.end()
            daemon.start(adapters=1)
            await refusals.first.wait()
            assert not await server.is_advertising()
            daemon.end()
            daemon.start()
            async with (
                bled.connect() as client,
                client.link(name="Lamp", adapter=daemon.adapters[0], timeout=PATIENCE),
            ):
                assert await server.is_advertising()
            (line,) = refusals.lines
            assert "which is tried again" in line and daemon.adapters[1] in line
    finally:
        log.removeHandler(refusals)


async def test_errors(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    server = bled.bless.Server("Lamp", adapter="none")
    assert not server.update_value(SERVICE, SWITCH)
    await server.add_new_service(SERVICE)
    kinds, rights = GATTCharacteristicProperties, GATTAttributePermissions
    await server.add_new_characteristic(SERVICE, SWITCH, kinds.read, None, rights.readable)
    assert server.update_value(SERVICE, SWITCH)
    with pytest.raises(BlessError, match="none"):
        await server.start()
    assert not await server.is_advertising()
    assert await server.stop()
    daemon.end()
    with pytest.raises(BlessError):
        await bled.bless.Server("Lamp").start()

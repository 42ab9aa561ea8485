"""A socket that is no daemon of ours: what it sends ends the connection, or is ignored and counted; nothing hangs."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

import bled
from bled.framing import Lines

OPENED = {"session": 1, "daemon": "bled 0.2.0", "protocol": 1, "adapters": [], "permissions": []}
Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def line(message: object) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode() + b"\n"


@asynccontextmanager
async def playing(folder: pathlib.Path, script: Script) -> AsyncIterator[bled.Client]:
    """A client of a socket that opens the session and then does as the script says."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = json.loads(await reader.readline())
        writer.write(line({"jsonrpc": "2.0", "id": request["id"], "result": OPENED}))
        try:
            await script(reader, writer)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    path = str(folder / "socket")
    server = await asyncio.start_unix_server(serve, path, limit=1 << 22)
    try:
        async with bled.connect(path) as client:
            yield client
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    "octets",
    [
        b"nonsense\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"12\n",
        b"[" * 100_000 + b"\n",
        b'{"a":' * 100_000 + b"\n",
        b'{"jsonrpc":"2.0","id":2,"result":NaN}\n',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"result":{}}\n',
        b"\n",
        b"x" * (1 << 21),
        b"x" * (1 << 21) + b"\n",
    ],
)
async def test_what_is_no_message_ends_the_connection(tmp_path: pathlib.Path, octets: bytes) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(octets)
        await writer.drain()
        # Not the end of the connection that ends the call.
        await reader.read()

    async with playing(tmp_path, script) as client:
        with pytest.raises(bled.ProtocolViolation):
            await asyncio.gather(client.adapter_list())
        assert not client.is_connected


@pytest.mark.parametrize("octets", [b"", b'{"jsonrpc":"2.0","id":2,"resu'])
async def test_end(tmp_path: pathlib.Path, octets: bytes) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(octets)

    async with playing(tmp_path, script) as client:
        calls = asyncio.gather(*(client.adapter_list() for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in await calls] == [bled.DaemonUnreachable] * 3
        with pytest.raises(bled.DaemonUnreachable):
            await anext(client.server_events)


async def test_reason_that_the_daemon_gives(tmp_path: pathlib.Path) -> None:
    error = {"code": -32000, "message": "full", "data": {"domain": "bled", "code": 4, "name": "limitReached"}}

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(line({"jsonrpc": "2.0", "id": None, "error": error}))

    async with playing(tmp_path, script) as client:
        with pytest.raises(bled.LimitReached, match="full"):
            await client.adapter_list()


async def test_room_that_another_task_asks_for_first(tmp_path: pathlib.Path) -> None:
    """The news of room comes with the answers, and a second value is sent before the refused one is tried again."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def request() -> int:
            return int(json.loads(await reader.readline())["id"])

        def answer(number: int, sent: bool) -> bytes:
            return line({"jsonrpc": "2.0", "id": number, "result": {"sent": sent, "receivers": 1}})

        first, refused = await request(), await request()
        ready = line({"jsonrpc": "2.0", "method": "server.ready", "params": {}})
        writer.write(answer(first, True) + answer(refused, False) + ready)
        writer.write(answer(await request(), True))
        writer.write(answer(await request(), True))
        await reader.read()

    async with playing(tmp_path, script) as client:

        async def two() -> None:
            await client.notify(1, b"first")
            await client.notify(1, b"second")

        await asyncio.gather(two(), client.notify(2, b"refused"))


async def test_what_is_malformed_is_ignored(tmp_path: pathlib.Path) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = json.loads(await reader.readline())
        for message in (
            {"jsonrpc": "2.0", "id": 4711, "result": {}},
            {"jsonrpc": "2.0", "id": "2", "result": {}},
            {"jsonrpc": "2.0", "id": [], "result": {}},
            {"jsonrpc": "2.0", "id": request["id"] - 1, "result": {}},
            {"jsonrpc": "2.0", "method": 5},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": {"peripheral": 5}},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": {"peripheral": "a", "handle": True, "value": "00"}},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": {"peripheral": "a", "handle": 1, "value": "0"}},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": {"peripheral": "a", "handle": 1, "value": "0\t0"}},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": []},
            {"jsonrpc": "2.0", "method": "of.a.later.daemon", "params": {}},
            {"jsonrpc": "2.0", "method": "gatt.value", "params": {"peripheral": "a", "handle": 1, "value": "00"}},
            {"jsonrpc": "2.0", "id": request["id"], "result": {"adapters": []}},
        ):
            writer.write(line(message))
        await reader.read()

    async with playing(tmp_path, script) as client, client.events(bled.GattValue) as values:
        assert (await client.adapter_list()).adapters == ()
        assert (await anext(values)).value == b"\x00"
        assert client.connection.ignored == 10


async def test_answers_that_are_malformed(tmp_path: pathlib.Path) -> None:
    outcomes: list[dict[str, object]] = [
        {"result": 5},
        {"result": {}},
        {"result": {"adapters": {}}},
        {"result": {"adapters": [{"adapter": 5}]}},
        {"error": "no"},
        {},
    ]

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for outcome in outcomes:
            request = json.loads(await reader.readline())
            # Twice: a call has one result.
            for _ in range(2):
                writer.write(line({"jsonrpc": "2.0", "id": request["id"], **outcome}))
        request = json.loads(await reader.readline())
        writer.write(line({"jsonrpc": "2.0", "id": request["id"], "result": {"adapters": []}}))
        await reader.read()

    async with playing(tmp_path, script) as client:
        for _ in outcomes:
            with pytest.raises(bled.BledError):
                await client.adapter_list()
        assert (await client.adapter_list()).adapters == ()


async def test_calls_of_the_daemon(tmp_path: pathlib.Path) -> None:
    answers: list[dict[str, object]] = []
    done = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        device = {"peripheral": "a", "address": "b", "isOurs": True}
        for number, (method, params) in enumerate(
            [
                ("of.a.later.daemon", {}),
                ("server.read", {"central": "a"}),
                ("server.read", 5),
                ("pairing.confirm", {"device": device, "seconds": 5}),
                ("pairing.enterPasskey", {"device": device, "seconds": 5}),
            ]
        ):
            writer.write(line({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            answers.append(json.loads(await reader.readline()))
        done.set()

    async with playing(tmp_path, script):
        await done.wait()
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]
    codes = [answer["error"]["code"] for answer in answers[:3]]  # type: ignore[index]
    assert codes == [-32601, -32602, -32602]
    assert [answer["result"] for answer in answers[3:]] == [{"accept": False}, {}]


async def test_daemon_that_does_not_read(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bled.transport.UNSENT_LIMIT", 1 << 20)
    ended = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()

    async with playing(tmp_path, script) as client:
        writing = [asyncio.ensure_future(client.gatt_write(peripheral="a", value=bytes(30_000))) for _ in range(100)]
        results = await asyncio.gather(*writing, return_exceptions=True)
        assert {type(result) for result in results} == {bled.TooSlow}
        ended.set()


async def test_protocol_of_another_version(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPENED, "protocol", 2)

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    with pytest.raises(bled.ProtocolViolation, match="version 2"):
        async with playing(tmp_path, script):
            pass


def test_descriptors_belong_to_lines() -> None:
    def pipe() -> int:
        read, write = os.pipe()
        os.close(write)
        return read

    lines = Lines()
    first, second, third, lost = pipe(), pipe(), pipe(), pipe()
    lines.feed(b"a\nb\nc", [lost])
    assert list(lines.lines()) == [(b"a", None), (b"b", None)]
    # A line has one descriptor: the later one.
    lines.feed(b"c\n", [first])
    with pytest.raises(OSError):
        os.fstat(lost)
    lines.feed(b"d", [second])
    lines.feed(b"d\ne\n", [])
    lines.feed(b"f", [third])
    assert list(lines.lines()) == [(b"cc", first), (b"dd", second), (b"e", None)]
    lines.close()
    with pytest.raises(OSError):
        os.fstat(third)
    os.close(first)
    os.close(second)


async def test_descriptors_of_events_and_errors_are_closed(tmp_path: pathlib.Path) -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        connection = socket.socket(fileno=os.dup(raw.fileno()))
        with connection:
            connection.setblocking(True)
            request = json.loads(await reader.readline())
            for message in (
                {"jsonrpc": "2.0", "method": "gatt.value", "params": {}},
                {"jsonrpc": "2.0", "id": 4711, "result": {}},
                {"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "no"}},
            ):
                socket.send_fds(connection, [line(message)], [ours.fileno()])
        await reader.read()

    async with playing(tmp_path, script) as client:
        with pytest.raises(bled.CallError):
            await client.passing("gatt.acquire", {}, lambda result: None, lambda result, descriptor: descriptor)
        ours.close()
        assert theirs.recv(1) == b""
    theirs.close()

"""Firmware updates: smpclient over bled.bleak with a simulated device, and bleshell dfu with a server of the package
smp. Each side has another author, and so has each codec."""

from __future__ import annotations

import asyncio
import hashlib
import pathlib
import struct
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import PROGRAMS, Daemon, Daemons, simulation

pytest.importorskip("smpclient")

from smp import header, image_management, os_management
from smp.message import Response

import bled

SERVICE = "8D53DC1D-1DB7-4CD3-868B-8A527460AA84"
CHARACTERISTIC = "DA2E7828-FBCE-4E01-AE9E-261174997C48"
UNIT = {
    "name": "Unit",
    "address": "C0:DE:00:00:00:71",
    "addressType": "random",
    "advertising": {"name": "Unit"},
    "firmware": {"version": "1.4.0", "restartTime": 0.1},
}


def image(length: int, version: tuple[int, int, int, int]) -> bytes:
    """An image for MCUboot."""
    body = bytes(number * 7 & 0xFF for number in range(length))
    head = struct.pack("<IIHHIIBBHII", 0x96F3B83D, 0, 32, 0, length, 0, *version, 0) + body
    return head + struct.pack("<HHHH", 0x6907, 40, 0x10, 32) + hashlib.sha256(head).digest()


async def run(*command: str | pathlib.Path, socket: str) -> tuple[int | None, str]:
    """Runs a program to its end; its status and its output."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"BLED_SOCKET": socket, "PYTHONPATH": str(pathlib.Path(bled.__file__).parents[1]), "PATH": "/usr/bin"},
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@simulation
async def test_smpclient_updates_a_device(start: Daemons, tmp_path: pathlib.Path) -> None:
    daemon = start(devices=[UNIT])
    file = tmp_path / "app.signed.bin"
    file.write_bytes(image(20_000, (1, 5, 0, 0)))
    program = pathlib.Path(__file__).parent / "programs/smp_update.py"
    status, output = await run(sys.executable, "-m", "bled.bleak", program, "Unit", file, socket=daemon.socket)
    assert (status, output.splitlines()) == (
        0,
        ["Hello!", "4 buffers of 1024 octets", "1.4.0 runs", "1.4.0 runs, 1.5.0 is pending", "HASH_NOT_FOUND"],
    )
    # bleshell finds what smpclient has left.
    status, output = await run(PROGRAMS / "bleshell", "dfu", "Unit", file, "--reset", socket=daemon.socket)
    assert status == 0 and "Unit has this image already" in output, output
    assert output.endswith('Unit runs 1.5.0, until its next reset: "dfu … --confirm" keeps it\n'), output


class Server:
    """A device with MCUmgr, of the package smp. It drops every seventh answer."""

    def __init__(self, client: bled.Client, handle: int) -> None:
        self._client, self._handle = client, handle
        self._part = b""
        self.upload = b""
        self.length = 0
        self.slots = [self._state(0, "1.0.0", bytes(32), active=True, confirmed=True)]
        self.requests: list[int] = []

    @staticmethod
    def _state(slot: int, version: str, image_hash: bytes, **flags: bool) -> image_management.ImageState:
        return image_management.ImageState(slot=slot, version=version, hash=image_hash, **flags)

    async def serve(self) -> None:
        """Answers until it is cancelled."""
        length = 20
        async for event in self._client.server_events:
            match event:
                case bled.ServerSubscribed():
                    length, self._part = event.maximum_length, b""
                case bled.WriteRequest():
                    for frame in self._frames(event.value):
                        answer = self._answer(frame)
                        self.requests.append(frame[7])
                        if len(self.requests) % 7 == 0:
                            continue
                        for place in range(0, len(answer), length):
                            await self._client.notify(self._handle, answer[place : place + length])

    def _frames(self, octets: bytes) -> Iterator[bytes]:
        self._part += octets
        while len(self._part) >= 8:
            end = 8 + header.Header.loads(self._part[:8]).length
            if len(self._part) < end:
                return
            frame, self._part = self._part[:end], self._part[end:]
            yield frame

    def _answer(self, frame: bytes) -> bytes:
        head = header.Header.loads(frame[:8])
        match (head.group_id, head.command_id, head.op):
            case (0, 6, _):
                os_management.MCUMgrParametersReadRequest.loads(frame)
                return self._bytes(os_management.MCUMgrParametersReadResponse, head, buf_size=600, buf_count=3)
            case (1, 0, header.OP.READ):
                image_management.ImageStatesReadRequest.loads(frame)
                return self._bytes(image_management.ImageStatesReadResponse, head, images=self.slots)
            case (1, 0, header.OP.WRITE):
                wanted = image_management.ImageStatesWriteRequest.loads(frame)
                assert wanted.hash == self.slots[1].hash
                self.slots[1] = self.slots[1].model_copy(update={"pending": True, "permanent": wanted.confirm})
                return self._bytes(image_management.ImageStatesWriteResponse, head, images=self.slots)
            case (1, 1, _):
                return self._receive(image_management.ImageUploadWriteRequest.loads(frame), head)
        raise AssertionError(f"no such request: {frame.hex()}")

    def _receive(self, part: image_management.ImageUploadWriteRequest, head: header.Header) -> bytes:
        if part.off == 0:
            assert part.len is not None and part.sha is not None and len(part.sha) == 32
            if not self.length:
                self.length, self.upload = part.len, b""
        if part.off == len(self.upload):
            self.upload += part.data
        if self.length and len(self.upload) == self.length:
            self.length = 0
            self.slots[1:] = [self._state(1, "7.0.0", self.upload[-32:])]
            return self._bytes(image_management.ImageUploadWriteResponse, head, off=len(self.upload), match=True)
        return self._bytes(image_management.ImageUploadWriteResponse, head, off=len(self.upload) if self.length else 0)

    @staticmethod
    def _bytes(response: type[Response], head: header.Header, **members: Any) -> bytes:
        return response(sequence=head.sequence, version=head.version, **members).BYTES


async def test_bleshell_updates_a_server_of_smp(start: Daemons, tmp_path: pathlib.Path) -> None:
    daemon: Daemon = start(adapters=2)
    file = tmp_path / "app.signed.bin"
    file.write_bytes(image(30_000, (7, 0, 0, 0)))
    service = bled.ServiceToPublish(
        uuid=SERVICE,
        characteristics=[
            bled.ServiceToPublishCharacteristic(uuid=CHARACTERISTIC, properties=["writeWithoutResponse", "notify"])
        ],
    )
    async with bled.connect(daemon.socket) as client, client.publish(service) as published:
        server = Server(client, published.handle(CHARACTERISTIC))
        serving = asyncio.create_task(server.serve())
        async with client.advertise(name="Server", services=[SERVICE], adapter=daemon.adapters[1]):
            status, output = await run(
                PROGRAMS / "bleshell", "dfu", "Server", file, "--confirm", "--adapter", daemon.adapters[0],
                "--timeout", "100", socket=daemon.socket,
            )  # fmt: skip
        assert not serving.done(), serving
        serving.cancel()
    assert status == 0, output
    assert output.endswith("7.0.0 runs from the next reset on\n"), output
    assert server.upload == file.read_bytes()
    assert server.slots[1].permanent is True and len(server.requests) > 50

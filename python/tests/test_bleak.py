"""bled.bleak: scanner, client and adapter, and programs that are not changed."""

from __future__ import annotations

import asyncio
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import BELT, ECHO, ECHO_VALUE, LOCK, PATIENCE, ROOT, Daemon, Daemons, simulation

bleak = pytest.importorskip("bleak")

from bleak import BleakClient, BleakScanner  # noqa: E402
from bleak.backends.device import BLEDevice  # noqa: E402
from bleak.exc import (  # noqa: E402
    BleakBluetoothNotAvailableError,
    BleakBluetoothNotAvailableReason,
    BleakCharacteristicNotFoundError,
    BleakDeviceNotFoundError,
    BleakError,
    BleakGATTProtocolError,
)

import bled  # noqa: E402
import bled.bleak  # noqa: E402

ADDRESS = str(BELT["address"])
HEART_RATE = "0000180d-0000-1000-8000-00805f9b34fb"
PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.fixture
def world(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A daemon that programs find."""
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    yield daemon


async def found(name: str) -> BLEDevice:
    """The device of this name."""
    device = await BleakScanner.find_device_by_name(name, timeout=PATIENCE, backend=bled.bleak.Scanner)
    assert device is not None
    return device


async def test_scanner(world: Daemon) -> None:
    async with BleakScanner(service_uuids=["180D"], backend=bled.bleak.Scanner) as scanner:
        device, data = await anext(scanner.advertisement_data())
        assert (device.address, device.name) == (ADDRESS, "Belt")
        assert device.details["address_type"] == "random"
        assert data.local_name == "Belt" and data.service_uuids == [HEART_RATE]
        assert data.manufacturer_data == {0x004C: b"\x02\x15"}
        assert data.service_data == {"0000180f-0000-1000-8000-00805f9b34fb": b"\x64"}
        assert -127 <= data.rssi <= 20
        assert [seen.name for seen, _ in scanner.discovered_devices_and_advertisement_data.values()] == ["Belt"]
    assert await BleakScanner.find_device_by_address("00:00:00:00:00:01", 0.2, backend=bled.bleak.Scanner) is None
    async with bled.connect() as client:
        assert not [s for s in (await client.session_list()).sessions if s.scans]


async def test_scanner_reports_each_advertisement(world: Daemon) -> None:
    reports: asyncio.Queue[str] = asyncio.Queue()

    def detected(device: BLEDevice, data: Any) -> None:
        reports.put_nowait(str(device.name))
        if reports.qsize() == 1:
            raise ValueError("a program's fault stops nothing")

    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    async with BleakScanner(detected, scanning_mode="passive", backend=bled.bleak.Scanner):
        for _ in range(20):
            await reports.get()


async def test_client(world: Daemon) -> None:
    ends: list[BleakClient] = []
    device = await found("Belt")
    async with BleakClient(device, ends.append, backend=bled.bleak.Client) as client:
        assert client.is_connected and client.mtu_size == 247 and client.name == "Belt"
        assert await client.read_gatt_char("2A38") == bytearray(b"\x01")
        service = client.services.get_service(HEART_RATE)
        rate = client.services.get_characteristic("2A37")
        assert service is not None and rate is not None and rate.properties == ["notify"]
        assert rate.max_write_without_response_size == 244
        description = rate.get_descriptor("2901")
        assert description is not None
        assert await client.read_gatt_descriptor(description) == bytearray(b"Rate")
        control = client.services.get_characteristic("2A39")
        assert (control is not None and control.properties == ["write-without-response", "write"]) or control
        await client.write_gatt_char("2A39", b"\x01", response=True)
        with pytest.raises(BleakCharacteristicNotFoundError):
            await client.read_gatt_char("2AFF")
        with pytest.raises(BleakError, match="already connected"):
            await client.connect()
    assert not client.is_connected
    # Once, also for an end of one's own.
    assert ends == [client]
    await client.disconnect()
    assert ends == [client]
    with pytest.raises(BleakError):
        await client.read_gatt_char("2A38")
    # The same client connects again.
    await client.connect()
    await client.disconnect()
    assert ends == [client, client]


@simulation
async def test_notifications(world: Daemon) -> None:
    values: asyncio.Queue[bytearray] = asyncio.Queue()
    async with BleakClient(ADDRESS, backend=bled.bleak.Client) as client, bled.connect() as control:
        await client.start_notify("2A37", lambda characteristic, value: values.put_nowait(value))
        with pytest.raises(BleakError):
            await client.start_notify("2A37", lambda characteristic, value: None)
        for number in range(3):
            await control.simulation_set_value(device="Belt", characteristic="2A37", value=bytes([number]))
            assert await values.get() == bytearray([number])
        await client.stop_notify("2A37")
        with pytest.raises(BleakError):
            await client.stop_notify("2A37")
        (session,) = [s for s in (await control.session_list()).sessions if s.connections]
        assert session.subscriptions == ()


@simulation
async def test_device_that_disconnects(world: Daemon) -> None:
    ended = asyncio.Event()
    count = 0

    def end(client: BleakClient) -> None:
        nonlocal count
        count += 1
        assert not client.is_connected
        ended.set()

    client = BleakClient(ADDRESS, end, backend=bled.bleak.Client)
    await client.connect()
    await client.start_notify("2A37", lambda characteristic, value: None)
    async with bled.connect() as control:
        reading = asyncio.ensure_future(client.read_gatt_char("2A38"))
        await control.simulation_disconnect(device="Belt", reason=0x13)
        await asyncio.gather(reading, return_exceptions=True)
        await ended.wait()
        await client.disconnect()
        assert count == 1
        assert not [s for s in (await control.session_list()).sessions if not s.mine]


@simulation
async def test_errors(world: Daemon) -> None:
    with pytest.raises(BleakDeviceNotFoundError):
        await BleakClient("C0:DE:00:00:99:99", timeout=0.2, backend=bled.bleak.Client).connect()
    belt = await found("Belt")
    async with bled.connect() as control:
        await control.simulation_vanish(device="Belt")
        with pytest.raises(TimeoutError):
            await BleakClient(belt, timeout=0.2, backend=bled.bleak.Client).connect()
        await control.simulation_come_back(device="Belt")
        members = '{"faults": {"answers": [{"characteristic": "2A38", "error": 3}]}}'
        await control.simulation_change(device="Belt", members=members)
        async with BleakClient(belt, backend=bled.bleak.Client) as client:
            with pytest.raises(BleakGATTProtocolError) as failure:
                await client.read_gatt_char("2A38")
            assert failure.value.code == 3
        lock = await found("Lock")
        async with BleakClient(lock, backend=bled.bleak.Client) as client:
            # No person can enter the passkey that it shows.
            members = '{"pairing": {"capability": "none", "answer": "refuse"}}'
            await control.simulation_change(device="Lock", members=members)
            with pytest.raises(BleakError):
                await client.pair()
        await control.adapter_power(on=False)
        with pytest.raises(BleakBluetoothNotAvailableError) as off:
            await BleakClient(belt, timeout=1, backend=bled.bleak.Client).connect()
        assert off.value.reason is BleakBluetoothNotAvailableReason.POWERED_OFF
    world.end()
    with pytest.raises(BleakBluetoothNotAvailableError):
        await BleakScanner.discover(timeout=0.1, backend=bled.bleak.Scanner)


async def test_daemon_that_ends(world: Daemon) -> None:
    ended = asyncio.Event()
    client = BleakClient(ADDRESS, lambda client: ended.set(), backend=bled.bleak.Client)
    await client.connect()
    async with BleakScanner(backend=bled.bleak.Scanner):
        world.end()
        await ended.wait()
    assert not client.is_connected
    world.start()
    await client.connect()
    await client.disconnect()


async def test_pairing(start: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon = start(devices=[{**LOCK, "pairing": {}}])
    monkeypatch.setenv("BLED_SOCKET", daemon.socket)
    async with BleakClient(str(LOCK["address"]), pair=True, backend=bled.bleak.Client) as client:
        async with bled.connect() as control:
            assert len((await control.pairing_list()).bonds) == 1
            await client.unpair()
            assert (await control.pairing_list()).bonds == ()
            assert not client.is_connected


@pytest.mark.skipif(not hasattr(bleak, "BleakAdapter"), reason="bleak 3.0 has no adapter")
async def test_adapter(world: Daemon) -> None:
    adapter = await bleak.BleakAdapter.get(backend=bled.bleak.Adapter)
    assert await adapter.get_connected_devices() == []
    async with bled.connect() as client, client.link(ADDRESS, timeout=PATIENCE) as link:
        (device,) = await adapter.get_connected_devices(["180D"])
        assert device.address == ADDRESS
        assert await adapter.get_connected_devices(["180F"]) == []
        async with BleakClient(device, backend=bled.bleak.Client) as other:
            assert await other.read_gatt_char("2A38") == b"\x01"
        # No link was ended.
        assert await link.read("2A38") == b"\x01"


def run(daemon: Daemon, *arguments: str) -> str:
    """The output of a program for bleak."""
    environment = {**os.environ, "BLED_SOCKET": daemon.socket, "PYTHONPATH": str(ROOT / "python/src")}
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent"
    command = [sys.executable, "-B", "-m", "bled.bleak", *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_programs_that_are_not_changed(start: Daemons) -> None:
    daemon = start(devices=[BELT, ECHO])
    scanned = run(daemon, str(PROGRAMS / "bleak_scan.py"), "1")
    assert f"{ADDRESS} Belt ['{HEART_RATE}']" in scanned
    assert scanned.endswith(f"done ['{PROGRAMS / 'bleak_scan.py'}', '1']\n")
    used = run(daemon, str(PROGRAMS / "bleak_use.py"), "--name", "Echo", "--uuid", ECHO_VALUE).splitlines()
    assert used[0] == "Echo 517"
    assert used[-3:] == ["notified bytearray(b'hello')", "read bytearray(b'hello')", "gone"]
    assert "usage" in run(daemon, "--help")

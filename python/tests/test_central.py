"""The central role on simulated devices."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import BELT, ECHO_VALUE, Daemon, simulation

import bled

ADDRESS = str(BELT["address"])


async def settled(client: bled.Client, held: Any) -> None:
    """Waits until the daemon says this of the session: calls of one session are answered one after the other."""
    while True:
        (session,) = [entry for entry in (await client.session_list()).sessions if entry.mine]
        if held(session):
            return


async def test_scan_and_leave(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket, name="a test") as client:
        assert client.session.protocol == 1
        async for found in client.scan(services=["180D"]):
            report = found
            break
        assert (report.name, report.address, report.address_type) == ("Belt", ADDRESS, "random")
        assert (report.manufacturer_data, report.service_data) == (b"\x4c\x00\x02\x15", {"180F": b"d"})
        await settled(client, lambda session: not session.scans)


async def test_scans_beside_each_other(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.scan(name="Belt") as belts, client.scan(name="Echo", duplicates=True) as echoes:
            assert (await anext(belts)).name == "Belt"
            assert [(await anext(echoes)).name for _ in range(3)] == ["Echo"] * 3
            assert len(belts) == 0


async def test_scan_gets_no_reports_of_the_one_before(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        numbers = []
        for _ in range(3):
            async with client.scan(duplicates=True) as reports:
                numbers.append((await anext(reports)).scan)
        assert len(set(numbers)) == 3


async def test_scan_that_is_refused(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        with pytest.raises(bled.BledError) as failure:
            async for _ in client.scan(adapter="hci7"):
                pass
        assert (failure.value.domain, failure.value.name) == ("gap", "adapterAbsent")
        with pytest.raises(bled.BledError, match="services"):
            async with client.scan(services=["nonsense"]):
                pass


@simulation
async def test_link(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.link(ADDRESS, timeout=30) as link:
            assert link.mtu == 247 and link.is_connected
            services = await link.discover()
            (rate,) = (
                c for s in services for c in s.characteristics or () if c.uuid == "2A37"
            )  # fmt: skip
            assert rate.properties == ("notify",)
            assert await link.read("2A38") == b"\x01"
            assert await link.read("2A38", service="180D") == b"\x01"
            assert await link.read(rate, descriptor="2901") == b"Rate"
            (described,) = (d for d in rate.descriptors or () if d.uuid == "2901")
            assert await link.read(described) == b"Rate"
            await link.write("2A39", b"\x05")
            await link.write("2A39", b"\x06", response=False)
            # A call behind a write is answered behind it.
            await link.read("2A38")
            written = await client.simulation_written(device="Belt")
            assert [(w.operation, w.value) for w in written.writes] == [
                ("write", b"\x05"), ("writeWithoutResponse", b"\x06")
            ]  # fmt: skip
            assert isinstance(await link.rssi(), int)
            assert (await link.parameters()).role == "central"
        assert not link.is_connected and link.reason is None
        (entry,) = (e for e in (await client.peripheral_list()).peripherals if e.address == ADDRESS)
        assert not entry.mine


@simulation
async def test_errors_are_typed(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Belt", timeout=30) as link:
        with pytest.raises(bled.DaemonError) as failure:
            await link.write("2A38", b"")
        assert (failure.value.code, failure.value.name) == (9, "notAllowedByProperties")
        members = '{"faults": {"answers": [{"characteristic": "2A38", "error": 128}]}}'
        await client.simulation_change(device="Belt", members=members)
        with pytest.raises(bled.ATTError) as refusal:
            await link.read("2A38")
        assert refusal.value.code == 0x80
        with pytest.raises(bled.DaemonError) as unknown:
            await link.read("2AFF")
        assert unknown.value.name == "unknownAttribute"
        with pytest.raises(bled.CallError) as invalid:
            await client.connection.call("gatt.reed", {}, lambda result, descriptor: None)
        assert (invalid.value.domain, invalid.value.code) == ("rpc", -32601)
        with pytest.raises(bled.GAPError) as nobody:
            await client.gatt_read(peripheral="nobody")
        assert nobody.value.name == "unknownDevice"
        with pytest.raises(bled.ConnectTimeout):
            async with client.link("C0:DE:00:00:99:99", timeout=0.1):
                pass
        with pytest.raises(TypeError, match="value"):
            await link.write("2A39", "text")  # type: ignore[arg-type]


@simulation
async def test_values(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Belt", timeout=30) as link:
        async with link.subscribe("2A37") as values, link.subscribe("2A37", service="180D") as again:
            await client.simulation_set_value(device="Belt", characteristic="2A37", value=b"\x06\x50")
            assert await anext(values) == b"\x06\x50"
            assert await anext(again) == b"\x06\x50"
        await settled(client, lambda session: not session.subscriptions)
        # One of two streams leaves, the other still has the values.
        async with link.subscribe("2A37") as values:
            async with link.subscribe("2A37"):
                pass
            await client.simulation_set_value(device="Belt", characteristic="2A37", value=b"\x06\x51")
            assert await anext(values) == b"\x06\x51"


@simulation
async def test_values_end_with_the_link(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        link = await client.link(name="Belt", timeout=30)
        async with link.subscribe("2A37") as values:
            await client.simulation_set_value(device="Belt", characteristic="2A37", value=b"\x01")
            await client.simulation_disconnect(device="Belt", reason=0x13)
            assert await anext(values) == b"\x01"
            with pytest.raises(bled.BledError) as failure:
                await anext(values)
            assert failure.value.code == 0x13
        assert await link.ended() is failure.value or link.reason is not None
        await link.disconnect()
        with pytest.raises(bled.BledError):
            await link.read("2A38")


async def test_own_end_is_no_error(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        link = await client.link(name="Belt", timeout=30)
        async with link.subscribe("2A37") as values:
            await link.disconnect()
            assert [value async for value in values] == []
        assert await link.ended() is None


async def test_two_uses_of_one_link(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(ADDRESS, timeout=30) as link:
        async with client.link(link.peripheral, timeout=30):
            pass
        assert await link.read("2A38") == b"\x01"


@simulation
async def test_link_that_reconnects(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.link(ADDRESS, timeout=30, reconnect=True) as link, link.changes() as changes:
            await client.simulation_disconnect(device="Belt", reason=0x08)
            lost = await anext(changes)
            assert isinstance(lost, bled.PeripheralDisconnected) and lost.reconnecting
            found = await anext(changes)
            assert isinstance(found, bled.PeripheralConnected)
            assert link.is_connected and await link.read("2A38") == b"\x01"


@simulation
async def test_many_values(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Echo", timeout=30) as link:
        async with link.acquire(ECHO_VALUE) as pipe:
            await pipe.send(b"")
            assert await pipe.receive() == b""
            for number in range(200):
                await pipe.send(number.to_bytes(2, "little") * 100)
                assert await pipe.receive() == number.to_bytes(2, "little") * 100
            with pytest.raises(bled.DaemonError):
                async with link.acquire(ECHO_VALUE):
                    pass
            await client.simulation_disconnect(device="Echo", reason=0x13)
            assert await pipe.receive() is None
            assert await link.ended() is not None
            assert isinstance(pipe.reason, bled.NotConnected) and pipe.unsent == 0


async def test_channel(daemon: Daemon) -> None:
    octets = bytes(range(256)) * 512
    async with bled.connect(daemon.socket) as client, client.link(name="Echo", timeout=30) as link:
        async with link.open_channel(128) as channel:
            sending = asyncio.create_task(channel.send(octets))
            received = bytearray()
            while len(received) < len(octets):
                part = await channel.receive()
                assert part
                received += part
            await sending
            assert received == octets
        async with link.open_channel(128, packets=True) as channel:
            await channel.send(b"one")
            await channel.send(b"two")
            assert [await channel.receive(), await channel.receive()] == [b"one", b"two"]
        with pytest.raises(bled.GAPError):
            async with link.open_channel(130):
                pass


async def test_words_of_a_later_daemon() -> None:
    told = {"adapter": "a", "kind": "quantum", "name": "a", "state": "dreaming", "scanning": False, "advertising": 0,
            "links": 0, "colour": "red"}  # fmt: skip
    adapter = bled.AdapterDescription.from_json(told)
    assert (adapter.kind, adapter.state) == ("quantum", "dreaming")
    del told["colour"]
    assert adapter.to_json() == told

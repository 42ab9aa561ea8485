"""Programs and daemons that come and go."""

from __future__ import annotations

import asyncio
import signal

import pytest
from conftest import BELT, Daemon, simulation

import bled

ADDRESS = str(BELT["address"])
NAME = "com.example.test"


@simulation
async def test_session_is_restored(daemon: Daemon) -> None:
    client = await bled.connect(daemon.socket, restore=NAME)
    assert client.restored is None
    link = await client.link(ADDRESS, timeout=30)
    async with link.subscribe("2A37"):
        (rate,) = (c for s in await link.discover() for c in s.characteristics or () if c.uuid == "2A37")
        # Not left: the connection breaks, and the session is preserved.
        await client.close()
    async with bled.connect(daemon.socket) as other:
        await other.simulation_set_value(device="Belt", characteristic="2A37", value=b"\x06\x77")
    async with bled.connect(daemon.socket, restore=NAME) as client:
        assert client.restored is not None
        (again,) = client.restored.links
        assert again.peripheral == link.peripheral and again.is_connected and again.mtu == 247
        values = again.subscriptions[rate.handle]
        assert await anext(values) == b"\x06\x77"
        assert await again.read("2A38") == b"\x01"
        await again.unsubscribe(rate.handle)
        assert [value async for value in values] == []
        async with again.subscribe(rate.handle):
            await client.close()
    async with bled.connect(daemon.socket, restore=NAME) as client:
        assert client.restored is not None
        (again,) = client.restored.links
        await client.simulation_disconnect(device="Belt", reason=0x13)
        with pytest.raises(bled.HCIError):
            await anext(again.subscriptions[rate.handle])
        await client.end()
    async with bled.connect(daemon.socket, restore=NAME) as client:
        assert client.restored is None


async def test_session_is_restored_by_another_daemon(daemon: Daemon) -> None:
    service = bled.ServiceToPublish(
        uuid="180F", characteristics=[bled.ServiceToPublishCharacteristic(uuid="2A19", properties=["read"])]
    )
    client = await bled.connect(daemon.socket, restore=NAME)
    link = await client.link(ADDRESS, timeout=30, reconnect=True)
    published = await client.publish(service)
    await client.advertise(name="Ours")
    stream = client.scan(name="Belt")
    await stream.__aenter__()
    daemon.end()
    reason = await link.ended()
    assert isinstance(reason, bled.DaemonUnreachable) or reason is not None
    with pytest.raises(bled.BledError):
        await client.adapter_list()
    with pytest.raises(bled.BledError):
        await anext(client.server_events)
    assert not client.is_connected
    await client.close()
    daemon.start()
    async with bled.connect(daemon.socket, restore=NAME) as client:
        assert client.restored is not None
        (again,) = client.restored.links
        async with again.changes() as changes:
            if not again.is_connected:
                assert isinstance(await anext(changes), bled.PeripheralConnected)
        assert await again.read("2A38") == b"\x01"
        assert [p.service.handle for p in client.restored.services] == [published.service.handle]
        ((scan, _),) = client.restored.scans
        assert scan.name == "Belt"
        (advertisement,) = client.restored.advertisements
        await advertisement.close()
        await client.end()


async def test_session_of_a_process_that_is_about_to_end(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is started again before its former process has ended waits for its session."""
    former = await bled.connect(daemon.socket, restore=NAME)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await former.close()

    monkeypatch.setattr("bled.session.sleep", sleep)
    async for client in bled.connect(daemon.socket, restore=NAME):
        assert client.is_connected
        await client.end()
        break
    # The daemon may see the end of the former process later than this one.
    assert 1 <= len(pauses) <= 7


async def test_session_of_a_process_that_stays(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("bled.session.sleep", sleep)
    async with bled.connect(daemon.socket, restore=NAME) as client:
        with pytest.raises(bled.DaemonError) as refused:
            async for _ in bled.connect(daemon.socket, restore=NAME):
                pytest.fail("a session was opened twice")
        assert refused.value.name == "alreadyInProgress"
        assert 5 <= sum(pauses) <= 15
        await client.end()


async def test_clients_come_back(daemon: Daemon) -> None:
    count = 0
    async for client in bled.connect(daemon.socket):
        count += 1
        assert (await client.adapter_list()).adapters[0].state
        if count == 1:
            daemon.end(signal.SIGKILL)
            with pytest.raises(bled.DaemonUnreachable):
                async with client.events(bled.AdapterChanged) as events:
                    while True:
                        await anext(events)
            starting = asyncio.get_running_loop().run_in_executor(None, daemon.start)
            continue
        break
    await starting
    assert count == 2


async def test_no_daemon(daemon: Daemon) -> None:
    with pytest.raises(bled.DaemonUnreachable, match="there is no socket"):
        await bled.connect(daemon.socket + ".none")
    with pytest.raises(ConnectionError):
        await bled.connect(daemon.socket + ".none")
    with pytest.raises(bled.DaemonError):
        await bled.connect("/" + "x" * 200)

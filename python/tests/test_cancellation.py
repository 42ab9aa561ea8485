"""A task that is cancelled leaves nothing behind in the daemon."""

from __future__ import annotations

import asyncio
import os

import pytest
from conftest import BELT, ECHO_VALUE, Daemon, simulation

import bled

ADDRESS = str(BELT["address"])


async def mine(client: bled.Client) -> bled.SessionDescription:
    """The daemon's description of this session."""
    (session,) = [entry for entry in (await client.session_list()).sessions if entry.mine]
    return session


async def test_pending_connection(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        for reference in ({"address": "C0:DE:00:00:99:99"}, {"name": "Nobody"}, {"service": "FEED"}):
            connecting = asyncio.ensure_future(client.link(**reference)._open())  # type: ignore[arg-type]
            await client.adapter_list()
            session = await mine(client)
            assert session.connecting or session.searching
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting
            session = await mine(client)
            assert not session.connecting and not session.searching


@simulation
async def test_one_of_two_pending_connections(daemon: Daemon) -> None:
    await_belt = '{"devices": [{"name": "Late", "address": "C0:DE:00:00:00:77", "addressType": "random"}]}'
    async with bled.connect(daemon.socket) as client:
        both = [asyncio.ensure_future(client.link("C0:DE:00:00:00:77")._open()) for _ in range(2)]
        await client.adapter_list()
        both[0].cancel()
        await client.simulation_add(scenario=await_belt)
        link = await both[1]
        assert link.is_connected
        await link.disconnect()


async def test_link_that_nobody_gets(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        # At each step: before the answer, when it has arrived, and after it.
        for steps in range(40):
            connecting = asyncio.ensure_future(client.link(ADDRESS, timeout=30)._open())
            for _ in range(steps):
                await asyncio.sleep(0.002)
            connecting.cancel()
            try:
                await (await connecting).disconnect()
            except asyncio.CancelledError:
                pass
            session = await mine(client)
            assert not session.connecting and not session.connections


async def test_subscription_and_scan_that_nobody_gets(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(ADDRESS, timeout=30) as link:

        async def subscribe() -> None:
            async with link.subscribe("2A37"), client.scan():
                await asyncio.sleep(3600)

        for steps in range(30):
            task = asyncio.ensure_future(subscribe())
            for _ in range(steps):
                await asyncio.sleep(0)
            if steps > 20:
                await client.adapter_list()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # Earlier calls are answered by then.
            await link.read("2A38")
            session = await mine(client)
            while session.subscriptions or session.scans:
                session = await mine(client)


async def test_descriptors_that_nobody_gets(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Echo", timeout=30) as link:
        await link.read(ECHO_VALUE)
        before = len(os.listdir("/proc/self/fd"))
        for steps in range(20):
            task = asyncio.ensure_future(link.acquire(ECHO_VALUE)._open())
            for _ in range(steps % 5):
                await asyncio.sleep(0.001)
            task.cancel()
            try:
                await (await task).close()
            except asyncio.CancelledError:
                pass
            # The answer has arrived, and the daemon has noticed that its descriptor was closed.
            while (await mine(client)).acquired:
                pass
            await client.adapter_list()
        async with link.acquire(ECHO_VALUE) as pipe:
            await pipe.send(b"still there")
            assert await pipe.receive() == b"still there"
        assert len(os.listdir("/proc/self/fd")) == before


async def test_receive_loses_nothing(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Echo", timeout=30) as link:
        async with link.acquire(ECHO_VALUE) as pipe:
            received = []
            for number in range(50):
                receiving = asyncio.ensure_future(pipe.receive())
                await pipe.send(bytes([number]))
                for _ in range(number % 7):
                    await asyncio.sleep(0.001)
                receiving.cancel()
                try:
                    received.append(await receiving)
                except asyncio.CancelledError:
                    received.append(await pipe.receive())
            assert received == [bytes([number]) for number in range(50)]


async def test_stream_loses_nothing() -> None:
    stream: bled.Stream[int] = bled.Stream(10, bled.Full.END)
    first, second = (asyncio.ensure_future(anext(stream)) for _ in range(2))
    await asyncio.sleep(0)
    stream.offer(1)
    first.cancel()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first

"""The peripheral role, with a phone that visits."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from conftest import Daemon, Daemons, simulation

import bled

SERVICE = "6F3C0001-5B1E-4A0D-9B6A-0D1E6B7F2A10"
SWITCH = "6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10"
FIXED = "6F3C0003-5B1E-4A0D-9B6A-0D1E6B7F2A10"
LAMP = bled.ServiceToPublish(
    uuid=SERVICE,
    characteristics=[
        bled.ServiceToPublishCharacteristic(
            uuid=SWITCH, properties=["read", "write", "writeWithoutResponse", "notify"]
        ),
        bled.ServiceToPublishCharacteristic(uuid=FIXED, properties=["read"], value=b"fixed"),
    ],
)


def phone(*script: dict[str, Any]) -> str:
    """A phone with this script."""
    return json.dumps(
        {"name": "Phone", "address": "C0:DE:00:00:01:02", "addressType": "random", "stay": 0, "script": script}
    )


async def visit(client: bled.Client, *script: dict[str, Any]) -> bled.SimulationVisitResult:
    """A phone visits and goes; what it did."""
    return await client.simulation_visit(phone=phone(*script))


def step(visited: bled.SimulationVisitResult, action: str, characteristic: str) -> list[bled.SimulationVisitStep]:
    """The steps of one kind with a characteristic."""
    return [s for s in visited.steps if s.action == action and s.characteristic == characteristic]


@simulation
async def test_reads_writes_and_subscriptions(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.publish(LAMP) as lamp, client.advertise(name="Lamp", services=[SERVICE]) as advertisement:
            assert advertisement.result.adapter == daemon.adapters[0]
            switch = lamp.handle(SWITCH)
            visiting = asyncio.create_task(
                visit(
                    client,
                    {"do": "read"},
                    {"do": "write", "characteristic": SWITCH, "value": "01"},
                    {"do": "subscribe", "characteristic": SWITCH},
                    {"do": "read", "characteristic": SWITCH},
                )
            )
            # Longer than a packet: the phone reads it in parts.
            value = bytes(range(256)) + b"end"
            offsets = []
            async for event in client.server_events:
                match event:
                    case bled.ReadRequest():
                        assert event.handle == switch
                        offsets.append(event.offset)
                        event.respond(value)
                        # A second answer has no effect.
                        event.refuse(3)
                    case bled.WriteRequest():
                        assert (event.value, event.without_response) == (b"\x01", False)
                        value = event.value
                        event.respond()
                    case bled.ServerSubscribed():
                        assert event.handle == switch
                        result = await client.notify(switch, b"on")
                        assert (result.sent, result.receivers) == (True, 1)
                    case bled.ServerUnsubscribed():
                        break
            visited = await visiting
            assert visited.complete
            assert [s.value for s in step(visited, "read", SWITCH)] == [bytes(range(256)) + b"end", b"\x01"]
            assert [s.value for s in step(visited, "read", FIXED)] == [b"fixed"]
            assert [s.value for s in step(visited, "value", SWITCH)] == [b"on"]
            assert offsets[0] == 0 and len(offsets) == 3
        (session,) = [entry for entry in (await client.session_list()).sessions if entry.mine]
        assert (session.services, session.advertisements) == ((), ())


@simulation
async def test_refusals(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.publish(LAMP), client.advertise(name="Lamp", services=[SERVICE]):
            script = (
                {"do": "read", "characteristic": SWITCH},
                {"do": "write", "characteristic": SWITCH, "value": "01"},
            )
            visiting = asyncio.create_task(visit(client, *script))
            for code in (0x80, 0x03):
                request = await anext(client.server_events)
                assert isinstance(request, (bled.ReadRequest, bled.WriteRequest))
                request.refuse(code, "no")
            visited = await visiting
            (read,), (write,) = step(visited, "read", SWITCH), step(visited, "write", SWITCH)
            assert read.error is not None and (read.error.domain, read.error.code) == ("att", 0x80)
            assert write.error is not None and write.error.code == 3


@simulation
async def test_requests_that_nobody_reads_are_refused(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bled.serving.LIMIT", 1)
    async with bled.connect(daemon.socket) as client:
        async with client.publish(LAMP), client.advertise(name="Lamp", services=[SERVICE]):
            write = {"do": "subscribe", "characteristic": SWITCH}, {"do": "read", "characteristic": SWITCH}
            visited = await visit(client, *write)
            (read,) = step(visited, "read", SWITCH)
            assert read.error is not None and read.error.code == 0x11
            assert isinstance(await anext(client.server_events), bled.ServerSubscribed)
            with pytest.raises(bled.TooSlow):
                await anext(client.server_events)


@simulation
async def test_notifications_wait_for_room(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.publish(LAMP) as lamp, client.advertise(name="Lamp", services=[SERVICE]):
            script = ({"do": "subscribe", "characteristic": SWITCH}, {"do": "wait", "seconds": 3})
            visiting = asyncio.create_task(visit(client, *script))
            subscribed = await anext(client.server_events)
            assert isinstance(subscribed, bled.ServerSubscribed)
            for number in range(100):
                await client.notify(lamp.handle(SWITCH), number.to_bytes(2, "little"), [subscribed.central])
            values = [s.value for s in step(await visiting, "value", SWITCH)]
            assert values == [number.to_bytes(2, "little") for number in range(100)]


@simulation
async def test_indications_at_once(start: Daemons) -> None:
    """More than a link has places for: each waits for room, and for its own confirmation."""
    daemon = start(clock="manual")
    bell = bled.ServiceToPublish(
        uuid=SERVICE,
        characteristics=[bled.ServiceToPublishCharacteristic(uuid=SWITCH, properties=["indicate"])],
    )
    async with bled.connect(daemon.socket) as client, bled.connect(daemon.socket) as control:
        async with client.publish(bell) as published, client.advertise(name="Bell", services=[SERVICE]):
            script = ({"do": "subscribe", "characteristic": SWITCH}, {"do": "wait", "seconds": 60})
            visiting = asyncio.create_task(visit(client, *script))

            async def passing(task: asyncio.Task[Any]) -> Any:
                while not task.done():
                    await control.simulation_advance(seconds=0.01)
                return await task

            subscribed = await passing(asyncio.create_task(anext(client.server_events)))
            assert isinstance(subscribed, bled.ServerSubscribed)
            handle = published.handle(SWITCH)
            calls = [asyncio.create_task(client.indicate(handle, bytes([number]))) for number in range(24)]
            for call in calls:
                (confirmed,) = await passing(call)
                assert (confirmed.central, confirmed.error) == (subscribed.central, None)
            await control.simulation_advance(seconds=60)
            received = step(await visiting, "value", SWITCH)
            assert len(received) == 24 and {s.value for s in received} == {bytes([number]) for number in range(24)}


@simulation
async def test_values_over_a_descriptor(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.publish(LAMP) as lamp, client.advertise(name="Lamp", services=[SERVICE]):
            script = (
                {"do": "subscribe", "characteristic": SWITCH},
                {"do": "write", "characteristic": SWITCH, "value": "abcd"},
                {"do": "wait", "seconds": 2},
            )
            visiting = asyncio.create_task(visit(client, *script))
            subscribed = await anext(client.server_events)
            assert isinstance(subscribed, bled.ServerSubscribed)
            async with client.acquire(subscribed.central, lamp.handle(SWITCH)) as pipe:
                for number in range(50):
                    await pipe.send(bytes([number]) * pipe.maximum_length)
                pipe.end_sending()
                async for _ in pipe:
                    pass
            values = [s.value for s in step(await visiting, "value", SWITCH)]
            assert values == [bytes([number]) * 182 for number in range(50)]


async def test_two_programs_on_one_air(start: Daemons) -> None:
    daemon = start(adapters=2)
    async with bled.connect(daemon.socket) as belt, bled.connect(daemon.socket) as phone:
        async with belt.publish(LAMP), belt.advertise(name="Lamp", services=[SERVICE], adapter=daemon.adapters[1]):
            async with phone.link(name="Lamp", adapter=daemon.adapters[0], timeout=30) as link:
                reading = asyncio.create_task(link.read(SWITCH))
                request = await anext(belt.server_events)
                assert isinstance(request, bled.ReadRequest)
                request.respond(b"on")
                assert await reading == b"on"


@simulation
async def test_channels_that_devices_open(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client:
        async with client.listen() as listener, client.advertise(name="Lamp"):
            script = ({"do": "openChannel", "psm": listener.psm, "text": "Hello"}, {"do": "wait", "seconds": 2})
            visiting = asyncio.create_task(visit(client, *script))
            async with listener.accept() as channel:
                assert await channel.receive() == b"Hello"
                await visiting
                assert await channel.receive() is None
                await asyncio.sleep(0)
                assert channel.reason is not None

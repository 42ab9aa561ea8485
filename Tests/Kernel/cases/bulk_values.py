"""Group 14: values of a characteristic over a descriptor of their own."""

import asyncio
import socket

from bumble.core import UUID
from bumble.device import Peer

from support import peripheral as p
from support import published
from support.cases import expect, expect_equal, stage
from support.main_things import PHONE, hears
from support.python_session import ADDRESS, PythonSession

COUNT = 300
BURST = 20  # How many commands the phone writes before what came of them is read.
SERVICE = "B1ED2001-0000-4000-8000-00805F9B34FB"
PIPE = "B1ED2002-0000-4000-8000-00805F9B34FB"


@stage(14, "values over descriptors")
async def descriptors(resources):
    return await PythonSession.open(resources)


async def acquire(given, **params):
    """Connects, and acquires a characteristic; gives the identifier of the device, the answer and the socket."""
    connected = await given.call("peripheral.connect", address=ADDRESS, addressType="random")
    acquired = await given.call("gatt.acquire", peripheral=connected["peripheral"], **params)
    return connected["peripheral"], acquired, received(acquired)


def received(acquired):
    """The socket that came with an answer."""
    pipe = socket.socket(fileno=acquired["descriptor"])
    pipe.setblocking(False)
    return pipe


async def end(given, identifier):
    """The session lets go, and the link ends."""
    gone = given.peripheral.disconnection()
    await given.call("peripheral.disconnect", peripheral=identifier)
    await asyncio.wait_for(gone, 60)


@descriptors.case("packets become write commands, all of them and in order, as fast as the air takes them")
async def writes(given):
    identifier, acquired, pipe = await acquire(given, characteristic=p.WRITABLE)
    expect_equal((acquired["writes"], acquired["values"]), (True, False), "what can be done")
    loop = asyncio.get_running_loop()
    with pipe:
        for number in range(COUNT):
            await asyncio.wait_for(loop.sock_sendall(pipe, number.to_bytes(2, "little") * 10), 60)
    came = [await asyncio.wait_for(given.peripheral.written.get(), 60) for _ in range(COUNT)]
    expect_equal(came, [number.to_bytes(2, "little") * 10 for number in range(COUNT)], "what the device got")
    await end(given, identifier)


@descriptors.case("notifications become packets; closing the descriptor unsubscribes")
async def values(given):
    subscribed = given.peripheral.subscription(given.peripheral.measurement)
    identifier, acquired, pipe = await acquire(given, characteristic=p.MEASUREMENT)
    expect_equal((acquired["writes"], acquired["values"]), (False, True), "what can be done")
    expect_equal(await asyncio.wait_for(subscribed, 60), (True, False), "the subscription that the device saw")
    loop = asyncio.get_running_loop()
    ended = given.peripheral.subscription(given.peripheral.measurement)
    with pipe:
        for number in range(COUNT):
            await given.peripheral.notify(number.to_bytes(2, "little"))
            value = await asyncio.wait_for(loop.sock_recv(pipe, 512), 60)
            expect_equal(value, number.to_bytes(2, "little"), "the value")
    expect_equal(await asyncio.wait_for(ended, 60), (False, False), "the subscription after the end")
    await end(given, identifier)


@descriptors.case("the end of the link is read as the end, and told with the reason")
async def lost(given):
    _, _, pipe = await acquire(given, characteristic=p.MEASUREMENT)
    [connection] = given.peripheral.device.connections.values()
    await connection.disconnect()
    with pipe:
        octets = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(pipe, 512), 60)
    expect(not octets, "there is something to read behind the end")
    released = await given.next("gatt.released")
    expect_equal((released["reason"]["data"]["name"], released["unsent"]), ("disconnected", 0), "what was told")


@descriptors.case("what is published: packets are notified in order, a phone's commands are packets, its end is told")
async def served(given):
    characteristics = [{"uuid": PIPE, "properties": ["writeWithoutResponse", "notify"]}]
    added = await given.call("service.add", service={"uuid": SERVICE, "characteristics": characteristics})
    await given.call("advertising.start", name=published.NAME)
    phone = await given.air.device("Bumble phone", PHONE)
    found = await hears(phone, published.NAME)
    peer = Peer(await asyncio.wait_for(phone.connect(found.address), 60))
    await asyncio.wait_for(peer.discover_all(), 60)
    [characteristic] = peer.get_characteristics_by_uuid(UUID(PIPE))
    notified = asyncio.Queue()
    await peer.subscribe(characteristic, lambda value: notified.put_nowait(bytes(value)))
    subscriber = await given.next("server.subscribed")
    acquired = await given.call("server.acquire", central=subscriber["central"], handle=subscriber["handle"])
    expect_equal((acquired["sends"], acquired["receives"]), (True, True), "what can be done")
    loop = asyncio.get_running_loop()
    values = [number.to_bytes(2, "little") * 10 for number in range(COUNT)]
    with received(acquired) as pipe:
        for value in values:
            await asyncio.wait_for(loop.sock_sendall(pipe, value), 60)
        expect_equal([await asyncio.wait_for(notified.get(), 60) for _ in values], values, "what the phone got")
        for first in range(0, COUNT, BURST):
            burst = values[first : first + BURST]
            for value in burst:
                await characteristic.write_value(value, with_response=False)
            came = [await asyncio.wait_for(loop.sock_recv(pipe, 512), 60) for _ in burst]
            expect_equal(came, burst, "what the phone wrote")
        await peer.connection.disconnect()
        expect(not await asyncio.wait_for(loop.sock_recv(pipe, 512), 60), "there is something behind the end")
    released = await given.next("server.released")
    expect_equal((released["reason"]["data"]["name"], released["unsent"]), ("disconnected", 0), "what was told")
    expect_equal(released["central"], subscriber["central"], "whose end it was")
    await given.call("advertising.stop")
    await given.call("service.remove", handle=added["service"]["handle"])

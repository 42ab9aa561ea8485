"""Group 14: values of a characteristic over a descriptor of their own."""

import asyncio
import socket

from support import peripheral as p
from support.cases import expect, expect_equal, stage
from support.python_session import ADDRESS, PythonSession

COUNT = 300


@stage(14, "values over descriptors")
async def descriptors(resources):
    return await PythonSession.open(resources)


async def acquire(given, **params):
    """Connects, and acquires a characteristic; gives the identifier of the device, the answer and the socket."""
    connected = await given.call("peripheral.connect", address=ADDRESS, addressType="random")
    acquired = await given.call("gatt.acquire", peripheral=connected["peripheral"], **params)
    pipe = socket.socket(fileno=acquired["descriptor"])
    pipe.setblocking(False)
    return connected["peripheral"], acquired, pipe


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
    released = await asyncio.to_thread(given.session.next, "gatt.released", 60)
    expect_equal((released["reason"]["data"]["name"], released["unsent"]), ("disconnected", 0), "what was told")

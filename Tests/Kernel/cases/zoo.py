"""Group 7: controllers that are less polite than Bumble's."""

import asyncio
from dataclasses import dataclass

from support import peripheral as p
from support import tree
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.main_things import ADDRESS, connect, let_go
from support.peripheral import Peripheral
from support.waiting import until
from support.zoo import ConnectionEvents, LostEnds


@dataclass
class Given:
    """bled on hci0, and a peripheral, which advertises."""

    air: Air
    adapter: object
    daemon: Daemon
    client: object
    peripheral: Peripheral


async def build(resources, personality=None, configuration=None):
    """Such a controller on hci0, with bled on it."""
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", personality))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0", configuration=configuration))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(air, adapter, daemon, client, peripheral)


@stage(7, "connection events of 50 ms")
async def connection_events(resources):
    return await build(resources, ConnectionEvents)


@connection_events.case("what was written without response before a disconnect arrives")
async def written_before_the_end(given):
    # A single packet leaves too early on a slow machine, unless the event is far away.
    for count, interval in ((20, 0.05), (1, 0.5)):
        given.adapter.controller.interval = 0.05
        identifier = await connect(given)
        discovered = await given.client.call("gatt.discover", peripheral=identifier)
        given.adapter.controller.interval = interval
        handle = tree.characteristic(discovered, p.OURS, p.WRITABLE)["handle"]
        gone = given.peripheral.disconnection()
        # Each takes three packets of the controller's 27 octets.
        values = [bytes([number] * 60) for number in range(count)]
        calls = [
            given.client.start("gatt.write", peripheral=identifier, handle=handle, value=value.hex(), response=False)
            for value in values
        ]
        await asyncio.gather(*calls)
        await let_go(given, identifier)
        await asyncio.wait_for(gone, 60)
        arrived = [given.peripheral.written.get_nowait() for _ in range(given.peripheral.written.qsize())]
        expect_equal([value[0] for value in arrived], list(range(count)), "what arrived")


@connection_events.case("so does what bleshell writes without response")
async def written_by_bleshell(given):
    given.adapter.controller.interval = 0.5
    await given.daemon.bleshell("write", ADDRESS, p.WRITABLE, "cafe", "--no-response")
    expect_equal(await asyncio.wait_for(given.peripheral.written.get(), 10), b"\xca\xfe", "what arrived")


@stage(7, "ends of links are lost")
async def lost_ends(resources):
    return await build(resources, LostEnds)


async def connects_again(given):
    """The device can be connected again, and used."""
    given.adapter.controller.loses_ends = False
    identifier = await connect(given)
    await given.client.call("gatt.discover", peripheral=identifier)
    gone = given.peripheral.disconnection()
    await let_go(given, identifier)
    await asyncio.wait_for(gone, 60)


@lost_ends.case("a link dies untold and Disconnect is answered with 0x02: the device is connected again")
async def unknown_connection(given):
    identifier = await connect(given)
    given.adapter.controller.loses_ends = True
    gone = given.peripheral.disconnection()
    [connection] = given.peripheral.device.connections.values()
    await connection.disconnect()
    await asyncio.wait_for(gone, 60)
    await let_go(given, identifier)
    await connects_again(given)


@lost_ends.case("Disconnection Complete does not follow Disconnect: the device is connected again")
async def no_disconnection_complete(given):
    identifier = await connect(given)
    given.adapter.controller.loses_ends = True
    gone = given.peripheral.disconnection()
    await let_go(given, identifier)
    await asyncio.wait_for(gone, 60)
    await connects_again(given)


@stage(7, "a peripheral that asks to pair")
async def asking(resources):
    return await build(resources)


@asking.case("it is refused, and its link stays")
async def pairing_refused(given):
    identifier = await connect(given)
    connection, failed = outcome(given, "EVENT_PAIRING_FAILURE")
    connection.request_pairing()
    await asyncio.wait_for(failed, 60)
    expect(not connection.is_encrypted, "the link was encrypted")
    await given.client.call("gatt.discover", peripheral=identifier)
    await let_go(given, identifier)


@stage(7, "a peripheral that pairs and loses its keys")
async def forgetful(resources):
    return await build(resources, configuration={"pairing": "just-works"})


@forgetful.case("after peripheral.forget it pairs again")
async def pairing_again(given):
    for _ in range(2):
        identifier = await connect(given)
        connection, paired = outcome(given, "EVENT_PAIRING")
        connection.request_pairing()
        await asyncio.wait_for(paired, 60)
        gone = given.peripheral.disconnection()
        await let_go(given, identifier)
        await asyncio.wait_for(gone, 60)
        await given.peripheral.device.keystore.delete_all()
        # Its side of the link may end first.
        await until(lambda: is_free(given.client, identifier))
        await given.client.call("peripheral.forget", peripheral=identifier)


async def is_free(client, identifier):
    """Whether a device has no link, and none is wanted."""
    known = (await client.call("peripheral.list"))["peripherals"]
    return all(each["state"] == "disconnected" for each in known if each["peripheral"] == identifier)


def outcome(given, event):
    """The peripheral's side of the one link, and the future of an event of its pairing."""
    [connection] = given.peripheral.device.connections.values()
    future = asyncio.get_running_loop().create_future()
    connection.once(getattr(connection, event), lambda *_: future.done() or future.set_result(None))
    return connection, future

"""Group 11: parameters of links: what is in force, what sessions want, and what the device wants."""

import asyncio
from dataclasses import dataclass

from support import own_host
from support.air import Adapter, Air
from support.cases import expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.peripheral import Peripheral

ADDRESS = "F0:F1:F2:F3:F4:01"
QUICK = {"minimumInterval": 0.0075, "maximumInterval": 0.015, "latency": 0, "timeout": 3}
SLOW = {"minimumInterval": 0.3, "maximumInterval": 0.4, "latency": 4, "timeout": 8}


@dataclass
class Given:
    """bled on hci0 with two sessions, and the peripheral, which advertises."""

    adapter: Adapter
    daemon: Daemon
    client: object
    other: object
    peripheral: Peripheral


@stage(11, "links and their parameters")
async def links(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client, other = await daemon.client(), await daemon.client()
    await daemon.until_on(client)
    return Given(adapter, daemon, client, other, peripheral)


async def connect(client, **params):
    """Connects a session; gives the identifier of the device."""
    connected = await client.call(
        "peripheral.connect", address=ADDRESS, addressType="random", timeout=60, **params
    )
    return connected["peripheral"]


async def in_force(client, identifier):
    """Interval, latency and timeout as the daemon reports them."""
    known = await client.call("peripheral.parameters", peripheral=identifier)
    return known["interval"], known["latency"], known["timeout"]


async def told(client, interval):
    """Waits for the event with this interval."""
    return await client.next("peripheral.parametersChanged", lambda event: event["interval"] == interval)


async def end(given, identifier):
    """Both sessions let go, and the link ends."""
    gone = given.peripheral.disconnection()
    sessions = (given.client, given.other)
    calls = [session.call("peripheral.disconnect", peripheral=identifier) for session in sessions]
    await asyncio.gather(*calls, return_exceptions=True)
    await asyncio.wait_for(gone, 60)
    for session in sessions:
        session.forget("peripheral.parametersChanged")


@links.case("a link begins with what is wanted, and all sessions see what is in force, and when it changes")
async def whole_life(given):
    client, other = given.client, given.other
    identifier = await connect(client, parameters=SLOW)
    expect_equal(await in_force(other, identifier), (0.3, 4, 8), "the parameters of the new link")
    await connect(other)
    changed = await other.call("peripheral.setParameters", peripheral=identifier, parameters=QUICK)
    expect_equal((changed["interval"], changed["latency"], changed["timeout"]), (0.015, 0, 8), "the merged wishes")
    [connection] = given.peripheral.device.connections.values()
    for session in (client, other):
        event = await told(session, 0.015)
        expect_equal((event["latency"], event["timeout"], event["role"]), (0, 8, "central"), "the event")
    expect_equal(connection.parameters.connection_interval, 15, "the interval as the device sees it, in ms")
    error = await failure_of(
        client.call("peripheral.setParameters", peripheral=identifier, parameters={**SLOW, "timeout": 4})
    )
    expect_equal(error["name"], "invalidParameter", "a timeout that the specification forbids")
    await other.call("peripheral.disconnect", peripheral=identifier)
    event = await told(client, 0.4)
    expect_equal((event["latency"], event["timeout"]), (4, 8), "what is left of the wishes")
    await client.call("peripheral.setParameters", peripheral=identifier)
    event = await told(client, 0.045)
    expect_equal((event["latency"], event["timeout"]), (0, 4), "a link without wishes")
    await end(given, identifier)


@links.case("what a device asks for is granted without wishes, and corrected with them, until it insists")
async def asked_by_the_device(given):
    client = given.client
    identifier = await connect(client)
    [connection] = given.peripheral.device.connections.values()
    await connection.update_parameters(200, 250, 2, 6000, use_l2cap=True)
    event = await told(client, 0.25)
    expect_equal((event["latency"], event["timeout"]), (2, 6), "what the kernel granted")
    await client.call("peripheral.setParameters", peripheral=identifier, parameters=QUICK)
    client.forget("peripheral.parametersChanged")
    if own_host.IS_USED:
        await refused_by_our_host(client, connection, identifier)
        return await end(given, identifier)
    for _ in range(3):
        await connection.update_parameters(200, 250, 2, 6000, use_l2cap=True)
        await told(client, 0.25)
        await told(client, 0.015)
    await connection.update_parameters(200, 250, 2, 6000, use_l2cap=True)
    await told(client, 0.25)
    # Whatever would follow is under way before the answer to this.
    await client.call("gatt.discover", peripheral=identifier)
    expect_equal(await in_force(client, identifier), (0.25, 2, 6), "the parameters of a device that insists")
    await end(given, identifier)


async def refused_by_our_host(client, connection, identifier):
    """A host of bled's own refuses what agrees with no wish, and grants the part that does."""
    try:
        await connection.update_parameters(200, 250, 2, 6000, use_l2cap=True)
    except Exception:  # pylint: disable=broad-except
        pass
    else:
        raise AssertionError("the device got what nobody wanted")
    await client.call("gatt.discover", peripheral=identifier)
    expect_equal(await in_force(client, identifier), (0.015, 0, 3), "the parameters that a session wants")
    await connection.update_parameters(10, 12.5, 2, 6000, use_l2cap=True)
    event = await told(client, 0.0125)
    expect_equal((event["latency"], event["timeout"]), (0, 3), "the part that agrees")


@links.case("a new link gets 2M and 251 octets, or keeps 1M as asked; setPHY changes it, or says why not")
async def phys(given):
    client, controller = given.client, given.adapter.controller
    [adapter] = (await client.call("adapter.list"))["adapters"]
    expect_equal((adapter["phys"], adapter["longestPacket"]), (["1M", "2M", "coded"], 251), "what the controller has")
    controller.asked.clear()
    identifier = await connect(client)
    await until(client, identifier, txPHY="2M", rxPHY="2M", txOctets=251, rxOctets=251)
    asked = sorted(controller.asked)
    expect_equal(asked, [("octets", 251, 17040), ("phy", 2, 2, 0), ("phy", 3, 3, 0)], "what was asked")
    for word, asked, phy in (("codedS8", 2, "coded"), ("codedS2", 1, "coded"), ("1M", 0, "1M")):
        changed = await client.call("peripheral.setPHY", peripheral=identifier, phy=word)
        expect_equal((changed["txPHY"], changed["rxPHY"]), (phy, phy), f"the PHYs after {word}")
        expect_equal(controller.asked[-1][3], asked, f"the coding that is preferred for {word}")
    controller.lacks = {3}
    error = await failure_of(client.call("peripheral.setPHY", peripheral=identifier, phy="coded"))
    expect_equal(error["domain"], "hci", "the error of a device without the coded PHY")
    controller.lacks = set()
    await end(given, identifier)
    controller.asked.clear()
    identifier = await connect(client, phy="1M")
    await until(client, identifier, txOctets=251)
    expect_equal(controller.asked, [("octets", 251, 17040)], "what was asked for a link that is to stay on 1M")
    await end(given, identifier)


@links.case("a device is looked for on the coded PHY, too, if that is asked for; a scan listens there")
async def coded(given):
    client, controller = given.client, given.adapter.controller
    identifier = await connect(client, phy="coded")
    await until(client, identifier, txPHY="coded", rxPHY="coded")
    await end(given, identifier)
    await client.call("scan.start", phys=["1M", "coded"])
    await client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await client.call("scan.stop")
    expect_equal(controller.scanned, {5}, "the PHYs of scans")
    expect_equal(controller.initiated, {1, 5}, "the PHYs on which devices were looked for")


async def until(client, identifier, **wanted):
    """Waits until these are in force."""

    def fits(known):
        return all(known.get(name) == value for name, value in wanted.items())

    if not fits(await client.call("peripheral.parameters", peripheral=identifier)):
        await client.next("peripheral.parametersChanged", fits)

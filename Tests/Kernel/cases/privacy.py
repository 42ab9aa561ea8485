"""Group 8: devices that change their private addresses, with Bumble at the other side."""

import asyncio
import secrets

from bumble.hci import Address
from cases.pairing import KINDS, LOCK, SECRET, as_phone, build, build_phone, leave
from support import own_host
from support.cases import expect, expect_equal, stage
from support.resolving import Resolving
from support.waiting import until


async def rotate(given, *, advertises=True):
    """The device takes another private address."""
    device = given.device
    if advertises:
        await device.stop_advertising()
    await given.take_address(Address.generate_private_address(device.irk))
    if advertises:
        await advertise(device)
    return device.random_address.to_string(with_type_qualifier=False)


async def advertise(device):
    """The device advertises, also after each link."""
    await device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)


async def make_private(given):
    """The device uses private addresses from now on, and reveals its identity when it pairs."""
    given.device.irk = secrets.token_bytes(16)
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False, identity=Address.RANDOM_DEVICE_ADDRESS)


def count_pairings(device):
    """Gives a list that grows with every pairing on links that come up from now on."""
    pairings = []
    device.on("connection", lambda connection: connection.on(connection.EVENT_PAIRING, pairings.append))
    return pairings


async def known(given):
    """The identifiers of all devices that bled knows by the address of the lock."""
    listed = (await given.client.call("peripheral.list"))["peripherals"]
    return [entry["peripheral"] for entry in listed if entry["address"] == LOCK]


@stage(8, "a lock with private addresses")
async def lock(resources):
    given = await build(resources)
    await make_private(given)
    return given


@lock.case("a rotating peer is one peripheral, also after a restart (P23)")
async def one_peripheral(given):
    stranger = await rotate(given)
    identifier = await given.connect(address=stranger, addressType="random", timeout=60)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    [bond] = await given.bonds()
    expect_equal((bond["address"], bond["peripheral"]), (LOCK, identifier), "the bond")
    pairings = count_pairings(given.device)
    await given.let_go(identifier)
    await rotate(given)
    await given.client.call("scan.start", duplicates=True)
    report = await given.client.next("scan.report", lambda event: event["peripheral"] == identifier)
    expect_equal(report["address"], LOCK, "the address in the report")
    await given.client.call("scan.stop")
    await given.connect(peripheral=identifier, timeout=60)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value under the next address")
    await given.let_go(identifier)
    await rotate(given)
    given.client = await given.daemon.restart()
    await given.connect(peripheral=identifier, timeout=60)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value after the restart")
    expect_equal(await known(given), [identifier], "the devices")
    expect(not pairings, "it paired again")
    await given.start_over(identifier)


@lock.case("a rotating peer is found also while it is waited for, and comes back to who keeps it (P23)")
async def waited_for(given):
    stranger = await rotate(given)
    identifier = await given.connect(address=stranger, addressType="random", timeout=60)
    await given.read(identifier, SECRET)
    pairings = count_pairings(given.device)
    await given.let_go(identifier)
    await given.device.stop_advertising()
    waiting = given.client.start("peripheral.connect", peripheral=identifier, reconnect=True)
    await rotate(given, advertises=False)
    await advertise(given.device)
    expect_equal((await asyncio.wait_for(waiting, 90))["peripheral"], identifier, "who was connected")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value")
    [connection] = given.device.connections.values()
    await connection.disconnect()
    await rotate(given)
    back = await given.client.next("peripheral.connected", lambda event: event["peripheral"] == identifier, 90)
    expect_equal(back["address"], LOCK, "its address")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value on the link that came back")
    expect(not pairings, "it paired again")
    await given.start_over(identifier)


@stage(8, "a phone with private addresses")
async def phone(resources):
    given = await build_phone(resources)
    await make_private(given)
    return given


@phone.case("a bonded central with another private address is the same central, also after a restart (P23)")
async def central(given):
    await given.client.call("pairing.open", seconds=60)
    await rotate(given, advertises=False)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    [bond] = await given.bonds()
    expect_equal(bond["address"], LOCK, "the bond")
    for restarts in (False, True):
        if restarts:
            given.client = await given.daemon.restart()
            await given.publish()
        await rotate(given, advertises=False)
        connection, secret = await as_phone(given)
        await asyncio.wait_for(connection.encrypt(), 60)
        expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
        expect_equal(await known(given), [bond["peripheral"]], "the devices")
        await leave(connection)


@stage(8, "a lock with private addresses, and a controller that resolves them")
async def resolved_lock(resources):
    given = await build(resources, personality=Resolving)
    await make_private(given)
    return given


@resolved_lock.case("it is reported and connected under its identity, as long as its keys are kept")
async def by_the_controller(given):
    [controller] = [each for each in given.device.host.controller.link.controllers if isinstance(each, Resolving)]
    identifier = await given.connect(address=await rotate(given), addressType="random", timeout=60)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    pairings = count_pairings(given.device)
    await given.let_go(identifier)
    if own_host.IS_USED:
        await until(lambda: controller.le_address_resolution)
        expect_equal(len(controller.identities), 1, "the devices in the list")
    for _ in range(2):
        await rotate(given)
        controller.connected.clear()
        await given.connect(peripheral=identifier, timeout=60)
        expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value under another address")
        expect_equal(controller.connected, [LOCK] if own_host.IS_USED else [], "whom the controller connected to")
        await given.let_go(identifier)
    await given.client.call("scan.start", duplicates=True)
    report = await given.client.next("scan.report", lambda event: event["peripheral"] == identifier)
    expect_equal(report["address"], LOCK, "the address in the report")
    # The device shows its identity.
    await given.device.stop_advertising()
    await given.take_address(Address(LOCK))
    await advertise(given.device)
    given.client.forget("scan.report")
    await given.client.next("scan.report", lambda event: event["peripheral"] == identifier)
    await given.connect(peripheral=identifier, timeout=60)
    await given.let_go(identifier)
    await given.client.call("scan.stop")
    expect(not pairings, "it paired again")
    await rotate(given)
    given.client = await given.daemon.restart()
    await given.connect(peripheral=identifier, timeout=60)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value after the restart")
    await given.start_over(identifier)
    await until(lambda: not controller.identities)

"""Groups 1 and 2 once more, with programs written for Apple's CoreBluetooth on bled's side: those of Examples."""

import asyncio
from dataclasses import dataclass

from bumble.att import ATT_Error, ErrorCode
from bumble.core import UUID, AdvertisingData
from bumble.device import Peer
from bumble.gatt import GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR, Descriptor

from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.examples import example
from support.main_things import hears
from support.peripheral import Peripheral
from support.waiting import until


@dataclass
class Given:
    """bled on hci0, and the other side."""

    daemon: Daemon
    other: object


async def ready(resources, configuration=None):
    """bled on hci0."""
    daemon = await resources.open(Daemon(resources, "hci0", configuration=configuration))
    await daemon.until_on(await daemon.client())
    return daemon


@stage(1, "CoreBluetooth's heart-rate monitor, Bumble as peripheral")
async def monitor(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    belt = await Peripheral.make(air, "Bumble belt", "F0:F1:F2:F3:F4:01")
    await belt.advertise()
    return Given(await ready(resources), belt)


@monitor.case("finds the belt, subscribes, prints three measurements, disconnects")
async def measures(given):
    subscribed = given.other.subscription(given.other.measurement)
    async with example(given.daemon, "HeartRateMonitor", "3") as program:
        await program.wait_for("Found Bumble belt")
        await program.wait_for("Connected")
        expect_equal(await asyncio.wait_for(subscribed, 60), (True, False), "what is subscribed to")
        gone = given.other.disconnection()
        for rate in (61, 62, 63):
            await given.other.notify(bytes([6, rate]))
            await program.wait_for(f"{rate} beats per minute")
        await program.wait_for("Disconnected")
        await asyncio.wait_for(gone, 60)
        expect_equal(await asyncio.wait_for(program.process.wait(), 60), 0, "the program's status")


@stage(2, "CoreBluetooth's heart-rate belt, Bumble as central")
async def belt(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    phone = await air.device("Bumble phone", "F0:F1:F2:F3:F4:02")
    return Given(await ready(resources), phone)


@belt.case("is found, read and subscribed to; its measurements come until the central leaves")
async def is_measured(given):
    phone = given.other
    async with example(given.daemon, "HeartRateBelt") as program:
        await program.wait_for("Advertising")
        found = await hears(phone, "Belt")
        listed = found.data.get(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS)
        expect_equal(listed, [UUID("180D")], "the advertised services")

        peer = Peer(await asyncio.wait_for(phone.connect(found.address), 60))
        await peer.discover_all()
        [location] = peer.get_characteristics_by_uuid(UUID("2A38"))
        expect_equal(await location.read_value(), b"\x01", "the sensor's location")
        await program.wait_for("Read: the sensor's location")

        [measurement] = peer.get_characteristics_by_uuid(UUID("2A37"))
        values = asyncio.Queue()
        await peer.subscribe(measurement, lambda value: values.put_nowait(bytes(value)))
        await program.wait_for("Subscribed")
        for _ in range(3):
            value = await asyncio.wait_for(values.get(), 60)
            expect_equal((len(value), value[0]), (2, 6), "a measurement's length and flags")
        await peer.connection.disconnect()
        await program.wait_for("Unsubscribed")


@stage(2, "CoreBluetooth's protected e-mail address, Bumble as central")
async def email(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    phone = await air.device("Bumble phone", "F0:F1:F2:F3:F4:02")
    return Given(await ready(resources, {"pairing": "just-works"}), phone)


@email.case("is refused to who is not paired, and read by who has paired (G17)")
async def is_protected(given):
    async with example(given.daemon, "ProtectedEmail") as program:
        await program.wait_for("Advertising")
        found = await hears(given.other, "Alice")
        connection = await asyncio.wait_for(given.other.connect(found.address), 60)
        peer = Peer(connection)
        await peer.discover_all()
        [name] = peer.get_characteristics_by_uuid(UUID("2A8A"))
        expect_equal(await name.read_value(), b"Alice", "the name")
        [address] = peer.get_characteristics_by_uuid(UUID("2A87"))
        try:
            await address.read_value()
            expect(False, "the address was read without pairing")
        except ATT_Error as error:
            expect_equal(error.error_code, ErrorCode.INSUFFICIENT_AUTHENTICATION, "the refusal")
        await asyncio.wait_for(connection.pair(), 60)
        expect(b"@" in await asyncio.wait_for(address.read_value(), 60), "the address after pairing")
        await program.wait_for("The e-mail address was read by")
        await connection.disconnect()


@stage(1, "CoreBluetooth's heart-rate monitor and a belt that wants to be paired")
async def protected(resources):
    given = await monitor.build(resources)
    # Bumble adds the descriptor itself, for everybody.
    configuration = given.other.device.gatt_server.get_attribute(given.other.measurement.handle + 1)
    expect_equal(configuration.type, GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR, "the attribute's type")
    configuration.permissions |= Descriptor.WRITE_REQUIRES_ENCRYPTION
    return given


@protected.case("pairs to subscribe; with a belt that lost its keys it is told that the peer removed them")
async def lost_keys(given):
    async with example(given.daemon, "HeartRateMonitor", "1") as program:
        subscribed = given.other.subscription(given.other.measurement)
        await asyncio.wait_for(subscribed, 60)
        await given.other.notify(bytes([6, 61]))
        await program.wait_for("61 beats per minute")
        expect_equal(await asyncio.wait_for(program.process.wait(), 60), 0, "the program's status")
    expect_equal(len(await until(given.other.device.keystore.get_all)), 1, "the belt's bonds")
    await given.other.device.keystore.delete_all()
    async with example(given.daemon, "HeartRateMonitor", "1") as program:
        await program.wait_for("Could not connect: Peer removed pairing information")

"""Group 10: devices by name and service, attributes by UUID, several values at once."""

import asyncio
import struct
from dataclasses import dataclass

from bumble.att import ATT_CID, ATT_Error, ErrorCode
from bumble.core import UUID
from bumble.device import Peer
from bumble.gatt import Characteristic, Service

from support import peripheral as p
from support import published
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.main_things import hears
from support.peripheral import Peripheral

ADDRESS = "F0:F1:F2:F3:F4:01"
NAME = "Bumble belt"
PAIR = "B1ED3001-0000-4000-8000-00805F9B34FB"  # A service with two values that are notified.
LEFT, RIGHT = "B1ED3002-0000-4000-8000-00805F9B34FB", "B1ED3003-0000-4000-8000-00805F9B34FB"
LATER, ADDED = "B1ED3004-0000-4000-8000-00805F9B34FB", "B1ED3005-0000-4000-8000-00805F9B34FB"
CLIENT_FEATURES = "2B29"
OURS = b"\x05"  # What our client tells of itself: Robust Caching, Multiple Handle Value Notifications.
MULTIPLE = 0x23  # Multiple Handle Value Notification (Core 5.4, Vol 3, Part F, 3.4.7.4), which Bumble lacks.


@dataclass
class Given:
    """bled on hci0, the peripheral, which advertises, and a phone."""

    client: object
    peripheral: Peripheral
    phone: object


@stage(10, "attributes and devices by name")
async def by_name(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, NAME, ADDRESS)
    notified = Characteristic.Properties.NOTIFY
    peripheral.device.add_service(Service(PAIR, [Characteristic(uuid, notified, 0, b"") for uuid in (LEFT, RIGHT)]))
    await peripheral.advertise()
    phone = await air.device("Bumble phone", "F0:F1:F2:F3:F4:02")
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(client, peripheral, phone)


async def end(given, identifier):
    """The session lets go, and the link ends."""
    gone = given.peripheral.disconnection()
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await asyncio.wait_for(gone, 60)


@by_name.case("three calls read a value of a device that was never heard: by its name, by a part of it, by a service")
async def three_calls(given):
    for criteria in ({"name": NAME}, {"namePrefix": "Bumble"}, {"service": p.HEART_RATE}):
        connected = await given.client.call("peripheral.connect", timeout=60, **criteria)
        expect_equal(connected["address"], ADDRESS, f"who was found by {criteria}")
        identifier = connected["peripheral"]
        read = await given.client.call("gatt.read", peripheral=identifier, characteristic=p.LOCATION)
        expect_equal((read["value"], read["uuid"]), ("01", p.LOCATION), "the value, and what it is of")
        again = await given.client.call("gatt.read", peripheral=identifier, handle=read["handle"])
        expect_equal(again["value"], "01", "the value by its handle")
        await end(given, identifier)
    error = await failure_of(given.client.call("peripheral.connect", name="Nobody", timeout=0.5))
    expect_equal(error["name"], "timeout", "the error when no such device is heard")


@by_name.case("writes and subscriptions by UUID; what there is not, or twice, is said")
async def by_uuid(given):
    client = given.client
    identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
    await client.call(
        "gatt.write", peripheral=identifier, characteristic=p.WRITABLE, service=p.OURS, value=b"by UUID".hex()
    )
    expect_equal(await asyncio.wait_for(given.peripheral.written.get(), 60), b"by UUID", "what came")
    read = await client.call(
        "gatt.read", peripheral=identifier, characteristic=p.WRITABLE, descriptor=p.USER_DESCRIPTION
    )
    expect_equal(bytes.fromhex(read["value"]), b"store", "the descriptor")
    subscribed = await client.call("gatt.subscribe", peripheral=identifier, characteristic=p.MEASUREMENT)
    await given.peripheral.notify(b"\x00\x50")
    event = await client.next("gatt.value", lambda event: event["handle"] == subscribed["handle"])
    expect_equal(event["value"], "0050", "the notified value")
    error = await failure_of(client.call("gatt.read", peripheral=identifier, characteristic="2AFF"))
    expect_equal(error["name"], "unknownAttribute", "the error for what there is not")
    await end(given, identifier)


@by_name.case("several values with one request, values without discovery, and what the server supports")
async def several(given):
    client = given.client
    identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
    found = await client.call("gatt.readUsingUUID", peripheral=identifier, uuid=p.LEVEL)
    expect_equal([value["value"] for value in found["values"]], ["5a"], "the values of a UUID")
    attributes = [{"characteristic": p.LEVEL}, {"characteristic": p.LOCATION}]
    whole = await client.call("gatt.readMultiple", peripheral=identifier, attributes=attributes)
    expect_equal(whole["value"], "5a01", "the values in one row")
    apart = await client.call("gatt.readMultiple", peripheral=identifier, attributes=attributes, variable=True)
    expect_equal([value["value"] for value in apart["values"]], ["5a", "01"], "the values, each for itself")
    expect("enhancedBearers" in await client.call("gatt.serverFeatures", peripheral=identifier), "no features")
    await end(given, identifier)


@by_name.case("several values and parts of one are written reliably, all or none")
async def reliably(given):
    client = given.client
    identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
    long = bytes(range(200))
    await client.call(
        "gatt.writeReliably",
        peripheral=identifier,
        writes=[
            {"characteristic": p.WRITABLE, "value": long[:120].hex()},
            {"characteristic": p.WRITABLE, "value": long[120:].hex(), "offset": 120},
        ],
    )
    expect_equal(await asyncio.wait_for(given.peripheral.written.get(), 60), long, "what was written")
    error = await failure_of(
        client.call(
            "gatt.writeReliably",
            peripheral=identifier,
            writes=[
                {"characteristic": p.WRITABLE, "value": "01"},
                {"characteristic": p.LOCATION, "value": "02"},
            ],
        )
    )
    expect(error["name"] in ("notAllowedByProperties", "writeNotPermitted"), f"the error: {error}")
    expect(given.peripheral.written.empty(), "something was written though one value was refused")
    await end(given, identifier)


@by_name.case("a device notifies several values in one packet, each of which goes to its subscribers")
async def notified_at_once(given):
    client = given.client
    identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
    subscribed = [
        (await client.call("gatt.subscribe", peripheral=identifier, characteristic=uuid))["handle"]
        for uuid in (LEFT, RIGHT)
    ]
    [connection] = given.peripheral.device.connections.values()
    left, right = subscribed
    for values in ([(left, b"left"), (right, b"")], [(right, b"right"), (left, b"again"), (right, b"last")]):
        connection.send_l2cap_pdu(ATT_CID, packet(values))
        for handle, value in values:
            event = await client.next("gatt.value")
            expect_equal((event["handle"], event["value"]), (handle, value.hex()), "the values, in their order")
    # A truncated value is left out, and the link continues.
    connection.send_l2cap_pdu(ATT_CID, packet([(left, b"whole"), (right, b"cut off")])[:-1])
    connection.send_l2cap_pdu(ATT_CID, packet([(right, b"next"), (left, b"")]))
    await client.next("gatt.value", lambda event: event["value"] == b"next".hex())
    await end(given, identifier)


@by_name.case("several values go in one packet to a phone that knows such, and one by one to others")
async def notifies_at_once(given):
    client = given.client
    characteristics = [{"uuid": uuid, "properties": ["notify"]} for uuid in (LEFT, RIGHT)]
    added = await client.call("service.add", service={"uuid": PAIR, "characteristics": characteristics})
    handles = [each["handle"] for each in added["service"]["characteristics"]]
    values = list(zip(handles, (b"left", b"right"), strict=True))
    await client.call("advertising.start", name=published.NAME)
    for knows in (False, True):
        found = await hears(given.phone, published.NAME)
        peer = Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))
        await peer.request_mtu(100)
        await peer.discover_all()
        received = overheard(given.phone)
        if knows:
            [features] = peer.get_characteristics_by_uuid(UUID(CLIENT_FEATURES))
            await features.write_value(bytes([4]), with_response=True)
        for uuid in (LEFT, RIGHT):
            [characteristic] = peer.get_characteristics_by_uuid(UUID(uuid))
            await peer.subscribe(characteristic)
            await client.next("server.subscribed")
        sent = await client.call(
            "server.notifyMultiple", values=[{"handle": handle, "value": value.hex()} for handle, value in values]
        )
        expect_equal((sent["sent"], sent["receivers"]), (True, 1), "the answer")
        single = [struct.pack("<BH", 0x1B, handle) + value for handle, value in values]
        for wanted in [packet(values)] if knows else single:
            expect_equal(await asyncio.wait_for(received.get(), 60), wanted, "what the phone receives")
        await peer.connection.disconnect()
        for _ in handles:
            await client.next("server.unsubscribed")


def told_features(given):
    """The queue of what is written to the peripheral's Client Supported Features from now on."""
    queue = asyncio.Queue()
    features = given.peripheral.device.gatt_service.client_supported_features_characteristic
    features.on(features.EVENT_WRITE, lambda _connection, value: queue.put_nowait(value))
    return queue


@by_name.case("a server with Client Supported Features is told ours once on a link, after the first discovery")
async def features_once(given):
    client, told = given.client, told_features(given)
    for _ in range(2):
        identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
        await client.call("gatt.discover", peripheral=identifier)
        expect_equal(await asyncio.wait_for(told.get(), 60), OURS, "what is told")
        await client.call("gatt.discover", peripheral=identifier)
        await client.call("gatt.read", peripheral=identifier, characteristic=p.LOCATION)
        expect(told.empty(), "it is told twice")
        await end(given, identifier)


@by_name.case("Database Out Of Sync: the read fails, the program is told, and what it discovers anew is there")
async def out_of_sync(given):
    client, told, server = given.client, told_features(given), given.peripheral.device.gatt_server
    identifier = (await client.call("peripheral.connect", name=NAME, timeout=60))["peripheral"]
    handle = (await client.call("gatt.read", peripheral=identifier, characteristic=p.LOCATION))["handle"]
    await asyncio.wait_for(told.get(), 60)
    # Behind the client's back, without Service Changed.
    readable = Characteristic.Properties.READ
    server.add_service(Service(LATER, [Characteristic(ADDED, readable, Characteristic.READABLE, b"later")]))
    refused = []

    def refuse(_bearer, request):
        del server.on_att_read_request  # What follows is answered.
        refused.append(request.attribute_handle)
        raise ATT_Error(ErrorCode.DATABASE_OUT_OF_SYNC, request.attribute_handle)

    server.on_att_read_request = refuse
    error = await failure_of(client.call("gatt.read", peripheral=identifier, handle=handle))
    expect_equal((error["name"], refused), ("unknownHandle", [handle]), "the error, and what was refused")
    changed = await client.next("gatt.servicesChanged")
    expect_equal((changed["start"], changed["end"]), (1, 0xFFFF), "the range that is told")
    read = await client.call("gatt.read", peripheral=identifier, service=LATER, characteristic=ADDED)
    expect_equal(read["value"], b"later".hex(), "the value of the new service")
    again = await client.call("gatt.read", peripheral=identifier, characteristic=p.LOCATION)
    expect_equal(again["value"], "01", "the value that was refused, by the handle that was found anew")
    expect_equal(client.count("gatt.servicesChanged"), 0, "further changes that are told")
    expect_equal(await asyncio.wait_for(told.get(), 60), OURS, "what is told after the discovery")
    await end(given, identifier)


def packet(values):
    """A Multiple Handle Value Notification."""
    return bytes([MULTIPLE]) + b"".join(struct.pack("<HH", handle, len(value)) + value for handle, value in values)


def overheard(phone):
    """The queue of the notifications that the phone receives from now on, as they are on the channel."""
    queue = asyncio.Queue()

    def take(handle, pdu):
        if pdu[0] in (0x1B, MULTIPLE):
            queue.put_nowait(bytes(pdu))
        if pdu[0] != MULTIPLE:
            phone.on_gatt_pdu(handle, pdu)

    phone.l2cap_channel_manager.register_fixed_channel(ATT_CID, take)
    return queue

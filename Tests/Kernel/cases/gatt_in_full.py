"""Group 10: devices by name and service, attributes by UUID, several values at once."""

import asyncio
from dataclasses import dataclass

from support import peripheral as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.peripheral import Peripheral

ADDRESS = "F0:F1:F2:F3:F4:01"
NAME = "Bumble belt"


@dataclass
class Given:
    """bled on hci0, and the peripheral, which advertises."""

    client: object
    peripheral: Peripheral


@stage(10, "attributes and devices by name")
async def by_name(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, NAME, ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(client, peripheral)


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

"""Group 9: what a scan lets through, when a device is lost, and whether the controller asks."""

from dataclasses import dataclass

from bumble.core import AdvertisingData
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.receiver import Receiver

BEACON, EDDYSTONE, LAMP = "F0:F1:F2:F3:F4:61", "40:F1:F2:F3:F4:62", "00:F1:F2:F3:F4:63"
ALL = {BEACON, EDDYSTONE, LAMP}
INTERVAL = 200  # Milliseconds between two advertisements.

FILTERS = {
    "a company": ({"manufacturer": {"company": 76}}, {BEACON}),
    "a company with data": ({"manufacturer": {"company": 76, "data": "0215"}}, {BEACON}),
    "a company with other data": ({"manufacturer": {"company": 76, "data": "0216"}}, set()),
    "a mask": ({"manufacturer": {"company": 76, "data": "0216", "mask": "ff00"}}, {BEACON}),
    "service data": ({"serviceData": {"uuid": "FEAA", "data": "10"}}, {EDDYSTONE}),
    "a pattern": ({"pattern": {"type": 255, "offset": 2, "data": "0215aa"}}, {BEACON}),
    "the beginning of a name": ({"name": "Bedside"}, {LAMP}),
    "the whole name": ({"name": "Bedside", "wholeName": True}, set()),
    "a name in any case": ({"name": "BEDSIDE LÄMP", "wholeName": True, "ignoreCase": True}, {LAMP}),
    "static addresses": ({"addressKinds": ["randomStatic"]}, {BEACON}),
    "private addresses": ({"addressKinds": ["resolvable", "nonResolvable"]}, {EDDYSTONE, LAMP}),
    "connectable devices": ({"connectable": True}, {EDDYSTONE, LAMP}),
}


@dataclass
class Given:
    """bled on hci0, three devices that advertise, and a client that hears everything."""

    controller: Receiver
    client: object
    observer: object
    devices: dict


@stage(9, "scan filters")
async def scan(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Receiver))
    adapter.controller.unconnectable = {BEACON}
    contents = {
        BEACON: (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, bytes.fromhex("4c000215aabb")),
        EDDYSTONE: (AdvertisingData.SERVICE_DATA, bytes.fromhex("aafe10eb")),
        LAMP: (AdvertisingData.COMPLETE_LOCAL_NAME, "Bedside lämp".encode()),
    }
    devices = {}
    for address, content in contents.items():
        device = devices[address] = await air.device("Scanned", address)
        device.advertising_data = bytes(AdvertisingData([content]))
        await advertise(device)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client, observer = await daemon.client(), await daemon.client()
    await daemon.until_on(client)
    await observer.call("scan.start", duplicates=True)
    return Given(adapter.controller, client, observer, devices)


async def advertise(device):
    await device.start_advertising(advertising_interval_min=INTERVAL, advertising_interval_max=INTERVAL)


async def hear_all(given):
    """Waits until every device was heard twice from now on, so that all that is to be reported was."""
    # An answer follows waiting reports, which were received before.
    await given.observer.call("adapter.list")
    given.observer.forget("scan.report")
    for address in sorted(ALL) * 2:
        await given.observer.next("scan.report", lambda report, address=address: report["address"] == address)
    # The same for reports received since.
    await given.client.call("adapter.list")


async def reported(given):
    """The reports to the client while every device is heard."""
    given.client.forget("scan.report")
    await hear_all(given)
    return [report for _, report in given.client.take("scan.report")]


@scan.case("each filter lets through what it describes, and nothing else; alternatives add up")
async def filters(given):
    for name, (members, wanted) in FILTERS.items():
        await given.client.call("scan.start", duplicates=True, filters=[members])
        expect_equal({report["address"] for report in await reported(given)}, wanted, f"the devices with {name}")
    alternatives = [FILTERS["a company"][0], FILTERS["service data"][0]]
    await given.client.call("scan.start", duplicates=True, filters=alternatives)
    expect_equal({report["address"] for report in await reported(given)}, {BEACON, EDDYSTONE}, "the beacons")
    await given.client.call("scan.stop")


@scan.case("a device that falls silent is lost once, and is reported again when it is back")
async def lost(given):
    given.client.forget("scan.report")
    await given.client.call("scan.start", filters=[{"name": "Bedside"}], lost=5)
    first = await given.client.next("scan.report")
    await given.devices[LAMP].stop_advertising()
    gone = await given.client.next("scan.lost")
    expect_equal(gone["peripheral"], first["peripheral"], "the device that is lost")
    expect(gone["lastHeard"] >= first["time"], "when it was heard last")
    expect_equal(given.client.count("scan.report"), 0, "the reports without duplicates")
    await advertise(given.devices[LAMP])
    again = await given.client.next("scan.report")
    expect_equal(again["peripheral"], first["peripheral"], "the device that is back")
    expect_equal(given.client.count("scan.lost"), 0, "further losses")
    await given.client.call("scan.stop")


@scan.case("a device comes in above one strength and goes out below another")
async def hysteresis(given):
    # A device in range because of earlier reports would not go out at -70.
    given.controller.strength = -70
    await hear_all(given)
    await given.client.call("scan.start", duplicates=True, rssi=-60, rssiOut=-80)
    for strength, wanted in ((-70, set()), (-60, ALL), (-70, ALL), (-80, ALL), (-81, set()), (-70, set()), (-59, ALL)):
        given.controller.strength = strength
        # Earlier advertisements may be on their way.
        await hear_all(given)
        heard = {report["address"] for report in await reported(given)}
        expect_equal(heard, wanted, f"the devices in range at {strength} dBm")
    given.controller.strength = -50
    await given.client.call("scan.stop")


@scan.case("a passive scan asks nobody, unless another client's scan does")
async def passive(given):
    await given.observer.call("scan.start", duplicates=True, active=False)
    await hear_all(given)
    expect_equal(given.controller.asked[-1], False, "whether a passive scan asks")
    await given.client.call("scan.start")
    await hear_all(given)
    expect_equal(given.controller.asked[-1], True, "whether both together ask")
    await given.client.call("scan.stop")
    await hear_all(given)
    expect_equal(given.controller.asked[-1], False, "whether the passive one asks when it is alone again")
    await given.observer.call("scan.start", duplicates=True)

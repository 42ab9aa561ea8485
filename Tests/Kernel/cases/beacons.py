"""Group 15: beacons and sensors: what bled understands of them, the beacons it is, and which come and go."""

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass

from bumble.core import AdvertisingData

from support.air import Air
from support.cases import Failure, expect_equal, stage
from support.daemon import Daemon
from support.receiver import Receiver
from support.tools import DIST, Program

INTERVAL = 200  # Milliseconds between two advertisements.
UUID = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
UUID_OCTETS = UUID.replace("-", "").lower()
SEALED = "54:48:E6:8F:80:A5"
SEALED_KEY = "231d39c1d7cc1ab1aee224cd096db932"
MANUFACTURER, SERVICE = AdvertisingData.MANUFACTURER_SPECIFIC_DATA, AdvertisingData.SERVICE_DATA_16_BIT_UUID

# By address: the type and the data of an AD structure, from the formats' own examples, and its meaning.
PLAIN = {
    "C0:DE:00:00:02:01": (
        MANUFACTURER,
        f"4c000215{UUID_OCTETS}00010002c5",
        {"kind": "iBeacon", "uuid": UUID, "major": 1, "minor": 2, "measuredPower": -59},
    ),
    "C0:DE:00:00:02:02": (
        SERVICE,
        "aafe0004010203040506070809000102030405060000",
        {
            "kind": "eddystoneUID",
            "namespace": "01020304050607080900",
            "instance": "010203040506",
            "txPower": 4,
        },
    ),
    "C0:DE:00:00:02:03": (
        SERVICE,
        "aafe100403746573740c",
        {"kind": "eddystoneURL", "url": "https://test.biz", "txPower": 4},
    ),
    "C0:DE:00:00:02:04": (
        SERVICE,
        "aafe2000018005400000010000010000",
        {"kind": "eddystoneTLM", "voltage": 0.384, "temperature": 5.25, "packets": 256, "uptime": 6553.6},
    ),
    "C0:DE:00:00:02:05": (
        MANUFACTURER,
        "ffffbeacd3162f5af3ee494799db09756062d0fc005a0005c400",
        {
            "kind": "altBeacon",
            "uuid": "D3162F5A-F3EE-4947-99DB-09756062D0FC",
            "major": 90,
            "minor": 5,
            "measuredPower": -60,
            "company": 65535,
            "reserved": 0,
        },
    ),
    "C0:DE:00:00:02:06": (SERVICE, "d2fc4002ca0903bf13", {"kind": "bthome", "temperature": 25.06, "humidity": 50.55}),
    "C0:DE:00:00:02:07": (
        MANUFACTURER,
        "990403291a1ece1efc18f94202ca0b53",
        {
            "kind": "ruuviTag",
            "format": 3,
            "humidity": 20.5,
            "temperature": 26.3,
            "pressure": 1027.66,
            "accelerationX": -1,
            "accelerationY": -1.726,
            "accelerationZ": 0.714,
            "voltage": 2.899,
        },
    ),
    "C0:DE:00:00:02:08": (
        MANUFACTURER,
        "88ec0003215d6400",
        {"kind": "govee", "temperature": 20.5, "humidity": 14.9, "battery": 100},
    ),
    "C0:DE:00:00:02:09": (
        SERVICE,
        "95fe5020aa01da219335342d580d1004fe004802",
        {
            "kind": "miBeacon",
            "product": 426,
            "packet": 218,
            "address": "58:2D:34:35:93:21",
            "temperature": 25.4,
            "humidity": 58.4,
        },
    ),
    "C0:DE:00:00:02:0A": (
        SERVICE,
        "000d54006400990e",
        {"kind": "switchBot", "model": "meter", "temperature": 25, "humidity": 14, "battery": 100},
    ),
}
SEALED_DATA = "d2fc41a47266c95f730011223378237214"

# The options of `bleshell beacon`, and the data on the air without the flags.
BEACONS = {
    f"--uuid {UUID} --major 7 --minor 2": [(MANUFACTURER, f"4c000215{UUID_OCTETS}00070002c5")],
    f"--uuid {UUID} --alt --power -70": [(MANUFACTURER, f"ffffbeac{UUID_OCTETS}00000000ba00")],
    "--url https://test.biz": [
        (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, "aafe"),
        (SERVICE, "aafe10ee03746573740c"),
    ],
    "--namespace 01020304050607080900 --instance 010203040506": [
        (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, "aafe"),
        (SERVICE, "aafe00ee010203040506070809000102030405060000"),
    ],
}


@dataclass
class Given:
    """bled on hci0, devices that advertise, a phone that listens, and a client."""

    controller: Receiver
    daemon: Daemon
    client: object
    devices: dict
    phone: object


@stage(15, "beacons")
async def beacons(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Receiver))
    contents = {address: (kind, data) for address, (kind, data, _) in PLAIN.items()}
    contents[SEALED] = (SERVICE, SEALED_DATA)
    devices = {}
    for address, (kind, data) in contents.items():
        device = devices[address] = await air.device("Beacon", address)
        device.advertising_data = bytes(AdvertisingData([(kind, bytes.fromhex(data))]))
        await advertise(device)
    phone = await air.device("Phone", "F0:F1:F2:F3:F4:02")
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(adapter.controller, daemon, client, devices, phone)


async def advertise(device):
    await device.start_advertising(advertising_interval_min=INTERVAL, advertising_interval_max=INTERVAL)


async def scan(given, **params):
    """Begins a scan anew; what is waiting to be read is of this one."""
    await given.client.call("scan.stop")
    given.client.forget("scan.report")
    await given.client.call("scan.start", **params)


async def decoded(given, address):
    """The decoded data of the next report of a device."""
    report = await given.client.next("scan.report", lambda report: report["address"] == address)
    return report.get("decoded")


@beacons.case("each format is told as it is meant; without the wish nothing is decoded")
async def formats(given):
    await scan(given, decode=True)
    for address, (_, _, wanted) in PLAIN.items():
        expect_equal(await decoded(given, address), [wanted], f"what a {wanted['kind']} says")
    await scan(given)
    for address in PLAIN:
        expect_equal(await decoded(given, address), None, "what is decoded for a scan that does not ask")
    await given.client.call("scan.stop")


@beacons.case("what a sensor encrypts is opened with its key, and for who has it only")
async def keys(given):
    other = await given.daemon.client()
    await other.call("scan.start", decode=True)
    report = await other.next("scan.report", lambda report: report["address"] == SEALED)
    sealed = {"kind": "bthome", "encrypted": True, "counter": 857870592, "key": "missing"}
    expect_equal(report.get("decoded"), [sealed], "what is said without the key")
    opened = {"kind": "bthome", "encrypted": True, "counter": 857870592, "temperature": 25.06, "humidity": 50.55}
    for key, wanted in ((SEALED_KEY, opened), ("00" * 16, sealed | {"key": "wrong"})):
        await scan(given, decode=True, keys=[{"address": SEALED, "key": key}])
        expect_equal(await decoded(given, SEALED), [wanted], f"what is said with the key {key}")
    await given.client.call("scan.stop")
    await other.call("scan.stop")


@contextlib.asynccontextmanager
async def bleshell(given, *arguments):
    """The command, until it is interrupted as with Ctrl-C."""
    command = os.path.join(DIST, "bleshell"), *arguments, "--socket", given.daemon.socket
    async with Program(*command) as program:
        yield program
        program.process.send_signal(signal.SIGINT)
        expect_equal(await asyncio.wait_for(program.process.wait(), 30), 0, f"the status of {arguments[0]}")


@beacons.case("`bleshell beacon` is heard as the beacon that it says it is, and falls silent with it")
async def on_the_air(given):
    heard = asyncio.Queue()
    given.phone.on(given.phone.EVENT_ADVERTISEMENT, heard.put_nowait)
    await given.phone.start_scanning()
    for options, wanted in BEACONS.items():
        wanted = [(kind, bytes.fromhex(data)) for kind, data in wanted]
        async with bleshell(given, "beacon", *options.split()) as program:
            await program.wait_for("on the air, hci0")
            await until_heard(heard, wanted, f"nobody hears {options}")
        await until_silent(heard, wanted, 10 * len(given.devices), f"{options} is still on the air")
    await given.phone.stop_scanning()
    given.phone.remove_listener(given.phone.EVENT_ADVERTISEMENT, heard.put_nowait)


async def until_heard(heard, wanted, otherwise):
    """Waits until the phone hears this content."""
    try:
        async with asyncio.timeout(60):
            while content(await heard.get()) != wanted:
                pass
    except TimeoutError:
        raise Failure(otherwise) from None


async def until_silent(heard, wanted, others, otherwise):
    """Waits until the phone hears so many other advertisements without one of this content."""
    try:
        async with asyncio.timeout(60):
            count = 0
            while count < others:
                count = 0 if content(await heard.get()) == wanted else count + 1
    except TimeoutError:
        raise Failure(otherwise) from None


def content(found):
    """The AD structures of an advertisement as they came, without the flags, which a beacon may do without."""
    structures = ((int(kind), bytes(data)) for kind, data in found.data.ad_structures)
    return [structure for structure in structures if structure[0] != AdvertisingData.FLAGS]


@beacons.case("`bleshell range` tells who enters, how near it is, and who exits; others are not its business")
async def ranging(given):
    [beacon, *_] = given.devices.values()
    given.controller.strength = -50
    async with bleshell(given, "range", UUID, "--major", "1") as program:

        async def event(name):
            return json.loads((await program.wait_for(rf'{{.*"event":"{name}".*}}'))[0])

        entered = await event("enter")
        expect_equal((entered["major"], entered["minor"], entered["inReach"]), (1, 2, 1), "who entered")
        expect_equal(entered["proximity"], "immediate", "how near it is, 9 dB above its power at 1 m")
        given.controller.strength = -90
        for wanted in ("near", "far"):
            expect_equal((await event("proximity"))["proximity"], wanted, "how near it is when it goes away")
        await beacon.stop_advertising()
        gone = await event("exit")
        expect_equal((gone["proximity"], gone["inReach"]), ("far", 0), "how it left")
        given.controller.strength = -50
        await advertise(beacon)
        expect_equal((await event("enter"))["proximity"], "immediate", "how near it is when it is back")

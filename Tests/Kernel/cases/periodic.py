"""Group 12: trains of periodic advertisements, sent to a Bumble device and followed from one."""

import asyncio
from dataclasses import dataclass

from bumble import hci
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, PeriodicAdvertisingParameters
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.periodic import Periodic
from support.waiting import until
from support.zoo import ExtendedAdvertiser

PUBLIC = "F0:F1:F2:F3:F4:00"
PHONE = "F0:F1:F2:F3:F4:02"
LONG = bytes([254, 0xFF, 0xFF, 0xFF] + [7] * 251) * 2 + bytes([89, 0xFF, 0xFF, 0xFF] + [8] * 86)


class Sender(ExtendedAdvertiser, Periodic):
    """Keeps the rules of sets and of trains."""


@dataclass
class Given:
    """bled on hci0 of such a controller, and a phone with another."""

    resources: object
    controller: Sender
    daemon: Daemon
    client: object
    phone: object


@stage(12, "periodic advertising")
async def periodic(resources):
    air = Air()
    adapter = await resources.open(await air.adapter(PUBLIC, Sender))
    phone = await air.device("Bumble phone", PHONE, personality=Periodic)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(resources, adapter.controller, daemon, client, phone)


@periodic.case("a phone follows bled's train of 600 octets, until it ends")
async def sent(given):
    structures = [{"type": 255, "data": LONG[start + 2 : start + 255].hex()} for start in (0, 255)]
    structures.append({"type": 255, "data": LONG[512:].hex()})
    train = {"interval": 0.1, "structures": structures}
    await given.client.call("advertising.start", extended=True, connectable=False, periodic=train)
    [sent] = given.controller.trains.values()
    expect_equal((sent.interval, sent.enabled, sent.data), (80, True, LONG), "the train in the controller")
    heard = []
    await given.phone.start_scanning()
    address = hci.Address(PUBLIC, hci.Address.PUBLIC_DEVICE_ADDRESS)
    sync = await given.phone.create_periodic_advertising_sync(address, sid=0, sync_timeout=1.0)
    sync.on(sync.EVENT_PERIODIC_ADVERTISEMENT, lambda advertisement: heard.append(advertisement.data_bytes))
    await until(lambda: len(heard) > 2)
    expect_equal(heard[0], LONG, "what was heard")
    expect_equal(sync.periodic_advertising_interval, 100, "the interval")
    await given.client.call("advertising.stop")
    await until(lambda: sync.state == sync.State.LOST)
    await until(lambda: not given.controller.advertising_sets)
    await given.phone.stop_scanning()


@periodic.case("bled follows a phone's train, loses it, finds it again and lets it go")
async def followed(given):
    advertising = await given.phone.create_advertising_set(
        advertising_parameters=AdvertisingParameters(
            advertising_event_properties=AdvertisingEventProperties(is_connectable=False, is_scannable=False),
            primary_advertising_interval_min=50,
            primary_advertising_interval_max=50,
            advertising_sid=5,
        ),
        random_address=hci.Address(PHONE),
        advertising_data=b"\x06\x09phone",
        periodic_advertising_parameters=PeriodicAdvertisingParameters(100, 100),
        periodic_advertising_data=LONG[:240],
    )
    await advertising.start_periodic()
    client = given.client
    await client.call("scan.start")
    report = await client.next("scan.report", lambda report: "periodicInterval" in report)
    expect_equal((report["sid"], report["periodicInterval"]), (5, 0.1), "what announces the train")
    await client.call("scan.stop")
    peripheral = report["peripheral"]
    started = await asyncio.wait_for(client.call("periodic.sync", peripheral=peripheral), 60)
    expect_equal((started["sid"], started["interval"]), (5, 0.1), "the train")
    for _ in range(3):
        packet = await client.next("periodic.report")
        expect_equal((packet["peripheral"], packet["data"]), (peripheral, LONG[:240].hex()), "what came")
    failure = await failure_of(client.call("periodic.sync", peripheral=peripheral))
    expect_equal(failure["name"], "alreadyInProgress", "the error")
    await advertising.stop_periodic()
    lost = await client.next("periodic.changed")
    expect_equal(lost["synced"], False, "whether it is followed")
    client.forget("periodic.report")
    await advertising.start_periodic()
    found = await client.next("periodic.changed")
    expect_equal((found["synced"], found["interval"]), (True, 0.1), "whether it is followed")
    await client.next("periodic.report")
    await client.call("periodic.stop", peripheral=peripheral)
    await until(lambda: not given.controller.followed)
    await until(lambda: not given.controller.le_scan_enable)


@periodic.case("what a killed daemon left ends when the next one comes up, and its train is sent")
async def left(given):
    train = {"interval": 0.1, "manufacturerData": "ffff01"}
    await given.client.call("advertising.start", extended=True, connectable=False, periodic=train)
    given.daemon.process.kill()
    await given.daemon.process.wait()
    expect([train.enabled for train in given.controller.trains.values()] == [True], "no train is left to be ended")
    daemon = await given.resources.open(Daemon(given.resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    left = (given.controller.trains, given.controller.advertising_sets)
    expect_equal(left, ({}, {}), "what is left in the controller")
    await client.call("advertising.start", extended=True, connectable=False, periodic=train | {"interval": 0.2})
    [sent] = given.controller.trains.values()
    expect_equal((sent.interval, sent.enabled), (160, True), "the train in the controller")
    await client.call("advertising.stop")

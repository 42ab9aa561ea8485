"""Group 7: the main things on each personality of the zoo: a scan finds, a connect leads to a read, a central comes."""

import asyncio

from bumble.core import UUID, AdvertisingData
from bumble.device import Peer

from support import peripheral as p
from support import published, tree, zoo
from support.cases import expect, expect_equal, stage
from support.published import Published

from . import zoo as first

PHONE = "F0:F1:F2:F3:F4:02"


async def scan_finds(given):
    """A scan finds the peripheral."""
    given.client.forget("scan.report")
    await given.client.call("scan.start", duplicates=True)
    await given.client.next("scan.report", lambda report: report["address"] == first.ADDRESS)
    await given.client.call("scan.stop")


async def reads(given):
    """A connect succeeds, and a value is read."""
    identifier = await first.connect(given)
    discovered = await given.client.call("gatt.discover", peripheral=identifier)
    handle = tree.characteristic(discovered, p.BATTERY, p.LEVEL)["handle"]
    read = await given.client.call("gatt.read", peripheral=identifier, handle=handle)
    expect_equal(read["value"], "5a", "the battery level")
    gone = given.peripheral.disconnection()
    await first.let_go(given, identifier)
    await asyncio.wait_for(gone, 60)


async def hears(phone, name):
    """Waits until the phone hears an advertisement of this name; gives it."""
    heard = asyncio.get_running_loop().create_future()

    def advertisement(found):
        if found.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not heard.done():
            heard.set_result(found)

    phone.on(phone.EVENT_ADVERTISEMENT, advertisement)
    await phone.start_scanning()
    try:
        return await asyncio.wait_for(heard, 60)
    finally:
        await phone.stop_scanning()
        phone.remove_listener(phone.EVENT_ADVERTISEMENT, advertisement)


async def central_reads(given):
    """An advertisement is heard, and the central that connects reads a value; the advertisement comes back."""
    service = await Published.add(given.client)
    await service.advertise("hci0")
    for _ in range(2):
        found = await hears(given.phone, published.NAME)
        peer = Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))
        await asyncio.wait_for(peer.discover_all(), 60)
        [fixed] = peer.get_characteristics_by_uuid(UUID(published.FIXED))
        expect_equal(await fixed.read_value(), published.FIXED_VALUE, "what the central reads")
        await peer.connection.disconnect()
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")


MAIN_THINGS = {
    "a scan finds": scan_finds,
    "a connect leads to a read": reads,
    "a central connects and reads": central_reads,
}


def personality(title, kind, prepare=None, things=tuple(MAIN_THINGS)):
    """Adds a stage of the zoo: bled on such a controller, a peripheral and a phone; with these of the main things."""

    @stage(7, title)
    async def build(resources):
        given = await first.build(resources, kind)
        given.phone = await given.air.device("Bumble phone", PHONE)
        if prepare:
            prepare(given.adapter.controller)
        return given

    for thing in things:
        build.case(thing)(MAIN_THINGS[thing])
    return build


strict = personality("legacy and extended commands do not mix", zoo.Strict)
truncated = personality("extended reports are truncated", zoo.Truncated)
dongle = personality("a 4.0 dongle", zoo.Dongle40)
slow = personality("each command takes 0.7 s", zoo.Slow, lambda controller: setattr(controller, "delay", 0.7))
refusing = personality(
    "one command in ten is refused", zoo.Refusals, lambda each: each.refuse_by_chance(1, 10), tuple(MAIN_THINGS)[:2]
)
addressless = personality("no public address", zoo.Addressless)


@dongle.case("connects while a scan goes on")
async def connects_beside_a_scan(given):
    await given.client.call("scan.start", duplicates=True)
    await reads(given)
    given.client.forget("scan.report")
    await given.client.next("scan.report", lambda report: report["address"] == first.ADDRESS)
    await given.client.call("scan.stop")


@truncated.case("the report says so")
async def report_says_truncated(given):
    given.client.forget("scan.report")
    await given.client.call("scan.start", duplicates=True)
    report = await given.client.next("scan.report", lambda report: report["address"] == first.ADDRESS)
    expect(report.get("truncated"), f"no word of it in {report}")
    await given.client.call("scan.stop")


@stage(7, "somebody else sends HCI commands")
async def disturbed(resources):
    given = await first.build(resources)
    given.phone = await given.air.device("Bumble phone", PHONE)
    given.disturber = await resources.open(zoo.Disturber())
    return given


@disturbed.case("a scan that was switched off finds again")
async def scan_switched_off(given):
    await given.client.call("scan.start", duplicates=True)
    await given.client.next("scan.report")
    given.disturber.scan_off()
    given.client.forget("scan.report")
    for _ in range(20):
        await given.client.next("scan.report", lambda report: report["address"] == first.ADDRESS)
    await given.client.call("scan.stop")


@disturbed.case("advertising that was switched off is heard again")
async def advertising_switched_off(given):
    service = await Published.add(given.client)
    await service.advertise("hci0")
    await hears(given.phone, published.NAME)
    given.disturber.advertising_off()
    # What was on its way is heard before it.
    for _ in range(10):
        await hears(given.phone, published.NAME)
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")


@disturbed.case("a connect that was cancelled succeeds")
async def connect_cancelled(given):
    await given.peripheral.device.stop_advertising()
    waiting = given.client.start("peripheral.connect", address=first.ADDRESS, addressType="random", timeout=60)
    async with asyncio.timeout(60):
        while given.adapter.controller.pending_le_connection is None:
            await asyncio.sleep(0.05)
        given.disturber.cancel_connect()
        while given.adapter.controller.pending_le_connection is not None:
            await asyncio.sleep(0.01)
    await given.peripheral.advertise()
    connected = await asyncio.wait_for(waiting, 60)
    await first.let_go(given, connected["peripheral"])

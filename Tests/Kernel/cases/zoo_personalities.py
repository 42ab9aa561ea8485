"""Group 7: the main things on each personality of the zoo: a scan finds, a connect leads to a read, a central comes."""

import asyncio

from support import published, zoo
from support.cases import expect, stage
from support.main_things import ADDRESS, PHONE, central_reads, hears, let_go, reads, scan_finds
from support.published import Published

from . import zoo as first


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
    await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await given.client.call("scan.stop")


@truncated.case("the report says so")
async def report_says_truncated(given):
    given.client.forget("scan.report")
    await given.client.call("scan.start", duplicates=True)
    report = await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
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
        await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await given.client.call("scan.stop")


@disturbed.case("advertising that was switched off is heard again")
async def advertising_switched_off(given):
    service = await Published.add(given.client)
    await service.advertise("hci0")
    await hears(given.phone, published.NAME)
    given.disturber.advertising_off()
    # Advertisements on their way are received first.
    for _ in range(10):
        await hears(given.phone, published.NAME)
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")


@disturbed.case("a connect that was cancelled succeeds")
async def connect_cancelled(given):
    await given.peripheral.device.stop_advertising()
    waiting = given.client.start("peripheral.connect", address=ADDRESS, addressType="random", timeout=60)
    async with asyncio.timeout(60):
        while (pending := given.adapter.controller.pending_le_connection) is None:
            await asyncio.sleep(0.05)
        given.disturber.cancel_connect()
        # The next one may follow at once.
        while given.adapter.controller.pending_le_connection is pending:
            await asyncio.sleep(0.01)
    await given.peripheral.advertise()
    connected = await asyncio.wait_for(waiting, 60)
    await let_go(given, connected["peripheral"])

"""Group 7: another program changes what bled set up on the controller, or has left something there."""

import asyncio
from dataclasses import dataclass

from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.peripheral import Peripheral
from support.raw import RawSocket
from support.zoo_sleep import Sleeper

WAITING, ABSENT = "F0:F1:F2:F3:F4:41", "F0:F1:F2:F3:F4:42"
# Commands that switch an activity off.
SCAN = 0x2042, bytes(6)
ADVERTISING = 0x2039, bytes(2)
CONNECT = 0x200E, b""


@dataclass
class Given:
    """bled on hci0, which scans, advertises, and waits for a device."""

    resources: object
    controller: Sleeper
    daemon: Daemon
    client: object
    device: Peripheral
    waiting: object


@stage(7, "disturbed")
async def disturbed(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Sleeper))
    device = await Peripheral.make(air, "Late", WAITING)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    await client.call("scan.start", duplicates=True)
    await client.call("advertising.start", name="bled here")
    waiting = client.start("peripheral.connect", address=WAITING, addressType="random")
    return Given(resources, adapter.controller, daemon, client, device, waiting)


async def until(controller, condition, what):
    """Waits until a condition holds of the controller's activities."""
    try:
        async with asyncio.timeout(20):
            while not condition(controller.activities):
                await asyncio.sleep(0.02)
    except TimeoutError:
        expect_equal(controller.activities, what, "what the controller does")


@disturbed.case("scan, advertisement and pending connect that somebody else switches off come back")
async def switched_off(given):
    everything = {"scanning", "advertising", "connecting"}
    await until(given.controller, everything.__eq__, everything)
    for activity, command in (("scanning", SCAN), ("advertising", ADVERTISING), ("connecting", CONNECT)):
        heard = len(given.controller.heard)
        with RawSocket(0) as other:
            other.send(*command)
            await until(given.controller, lambda _, heard=heard: len(given.controller.heard) > heard, activity)
            await until(given.controller, everything.__eq__, everything)
    given.client.forget("scan.report")
    await given.device.advertise()
    await asyncio.wait_for(given.waiting, 30)
    await given.client.next("scan.report", lambda report: report.get("name") == "Late", 10)


@disturbed.case("what a daemon that was killed left on the controller keeps the next one from nothing")
async def killed(given):
    given.client.start("peripheral.connect", address=ABSENT, addressType="random").add_done_callback(
        asyncio.Future.exception
    )
    left = {"scanning", "advertising", "connecting"}
    await until(given.controller, lambda activities: left <= activities, left)
    given.daemon.process.kill()
    await given.daemon.process.wait()
    expect(left <= given.controller.activities, f"left were {given.controller.activities}, so this shows nothing")
    daemon = await given.resources.open(Daemon(given.resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    await until(given.controller, lambda activities: not left & activities, set())
    # The kernel ends the link of the socket that was closed after two seconds; Bumble cannot have two to one device.
    await until(given.controller, lambda activities: "connected" not in activities, set())
    await client.call("scan.start", duplicates=True)
    await client.call("advertising.start", name="bled again")
    await client.call("peripheral.connect", address=WAITING, addressType="random", timeout=20)

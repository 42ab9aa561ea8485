"""Group 7: the system goes to sleep, and wakes up."""

import asyncio
import os
from dataclasses import dataclass

from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.peripheral import Peripheral
from support.tools import run
from support.zoo_sleep import Sleeper

NEAR, FAR = "F0:F1:F2:F3:F4:21", "F0:F1:F2:F3:F4:22"
DEBUG = "/sys/kernel/debug"


@dataclass
class Given:
    """bled on hci0, which scans and advertises; one device that advertises, and one that does not yet."""

    resources: object
    controller: Sleeper
    daemon: Daemon
    client: object
    near: Peripheral
    far: Peripheral


@stage(7, "sleep")
async def sleep(resources):
    if not os.path.exists(f"{DEBUG}/bluetooth"):
        await run("mount", "-t", "debugfs", "debugfs", DEBUG)
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Sleeper))
    near, far = [await Peripheral.make(air, name, address) for name, address in (("Near", NEAR), ("Far", FAR))]
    await near.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(resources, adapter.controller, daemon, client, near, far)


def suspend(is_suspended):
    """Has the kernel do what it does when the system goes to sleep, or wakes up. Takes until it is done."""

    def write():
        with open(f"{DEBUG}/bluetooth/hci0/force_suspend", "wb", buffering=0) as file:
            file.write(b"Y" if is_suspended else b"N")

    # The controller answers in this thread.
    return asyncio.to_thread(write)


async def until_active(given, wanted):
    """Waits until the controller does this and nothing else."""
    try:
        async with asyncio.timeout(20):
            while given.controller.activities != wanted:
                await asyncio.sleep(0.02)
    except TimeoutError:
        expect_equal(given.controller.activities, wanted, "what the controller does")


async def connect(given, address):
    """Connects; gives the identifier."""
    connected = await given.client.call("peripheral.connect", address=address, addressType="random", timeout=60)
    return connected["peripheral"]


async def sleeps_and_wakes(given, active):
    """All that is wanted ends once, is quiet, and comes back."""
    client, controller = given.client, given.controller
    await client.call("scan.start", active=active, duplicates=True)
    advertising = await client.call("advertising.start", name="bled here")
    identifier = await connect(given, NEAR)
    waiting = client.start("peripheral.connect", address=FAR, addressType="random")
    await until_active(given, {"scanning", "advertising", "connecting", "connected"})
    client.forget("advertising.changed")
    gone = given.near.disconnection()

    await suspend(True)
    await given.daemon.until_state(client, "suspended")
    await client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier, 10)
    await client.next("advertising.changed", lambda event: not event["onAir"], 10)
    await asyncio.wait_for(gone, 10)
    await until_active(given, set())
    [listed] = (await client.call("adapter.list"))["adapters"]
    expect_equal((listed["scanning"], listed["advertising"], listed["links"]), (False, 0, 0), "what goes on")
    printed = await given.daemon.bleshell("adapters")
    expect("suspended" in printed, f"bleshell adapters: {printed}")
    # Nothing is tried meanwhile, regardless of pending reports and requests.
    await given.far.advertise()
    heard = len(controller.heard)
    await asyncio.sleep(3)
    expect_equal(controller.heard[heard:], [], "the commands during sleep")
    expect_equal(client.count("peripheral.disconnected"), 0, "further ends of the link")
    expect(not waiting.done(), "the pending connect ended")
    await given.far.device.stop_advertising()

    client.forget("scan.report")
    await suspend(False)
    await given.daemon.until_on(client)
    await until_active(given, {"scanning", "advertising", "connecting"})
    await client.next("advertising.changed", lambda event: event["onAir"], 10)
    await client.next("scan.report", lambda report: report.get("name") == "Near", 10)
    await given.far.advertise()
    far = (await asyncio.wait_for(waiting, 30))["peripheral"]
    near = await connect(given, NEAR)
    for link in (far, near):
        await client.call("gatt.discover", peripheral=link)
        await client.call("peripheral.disconnect", peripheral=link)
        await client.next("peripheral.disconnected", lambda event, link=link: event["peripheral"] == link)
    await given.far.device.stop_advertising()
    await client.call("scan.stop")
    await client.call("advertising.stop", advertising=advertising["advertising"])


@sleep.case("the adapter is quiet, and all that is wanted comes back")
async def passive(given):
    await sleeps_and_wakes(given, active=False)


@sleep.case("so it is after an active scan, which the kernel takes for a discovery")
async def active(given):
    await sleeps_and_wakes(given, active=True)


@sleep.case("bled that ends during sleep leaves a controller that can be used again")
async def ends(given):
    await given.client.call("scan.start", active=True)
    await until_active(given, {"scanning"})
    await suspend(True)
    await given.daemon.until_state(given.client, "suspended")
    await given.daemon.stop()
    await suspend(False)
    daemon = await given.resources.open(Daemon(given.resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    await client.call("scan.start")
    await client.next("scan.report", lambda report: report.get("name") == "Near", 10)

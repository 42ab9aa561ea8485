"""Group 4: controllers that are blocked by rfkill, stop answering, or send one advertisement at a time."""

import asyncio
import contextlib
import glob
import struct
from dataclasses import dataclass

from support.air import Air
from support.btvirt import Emulator
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon


@dataclass
class Given:
    """bled on hci0, which scans and advertises."""

    adapter: object
    daemon: Daemon
    client: object


@stage(4, "adapter in trouble")
async def in_trouble(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    await client.call("scan.start")
    await client.call("advertising.start", name="bled here")
    return Given(adapter, daemon, client)


def block(is_blocked):
    """Blocks or unblocks every Bluetooth radio: an event of type 2, operation 3 (change all)."""
    with open("/dev/rfkill", "wb", buffering=0) as rfkill:
        rfkill.write(struct.pack("IBBBB", 0, 2, 3, int(is_blocked), 0))


@contextlib.contextmanager
def blocked():
    """Blocks every Bluetooth radio meanwhile."""
    block(True)
    try:
        yield
    finally:
        block(False)


async def all_back(given):
    """Waits until adapter, scan and advertisement are back."""
    await given.daemon.until_on(given.client)
    await given.client.next("advertising.changed", lambda event: event["onAir"])
    async with asyncio.timeout(30):
        while True:
            listed = (await given.client.call("adapter.list"))["adapters"][0]
            if listed["scanning"] and listed["advertising"] == 1:
                return
            await asyncio.sleep(0.05)


async def problems(given):
    """The kinds of problem reported since the last call, and the present one."""
    listed = (await given.client.call("adapter.list"))["adapters"]
    told = [params for _, params in given.client.take("adapter.changed")]
    return {description["problem"]["kind"] for description in told + listed if "problem" in description}


@in_trouble.case("rfkill blocks it: the way out is told, and all comes back when the block is lifted (P24)")
async def rfkill(given):
    expect(glob.glob("/sys/class/bluetooth/hci0/rfkill*"), "the kernel has no rfkill for hci0")
    given.client.forget("adapter.changed")
    with blocked():
        description = await given.daemon.until_state(given.client, "failed")
        expect_equal(description["problem"]["kind"], "blocked", "the kind of the problem")
        remedy = description["problem"]["remedy"]
        expect("rfkill unblock bluetooth" in remedy, f"the way out: {remedy}")
        # The kernel's answer to a try does not always say that a block is the reason.
        error = await failure_of(given.client.call("adapter.power", adapter="hci0", on=True))
        expect_equal(error["name"], "adapterFailed", "the answer to who asks for power")
        block(True)
        expect_equal(await problems(given), {"blocked"}, "the kinds of problem that were told")
        given.client.forget("advertising.changed")
    await all_back(given)


@in_trouble.case("power is switched with bleshell, and all comes back with it (P24)")
async def power(given):
    given.client.forget("advertising.changed")
    expect_equal(await given.daemon.bleshell("power", "off"), "hci0 is off\n", "bleshell power off")
    expect_equal(await given.daemon.bleshell("power", "on"), "hci0 is on\n", "bleshell power on")
    await all_back(given)


@in_trouble.case("it stops answering: that is told, and all comes back when it answers again (P24)")
async def silent(given):
    controller = given.adapter.controller
    hear = controller.on_hci_command_packet
    controller.on_hci_command_packet = lambda _command: None
    given.client.forget("adapter.changed")
    given.client.forget("advertising.changed")
    await given.client.call("scan.stop")
    await given.client.call("scan.start")
    description = await given.daemon.until_state(given.client, "failed")
    expect_equal(description["problem"]["kind"], "hardware", "the kind of the problem")
    controller.on_hci_command_packet = hear
    await all_back(given)


@stage(4, "one set")
async def one_set(resources):
    await resources.open(Emulator(2))
    daemon = await resources.open(Daemon(resources, "hci0", "hci1"))
    client = await daemon.client()
    for adapter in ("hci0", "hci1"):
        await daemon.until_on(client, adapter)
    return client


@one_set.case("three advertisements of a 4.x controller take turns; each is heard, and the real interval is told (P19)")
async def turns(client):
    await client.call("scan.start", adapter="hci0", duplicates=True)
    names = ("first", "second", "third")
    results = [await client.call("advertising.start", adapter="hci1", name=name) for name in names]
    expect_equal([round(result["interval"], 3) for result in results], [0.1, 0.2, 0.3], "the intervals")
    for _ in range(2):
        for name in names:
            await client.next("scan.report", lambda report, name=name: report.get("name") == name)
        client.forget("scan.report")
    await client.next("advertising.changed", lambda event: event.get("interval") == 0.3)
    await client.call("advertising.stop", advertising=results[1]["advertising"])
    await client.next("advertising.changed", lambda event: event.get("interval") == 0.2)

"""Group 4: adapters disappear while they scan, advertise and hold a link, and come back; and all adapters are used."""

import asyncio
from dataclasses import dataclass

from support import published as p
from support import tree
from support.air import Air
from support.btvirt import Emulator
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.published import Published


@dataclass
class Given:
    """bled on hci0, which scans and holds a link to hci1, which advertises."""

    resources: object
    emulator: Emulator
    daemon: Daemon
    client: object
    service: Published
    advertising: int
    peripheral: str
    handle: int


@stage(4, "adapter gone")
async def adapter_gone(resources):
    emulator = await resources.open(Emulator(2))
    daemon = await resources.open(Daemon(resources, "hci0", "hci1"))
    client = await daemon.client()
    for adapter in ("hci0", "hci1"):
        await daemon.until_on(client, adapter)
    service = await Published.add(client)
    await client.call("scan.start", adapter="hci0", duplicates=True)
    advertising = await service.advertise("hci1")
    report = await client.next("scan.report", lambda report: report.get("name") == p.NAME)
    connected = await client.call("peripheral.connect", peripheral=report["peripheral"], adapter="hci0", timeout=60)
    discovered = await client.call("gatt.discover", peripheral=connected["peripheral"])
    handle = tree.characteristic(discovered, p.SERVICE, p.ASKED)["handle"]
    return Given(
        resources, emulator, daemon, client, service, advertising["advertising"], connected["peripheral"], handle
    )


@adapter_gone.case("clients are told and pending work fails once; when it is back, scan and advertising resume")
async def gone_and_back(given):
    client = given.client
    # A read that stays pending: the client that ought to answer it does not.
    asked = asyncio.get_running_loop().create_future()
    client.answer("server.read", lambda params: asked.set_result(params))
    pending = client.start("gatt.read", peripheral=given.peripheral, handle=given.handle)
    await asyncio.wait_for(asked, 60)

    client.forget("adapter.changed")
    await given.emulator.kill()
    for adapter in ("hci0", "hci1"):
        await client.next(
            "adapter.changed",
            lambda event, adapter=adapter: (event["adapter"], event["state"]) == (adapter, "absent"),
        )
    error = await failure_of(asyncio.wait_for(pending, 60))
    expect(error.get("domain") in ("gap", "hci", "bled"), f"the pending read's error: {error}")
    ended = await client.next("peripheral.disconnected")
    expect(ended.get("reason"), "the link's end has no reason")
    off = await client.next("advertising.changed", lambda event: not event["onAir"])
    expect_equal(off["advertising"], given.advertising, "the advertisement that left the air")

    error = await failure_of(client.call("advertising.start", adapter="hci1", name="nobody"))
    expect(error, "an advertisement on an absent adapter")

    client.forget("scan.report")
    await given.resources.open(Emulator(2))
    for adapter in ("hci0", "hci1"):
        await given.daemon.until_on(client, adapter)
    await client.next("advertising.changed", lambda event: event["onAir"])
    await client.next("scan.report", lambda report: report["adapter"] == "hci0" and report.get("name") == p.NAME)
    expect_equal(client.count("peripheral.disconnected"), 0, "further ends told")

    client.answer("server.read", lambda _: {"value": "0c"})
    connected = await client.call("peripheral.connect", peripheral=given.peripheral, adapter="hci0", timeout=60)
    value = await client.call("gatt.read", peripheral=connected["peripheral"], handle=given.handle)
    expect_equal(value["value"], "0c", "the value after it is back")


FIRST, SECOND = "F0:F1:F2:F3:F4:00", "F0:F1:F2:F3:F4:01"


@stage(4, "all adapters")
async def all_adapters(resources):
    air = Air()
    first = await resources.open(await air.adapter(FIRST))
    daemon = await resources.open(Daemon(resources, "all"))
    client = await daemon.client()
    await daemon.until_on(client, "hci0")
    await client.call("scan.start", duplicates=True)
    return resources, air, first, daemon, client


@all_adapters.case("one plugged in later is told and joins the scan; unplugged it is absent, and comes back (P24)")
async def plugged(given):
    resources, air, first, daemon, client = given
    listed = (await client.call("adapter.list"))["adapters"]
    expect_equal([each["adapter"] for each in listed], ["hci0"], "the adapters at first")

    second = await resources.open(await air.adapter(SECOND))
    await scans(daemon, client, "hci1", SECOND)
    # The other one is removed: that is reported, and the later one works on.
    await first.__aexit__()
    await daemon.until_state(client, "absent", "hci0")
    await second.__aexit__()
    await daemon.until_state(client, "absent", "hci1")
    for adapter, address in (("hci0", FIRST), ("hci1", SECOND)):
        await resources.open(await air.adapter(address))
        await scans(daemon, client, adapter, address)
    listed = (await client.call("adapter.list"))["adapters"]
    expect_equal([each["adapter"] for each in listed], ["hci0", "hci1"], "the adapters in the end")


async def scans(daemon, client, adapter, address):
    """Waits until the adapter works, has this address, and scans."""
    description = await daemon.until_on(client, adapter)
    expect_equal(description["address"], address, f"the address of {adapter}")
    async with asyncio.timeout(30):
        while True:
            listed = (await client.call("adapter.list"))["adapters"]
            if next(each for each in listed if each["adapter"] == adapter)["scanning"]:
                return
            await asyncio.sleep(0.05)


@stage(4, "none of all adapters")
async def none_of_all(resources):
    daemon = await resources.open(Daemon(resources, "all"))
    return resources, daemon, await daemon.client()


@none_of_all.case("hci0 is awaited, and used with those that come with it")
async def come(given):
    resources, daemon, client = given
    await daemon.until_state(client, "absent", "hci0")
    await resources.open(Emulator(2))
    for adapter in ("hci0", "hci1"):
        await daemon.until_on(client, adapter)

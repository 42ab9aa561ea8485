"""Group 5: bled is the host of hci1 itself, over the kernel's user channel; bluetoothd has hci0, or bled."""

import asyncio
from dataclasses import dataclass

from cases.bluetoothd import bluez, start_bus
from support import published, tree
from support.air import Adapter, Air
from support.btvirt import Emulator
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.main_things import ADDRESS, PHONE, central_reads, power_off_is_told, reads, scan_finds
from support.peripheral import Peripheral
from support.published import Published
from support.tools import Program, run

NAME = "user:hci1"
OWN = "F0:F1:F2:F3:F4:00"


@dataclass
class Given:
    """bluetoothd, which has hci0, and bled, which has hci1."""

    resources: object
    air: Air
    adapter: Adapter
    bluetoothd: Program
    daemon: Daemon
    client: object
    peripheral: Peripheral
    phone: object


@stage(5, "user channel")
async def user_channel(resources):
    await start_bus(resources)
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:0A"))
    adapter = await resources.open(await air.adapter(OWN))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    bluetoothd = await bluez(resources)
    daemon = await resources.open(Daemon(resources, NAME))
    client = await daemon.client()
    description = await daemon.until_on(client)
    expect_equal((description["adapter"], description["kind"]), (NAME, "host"), "the adapter")
    expect_equal(description["address"], OWN, "its address")
    return Given(
        resources, air, adapter, bluetoothd, daemon, client, peripheral, await air.device("Bumble phone", PHONE)
    )


async def bluetoothd_finds(address):
    """bluetoothd discovers on hci0, and knows the device then."""
    path = f"/org/bluez/hci0/dev_{address.replace(':', '_')}"
    async with Program("bluetoothctl") as program:
        program.type("scan on")
        async with asyncio.timeout(120):
            while path not in await run("busctl", "tree", "--list", "org.bluez"):
                await asyncio.sleep(0.2)


@user_channel.case("scan, GATT in both roles, and bluetoothd works on its own")
async def works(given):
    discovery = asyncio.create_task(bluetoothd_finds(ADDRESS))
    try:
        await scan_finds(given)
        await reads(given)
        await central_reads(given, NAME)
        await discovery
    finally:
        discovery.cancel()
    tree = await run("busctl", "tree", "--list", "org.bluez")
    expect("/org/bluez/hci0" in tree and "/org/bluez/hci1" not in tree, f"the adapters of bluetoothd: {tree}")
    found = await given.daemon.bleshell("doctor", ok=(0, 1))
    expect("hci1 is in the hands of a program" in found, f"bleshell doctor: {found}")
    # bluetoothd disturbs no program.
    expect("note     bluetoothd" in found, f"bleshell doctor: {found}")


@user_channel.case("a second daemon is told that the controller is in use, and one without rights what it lacks")
async def refused(given):
    for capable, kind, words in ((True, "inUse", "hci1"), (False, "permission", "CAP_NET_ADMIN")):
        daemon = Daemon(given.resources, NAME, capable=capable)
        async with daemon:
            problem = (await daemon.until_state(await daemon.client(), "failed"))["problem"]
            expect_equal(problem["kind"], kind, "the kind of the problem")
            expect(words in problem["message"] and problem["remedy"], f"the problem: {problem}")
    await scan_finds(given)


@user_channel.case("switched off, it tells its devices why their links end, and is bled's when it is on again")
async def switched_off(given):
    await power_off_is_told(given, NAME)
    await reads(given)


@user_channel.case("unplugged and plugged in again, it is bled's again, though bluetoothd switches it on")
async def unplugged(given):
    given.client.forget("adapter.changed")
    await given.adapter.__aexit__()
    await given.daemon.until_state(given.client, "absent")
    given.adapter = await given.resources.open(await given.air.adapter(OWN))
    await given.daemon.until_on(given.client)
    await reads(given)


@user_channel.case("when bled ends, the controller is the kernel's, and bluetoothd takes it")
async def released(given):
    # Earlier lines are about the beginning.
    given.bluetoothd.output = ""
    await given.daemon.stop()
    await given.bluetoothd.wait_for("Adapter /org/bluez/hci1 registered")
    given.client = await given.daemon.restart()
    await reads(given)


@stage(5, "user channel beside the kernel's adapters")
async def with_all(resources):
    await resources.open(Emulator(2))
    daemon = await resources.open(Daemon(resources, "all", NAME))
    client = await daemon.client()
    for adapter in ("hci0", NAME):
        await daemon.until_on(client, adapter)
    return daemon, client


@with_all.case("`all` leaves the controller out; links between our host and the kernel's, in both directions")
async def both_hosts(given):
    daemon, client = given
    listed = (await client.call("adapter.list"))["adapters"]
    expect_equal(sorted(adapter["adapter"] for adapter in listed), ["hci0", NAME], "the adapters")
    service = await Published.add(client)
    for peripheral, central in ((NAME, "hci0"), ("hci0", NAME)):
        advertising = await service.advertise(peripheral)
        client.forget("scan.report")
        await client.call("scan.start", adapter=central, duplicates=True)
        report = await client.next(
            "scan.report",
            lambda report, central=central: report["adapter"] == central and report.get("name") == published.NAME,
        )
        connected = await client.call(
            "peripheral.connect", peripheral=report["peripheral"], adapter=central, timeout=60
        )
        identifier = connected["peripheral"]
        discovered = await client.call("gatt.discover", peripheral=identifier)
        handle = tree.characteristic(discovered, published.SERVICE, published.FIXED)["handle"]
        read = await client.call("gatt.read", peripheral=identifier, handle=handle)
        expect_equal(bytes.fromhex(read["value"]), published.FIXED_VALUE, f"the value that {central} reads")
        await client.call("peripheral.disconnect", peripheral=identifier)
        await client.next("peripheral.disconnected")
        await client.call("scan.stop")
        await client.call("advertising.stop", advertising=advertising["advertising"])
    expect_equal(len((await client.call("adapter.list"))["adapters"]), 2, "the adapters at the end")

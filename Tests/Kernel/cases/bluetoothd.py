"""Group 5: what is in the way is named, with the way out, and the daemon recovers when it is gone."""

import asyncio
import signal
from dataclasses import dataclass

from support import published
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.main_things import ADDRESS, PHONE, central_reads, hears, reads, scan_finds
from support.management import Management
from support.peripheral import Peripheral
from support.tools import Program, run


@dataclass
class Given:
    """bluetoothd, which holds hci0, and bled, which wants it."""

    bluetoothd: Program
    daemon: Daemon
    client: object


@dataclass
class Beside:
    """bluetoothd on two adapters, and bled on the second."""

    resources: object
    bluetoothd: Program
    client: object
    peripheral: Peripheral
    phone: object


async def start_bus(resources):
    """Starts the system bus, which bluetoothd needs; gives its program."""
    await run("mkdir", "-p", "/run/dbus")
    # A file of its process id would keep the next stage's from starting.
    bus = await resources.open(Program("dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address=1"))
    await bus.wait_for("unix:")
    return bus


@stage(5, "bluetoothd in the way")
async def in_the_way(resources):
    await start_bus(resources)
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    bluetoothd = await resources.open(Program("/usr/libexec/bluetooth/bluetoothd", "-n", "-d"))
    await bluetoothd.wait_for("Adapter /org/bluez/hci0 registered")
    daemon = await resources.open(Daemon(resources, "hci0"))
    return Given(bluetoothd, daemon, await daemon.client())


@in_the_way.case("the message names it and the way out")
async def named(given):
    description = await given.daemon.until_state(given.client, "failed")
    problem = description["problem"]
    expect_equal(problem["kind"], "inUse", "the kind of the problem")
    expect("bluetoothd" in problem["message"], f"the message: {problem['message']}")
    expect("systemctl" in problem["remedy"] and "bluetooth" in problem["remedy"], f"the way out: {problem['remedy']}")
    shown = await given.daemon.bleshell("adapters")
    expect("bluetoothd" in shown, f"bleshell adapters: {shown}")
    found = await given.daemon.bleshell("doctor", ok=(1,))
    expect("owner     problem  bluetoothd (process " in found, f"bleshell doctor: {found}")
    with open(given.daemon.log, encoding="utf-8") as log:
        expect_equal(log.read().count(problem["message"]), 1, "how often the log says it")


@in_the_way.case("when it ends, the daemon takes the adapter by itself")
async def mended(given):
    await given.bluetoothd.__aexit__()
    await given.daemon.until_on(given.client)


@stage(5, "bluetoothd with an adapter of its own")
async def beside(resources):
    await start_bus(resources)
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:0A"))
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    bluetoothd = await bluez(resources)
    daemon = await resources.open(Daemon(resources, "hci1"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Beside(resources, bluetoothd, client, peripheral, await air.device("Bumble phone", PHONE))


async def bluez(resources):
    """bluetoothd, which has both adapters."""
    bluetoothd = await resources.open(Program("/usr/libexec/bluetooth/bluetoothd", "-n", "-d"))
    for _ in range(2):
        await bluetoothd.wait_for("Adapter /org/bluez/hci[01] registered")
    return bluetoothd


@beside.case("bled works on the one that was named")
async def works(given):
    await scan_finds(given)
    await reads(given)
    await central_reads(given, "hci1")


@beside.case("a bluetoothd that starts again takes one link that bled began, and no more")
async def starts_again(given):
    await given.bluetoothd.end(signal.SIGKILL)
    given.bluetoothd = await bluez(given.resources)
    await reads(given)
    await central_reads(given, "hci1")


@beside.case("or one that a device began, which is disconnected")
async def takes_a_central(given):
    await given.bluetoothd.end(signal.SIGKILL)
    given.bluetoothd = await bluez(given.resources)
    await given.client.call("advertising.start", adapter="hci1", name=published.NAME)
    found = await hears(given.phone, published.NAME)
    connection = await asyncio.wait_for(given.phone.connect(found.address), 60)
    gone = asyncio.get_running_loop().create_future()
    connection.once(connection.EVENT_DISCONNECTION, gone.set_result)
    await asyncio.wait_for(gone, 60)
    await given.client.call("advertising.stop")
    await central_reads(given, "hci1")


@stage(5, "no adapter")
async def no_adapter(resources):
    daemon = await resources.open(Daemon(resources, "hci0"))
    return resources, daemon, await daemon.client()


@no_adapter.case("the daemon runs on, and uses the adapter once there is one")
async def appears(given):
    resources, daemon, client = given
    await daemon.until_state(client, "absent")
    await resources.open(await Air().adapter("F0:F1:F2:F3:F4:00"))
    await daemon.until_on(client)


@stage(5, "no permission")
async def no_permission(resources):
    await resources.open(await Air().adapter("F0:F1:F2:F3:F4:00"))
    daemon = await resources.open(Daemon(resources, "hci0", capable=False))
    return daemon, await daemon.client()


@no_permission.case("the message names the capabilities")
async def capabilities(given):
    daemon, client = given
    description = await daemon.until_state(client, "failed")
    problem = description["problem"]
    expect_equal(problem["kind"], "permission", "the kind of the problem")
    expect("CAP_NET_ADMIN" in problem["message"] + problem["remedy"], f"the problem: {problem}")


LEFT = "F0:F1:F2:F3:F4:01"


@stage(5, "a device that bluetoothd left to the kernel")
async def left_behind(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    management = await resources.open(Management("hci0"))
    await management.power_on()
    # The kernel connects to it whenever it is received.
    management.type(f"add-device -a 2 -t 2 {LEFT}")
    management.type("info")
    await management.wait_for("current settings")
    peripheral = await Peripheral.make(air, "Left behind", LEFT)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return peripheral, client


@left_behind.case("it is connected when a program wants it, and not otherwise")
async def not_connected(given):
    peripheral, client = given
    links = []
    peripheral.device.on("connection", links.append)
    await peripheral.advertise()
    for count in range(1, 4):
        connected = await client.call("peripheral.connect", address=LEFT, addressType="random", timeout=60)
        await client.call("gatt.discover", peripheral=connected["peripheral"])
        gone = peripheral.disconnection()
        await client.call("peripheral.disconnect", peripheral=connected["peripheral"])
        await asyncio.wait_for(gone, 60)
        # The kernel would connect with the next advertisement, 200 ms later.
        await asyncio.sleep(2)
        expect_equal(len(links), count, "the links so far")

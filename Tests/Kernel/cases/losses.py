"""Group 7: the daemon is stopped for a while in a busy room, and loses events."""

import asyncio
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bumble.core import UUID
from bumble.device import Peer
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.peripheral import Peripheral
from support.raw import RawSocket
from support.zoo_sleep import Flood

HERE, LATE, BEACON = (f"F0:F1:F2:F3:F4:3{number}" for number in range(3))
PHONE = "F0:F1:F2:F3:F4:39"
SERVICE = "B1ED3001-0000-4000-8000-00805F9B34FB"
# More than 2 MiB, as the kernel counts at least 768 octets for each.
MANY = 4000


@dataclass
class Given:
    """bled on hci0, a device that advertises, one that does not yet, a beacon, and a phone."""

    adapter: object
    daemon: Daemon
    client: object
    here: Peripheral
    late: Peripheral
    phone: object


@stage(7, "lost events")
async def losses(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Flood))
    devices = zip((HERE, LATE, BEACON), ("Here", "Late", "Beacon"))
    here, late, beacon = [await Peripheral.make(air, name, address) for address, name in devices]
    await here.advertise()
    await beacon.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(adapter, daemon, client, here, late, await air.device("Phone", PHONE))


@asynccontextmanager
async def stopped(given, count=MANY):
    """The daemon does not read meanwhile, and comes to so many events first."""
    given.daemon.process.send_signal(signal.SIGSTOP)
    try:
        given.adapter.controller.flood(count)
        yield
    finally:
        given.daemon.process.send_signal(signal.SIGCONT)


async def until_linked(wanted):
    """Waits until the kernel has links to these devices. The events before have reached all sockets then."""
    with RawSocket(0) as kernel:
        try:
            async with asyncio.timeout(60):
                while kernel.links() != wanted:
                    await asyncio.sleep(0.02)
        except TimeoutError:
            expect_equal(kernel.links(), wanted, "the kernel's links")


def losses_told(given):
    """How often the daemon logged that it lost events of the controller."""
    with open(given.daemon.log, encoding="utf-8", errors="replace") as log:
        return log.read().count("events of the controller were lost")


@losses.case("links that ended and began unheard are told within seconds, and what is wanted goes on")
async def links(given):
    client, controller = given.client, given.adapter.controller
    await client.call("scan.start", duplicates=True)
    await client.call("service.add", service={"uuid": SERVICE, "characteristics": []})
    advertising = await client.call("advertising.start", name="bled here")
    here = await connect(given, HERE)
    waiting = client.start("peripheral.connect", address=LATE, addressType="random")
    await until_linked({HERE})
    async with asyncio.timeout(20):
        while controller.pending_le_connection is None:
            await asyncio.sleep(0.02)
    told = losses_told(given)
    async with stopped(given):
        [connection] = given.here.device.connections.values()
        await connection.disconnect()
        await given.here.device.stop_advertising()
        await given.late.advertise()
        phone = await asyncio.wait_for(given.phone.connect(given.adapter.address + "/P"), 60)
        await until_linked({LATE, PHONE})
    began = asyncio.get_running_loop().time()
    await client.next("peripheral.disconnected", lambda event: event["peripheral"] == here, 10)
    late = (await asyncio.wait_for(waiting, 10))["peripheral"]
    seconds = asyncio.get_running_loop().time() - began
    expect(losses_told(given) > told, "no events were lost, so this shows nothing")
    expect(seconds < 5, f"it took {seconds:.1f} s")
    await client.call("gatt.discover", peripheral=late)
    # The phone's link is served, and ours is the peripheral's role on it.
    peer = Peer(phone)
    await peer.discover_services()
    expect(peer.get_services_by_uuid(UUID(SERVICE)), "the phone found no service")
    await phone.disconnect()
    # Scan, advertisement and connects continue.
    client.forget("scan.report")
    await client.next("scan.report", lambda report: report.get("name") == "Beacon", 10)
    await given.here.advertise()
    await let_go(given, await connect(given, HERE))
    await let_go(given, late)
    phone = await asyncio.wait_for(given.phone.connect(given.adapter.address + "/P"), 60)
    await phone.disconnect()
    await client.call("scan.stop")
    await client.call("advertising.stop", advertising=advertising["advertising"])
    async with asyncio.timeout(10):
        while controller.le_scan_enable:
            await asyncio.sleep(0.02)


async def connect(given, address):
    """Connects; gives the identifier."""
    connected = await given.client.call("peripheral.connect", address=address, addressType="random", timeout=60)
    return connected["peripheral"]


async def let_go(given, identifier):
    """Disconnects, and drops the event of it."""
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)


@losses.case("a flood of advertising reports displaces no other event")
async def reports(given):
    client, controller = given.client, given.adapter.controller
    await client.call("scan.start", duplicates=True)
    here = await connect(given, HERE)
    told = losses_told(given)
    async with stopped(given, 0):
        controller.flood_reports(MANY)
        [connection] = given.here.device.connections.values()
        await connection.disconnect()
        await until_linked(set())
    await client.next("peripheral.disconnected", lambda event: event["peripheral"] == here, 10)
    expect(losses_told(given) == told, "events were lost")
    await client.call("scan.stop")

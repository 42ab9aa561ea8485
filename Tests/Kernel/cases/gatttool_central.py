"""Group 2: bled is peripheral, the central is Debian's gatttool on an adapter of its own."""

import asyncio
import re
from dataclasses import dataclass

from support import published as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.management import Management
from support.published import Published
from support.tools import Program, run

ADDRESS = "F0:F1:F2:F3:F4:00"


@dataclass
class Given:
    """bled on hci0 with a service on the air."""

    client: object
    service: Published


@stage(2, "gatttool as central")
async def peripheral(resources):
    air = Air()
    await resources.open(await air.adapter(ADDRESS))
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:0A"))
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    service = await Published.add(client)
    await service.advertise("hci0")
    async with Management("hci1") as management:
        await management.power_on()
    return Given(client, service)


def gatttool(*arguments):
    """The command line for an operation on bled."""
    return ("gatttool", "-i", "hci1", "-b", ADDRESS, "-t", "public", *arguments)


@peripheral.case("btmgmt finds the advertisement")
async def found(_given):
    async with Management("hci1") as management:
        management.type("find -l")
        await management.wait_for(f"dev_found: {ADDRESS} type LE Public")
        await management.wait_for(f"name {p.NAME}")
        management.type("stop-find -l")
        await management.wait_for("Discovery stopped|Discovering: 0|discovering off")


@peripheral.case("discovers the service and its characteristics")
async def discovers(given):
    services = await run(*gatttool("--primary"))
    expect(p.SERVICE.lower() in services, f"no {p.SERVICE} in:\n{services}")
    characteristics = await run(*gatttool("--characteristics"))
    for uuid, handle in given.service.handles.items():
        line = rf"char value handle = 0x{handle:04x}, uuid = {uuid.lower()}"
        expect(re.search(line, characteristics), f"no {line!r} in:\n{characteristics}")


@peripheral.case("reads and writes")
async def reads_and_writes(given):
    service = given.service
    fixed = await run(*gatttool("--char-read", "-a", f"{service.handles[p.FIXED]:#06x}"))
    expect_equal(octets(fixed), p.FIXED_VALUE, "the fixed value")
    asked = f"{service.handles[p.ASKED]:#06x}"
    await run(*gatttool("--char-write-req", "-a", asked, "-n", b"request".hex()))
    expect_equal(await asyncio.wait_for(service.written.get(), 60), b"request", "what came to the client")
    expect_equal(octets(await run(*gatttool("--char-read", "-a", asked))), b"request", "what is read back")


@peripheral.case("subscribes and gets updates")
async def subscribes(given):
    service = given.service
    configuration = f"{service.handles[p.NOTIFIED] + 1:#06x}"
    async with Program(*gatttool("--interactive")) as it:
        it.type("connect")
        await it.wait_for("Connection successful")
        it.type(f"char-write-req {configuration} 0100")
        await service.subscribed(p.NOTIFIED)
        await it.wait_for("written successfully")
        for value in (b"\x01", b"\x02\x03"):
            await service.notify(p.NOTIFIED, value)
            line = await it.wait_for(rf"Notification handle = 0x{service.handles[p.NOTIFIED]:04x} value: ([0-9a-f ]+)")
            expect_equal(bytes.fromhex(line.group(1)), value, "the notified value")
        # The kernel 6.1 does not always end gatttool's link with gatttool.
        it.type(f"char-write-req {configuration} 0000")
        await given.client.next("server.unsubscribed")


def octets(output):
    """The value that gatttool printed."""
    return bytes.fromhex(output.rpartition("descriptor:")[2])

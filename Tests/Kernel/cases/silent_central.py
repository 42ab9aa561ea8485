"""Group 2: centrals that connect, say nothing and go, and adapters that vanish under such links. Debian's kernel
6.1.192 met a list corruption when the ATT socket of such a link was closed (docs/troubles.md)."""

import asyncio
from dataclasses import dataclass

from support import published as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.published import Published
from support.tools import run

VISITS = 5


@dataclass
class Given:
    """bled on hci0, which advertises, and a host that sends nothing of its own accord."""

    air: Air
    adapter: object
    daemon: Daemon
    client: object
    visitor: object


@stage(2, "silent central")
async def silent_central(resources):
    air = Air()
    adapter = await air.adapter("F0:F1:F2:F3:F4:00")
    await resources.open(adapter)
    visitor = await air.device("Silent", "F0:F1:F2:F3:F4:03")
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    service = await Published.add(client)
    await service.advertise("hci0")
    return Given(air, adapter, daemon, client, visitor)


async def links(given, number):
    """Waits until the adapter holds so many links."""
    while (await given.client.call("adapter.list"))["adapters"][0]["links"] != number:
        await asyncio.sleep(0.05)


async def no_kernel_fault():
    """Fails if the kernel's log reports a fault."""
    log = await run("dmesg")
    for sign in ("kernel BUG", "list_del corruption", "use-after-free", "Oops", "general protection"):
        expect(sign not in log, f"the kernel's log has {sign!r}:\n" + "\n".join(log.splitlines()[-60:]))


@silent_central.case("it connects, says nothing and leaves, again and again; kernel and daemon live on")
async def leaves(given):
    for _ in range(VISITS):
        connection = await asyncio.wait_for(given.visitor.connect(str(given.adapter.address) + "/P"), 60)
        await asyncio.wait_for(links(given, 1), 30)
        await connection.disconnect()
        await asyncio.wait_for(links(given, 0), 30)
        await no_kernel_fault()


@silent_central.case("it leaves within milliseconds, before anything was sent; kernel and daemon live on")
async def leaves_at_once(given):
    for stay in (0.002, 0.004, 0.006, 0.008, 0.01, 0.013, 0.016, 0.02, 0.03) * 2:
        # The next visit waits until the adapter advertises again.
        connection = await asyncio.wait_for(given.visitor.connect(str(given.adapter.address) + "/P"), 60)
        await asyncio.sleep(stay)
        await connection.disconnect()
        await asyncio.wait_for(links(given, 0), 30)
        await no_kernel_fault()
    await leaves(given)


@silent_central.case("the adapter vanishes under such a link; kernel and daemon live on, and the adapter comes back")
async def vanishes(given):
    await asyncio.wait_for(given.visitor.connect(str(given.adapter.address) + "/P"), 60)
    await asyncio.wait_for(links(given, 1), 30)
    await given.adapter.__aexit__()
    await given.daemon.until_state(given.client, "absent")
    await no_kernel_fault()
    expect_equal((await given.client.call("adapter.list"))["adapters"][0]["links"], 0, "the links")


@silent_central.case("the daemon ends under such a link; the kernel lives on")
async def daemon_ends(given):
    async with await given.air.adapter("F0:F1:F2:F3:F4:00") as given.adapter:
        await given.daemon.until_on(given.client)
        visitor = await given.air.device("Silent too", "F0:F1:F2:F3:F4:04")
        await asyncio.wait_for(visitor.connect(str(given.adapter.address) + "/P"), 60)
        await asyncio.wait_for(links(given, 1), 30)
        await given.daemon.stop()
        await no_kernel_fault()

"""Group 4: the adapters disappear while they scan, advertise and hold a link, and come back."""

import asyncio
from dataclasses import dataclass

from support import published as p
from support import tree
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

"""Group 7: faults that a controller does not tell are learned, listed, and kept over a restart of the daemon."""

from support import zoo
from support.cases import expect, expect_equal, stage
from support.main_things import ADDRESS

from . import zoo as first


async def quirks(client):
    """The names of the listed faults, and whether each was learned."""
    adapter = (await client.call("adapter.list"))["adapters"][0]
    return {each["quirk"]: "learned" in each for each in adapter.get("quirks", [])}


async def hears(client, seconds):
    """A scan receives the peripheral's advertisements within so many seconds."""
    await client.call("scan.start", duplicates=True)
    await client.next("scan.report", lambda report: report["address"] == ADDRESS, seconds)
    await client.call("scan.stop")


@stage(7, "extended scans receive nothing")
async def silent(resources):
    return await first.build(resources, zoo.SilentExtendedScan)


@silent.case("legacy commands are used, which is listed, and used at once after a restart of the daemon", deadline=400)
async def learned(given):
    expect_equal(await quirks(given.client), {}, "the faults at the start")
    await hears(given.client, 150)
    found = await quirks(given.client)
    expect(found.get("extendedScanning"), f"extended scanning is not listed as faulty: {found}")
    client = await given.daemon.restart()
    expect_equal(await quirks(client), found, "the faults after a restart")
    await hears(client, 20)
    adapter = (await client.call("adapter.list"))["adapters"][0]
    ages = adapter["sinceEvent"], adapter["sinceReport"]
    expect(ages[0] <= ages[1] < 20, f"it was heard long ago: {ages}")

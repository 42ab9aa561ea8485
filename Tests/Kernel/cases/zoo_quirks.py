"""Group 7: faults that a controller does not announce are learned, listed, and kept over a restart of the daemon."""

from support import zoo
from support.cases import expect, expect_equal, stage
from support.main_things import connect

from . import zoo as first


async def quirks(client):
    """The names of the listed faults, and whether each was learned."""
    adapter = (await client.call("adapter.list"))["adapters"][0]
    return {each["quirk"]: "learned" in each for each in adapter.get("quirks", [])}


@stage(7, "extended create connection is unknown")
async def unknown(resources):
    return await first.build(resources, zoo.SilentExtendedScan)


@unknown.case("a legacy command connects, which is listed, also after a restart of the daemon")
async def learned(given):
    expect_equal(await quirks(given.client), {}, "the faults at the start")
    await connect(given)
    found = await quirks(given.client)
    expect(found.get("extendedConnecting"), f"extended connecting is not listed as faulty: {found}")
    client = await given.daemon.restart()
    expect_equal(await quirks(client), found, "the faults after a restart")

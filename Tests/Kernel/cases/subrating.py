"""Group 15: links that use one of several connection events, as this machine wants it and as the device does."""


from bumble.hci import (
    HCI_LE_Set_Default_Subrate_Command,
    HCI_LE_Set_Host_Feature_Command,
    LeFeature,
)
from support.able import Able
from support.cases import expect, expect_equal, stage
from support.client import error_of, failure_of
from support.subrating import Subrating
from support.waiting import until

SPARING = {
    "minimumInterval": 0.03,
    "maximumInterval": 0.03,
    "latency": 1,
    "timeout": 6,
    "minimumSubrate": 2,
    "maximumSubrate": 4,
}


@stage(15, "subrating")
async def subrated(resources):
    wanted = HCI_LE_Set_Host_Feature_Command(LeFeature.CONNECTION_SUBRATING_HOST_SUPPORT, 1)
    return await Able.make(resources, Subrating, wanted)


def shown(link):
    """Interval, latency, timeout and continuation number."""
    return link["interval"], link["latency"], link["timeout"], link.get("continuation")


async def told(client, factor):
    """Waits for the event with this factor."""
    return shown(await client.next("peripheral.parametersChanged", lambda event: event.get("subrate") == factor))


async def has(client, identifier, factor):
    """Waits until a new link has this factor. A change before the answer to `peripheral.connect` is no event."""
    link = await client.call("peripheral.parameters", peripheral=identifier)
    return shown(link) if link.get("subrate") == factor else await told(client, factor)


@subrated.case("a link gets the factor that is wanted, the lowest of several, and keeps it with another interval")
async def wanted(given):
    client, other = given.client, given.other
    identifier = await given.connect(parameters={**SPARING, "continuation": 1})
    expect_equal(await has(client, identifier, 4), (0.03, 1, 6, 1), "the parameters of the new link")
    [connection] = given.device.connections.values()
    await until(lambda: connection.parameters.subrate_factor == 4)
    expect_equal(list(given.adapter.controller.factors.values()), [4], "the factors of the controller's links")
    await given.connect(other)
    params = {"peripheral": identifier, "parameters": {**SPARING, "maximumSubrate": 3}}
    changed = await other.call("peripheral.setParameters", **params)
    expect_equal((changed["subrate"], changed["continuation"]), (3, 1), "the merged wishes")
    params["parameters"] = {**params["parameters"], "minimumInterval": 0.015, "maximumInterval": 0.015}
    changed = await other.call("peripheral.setParameters", **params)
    expect_equal((changed["interval"], changed["subrate"]), (0.015, 3), "another interval with the same factor")
    params["parameters"] = {**params["parameters"], "maximumSubrate": 300}
    error = await failure_of(other.call("peripheral.setParameters", **params))
    expect_equal(error["name"], "invalidParameter", "a factor that the specification forbids with this latency")
    changed = await other.call("peripheral.setParameters", peripheral=identifier, parameters={"timeout": 6})
    expect_equal(changed.get("subrate"), None, "the factor that a session without subrating has")
    await other.call("peripheral.disconnect", peripheral=identifier)
    await told(client, 4)
    await client.call("peripheral.setParameters", peripheral=identifier)
    client.forget("peripheral.parametersChanged")
    # The device requests a suitable subrate.
    await connection.update_subrate(5, 8, 2, 0, 8000)
    expect_equal((await told(client, 8))[1:], (2, 8, 0), "what the device asked for")
    await end(given, identifier)


@subrated.case("a device without subrating gets the interval alone, and the error says who lacks what")
async def lacking(given):
    client = given.client
    given.device.host.controller.le_features &= ~Subrating.le_features.CONNECTION_SUBRATING_HOST_SUPPORT
    identifier = await given.connect()
    error = await failure_of(client.call("peripheral.setParameters", peripheral=identifier, parameters=SPARING))
    expect_equal(error["name"], "notSupported", "the error")
    known = await client.call("peripheral.parameters", peripheral=identifier)
    expect_equal((known["interval"], known["latency"], known.get("subrate")), (0.03, 1, None), "what is in force")
    await end(given, identifier)


@subrated.case("a controller without shorter connection intervals gives 7.5 ms, and the error says that it is this one")
async def no_short_interval(given):
    client = given.client
    identifier = await given.connect()
    wish = {"minimumInterval": 0.001, "maximumInterval": 0.002}
    error = await error_of(client.call("peripheral.setParameters", peripheral=identifier, parameters=wish))
    expect_equal(error.data["name"], "notSupported", "the error")
    expect("the controller of" in error.error["message"], f"which side lacks it: {error}")
    known = await client.call("peripheral.parameters", peripheral=identifier)
    expect_equal(known["interval"], 0.0075, "what is in force")
    await end(given, identifier)


@subrated.case("as peripheral this machine asks the central, and has what that one's host lets peripherals have")
async def as_peripheral(given):
    client = given.client
    async with given.visit() as (connection, central):
        known = await client.call("peripheral.parameters", peripheral=central)
        wanted = {**SPARING, "minimumInterval": known["interval"], "maximumInterval": known["interval"]}
        call = {"peripheral": central, "parameters": {**wanted, "continuation": 1}}
        error = await failure_of(client.call("peripheral.setParameters", **call))
        expect_equal(error["domain"], "hci", "the error of a central whose host has not said what it lets have")
        await client.call("peripheral.setParameters", peripheral=central)
        await given.phone.send_sync_command(HCI_LE_Set_Default_Subrate_Command(1, 3, 5, 0, 3200))
        changed = await client.call("peripheral.setParameters", **call)
        had = changed["role"], changed["subrate"], changed["continuation"], changed["latency"], changed["timeout"]
        expect_equal(had, ("peripheral", 3, 1, 1, 6), "what the central granted")
        await until(lambda: connection.parameters.subrate_factor == 3)


async def end(given, identifier):
    """The link ends."""
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.until_ended()

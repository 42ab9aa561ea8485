"""Group 15: links with intervals below 7.5 ms, as this machine wants them and as the device does."""

import asyncio

from bumble import hci
from support.able import ADDRESS, Able
from support.cases import expect, expect_equal, stage
from support.client import error_of, failure_of
from support.short_intervals import (
    HOST_SUPPORT,
    ReadAllRemoteFeatures,
    SetDefaultRateParameters,
    SetHostFeatureV2,
    ShortIntervals,
)
from support.waiting import until

QUICK = {"minimumInterval": 0.00125, "maximumInterval": 0.00125, "timeout": 3}
SLOW = {"minimumInterval": 0.03, "maximumInterval": 0.03}


@stage(15, "shorter connection intervals")
async def short(resources):
    wanted = SetHostFeatureV2(hci.LeFeature.SHORTER_CONNECTION_INTERVALS_HOST_SUPPORT, 1)
    return await Able.make(resources, ShortIntervals, wanted)


async def has(client, identifier, interval):
    """Waits until the link has this interval. A change before the answer to `peripheral.connect` is no event."""
    link = await client.call("peripheral.parameters", peripheral=identifier)
    if link["interval"] != interval:
        await client.next("peripheral.parametersChanged", lambda event: event["interval"] == interval)


@short.case("a link gets the interval that is wanted, the shortest of several, to 0.125 ms, and a usual one again")
async def wanted(given):
    client, other = given.client, given.other
    identifier = await given.connect(parameters=QUICK)
    await has(client, identifier, 0.00125)
    [connection] = given.device.connections.values()
    await until(lambda: connection.parameters.connection_interval == 1.25)
    await given.connect(other)
    params = {"peripheral": identifier, "parameters": {"minimumInterval": 0.000375, "maximumInterval": 0.0005}}
    changed = await other.call("peripheral.setParameters", **params)
    expect_equal((changed["interval"], changed["timeout"]), (0.000375, 4), "the merged wishes")
    params["parameters"] = {"minimumInterval": 0.002, "maximumInterval": 0.003, "maximumSubrate": 2, "latency": 1}
    changed = await other.call("peripheral.setParameters", **params)
    expect_equal((changed["interval"], changed.get("subrate")), (0.00125, None), "the shortest of the two")
    expect_equal(list(given.adapter.controller.rates.values()), [10], "the intervals of the controller's links")
    params["parameters"] = SLOW
    changed = await other.call("peripheral.setParameters", **params)
    expect_equal(changed["interval"], 0.00125, "what a session with a longer interval has beside a shorter one")
    for wrong in (0.0003, 0):
        params["parameters"] = {"minimumInterval": wrong}
        error = await failure_of(other.call("peripheral.setParameters", **params))
        expect_equal(error["name"], "invalidParameter", "an interval that no link can have")
    await other.call("peripheral.disconnect", peripheral=identifier)
    await client.call("peripheral.setParameters", peripheral=identifier)
    changed = await client.call("peripheral.parameters", peripheral=identifier)
    expect(0.015 <= changed["interval"] <= 0.045, f"the interval without wishes: {changed['interval']}")
    client.forget("peripheral.parametersChanged")
    # The device requests suitable parameters; then an interval that only updates of a connection can have.
    await given.device.send_async_command(ReadAllRemoteFeatures(connection.handle, 1))
    await request(given.device, connection, 24)
    await has(client, identifier, 0.003)
    await client.call("peripheral.setParameters", peripheral=identifier, parameters=QUICK)
    await request(given.device, connection, 80)
    await has(client, identifier, 0.01)
    await has(client, identifier, 0.00125)
    await end(given, identifier)


async def request(device, connection, interval):
    """The device asks for this interval, in 0.125 ms."""
    known = device.host.controller._known
    await until(lambda: known.get(connection.handle))
    await device.send_async_command(
        hci.HCI_LE_Connection_Rate_Request_Command(
            connection_handle=connection.handle,
            connection_interval_min=interval,
            connection_interval_max=interval,
            subrate_min=1,
            subrate_max=1,
            max_latency=0,
            continuation_number=0,
            supervision_timeout=300,
            min_ce_length=1,
            max_ce_length=2,
        )
    )


@short.case("a device without short intervals gets the shortest that it has, and the error says who lacks what")
async def lacking(given):
    client, other = given.client, given.other
    controller = given.device.host.controller
    controller.more_features &= ~HOST_SUPPORT
    identifier = await given.connect()
    await given.connect(other)
    error = await error_of(client.call("peripheral.setParameters", peripheral=identifier, parameters=QUICK))
    expect_equal(error.data["name"], "notSupported", "the error")
    expect(ADDRESS in error.error["message"], f"which side lacks it: {error}")
    # The others are not refused for it.
    changed = await other.call("peripheral.setParameters", peripheral=identifier, parameters=SLOW)
    expect_equal(changed["interval"], 0.0075, "what is in force")
    params = {"peripheral": identifier, "parameters": {**QUICK, "maximumInterval": 0.01}}
    changed = await client.call("peripheral.setParameters", **params)
    expect(0.0075 <= changed["interval"] <= 0.01, f"a range that every link can have: {changed['interval']}")
    await end(given, identifier)
    controller.more_features |= HOST_SUPPORT


@short.case("as peripheral this machine asks the central, and has what that one's host lets peripherals have")
async def as_peripheral(given):
    client = given.client
    async with given.visit() as (connection, central):
        call = {"peripheral": central, "parameters": QUICK}
        error = await failure_of(client.call("peripheral.setParameters", **call))
        expect_equal(error["name"], "notSupported", "the error of a central whose host has not said what it lets have")
        await client.call("peripheral.setParameters", peripheral=central)
        await given.phone.send_sync_command(SetDefaultRateParameters(8, 80, 1, 1, 0, 0, 400, 1, 0x3E7F))
        changed = await client.call("peripheral.setParameters", **call)
        expect_equal((changed["role"], changed["interval"]), ("peripheral", 0.00125), "what the central granted")
        await until(lambda: connection.parameters.connection_interval == 1.25)


async def end(given, identifier):
    """The link ends."""
    calls = [session.call("peripheral.disconnect", peripheral=identifier) for session in (given.client, given.other)]
    await asyncio.gather(*calls, return_exceptions=True)
    await given.until_ended()

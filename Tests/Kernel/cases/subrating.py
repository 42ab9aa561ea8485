"""Group 15: links that use one of several connection events, as this machine wants it and as the device does."""

from dataclasses import dataclass

from bumble.hci import HCI_ErrorCode, HCI_LE_Set_Host_Feature_Command, LeFeature
from support.air import Adapter, Air
from support.cases import expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.subrating import Subrating
from support.waiting import until

ADDRESS = "F0:F1:F2:F3:F4:01"
SPARING = {
    "minimumInterval": 0.03,
    "maximumInterval": 0.03,
    "latency": 1,
    "timeout": 6,
    "minimumSubrate": 2,
    "maximumSubrate": 4,
}


@dataclass
class Given:
    """bled on hci0 with two sessions, and a device that advertises; both have subrating."""

    adapter: Adapter
    client: object
    other: object
    device: object


@stage(15, "subrating")
async def subrated(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Subrating))
    device = await air.device("Bumble belt", ADDRESS, personality=Subrating)
    await device.send_sync_command(HCI_LE_Set_Host_Feature_Command(LeFeature.CONNECTION_SUBRATING_HOST_SUPPORT, 1))
    await device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client, other = await daemon.client(), await daemon.client()
    await daemon.until_on(client)
    return Given(adapter, client, other, device)


async def connect(client, **params):
    """Connects a session; gives the identifier of the device."""
    connected = await client.call(
        "peripheral.connect", address=ADDRESS, addressType="random", timeout=60, **params
    )
    return connected["peripheral"]


async def told(client, factor):
    """Waits for the event with this factor; gives interval, latency, timeout and continuation number."""
    event = await client.next("peripheral.parametersChanged", lambda event: event.get("subrate") == factor)
    return event["interval"], event["latency"], event["timeout"], event.get("continuation")


@subrated.case("a link gets the factor that is wanted, the lowest of several, and keeps it with another interval")
async def wanted(given):
    client, other = given.client, given.other
    identifier = await connect(client, parameters={**SPARING, "continuation": 1})
    expect_equal(await told(client, 4), (0.03, 1, 6, 1), "the parameters of the new link")
    [connection] = given.device.connections.values()
    await until(lambda: connection.parameters.subrate_factor == 4)
    expect_equal(list(given.adapter.controller.factors.values()), [4], "the factors of the controller's links")
    await connect(other)
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
    # The device asks for what suits it.
    await connection.update_subrate(5, 8, 2, 0, 8000)
    expect_equal((await told(client, 8))[1:], (2, 8, 0), "what the device asked for")
    await end(given, identifier)


@subrated.case("a device without subrating gets the interval alone, and the error says who lacks what")
async def lacking(given):
    client = given.client
    given.device.host.controller.le_features &= ~Subrating.le_features.CONNECTION_SUBRATING_HOST_SUPPORT
    identifier = await connect(client)
    error = await failure_of(client.call("peripheral.setParameters", peripheral=identifier, parameters=SPARING))
    expect_equal(error["name"], "notSupported", "the error")
    known = await client.call("peripheral.parameters", peripheral=identifier)
    expect_equal((known["interval"], known["latency"], known.get("subrate")), (0.03, 1, None), "what is in force")
    await end(given, identifier)


async def end(given, identifier):
    """The link ends."""
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await until(lambda: not given.device.connections)
    for session in (given.client, given.other):
        session.forget("peripheral.parametersChanged")

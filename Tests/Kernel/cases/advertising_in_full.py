"""Group 12: advertisements beside the usual ones, as the controller has them and as they are on the air."""

import asyncio
from dataclasses import dataclass

from bumble import hci
from bumble.controller import Controller
from bumble.core import AdvertisingData
from support.air import Air, EmulatedController
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.zoo import CodingSelection, ExtendedAdvertiser
from support.zoo.extended_advertiser import ANONYMOUS, CONNECTABLE, DIRECTED, LEGACY, SCANNABLE

PUBLIC = "F0:F1:F2:F3:F4:00"
PHONE = "F0:F1:F2:F3:F4:02"
OWN = "C0:11:22:33:44:55"


class Ear(Controller):
    """Hears the air, and keeps what it heard last of each address."""

    def __init__(self, air):
        super().__init__("ear", link=air)
        self.random_address = hci.Address("F0:F1:F2:F3:F4:EE")
        self.heard = {}

    def on_ll_advertising_pdu(self, packet):
        if hasattr(packet, "data"):
            self.heard[packet.advertiser_address.to_string(False)] = bytes(packet.data)


class Legacy(EmulatedController):
    """A controller of Bluetooth 4.0 in what it advertises."""

    le_features = hci.LeFeatureMask.LE_ENCRYPTION
    absent = frozenset(range(0x2020, 0x2100))


@dataclass
class Given:
    """bled on hci0 of such a controller, an ear, and a phone."""

    controller: ExtendedAdvertiser
    client: object
    ear: Ear
    phone: object


async def build(resources, personality):
    air = Air()
    adapter = await resources.open(await air.adapter(PUBLIC, personality))
    ear = Ear(air)
    phone = await air.device("Bumble phone", PHONE)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(adapter.controller, client, ear, phone)


@stage(12, "extended advertising")
async def extended(resources):
    return await build(resources, CodingSelection)


@stage(12, "a controller with 251 octets")
async def short(resources):
    return await build(resources, type("Short", (ExtendedAdvertiser,), {"length": 251}))


@stage(12, "legacy advertising")
async def legacy(resources):
    return await build(resources, Legacy)


async def start(given, **params):
    return await given.client.call("advertising.start", **params)


async def stop(given):
    await given.client.call("advertising.stop")
    await until(lambda: not given.controller.on_air, "nothing is on the air")


async def until(condition, what):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)
    expect(condition(), what)


def properties(given):
    """The properties of the only set on the air."""
    [on_air] = given.controller.on_air
    return int(on_air.parameters.advertising_event_properties)


@extended.case("1650 octets reach the air in fragments, and legacy PDUs follow on the same set")
async def longest(given):
    before = given.controller.fragments
    # Six structures of 254 octets with data, one that fills the rest, and none of the daemon's flags.
    structures = [{"type": 255, "data": bytes([number] * 254).hex()} for number in range(6)]
    structures += [{"type": 255, "data": bytes([9] * 109).hex()}, {"type": 1, "data": "04"}]
    await start(given, extended=True, connectable=False, structures=structures)
    expect_equal(properties(given), 0, "the kind of PDU")
    [on_air] = given.controller.on_air
    expect_equal(len(on_air.data), 1650, "the octets in the controller")
    expect_equal(given.controller.fragments - before, 7, "the commands that took")
    await until(lambda: len(given.ear.heard.get(PUBLIC, b"")) == 1650, "all of it is heard")
    expect_equal(given.ear.heard[PUBLIC], bytes(on_air.data), "what is heard")
    await stop(given)
    await start(given, name="short")
    expect_equal(properties(given), CONNECTABLE | SCANNABLE | LEGACY, "the kind of PDU")
    await until(lambda: b"short" in given.ear.heard[PUBLIC], "the short one is heard")
    await stop(given)


@extended.case("scannable and anonymous advertisements, power, channels and PHYs are as asked")
async def variety(given):
    await start(given, extended=True, scannable=True, manufacturerData="ffff0707")
    expect_equal(properties(given), SCANNABLE, "the scannable one")
    [on_air] = given.controller.on_air
    expect_equal(bytes(on_air.scan_response_data).hex(), "05ffffff0707", "its scan response")
    await stop(given)
    result = await start(
        given,
        extended=True,
        anonymous=True,
        includeTxPower=True,
        txPower=20,
        channels=[37, 39],
        primaryPHY="coded",
        secondaryPHY="2M",
        serviceData={"180F": "64"},
        solicitedServices=["180D"],
        uri="https://example.org",
    )
    expect_equal(result["txPower"], 7, "the power that the controller chose")
    expect_equal(properties(given), ANONYMOUS | 1 << 6, "the anonymous one")
    [on_air] = given.controller.on_air
    parameters = on_air.parameters
    expect_equal(int(parameters.primary_advertising_channel_map), 5, "the channels")
    expect_equal((int(parameters.primary_advertising_phy), int(parameters.secondary_advertising_phy)), (3, 2), "PHYs")
    data = AdvertisingData.from_bytes(bytes(on_air.data))
    expect_equal(data.get(AdvertisingData.URI, raw=True), b"\x17//example.org", "the URI")
    await stop(given)


@extended.case("the coding on the coded PHY is as asked, of both channels")
async def coding(given):
    wanted = ({"primaryPHY": "codedS8"}, (4, 4)), ({"primaryPHY": "coded", "secondaryPHY": "codedS2"}, (0, 3))
    for phys, expected in wanted:
        await start(given, extended=True, connectable=False, **phys)
        [on_air] = given.controller.on_air
        sent = on_air.parameters
        options = (sent.primary_advertising_phy_options, sent.secondary_advertising_phy_options)
        expect_equal((int(sent.primary_advertising_phy), options), (3, expected), "the PHY and the codings")
        await stop(given)


@extended.case("an address of its own is connected to, and the other set still is, too")
async def own_address(given):
    await start(given, name="ours")
    await start(given, name="own", ownAddress=OWN)
    await until(lambda: OWN in given.ear.heard, "the address is heard")
    await until(lambda: len(given.controller.on_air) == 2, "both are on the air")
    for address in (OWN, f"{PUBLIC}/P"):
        connection = await asyncio.wait_for(given.phone.connect(hci.Address(address)), 60)
        await connection.disconnect()
        await until(lambda: len(given.controller.on_air) == 2, "both are on the air again")
    await stop(given)


@extended.case("a directed one ends when the device has connected, and the high duty cycle by itself")
async def directed(given):
    given.client.forget("advertising.changed")
    first = await start(given, directedTo=PHONE)
    expect_equal(properties(given), CONNECTABLE | DIRECTED | LEGACY, "the low duty cycle")
    [on_air] = given.controller.on_air
    expect_equal(on_air.parameters.peer_address.to_string(False), PHONE, "to whom")
    connection = await asyncio.wait_for(given.phone.connect(hci.Address(f"{PUBLIC}/P")), 60)
    ended = await given.client.next("advertising.changed", lambda event: "ended" in event)
    expect_equal((ended["advertising"], ended["ended"]), (first["advertising"], "connected"), "the end")
    await connection.disconnect()
    second = await start(given, directedTo=PHONE, highDuty=True)
    ended = await given.client.next("advertising.changed", lambda event: "ended" in event)
    expect_equal((ended["advertising"], ended["ended"]), (second["advertising"], "duration"), "the end")
    await until(lambda: not given.controller.advertising_sets, "the controller has forgotten it")


@extended.case("what has a count or a duration ends, and says so")
async def ends(given):
    given.client.forget("advertising.changed")
    for params, why in (({"count": 5}, "count"), ({"duration": 0.5}, "duration")):
        started = await start(given, connectable=False, **params)
        ended = await given.client.next("advertising.changed", lambda event: "ended" in event)
        expect_equal((ended["advertising"], ended["ended"]), (started["advertising"], why), "the end")
        expect_equal(ended["onAir"], False, "whether it is on the air")
        await until(lambda: not given.controller.on_air, "nothing is on the air")


@short.case("what is too long is refused with the limit, which fits; the coding is the controller's choice")
async def limit(given):
    full = {"extended": True, "connectable": False, "structures": [{"type": 1, "data": "04"}]}
    failure = await failure_of(start(given, **full, manufacturerData="ff" * 248))
    expect_equal(failure["name"], "advertisingDataTooLong", "the error")
    failure = await failure_of(start(given, extended=True, primaryPHY="codedS8"))
    expect_equal(failure["name"], "notSupported", "the error where the coding cannot be chosen")
    await start(given, **full, manufacturerData="ff" * 246)
    [on_air] = given.controller.on_air
    expect_equal(len(on_air.data), 251, "the octets in the controller")
    await stop(given)


@legacy.case("what legacy advertising cannot express is refused, and what it can is sent")
async def without_extended(given):
    wishes = ({"extended": True}, {"txPower": 0}, {"count": 1}, {"ownAddress": OWN})
    for params in wishes:
        failure = await failure_of(start(given, **params))
        expect_equal(failure["name"], "notSupported", f"the error of {params}")
    advertiser = given.controller.le_legacy_advertiser
    await start(given, connectable=False, scannable=True, channels=[38])
    expect_equal((int(advertiser.advertising_type), int(advertiser.advertising_channel_map)), (2, 2), "the type")
    await given.client.call("advertising.stop")
    await start(given, directedTo=PHONE)
    expect_equal(int(advertiser.advertising_type), 4, "the type")
    expect_equal(advertiser.peer_address.to_string(False), PHONE, "to whom")
    await given.client.call("advertising.stop")
    await until(lambda: not advertiser.enabled, "nothing is on the air")

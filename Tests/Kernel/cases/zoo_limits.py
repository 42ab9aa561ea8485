"""Group 7: what controllers cannot do is shared out, slowed down, or said."""

import asyncio

from bumble import hci

from support import published, zoo
from support.air import Adapter, Air, EmulatedController
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.published import Published

from . import zoo as first
from .zoo_personalities import PHONE, hears

SILENT = "F0:F1:F2:F3:F4:77"


@stage(7, "a 4.0 dongle that is asked for everything")
async def dongle(resources):
    given = await first.build(resources, zoo.Dongle40)
    given.phone = await given.air.device("Bumble phone", PHONE)
    return given


async def described(given):
    """The adapter."""
    [adapter] = (await given.client.call("adapter.list"))["adapters"]
    return adapter


@dongle.case("connecting, advertising and scanning take turns, which adapter.list says, and nothing is refused")
async def turns(given):
    given.adapter.controller.refused.clear()
    await given.client.call("scan.start", duplicates=True)
    waiting = given.client.start("peripheral.connect", address=SILENT, addressType="random")
    started = await given.client.call("advertising.start", adapter="hci0", name=published.NAME, services=["180D"])
    expect(started["interval"] > 0.1, f"the interval without its pauses: {started}")
    listed = await described(given)
    expect_equal(listed.get("takingTurns"), ["connecting", "advertising", "scanning"], "what takes turns")
    # The scan, which receives another device, listens for the absent one: connecting waits for that.
    for _ in range(2):
        given.client.forget("scan.report")
        await given.client.next("scan.report", lambda report: report["address"] == first.ADDRESS)
        await hears(given.phone, published.NAME)
    expect_equal(given.adapter.controller.refused, [], "what was refused")
    await given.client.call("peripheral.disconnect", address=SILENT, addressType="random")
    await asyncio.gather(waiting, return_exceptions=True)
    await given.client.call("advertising.stop")
    await given.client.call("scan.stop")
    expect(not (await described(given)).get("takingTurns"), "turns go on although nothing is wanted")


@dongle.case("a connect that a link holds back is told after ten seconds, and succeeds when the link has ended")
async def held_back(given):
    service = await Published.add(given.client)
    await service.advertise("hci0")
    found = await hears(given.phone, published.NAME)
    connection = await asyncio.wait_for(given.phone.connect(found.address), 60)
    waiting = given.client.start("peripheral.connect", address=first.ADDRESS, addressType="random", timeout=120)
    told = await given.client.next("peripheral.connectWaiting", seconds=40)
    expect("link" in told["reason"]["message"], f"the reason is {told}")
    expect_equal((await described(given)).get("heldBack"), ["connecting", "advertising"], "what is held back")
    await connection.disconnect()
    connected = await asyncio.wait_for(waiting, 60)
    expect_equal(given.client.count("peripheral.connectWaiting"), 0, "how often it was told again")
    await first.let_go(given, connected["peripheral"])
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")


class SlowBeacons(zoo.Dongle40):
    """Refuses advertising without connections faster than every 100 ms (Core 4.2, Vol 6, Part B, 4.4.2.2)."""

    states = EmulatedController.states

    def on_hci_le_set_advertising_parameters_command(self, command):
        if command.advertising_type in (2, 3) and command.advertising_interval_min < 160:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR)
        return super().on_hci_le_set_advertising_parameters_command(command)


@stage(7, "advertising without connections every 100 ms at most")
async def beacons(resources):
    return await first.build(resources, SlowBeacons)


@beacons.case("a faster one is slowed down, and the answer says so")
async def slowed(given):
    started = await given.client.call(
        "advertising.start", adapter="hci0", name=published.NAME, connectable=False, interval=0.02
    )
    expect_equal(started["interval"], 0.1, "the interval")
    # Bumble puts no such advertisement on the air.
    advertiser = given.adapter.controller.le_legacy_advertiser
    expect(advertiser.enabled, "it does not advertise")
    expect_equal(advertiser.advertising_interval_min, 160, "the interval in 0.625 ms")
    await given.client.call("advertising.stop")


class Unconfigured(Adapter):
    """A controller that the kernel does not use before a program of its maker has set it up."""

    OPTION = 0x40  # Of the packet that creates it (drivers/bluetooth/hci_vhci.c): external configuration.

    @classmethod
    async def create(cls, air, address):
        """Puts it into the kernel."""
        return await cls.open(air, address, EmulatedController, options=cls.OPTION)


@stage(7, "an unconfigured controller")
async def unconfigured(resources):
    await resources.open(await Unconfigured.create(Air(), "F0:F1:F2:F3:F4:00"))
    daemon = await resources.open(Daemon(resources, "hci0"))
    return daemon, await daemon.client()


@unconfigured.case("what it lacks is said")
async def what_is_missing(given):
    daemon, client = given
    adapter = await daemon.until_state(client, "failed")
    expect("maker" in adapter["problem"]["message"], f"the problem is {adapter['problem']}")

"""Group 7: controllers that watch for devices while their host sleeps."""

from support import zoo
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.main_things import ADDRESS
from support.waiting import until

from . import zoo as first

SECOND = "F0:F1:F2:F3:F4:31"
THIRD = "F0:F1:F2:F3:F4:32"
PACKETS = 60


class TwoDevices(zoo.Monitors):
    """Its list holds one device under both types of its address, or two whose types are known."""

    list_size = 2


@stage(7, "monitored advertisers")
async def monitored(resources):
    given = await first.build(resources, zoo.Monitors)
    # The type of a device's address is known once it was received: then the list has one entry of it.
    await given.client.call("scan.start")
    await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await given.client.call("scan.stop")
    return given


@stage(7, "a list of two monitored advertisers")
async def short(resources):
    return await first.build(resources, TwoDevices)


async def packets(given, count):
    """Waits until the controller has heard so many packets more."""
    wanted = given.adapter.controller.heard + count
    await until(lambda: given.adapter.controller.heard >= wanted)


async def comes_and_goes(given):
    """The device is found, lost, and found again."""
    found = await given.client.next("scan.found")
    expect_equal(found["address"], ADDRESS, "the device that is there")
    await given.peripheral.device.stop_advertising()
    lost = await given.client.next("scan.lost")
    expect_equal(lost["peripheral"], found["peripheral"], "the device that is away")
    await given.peripheral.advertise()
    again = await given.client.next("scan.found")
    expect_equal(again["peripheral"], found["peripheral"], "the device that is back")
    expect(again["time"] > lost["lastHeard"], f"the times: {lost}, {again}")


async def watch(given, *addresses, **params):
    await given.client.call("scan.start", addresses=list(addresses) or [ADDRESS], presence=True, **{"lost": 2} | params)


@monitored.case("the host sleeps while a device is there, and is woken when it goes and comes")
async def asleep(given):
    controller = given.adapter.controller
    await watch(given)
    await until(lambda: controller.is_monitoring)
    await given.client.next("scan.found", lambda found: found["address"] == ADDRESS)
    expect_equal(len(controller.monitored), 1, "the list")
    # Its scan response is reported once, too.
    await packets(given, 2)
    told = controller.told
    await packets(given, PACKETS)
    expect_equal(controller.told - told, 0, f"the events of {PACKETS} packets")
    await given.peripheral.device.stop_advertising()
    await given.client.next("scan.lost")
    await given.peripheral.advertise()
    await given.client.next("scan.found")
    expect_equal(controller.told - told, 2, "the events of a device that went and came")
    await given.client.call("scan.stop")
    await until(lambda: not controller.is_monitoring and not controller.le_scan_enable)


@monitored.case("beside a scan for everything the reports tell, and then the controller again")
async def beside(given):
    controller = given.adapter.controller
    await watch(given)
    await until(lambda: controller.is_monitoring)
    await given.client.call("scan.start", scan=1, duplicates=True, active=False)
    await until(lambda: not controller.is_monitoring)
    await comes_and_goes(given)
    await given.client.call("scan.stop", scan=1)
    await until(lambda: controller.is_monitoring)
    told = controller.told
    await packets(given, PACKETS)
    # The device is reported once when the scan restarts: an advertisement and its response.
    expect(controller.told - told <= 2, f"{controller.told - told} events of {PACKETS} packets")
    expect_equal(given.client.take("scan.found", "scan.lost"), [], "what was told of a device that stayed")
    await given.client.call("scan.stop")


@monitored.case("a condition on the signal needs the reports")
async def needs_reports(given):
    await watch(given, rssi=-90, rssiOut=-95)
    await comes_and_goes(given)
    expect(not given.adapter.controller.is_monitoring, "the controller watches")
    await given.client.call("scan.stop")


@short.case("more devices than the list holds are watched for by the reports, and fewer by the controller")
async def too_many(given):
    controller = given.adapter.controller
    await watch(given, ADDRESS, SECOND, THIRD)
    await comes_and_goes(given)
    expect(not controller.is_monitoring, "the controller watches")
    # The type of the first address is known by now, so that there is one entry of it.
    await watch(given)
    await until(lambda: controller.is_monitoring)
    expect_equal(len(controller.monitored), 1, "the list")
    await given.client.call("scan.stop")

"""Group 1: bled is central, the peripheral is Bumble."""

import asyncio
import json
import signal
from dataclasses import dataclass

from support import peripheral as p
from support import tree
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.main_things import power_off_is_told
from support.peripheral import Peripheral

ADDRESS = "F0:F1:F2:F3:F4:01"


@dataclass
class Given:
    """bled on hci0, and the peripheral, which advertises."""

    daemon: Daemon
    client: object
    peripheral: Peripheral


@stage(1, "Bumble as peripheral")
async def central(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(daemon, client, peripheral)


async def find(given):
    """Scans for the heart rate service, and gives the report."""
    await given.client.call("scan.start", services=[p.HEART_RATE])
    report = await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await given.client.call("scan.stop")
    given.client.forget("scan.report")
    return report


async def connect(given):
    """Finds the peripheral, connects and discovers; gives its identifier and its tree."""
    report = await find(given)
    connected = await given.client.call("peripheral.connect", peripheral=report["peripheral"], timeout=60)
    discovered = await given.client.call("gatt.discover", peripheral=connected["peripheral"])
    return connected["peripheral"], discovered


async def disconnect(given, identifier):
    """Disconnects, and checks that both sides report the end of the link."""
    gone = given.peripheral.disconnection()
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)
    await asyncio.wait_for(gone, 60)


async def whole_session(given):
    """Everything a central does, once."""
    client, peripheral = given.client, given.peripheral

    report = await find(given)
    expect_equal(report["name"], "Bumble belt", "the name in the report")
    expect_equal(report["services"], [p.HEART_RATE], "the services in the report")
    expect_equal(report["addressType"], "random", "the type of the address")

    connected = await client.call("peripheral.connect", peripheral=report["peripheral"], timeout=60)
    expect_equal(connected["address"], ADDRESS, "the connected address")
    expect_equal(connected["mtu"], 100, "the MTU, of which the peripheral can 100")
    identifier = connected["peripheral"]

    discovered = await client.call("gatt.discover", peripheral=identifier)
    tree.service(discovered, "1800")
    included = tree.service(discovered, p.OURS)["includes"]
    expect_equal([service["uuid"] for service in included], [p.BATTERY], "the included services")
    location = tree.characteristic(discovered, p.HEART_RATE, p.LOCATION)
    long = tree.characteristic(discovered, p.OURS, p.LONG)
    writable = tree.characteristic(discovered, p.OURS, p.WRITABLE)
    measurement = tree.characteristic(discovered, p.HEART_RATE, p.MEASUREMENT)
    indicated = tree.characteristic(discovered, p.OURS, p.INDICATED)
    description = tree.descriptor(writable, p.USER_DESCRIPTION)
    expect_equal(sorted(writable["properties"]), ["read", "write", "writeWithoutResponse"], "the properties")
    tree.descriptor(measurement, "2902")

    async def read(handle):
        return bytes.fromhex((await client.call("gatt.read", peripheral=identifier, handle=handle))["value"])

    expect_equal(await read(location["handle"]), b"\x01", "the short value")
    expect_equal(await read(long["handle"]), p.LONG_VALUE, "the value of 512 octets")
    expect_equal(await read(description["handle"]), b"store", "the descriptor")

    for value, response in ((b"with response", True), (b"without", False)):
        await client.call(
            "gatt.write", peripheral=identifier, handle=writable["handle"], value=value.hex(), response=response
        )
        written = await asyncio.wait_for(peripheral.written.get(), 60)
        expect_equal(written, value, "what came to the peripheral")
        expect_equal(await read(writable["handle"]), value, "what is read back")

    await client.call("gatt.subscribe", peripheral=identifier, handle=measurement["handle"])
    values = [bytes([0, 60 + beat]) for beat in range(5)]
    for value in values:
        await peripheral.notify(value)
    for value in values:
        event = await client.next("gatt.value", lambda event: event["handle"] == measurement["handle"])
        expect_equal(bytes.fromhex(event["value"]), value, "the notified value")

    await client.call("gatt.subscribe", peripheral=identifier, handle=indicated["handle"])
    await asyncio.wait_for(peripheral.indicate(b"\x2a"), 60)
    event = await client.next("gatt.value", lambda event: event["handle"] == indicated["handle"])
    expect_equal(event["value"], "2a", "the indicated value")

    unsubscribed = peripheral.subscription(peripheral.measurement)
    await client.call("gatt.unsubscribe", peripheral=identifier, handle=measurement["handle"])
    expect_equal(await asyncio.wait_for(unsubscribed, 60), (False, False), "the subscription's end")

    await disconnect(given, identifier)
    error = await failure_of(client.call("gatt.read", peripheral=identifier, handle=location["handle"]))
    expect(error.get("domain") in ("gap", "bled"), f"a read after the end: {error}")


central.case("finds, connects, discovers, reads, writes, subscribes, disconnects")(whole_session)
central.case("the same again, nothing restarted")(whole_session)


@central.case("two clients share the link, which ends when the second lets go")
async def shared(given):
    second = await given.daemon.client()
    identifier, discovered = await connect(given)
    await second.call("peripheral.connect", peripheral=identifier, timeout=60)
    location = tree.characteristic(discovered, p.HEART_RATE, p.LOCATION)["handle"]
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)
    value = await second.call("gatt.read", peripheral=identifier, handle=location)
    expect_equal(value["value"], "01", "the value that the second client reads")
    gone = given.peripheral.disconnection()
    await second.call("peripheral.disconnect", peripheral=identifier)
    await asyncio.wait_for(gone, 60)


@central.case("a peripheral that ends the link: the client hears the reason, pending work fails once")
async def ended_by_peripheral(given):
    identifier, discovered = await connect(given)
    handle = tree.characteristic(discovered, p.OURS, p.LONG)["handle"]
    given.client.forget("peripheral.disconnected")
    pending = [given.client.start("gatt.read", peripheral=identifier, handle=handle) for _ in range(5)]
    [link] = given.peripheral.device.connections.values()
    await link.disconnect()
    event = await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)
    reason = event["reason"]["data"]
    expect_equal((reason["domain"], reason["code"]), ("hci", 0x13), "the reason of the end")
    outcomes = await asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), 60)
    expect(isinstance(outcomes[-1], Exception), f"the last read ought to have failed, and gave {outcomes[-1]!r}")
    expect_equal(given.client.count("peripheral.disconnected"), 0, "further ends told")


async def subscribed(given):
    """The peripheral, connected, with its measurement subscribed to."""
    identifier, discovered = await connect(given)
    handle = tree.characteristic(discovered, p.HEART_RATE, p.MEASUREMENT)["handle"]
    await given.client.call("gatt.subscribe", peripheral=identifier, handle=handle)
    given.client.take("gatt.value", "gatt.subscriptionLost", "gatt.valuesLost")
    return identifier


async def notify(given, numbers):
    """Values of 97 octets, numbered through."""
    for number in numbers:
        await given.peripheral.notify(number.to_bytes(2, "little") + bytes(95))
        if number % 64 == 0:
            # The emulated controller has no flow control towards its own host: it must not overrun the kernel's queue.
            await asyncio.sleep(0.02)


def number_of(params):
    """The number of a value that came."""
    return int.from_bytes(bytes.fromhex(params["value"])[:2], "little")


async def flood(given, count):
    """Notifies so many values to a client that reads nothing meanwhile."""
    identifier = await subscribed(given)
    given.client.stop_reading()
    await notify(given, range(count))
    other = await given.daemon.client()
    await asyncio.wait_for(other.call("adapter.list"), 5)
    given.client.read_again()
    client, lost = given.client, ("gatt.subscriptionLost", "gatt.valuesLost")
    await client.until(lambda: client.count("gatt.value") >= count or any(client.count(method) for method in lost))
    # Answers follow waiting lines.
    await client.call("adapter.list")
    came = client.take("gatt.value", *lost)
    numbers = [number_of(params) for method, params in came if method == "gatt.value"]
    expect_equal(numbers, list(range(len(numbers))), f"the {len(numbers)} values")
    await disconnect(given, identifier)
    return len(numbers), [method for method, _ in came if method != "gatt.value"]


@central.case("a device learns why its link ends when the adapter is switched off, which works when it is on again")
async def switched_off(given):
    await power_off_is_told(given)


@central.case("a client that reads late gets every value, though the link was held meanwhile (P16)")
async def late_reader(given):
    expect_equal(await flood(given, 2000), (2000, []), "the values, and what tells of losses")


@central.case("values that the kernel has no room for, because the daemon stands still, are counted and told (P16)")
async def values_lost(given):
    client, count = given.client, 800
    identifier = await subscribed(given)
    given.daemon.process.send_signal(signal.SIGSTOP)
    try:
        await notify(given, range(count))
    finally:
        given.daemon.process.send_signal(signal.SIGCONT)
    lost = await client.next("gatt.valuesLost")
    await notify(given, [count])
    await client.until(lambda: client.count("gatt.value", lambda params: number_of(params) == count))
    numbers = [number_of(params) for _, params in client.take("gatt.value")]
    told = lost["packets"]
    expect(sorted(set(numbers)) == numbers, f"values twice or out of order: {numbers}")
    expect_equal(len(numbers) + told, count + 1, f"{len(numbers)} values that came and {told} that are told as lost")
    await disconnect(given, identifier)


@central.case("bleshell finds it, reads the location, and counts five notifications")
async def with_bleshell(given):
    found = await given.daemon.bleshell("scan", "--time", "5", "--json")
    reports = [json.loads(line) for line in found.splitlines()]
    expect(any(report.get("address") == ADDRESS for report in reports), f"not in bleshell's scan: {found}")
    read = await given.daemon.bleshell("read", ADDRESS, p.LOCATION)
    expect("01" in read or "Chest" in read, f"bleshell read: {read}")

    subscribed = given.peripheral.subscription(given.peripheral.measurement)
    counting = asyncio.create_task(given.daemon.bleshell("subscribe", ADDRESS, p.MEASUREMENT, "--count", "5"))
    await asyncio.wait_for(subscribed, 60)
    for beat in range(5):
        await given.peripheral.notify(bytes([0, 71 + beat]))
    counted = await asyncio.wait_for(counting, 60)
    for beat in range(5):
        expect(str(71 + beat) in counted, f"no {71 + beat} in what bleshell printed: {counted}")

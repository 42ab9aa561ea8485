"""Group 3: several connects wait at once for devices that are not there yet."""

import asyncio
from dataclasses import dataclass

from support import peripheral as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.peripheral import Peripheral

ADDRESSES = [f"F0:F1:F2:F3:F4:1{number}" for number in range(3)]


@dataclass
class Given:
    """bled on hci0, and three devices that are silent."""

    daemon: Daemon
    client: object
    devices: list


@stage(3, "pending connects")
async def pending_connects(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    devices = [await Peripheral.make(air, f"Late {address[-1]}", address) for address in ADDRESSES]
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(daemon, client, devices)


@pending_connects.case("three wait at once beside a scan; each completes when its device appears")
async def three_at_once(given):
    client = given.client
    await client.call("scan.start", services=[p.HEART_RATE])
    waiting = [client.start("peripheral.connect", address=address, addressType="random") for address in ADDRESSES]
    links = []
    for number in (1, 2, 0):
        left = [call for call in waiting if not call.done()]
        expect_equal(len(left), 3 - len(links), "the connects that wait")
        await given.devices[number].advertise()
        connected = await asyncio.wait_for(waiting[number], 90)
        expect_equal(connected["address"], ADDRESSES[number], "the device that is connected")
        links.append(connected["peripheral"])
    for link in links:
        discovered = await client.call("gatt.discoverServices", peripheral=link, services=[p.HEART_RATE])
        expect_equal(len(discovered["services"]), 1, "the heart rate services of each")
    await client.call("scan.stop")
    for link in links:
        await client.call("peripheral.disconnect", peripheral=link)
        await client.next("peripheral.disconnected", lambda event, link=link: event["peripheral"] == link)


@pending_connects.case("one that is cancelled fails once, one with a timeout in time, and a third goes on waiting")
async def cancelled(given):
    client = given.client
    for device in given.devices:
        await device.device.stop_advertising()
    first, second, third = (
        client.start("peripheral.connect", address=address, addressType="random", **more)
        for address, more in zip(ADDRESSES, ({}, {"timeout": 2}, {}))
    )
    error = await failure_of(second)
    expect_equal(error.get("domain"), "gap", "the domain of the timeout")
    await client.call("peripheral.disconnect", address=ADDRESSES[0], addressType="random")
    error = await failure_of(first)
    expect_equal(error.get("domain"), "gap", "the domain of the cancellation")
    expect(not third.done(), "the third connect ended with the others")
    await given.devices[2].advertise()
    connected = await asyncio.wait_for(third, 90)
    await client.call("peripheral.disconnect", peripheral=connected["peripheral"])

"""Group 18: bled-hid, with a keyboard and mouse of Bumble, and the events that programs get from the kernel."""

import asyncio
import os
import tempfile
from dataclasses import dataclass

from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.hid import ADDRESS, NAME, PRODUCT, VENDOR, VERSION, Desk, EventDevice, feature, identity, names, path_of
from support.tools import DIST, Program, run
from support.waiting import until

KEY_A, KEY_B, REL_X, REL_Y, CAPS_LOCK = 30, 48, 0, 1, 1
USAGE_A, USAGE_B = 4, 5
BLUETOOTH = 5


@dataclass
class Given:
    """bled, bled-hid, and a device that is paired."""

    resources: object
    daemon: Daemon
    gateway: Program
    desk: Desk
    client: object
    peripheral: str

    async def keyboard(self):
        """The keyboard, opened."""
        return await EventDevice.named(f"{NAME} Keyboard")

    async def types(self, keyboard, usage, code):
        """A key goes down and up."""
        await self.subscribed()
        await self.desk.press(usage)
        expect_equal(await keyboard.next(), (EventDevice.KEY, code, 1), "the key")
        await self.desk.press()
        expect_equal(await keyboard.next(), (EventDevice.KEY, code, 0), "the key that is released")

    async def subscribed(self):
        """Waits until the device is connected, and both reports are subscribed to."""
        server = self.desk.device.gatt_server

        def is_subscribed():
            handles = {handle for each in server.subscribers.values() for handle in each}
            return {self.desk.keys.handle, self.desk.moves.handle} <= handles

        await until(lambda: self.desk.device.connections and is_subscribed())

    async def disconnect(self):
        """The device ends its link."""
        [connection] = self.desk.device.connections.values()
        await connection.disconnect()


@stage(18, "hid")
async def hid(resources):
    await run("modprobe", "-a", "uhid", "hid-generic", "evdev")
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    desk = await Desk.make(air)
    await desk.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    gateway = Program(
        os.path.join(DIST, "bled-hid"), "--socket", daemon.socket, "--state-directory", tempfile.mkdtemp())
    await resources.open(gateway)
    await gateway.wait_for("0 of 0 keyboards")
    expect(path_of(NAME) is None, f"before it is paired: {names()}")
    peripheral = (await client.call("peripheral.connect", address=ADDRESS, addressType="random", timeout=60))[
        "peripheral"]
    await client.call("peripheral.pair", peripheral=peripheral)
    await client.call("peripheral.disconnect", peripheral=peripheral)
    return Given(resources, daemon, gateway, desk, client, peripheral)


@hid.case("a keyboard types, and its lights are set")
async def types(given):
    async with await given.keyboard() as keyboard:
        expect_equal(identity(keyboard.path), (BLUETOOTH, VENDOR, PRODUCT, VERSION), "its identity")
        await given.types(keyboard, USAGE_A, KEY_A)
        keyboard.light(CAPS_LOCK, True)
        expect_equal(await until(given.desk.lights.get), b"\x02", "the lights")


@hid.case("a mouse in the same device moves")
async def moves(given):
    path = await until(lambda: next((each for each, name in names().items() if name in (NAME, f"{NAME} Mouse")), None))
    async with EventDevice(path) as mouse:
        await given.subscribed()
        await given.desk.move(5, -3)
        expect_equal(await mouse.next(), (EventDevice.RELATIVE, REL_X, 5), "to the right")
        expect_equal(await mouse.next(), (EventDevice.RELATIVE, REL_Y, -3), "up")


@hid.case("a feature report is read and set by a program")
async def features(given):
    path = await until(lambda: path_of(f"{NAME} Keyboard"))
    await given.subscribed()
    expect_equal(await feature(path, b"\x03\0\0", False), b"\x03\x12\x34", "the report that is read")
    await feature(path, b"\x03\x56\x78", True)
    expect_equal(given.desk.feature, b"\x56\x78", "the report that was set")


@hid.case("a keyboard that goes away releases its keys, and comes back with its lights")
async def comes_back(given):
    async with await given.keyboard() as keyboard:
        await given.subscribed()
        keyboard.light(CAPS_LOCK, True)
        await given.desk.press(USAGE_B)
        expect_equal(await keyboard.next(), (EventDevice.KEY, KEY_B, 1), "the key")
        while not given.desk.lights.empty():
            given.desk.lights.get_nowait()
        await given.disconnect()
        expect_equal(await keyboard.next(), (EventDevice.KEY, KEY_B, 0), "the key that is released")
        await given.types(keyboard, USAGE_A, KEY_A)
        expect_equal(await until(given.desk.lights.get), b"\x02", "the lights")


@hid.case("the key that wakes a keyboard arrives, although it precedes the subscription")
async def wakes(given):
    async with await given.keyboard() as keyboard:
        await given.subscribed()

        def connected(connection):
            connection.once(
                connection.EVENT_CONNECTION_ENCRYPTION_CHANGE,
                lambda: asyncio.get_running_loop().create_task(given.desk.press_early(connection, USAGE_B)))

        given.desk.device.once(given.desk.device.EVENT_CONNECTION, connected)
        await given.disconnect()
        expect_equal(await keyboard.next(), (EventDevice.KEY, KEY_B, 1), "the key")
        await given.subscribed()
        await given.desk.press()
        expect_equal(await keyboard.next(), (EventDevice.KEY, KEY_B, 0), "the key that is released")


@hid.case("bled is killed and comes back: the same device types")
async def killed(given):
    async with await given.keyboard() as keyboard:
        given.daemon.process.kill()
        await given.daemon.process.wait()
        await given.gateway.wait_for("it is tried again each second")
        await given.daemon.__aenter__()
        given.client = await given.daemon.client()
        await given.gateway.wait_for("1 of 1 keyboards")
        await given.types(keyboard, USAGE_A, KEY_A)


@hid.case("bled-hid is killed and comes back: another device types")
async def gateway_killed(given):
    async with await given.keyboard() as keyboard:
        await given.gateway.end(9)
        expect_equal(await keyboard.next(), None, "the end of the device")
    given.gateway = await given.resources.open(Program(*given.gateway.command))
    async with await given.keyboard() as keyboard:
        await given.types(keyboard, USAGE_B, KEY_B)


@hid.case("a device that is forgotten is gone")
async def forgotten(given):
    async with await given.keyboard() as keyboard:
        await given.client.call("pairing.forget", peripheral=given.peripheral)
        expect_equal(await keyboard.next(), None, "the end of the device")
    await given.gateway.wait_for("0 of 0 keyboards")

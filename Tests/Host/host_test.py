#!/usr/bin/env python3
"""The own host: scan, advertising, GATT in both roles and pairing over an emulated controller."""

import asyncio
import json
import os
import unittest

from bearers import BearerTest  # noqa: F401
from bumble.device import Peer
from bumble.gatt import Characteristic, Service
from bumble.l2cap import LeCreditBasedChannelSpec
from crossing import CrossingTest  # noqa: F401
from pairing import PairingTest  # noqa: F401
from world import FAR, NAME, NEAR, PATIENCE, PROGRAMS, World

from support.waiting import until  # noqa: E402, I001

SERVICE = "6F3C0001-5B1E-4A0D-9B6A-0D1E6B7F2A10"
VALUE = "6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10"
LONG = bytes(range(256)) * 2


class HostTest(unittest.IsolatedAsyncioTestCase):
    async def test_scan(self):
        async with World() as world:
            await world.advertise()
            await world.call("scan.start")
            self.assertEqual((await world.report(NAME))["address"], FAR)
            await world.call("scan.stop")

    async def test_central(self):
        async with World() as world:
            value = Characteristic(
                VALUE, Characteristic.Properties.READ | Characteristic.Properties.WRITE
                | Characteristic.Properties.NOTIFY, Characteristic.READABLE | Characteristic.WRITEABLE, LONG)
            world.far.add_service(Service(SERVICE, [value]))
            await world.advertise()
            connected = await world.call("peripheral.connect", address=FAR)
            peripheral = connected["peripheral"]
            self.assertEqual(connected["mtu"], 517)
            read = await world.call("gatt.read", peripheral=peripheral, service=SERVICE, characteristic=VALUE)
            self.assertEqual(bytes.fromhex(read["value"]), LONG)
            handle = read["handle"]
            await world.call("gatt.write", peripheral=peripheral, handle=handle, value="0102")
            self.assertEqual(value.value, b"\x01\x02")
            await world.call("gatt.subscribe", peripheral=peripheral, handle=handle)
            # More than a controller buffers, and each in several fragments.
            for number in range(200):
                await world.far.notify_subscribers(value, bytes([number]) * 400)
            for number in range(200):
                self.assertEqual(bytes.fromhex((await world.next("gatt.value"))["value"]), bytes([number]) * 400)
            await world.call("peripheral.disconnect", peripheral=peripheral)

    async def test_the_device_ends_the_link(self):
        async with World() as world:
            await world.advertise()
            peripheral = (await world.call("peripheral.connect", address=FAR))["peripheral"]
            (connection,) = world.far.connections.values()
            await connection.disconnect()
            ended = await world.next("peripheral.disconnected")
            self.assertEqual(ended["peripheral"], peripheral)
            # The handle is used again.
            await world.call("peripheral.connect", address=FAR)

    async def test_peripheral(self):
        async with World() as world:
            characteristic = {"uuid": VALUE, "properties": ["read", "notify"], "value": LONG.hex()}
            added = await world.call("service.add", service={"uuid": SERVICE, "characteristics": [characteristic]})
            handle = added["service"]["characteristics"][0]["handle"]
            await world.call("advertising.start", name="near end")
            connection = await world.far.connect(f"{NEAR}/P", timeout=PATIENCE)
            peer = Peer(connection)
            await peer.request_mtu(517)
            await peer.discover_services([SERVICE])
            (service,) = peer.get_services_by_uuid(SERVICE)
            await service.discover_characteristics()
            (value,) = service.get_characteristics_by_uuid(VALUE)
            self.assertEqual(await value.read_value(), LONG)
            values = asyncio.Queue()
            await value.subscribe(values.put_nowait)
            await world.next("server.subscribed")
            for number in range(50):
                await self.notify(world, handle, bytes([number]) * 500)
            for number in range(50):
                self.assertEqual(await asyncio.wait_for(values.get(), PATIENCE), bytes([number]) * 500)
            await connection.disconnect()

    async def notify(self, world, handle, value):
        while not (await world.call("server.notify", handle=handle, value=value.hex()))["sent"]:
            await world.next("server.ready")

    async def test_we_open_a_channel(self):
        for mode in ["leCreditBased", "enhanced"]:
            with self.subTest(mode):
                async with World() as world:
                    await self.open_channel(world, mode)

    async def open_channel(self, world, mode):
        channels = asyncio.Queue()
        spec = LeCreditBasedChannelSpec(psm=0x85, mtu=1000, mps=100, max_credits=8)
        world.far.create_l2cap_server(spec, channels.put_nowait)
        await world.advertise()
        peripheral = (await world.call("peripheral.connect", address=FAR))["peripheral"]
        with self.assertRaisesRegex(Exception, "does not listen on PSM 134"):
            await world.call("l2cap.open", peripheral=peripheral, psm=0x86, mode=mode)
        opened = await world.call("l2cap.open", peripheral=peripheral, psm=0x85, mode=mode)
        self.assertEqual((opened["sendMTU"], opened["mode"]), (1000, mode))
        channel = await asyncio.wait_for(channels.get(), PATIENCE)
        await self.exchange(world, channel, opened["descriptor"])
        # The program ends it.
        gone = asyncio.Event()
        channel.on("close", gone.set)
        os.close(opened["descriptor"])
        await asyncio.wait_for(gone.wait(), PATIENCE)

    async def test_the_doctor_needs_no_bluetooth_of_the_kernel(self):
        async with World() as world:
            (adapter,) = (await world.call("adapter.list"))["adapters"]
            self.assertEqual(adapter["kind"], "host")
            run = await asyncio.create_subprocess_exec(
                PROGRAMS / "bleshell", "doctor", "--json", "--socket", world.socket, stdout=asyncio.subprocess.PIPE)
            output, _ = await run.communicate()
            findings = [json.loads(line) for line in output.splitlines()]
            self.assertTrue(any(world.adapter in each["message"] for each in findings), findings)
            problems = [each for each in findings if each["verdict"] == "problem"]
            self.assertFalse([each for each in problems if each["check"] in ("kernel", "adapter", "owner")], problems)

    async def test_a_device_opens_a_channel(self):
        async with World() as world:
            psm = (await world.call("l2cap.publish", receiveMTU=500))["psm"]
            await world.call("advertising.start", name="near end")
            connection = await world.far.connect(f"{NEAR}/P", timeout=PATIENCE)
            spec = LeCreditBasedChannelSpec(psm=psm, mtu=2000, mps=200, max_credits=4)
            for opens in [self.open_one, self.open_three]:
                opening = asyncio.ensure_future(opens(world, connection, spec))
                offered = await world.next("l2cap.incoming")
                channel = await asyncio.wait_for(opening, PATIENCE)
                self.assertEqual(channel.peer_mtu, 500)
                accepted = await world.call("l2cap.accept", channel=offered["channel"])
                await self.exchange(world, channel, accepted["descriptor"])
                # The device ends it.
                await asyncio.wait_for(channel.disconnect(), PATIENCE)
                self.assertEqual(await world.thread(os.read, accepted["descriptor"], 1), b"")
                os.close(accepted["descriptor"])

    async def open_one(self, _, connection, spec):
        return await connection.create_l2cap_channel(spec)

    async def open_three(self, world, connection, spec):
        """Opens enhanced channels with one request; gives the first, and the others' offers are left alone."""
        first, *_ = await world.far.l2cap_channel_manager.create_enhanced_credit_based_channels(connection, spec, 3)
        return first

    async def exchange(self, world, channel, descriptor):
        """Many octets go both ways at once, in more pieces than there are credits."""
        octets = LONG * 64
        received = bytearray()
        channel.sink = received.extend

        def write():
            rest = octets
            while rest:
                rest = rest[os.write(descriptor, rest):]

        def read():
            heard = b""
            while len(heard) < len(octets):
                heard += os.read(descriptor, 4096)
            return heard

        os.set_blocking(descriptor, True)
        channel.write(octets)
        _, heard = await asyncio.gather(world.thread(write), world.thread(read))
        self.assertEqual(heard, octets)
        await until(lambda: len(received) >= len(octets))
        self.assertEqual(bytes(received), octets)

    async def test_a_controller_that_vanishes_and_returns(self):
        for transport in ["unix", "tcp"]:
            with self.subTest(transport):
                async with World(transport) as world:
                    await world.advertise()
                    await world.call("scan.start")
                    await world.report(NAME)
                    await world.unplug()
                    await world.change("absent")
                    await world.plug_in()
                    await world.change("on")
                    # The scan continues by itself.
                    await world.far.stop_advertising()
                    await world.advertise("again")
                    await world.report("again")

    async def test_a_capture_has_the_packets_of_the_transport(self):
        async with World() as world:
            capture = await world.call("capture.start", format="btsnoop")
            with open(capture["descriptor"], "rb") as recording:
                await world.advertise()
                await world.call("scan.start")
                await world.report(NAME)
                await world.call("capture.stop", capture=capture["capture"])
                octets = await world.thread(recording.read)
            self.assertIn(NAME.encode(), octets)

    async def test_lost_synchrony_is_mended(self):
        async with World() as world:
            world.transport.sink.transport.write(b"\x99\x99\x99")
            await world.change("absent")
            await world.change("on")


if __name__ == "__main__":
    unittest.main(verbosity=2)

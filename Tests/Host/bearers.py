"""The own host has enhanced channels, and with them enhanced ATT bearers (EATT)."""

import asyncio
import os
import unittest

from bumble.core import UUID
from bumble.device import DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_client import Client
from bumble.l2cap import L2capError
from world import FAR, NEAR, PATIENCE, World

from support.waiting import until  # noqa: E402, I001

SERVICE = "6F3C0001-5B1E-4A0D-9B6A-0D1E6B7F2A10"
QUICK = "6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10"
SLOW = ["6F3C0003-5B1E-4A0D-9B6A-0D1E6B7F2A10", "6F3C0004-5B1E-4A0D-9B6A-0D1E6B7F2A10"]
OTHER = "11:22:33:44:55:66"
PSM = 0x27
READABLE = Characteristic.Properties.READ, Characteristic.READABLE


class BearerTest(unittest.IsolatedAsyncioTestCase):
    def serve(self, world):
        """The device serves a value, and slow ones; gives the queue of reads of those, and the event that answers."""
        asked, answer = asyncio.Queue(), asyncio.Event()

        def slow(uuid):
            async def read(_):
                asked.put_nowait(uuid)
                await answer.wait()
                return uuid.encode()

            return CharacteristicValue(read=read)

        values = [Characteristic(uuid, *READABLE, slow(uuid)) for uuid in SLOW]
        world.far.add_service(Service(SERVICE, [*values, Characteristic(QUICK, *READABLE, b"quick")]))
        return asked, answer

    async def connect(self, world):
        """Connects, encrypts the link and discovers all there is."""
        await world.advertise()
        peripheral = (await world.call("peripheral.connect", address=FAR, addressType="random"))["peripheral"]
        await world.call("peripheral.pair", peripheral=peripheral)
        await world.call("gatt.discover", peripheral=peripheral)
        return peripheral

    async def until_bearers(self, world, peripheral, count):
        async def are_there():
            told = await world.call("peripheral.parameters", peripheral=peripheral)
            return told.get("bearers", 1) == count

        await until(are_there)

    def channels(self, world):
        """The device's ends of the enhanced bearers."""
        (connection,) = world.far.connections.values()
        channels = world.far.l2cap_channel_manager.le_coc_channels.get(connection.handle, {})
        return [channel for channel in channels.values() if channel.psm == PSM]

    async def start(self, world, peripheral, uuid):
        """Begins to read a value."""
        return world.session.start("gatt.read", peripheral=peripheral, service=SERVICE, characteristic=uuid)

    async def finish(self, world, read):
        return bytes.fromhex((await world.thread(world.session.finish, read, PATIENCE))["value"])

    async def test_a_slow_answer_keeps_no_other_from_its_own(self):
        async with World(configuration=DeviceConfiguration(eatt_enabled=True)) as world:
            asked, answer = self.serve(world)
            peripheral = await self.connect(world)
            await self.until_bearers(world, peripheral, 3)
            self.assertEqual(len(self.channels(world)), 2)
            reads = [await self.start(world, peripheral, uuid) for uuid in SLOW]
            self.assertEqual({await asyncio.wait_for(asked.get(), PATIENCE) for _ in SLOW}, set(SLOW))
            quick = await self.start(world, peripheral, QUICK)
            self.assertEqual(await self.finish(world, quick), b"quick")
            answer.set()
            self.assertEqual([await self.finish(world, read) for read in reads], [uuid.encode() for uuid in SLOW])

    async def test_a_bearer_that_the_device_closes(self):
        async with World(configuration=DeviceConfiguration(eatt_enabled=True)) as world:
            asked, answer = self.serve(world)
            peripheral = await self.connect(world)
            await self.until_bearers(world, peripheral, 3)
            reads = [await self.start(world, peripheral, uuid) for uuid in SLOW]
            for _ in SLOW:
                await asyncio.wait_for(asked.get(), PATIENCE)
            for channel in self.channels(world):
                await asyncio.wait_for(channel.disconnect(), PATIENCE)
            await self.until_bearers(world, peripheral, 1)
            answer.set()
            # They are requested again on the remaining bearer.
            self.assertEqual([await self.finish(world, read) for read in reads], [uuid.encode() for uuid in SLOW])

    async def test_a_device_that_refuses_the_channels(self):
        async with World(configuration=DeviceConfiguration(eatt_enabled=True)) as world:
            _, answer = self.serve(world)
            answer.set()
            del world.far.l2cap_channel_manager.le_coc_servers[PSM]
            peripheral = await self.connect(world)
            read = await self.start(world, peripheral, SLOW[0])
            self.assertEqual(await self.finish(world, read), SLOW[0].encode())
            await self.until_bearers(world, peripheral, 1)

    async def test_bled_at_both_ends(self):
        async with World() as world, World(air=world.air, address=OTHER) as other:
            characteristics = [{"uuid": uuid, "properties": ["read"]} for uuid in SLOW]
            characteristics.append({"uuid": QUICK, "properties": ["read"], "value": b"quick".hex()})
            await other.call("service.add", service={"uuid": SERVICE, "characteristics": characteristics})
            await other.call("pairing.open", seconds=600)
            await other.call("advertising.start", name="other end")
            peripheral = (await world.call("peripheral.connect", address=OTHER))["peripheral"]
            await world.call("peripheral.pair", peripheral=peripheral)
            await world.call("gatt.discover", peripheral=peripheral)
            await self.until_bearers(world, peripheral, 3)
            reads = [await self.start(world, peripheral, uuid) for uuid in SLOW]
            asked = [await self.asked(other) for _ in SLOW]
            quick = await self.start(world, peripheral, QUICK)
            self.assertEqual(await self.finish(world, quick), b"quick")
            for message in reversed(asked):
                other.session.answer(message, value=f"{message['params']['handle']:04x}")
            values = {await self.finish(world, read) for read in reads}
            self.assertEqual(values, {message["params"]["handle"].to_bytes(2, "big") for message in asked})
            # An enhanced channel has longer packets than a bearer.
            psm = (await other.call("l2cap.publish", receiveMTU=2000, mode="enhanced"))["psm"]
            opened = await world.call("l2cap.open", peripheral=peripheral, psm=psm, mode="enhanced")
            self.assertEqual((opened["sendMTU"], opened["mode"]), (2000, "enhanced"))
            offered = await other.next("l2cap.incoming")
            accepted = await other.call("l2cap.accept", channel=offered["channel"])
            octets = bytes(range(256)) * 16
            for end in [opened, accepted]:
                os.set_blocking(end["descriptor"], True)
            for here, there in [(opened, accepted), (accepted, opened)]:
                writing = asyncio.ensure_future(World.thread(os.write, here["descriptor"], octets))
                heard = b""
                while len(heard) < len(octets):
                    heard += await World.thread(os.read, there["descriptor"], len(octets))
                self.assertEqual((heard, await writing), (octets, len(octets)))
            for end in [opened, accepted]:
                os.close(end["descriptor"])

    async def asked(self, world):
        """The next value that a program is asked for."""
        while (message := await world.thread(world.session.message, PATIENCE))["method"] != "server.read":
            pass
        return message

    async def test_a_device_opens_bearers(self):
        async with World() as world:
            characteristics = [
                {"uuid": uuid, "properties": ["read"], "value": uuid.encode().hex()} for uuid in [QUICK, *SLOW]]
            added = await world.call("service.add", service={"uuid": SERVICE, "characteristics": characteristics})
            handles = [each["handle"] for each in added["service"]["characteristics"]]
            await world.call("pairing.open", seconds=600)
            await world.call("advertising.start", name="near end")
            connection = await world.far.connect(f"{NEAR}/P", timeout=PATIENCE)
            [features] = await connection.gatt_client.read_characteristics_by_uuid(UUID("2B3A"), None)
            self.assertEqual(features, b"\x01")
            with self.assertRaises(L2capError):
                # The link is not encrypted.
                await asyncio.wait_for(Client.connect_eatt(connection, count=3), PATIENCE)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            bearers = await asyncio.wait_for(Client.connect_eatt(connection, count=3), PATIENCE)
            reads = [bearer.read_value(handle) for bearer, handle in zip(bearers, handles)]
            values = await asyncio.wait_for(asyncio.gather(*reads), PATIENCE)
            # A bearer has the shortest MTU, as its client requests no other.
            self.assertEqual(values, [uuid.encode() for uuid in [QUICK, *SLOW]])
            await asyncio.wait_for(bearers[0].bearer.disconnect(), PATIENCE)
            self.assertEqual(await asyncio.wait_for(bearers[1].read_value(handles[0]), PATIENCE), QUICK.encode())

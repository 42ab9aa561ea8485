"""The own host has enhanced channels, and with them enhanced ATT bearers (EATT)."""

import asyncio
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
            # They are asked again on the bearer that is left.
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
            # A bearer has the shortest MTU, as its client asks for no other.
            self.assertEqual(values, [uuid.encode() for uuid in [QUICK, *SLOW]])
            await asyncio.wait_for(bearers[0].bearer.disconnect(), PATIENCE)
            self.assertEqual(await asyncio.wait_for(bearers[1].read_value(handles[0]), PATIENCE), QUICK.encode())

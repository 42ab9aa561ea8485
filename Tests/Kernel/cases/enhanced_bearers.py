"""Group 14: enhanced ATT bearers (EATT): several requests of programs under way on one link."""

import asyncio
from dataclasses import dataclass, field

from bumble.device import DeviceConfiguration
from bumble.core import UUID
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_client import Client
from cases.enhanced_channels import switched
from cases.l2cap_channels import Roomy
from support import own_host
from support import peripheral as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.waiting import until

BELT = "F0:F1:F2:F3:F4:05"
PHONE = "F0:F1:F2:F3:F4:06"
SLOW = ["B1ED4001-0000-4000-8000-00805F9B34FB", "B1ED4002-0000-4000-8000-00805F9B34FB"]
PSM = 0x27
CLIENT_FEATURES = "2B29"
SERVER_FEATURES = UUID("2B3A")


@dataclass
class Given:
    """bled on hci0, a device with EATT whose answers to some reads wait for us, and a phone."""

    adapter: object
    client: object
    device: object = None
    phone: object = None
    asked: asyncio.Queue = field(default_factory=asyncio.Queue)
    answer: asyncio.Event = field(default_factory=asyncio.Event)

    def slow(self, value):
        """A value that is read when `answer` is set."""

        async def read(_):
            self.asked.put_nowait(value)
            await self.answer.wait()
            return value

        return CharacteristicValue(read=read)

    def channels(self):
        """The device's ends of the enhanced bearers that are open."""
        [connection] = self.device.connections.values()
        channels = self.device.l2cap_channel_manager.le_coc_channels.get(connection.handle, {})
        return [channel for channel in channels.values() if channel.psm == PSM]

    async def connect(self):
        """Connects, encrypts the link and discovers all there is; gives the identifier."""
        connected = await self.client.call("peripheral.connect", address=BELT, addressType="random", timeout=60)
        identifier = connected["peripheral"]
        await self.client.call("peripheral.pair", peripheral=identifier)
        await self.client.call("gatt.discover", peripheral=identifier)
        return identifier

    async def bearers(self, identifier):
        """The number of bearers that the daemon reports."""
        return (await self.client.call("peripheral.parameters", peripheral=identifier)).get("bearers", 1)

    async def until_bearers(self, identifier, count):
        """Waits until there are so many."""

        async def are_there():
            return await self.bearers(identifier) == count

        await until(are_there)

    def read(self, identifier, uuid):
        """Reads a value, later."""
        return asyncio.ensure_future(self.client.call("gatt.read", peripheral=identifier, characteristic=uuid))

    async def end(self, identifier):
        """The session lets go, and the link ends."""
        await self.client.call("peripheral.disconnect", peripheral=identifier)
        await until(lambda: not self.device.connections)


@stage(14, "enhanced ATT bearers")
async def enhanced(resources):
    resources.enter_context(switched("Y"))
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Roomy))
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    given = Given(adapter, client, phone=await air.device("Phone", PHONE, personality=Roomy))
    properties, readable = Characteristic.Properties.READ, Characteristic.READABLE
    values = [Characteristic(uuid, properties, readable, given.slow(uuid[:8].encode())) for uuid in SLOW]
    values.append(Characteristic(p.LOCATION, properties, readable, b"\x01"))
    configuration = DeviceConfiguration(eatt_enabled=True)
    given.device = await air.device(
        "Bumble belt", BELT, [Service(p.OURS, values)], Roomy, configuration=configuration
    )
    await given.device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)
    return given


@enhanced.case("three requests are under way at once; one that is answered slowly keeps no other from its answer")
async def at_once(given):
    given.answer.clear()
    identifier = await given.connect()
    await given.until_bearers(identifier, 3)
    expect_equal(len(given.channels()), 2, "the channels that the device has")
    told = await given.client.call("gatt.readUsingUUID", peripheral=identifier, uuid=CLIENT_FEATURES)
    expect_equal(told["values"][0]["value"][:2], "07", "what the device was told of our client")
    slow = [given.read(identifier, uuid) for uuid in SLOW]
    asked = {await asyncio.wait_for(given.asked.get(), 60) for _ in SLOW}
    expect_equal(asked, {uuid[:8].encode() for uuid in SLOW}, "what the device was asked at once")
    quick = await given.read(identifier, p.LOCATION)
    expect_equal(quick["value"], "01", "the value that was read meanwhile")
    expect(not any(read.done() for read in slow), "the slow ones were answered before they were")
    given.answer.set()
    values = [(await read)["value"] for read in slow]
    expect_equal(values, [uuid[:8].encode().hex() for uuid in SLOW], "the slow values")
    await given.end(identifier)


@enhanced.case("a bearer that the device closes in the middle: its read is asked again, the link stays")
async def lost(given):
    given.answer.clear()
    identifier = await given.connect()
    await given.until_bearers(identifier, 3)
    slow = [given.read(identifier, uuid) for uuid in SLOW]
    for _ in SLOW:
        await asyncio.wait_for(given.asked.get(), 60)
    for channel in given.channels():
        await channel.disconnect()
    await given.until_bearers(identifier, 1)
    given.answer.set()
    values = [(await asyncio.wait_for(read, 60))["value"] for read in slow]
    expect_equal(values, [uuid[:8].encode().hex() for uuid in SLOW], "the values")
    while not given.asked.empty():
        given.asked.get_nowait()
    expect(given.device.connections, "the link has ended")
    await given.end(identifier)


@enhanced.case("a device that refuses the channels, and a kernel without them: one bearer, at once")
async def without(given):
    given.answer.set()
    servers = given.device.l2cap_channel_manager.le_coc_servers
    server = servers.pop(PSM)
    identifier = await given.connect()
    expect_equal((await given.read(identifier, SLOW[0]))["value"], SLOW[0][:8].encode().hex(), "a value")
    expect_equal((await given.bearers(identifier), given.channels()), (1, []), "the bearers of one that refuses")
    await given.end(identifier)
    servers[PSM] = server
    if own_host.IS_USED:
        return
    with switched("N"):
        identifier = await given.connect()
        expect_equal((await given.read(identifier, p.LOCATION))["value"], "01", "a value")
        expect_equal((await given.bearers(identifier), given.channels()), (1, []), "the bearers without channels")
        await given.end(identifier)


@enhanced.case("a phone opens three: its requests are with the program at once, and each is answered in its own time")
async def phone(given):
    client, asked = given.client, {}

    def read(params):
        asked[params["handle"]] = asyncio.get_running_loop().create_future()
        return asked[params["handle"]]

    client.answer("server.read", read)
    characteristics = [{"uuid": uuid, "properties": ["read"]} for uuid in SLOW]
    characteristics.append({"uuid": p.LOCATION, "properties": ["read"], "value": "01"})
    added = await client.call("service.add", service={"uuid": p.OURS, "characteristics": characteristics})
    [first, second, fixed] = [each["handle"] for each in added["service"]["characteristics"]]
    await client.call("pairing.open", seconds=600)
    advertising = await client.call("advertising.start", name="bled here")
    link = await asyncio.wait_for(given.phone.connect(given.adapter.address + "/P"), 60)
    [features] = await link.gatt_client.read_characteristics_by_uuid(SERVER_FEATURES, None)
    expect_equal(features, b"\x01", "the Server Supported Features")
    await asyncio.wait_for(link.pair(), 60)
    bearers = await asyncio.wait_for(Client.connect_eatt(link, count=3), 60)
    reads = [asyncio.ensure_future(bearer.read_value(handle)) for bearer, handle in zip(bearers, (first, second))]
    await until(lambda: len(asked) == 2)
    quick = await asyncio.wait_for(bearers[2].read_value(fixed), 60)
    expect_equal((quick, [each.done() for each in reads]), (b"\x01", [False, False]), "what was read meanwhile")
    for handle, number in ((second, 1), (first, 0)):
        asked[handle].set_result({"value": f"{number:02x}"})
        expect_equal(await asyncio.wait_for(reads[number], 60), bytes([number]), "a value that was asked for")
    await bearers[0].bearer.disconnect()
    expect_equal(await asyncio.wait_for(link.gatt_client.read_value(fixed), 60), b"\x01", "the value without it")
    await link.disconnect()
    await client.call("advertising.stop", advertising=advertising["advertising"])

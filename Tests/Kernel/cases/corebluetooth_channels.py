"""Group 13: L2CAP channels of programs written for Apple's CoreBluetooth: Examples/ChannelEcho, in both roles."""

import asyncio
from dataclasses import dataclass

from bumble.core import UUID, AdvertisingData
from bumble.device import Peer
from bumble.gatt import Characteristic, Service
from bumble.l2cap import LeCreditBasedChannelSpec
from cases.l2cap_channels import Roomy, collect, until
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.examples import example
from support.main_things import hears

SERVICE = UUID("B1ED0010-5EED-4B1E-8D00-000000000000")
NUMBER = UUID("ABDD3056-28FA-441D-A470-55A75A52553A")
PSM = 0x90
TEXT = "Hello over a channel. " * 100


@dataclass
class Given:
    """bled on hci0, and the other side."""

    daemon: Daemon
    other: object


@stage(13, "CoreBluetooth's channels")
async def programs(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Roomy))
    other = await air.device("Bumble echo", "F0:F1:F2:F3:F4:01")
    daemon = await resources.open(Daemon(resources, "hci0"))
    await daemon.until_on(await daemon.client())
    return Given(daemon, other)


@programs.case("a program opens a channel to a device, and what it writes to its stream comes back")
async def opens(given):
    device = given.other

    def echo(channel):
        channel.sink = channel.write

    device.create_l2cap_server(LeCreditBasedChannelSpec(psm=PSM, mtu=500, mps=247, max_credits=64), echo)
    number = Characteristic(
        NUMBER, Characteristic.Properties.READ, Characteristic.READABLE, PSM.to_bytes(2, "little")
    )
    device.add_service(Service(SERVICE, [number]))
    uuids = (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(SERVICE))
    device.advertising_data = bytes(AdvertisingData([uuids]))
    await device.start_advertising(auto_restart=False)
    async with example(given.daemon, "ChannelEcho", TEXT) as program:
        await program.wait_for(f"A channel to {PSM} is open")
        await program.wait_for(f"Received back: {TEXT.strip()}")
        await program.wait_for("Disconnected")
        expect_equal(await asyncio.wait_for(program.process.wait(), 60), 0, "the program's status")


@programs.case("a program publishes a number, and what comes out of its stream goes into the other one")
async def publishes(given):
    async with example(given.daemon, "ChannelEcho") as program:
        await program.wait_for("Advertising")
        found = await hears(given.other, "Echo")
        connection = await asyncio.wait_for(given.other.connect(found.address), 60)
        peer = Peer(connection)
        await peer.discover_all()
        [number] = peer.get_characteristics_by_uuid(NUMBER)
        psm = int.from_bytes(await number.read_value(), "little")
        spec = LeCreditBasedChannelSpec(psm=psm, mtu=1000, mps=247, max_credits=64)
        channel = await asyncio.wait_for(connection.create_l2cap_channel(spec), 60)
        octets, news = collect(channel)
        await program.wait_for("A channel is open")
        channel.write(TEXT.encode())
        await until(octets, news, len(TEXT))
        expect(bytes(octets) == TEXT.encode(), "what came back differs")
        await connection.disconnect()
        await program.wait_for("A channel has ended")

"""The main things that programs do: a scan finds, a connect leads to a read, a central that connects reads."""

import asyncio

from bumble.core import UUID, AdvertisingData
from bumble.device import Peer

from . import peripheral as p
from . import published, tree
from .air import Air
from .cases import expect_equal
from .daemon import Daemon
from .published import Published

ADDRESS = "F0:F1:F2:F3:F4:01"  # The peripheral's.
PHONE = "F0:F1:F2:F3:F4:02"


async def hub_and_belt(resources):
    """The air, a peripheral that advertises at ADDRESS, and the daemon on hci0, which is on."""
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await p.Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    await daemon.until_on(await daemon.client())
    return air, peripheral, daemon


async def connect(given):
    """Connects; gives the identifier."""
    connected = await given.client.call("peripheral.connect", address=ADDRESS, addressType="random", timeout=60)
    return connected["peripheral"]


async def let_go(given, identifier):
    """Disconnects, and drops the event of it."""
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)


async def scan_finds(given):
    """A scan finds the peripheral."""
    given.client.forget("scan.report")
    await given.client.call("scan.start", duplicates=True)
    await given.client.next("scan.report", lambda report: report["address"] == ADDRESS)
    await given.client.call("scan.stop")


async def reads(given):
    """A connect succeeds, and a value is read."""
    identifier = await connect(given)
    discovered = await given.client.call("gatt.discover", peripheral=identifier)
    handle = tree.characteristic(discovered, p.BATTERY, p.LEVEL)["handle"]
    read = await given.client.call("gatt.read", peripheral=identifier, handle=handle)
    expect_equal(read["value"], "5a", "the battery level")
    gone = given.peripheral.disconnection()
    await let_go(given, identifier)
    await asyncio.wait_for(gone, 60)


async def power_off_is_told(given, adapter="hci0"):
    """The peripheral learns why its link ends when the adapter is switched off, and twice in a row."""
    for _ in range(2):
        identifier = await connect(given)
        gone = given.peripheral.disconnection()
        await given.client.call("adapter.power", adapter=adapter, on=False)
        await given.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)
        await given.client.call("adapter.power", adapter=adapter, on=True)
        # Remote Device Terminated Connection due to Power Off
        expect_equal(await asyncio.wait_for(gone, 60), 0x15, "the reason of the end")
        await given.daemon.until_on(given.client, adapter)


async def hears(phone, name):
    """Waits until the phone hears an advertisement of this name; gives it."""
    heard = asyncio.get_running_loop().create_future()

    def advertisement(found):
        if found.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not heard.done():
            heard.set_result(found)

    phone.on(phone.EVENT_ADVERTISEMENT, advertisement)
    await phone.start_scanning()
    try:
        return await asyncio.wait_for(heard, 60)
    finally:
        await phone.stop_scanning()
        phone.remove_listener(phone.EVENT_ADVERTISEMENT, advertisement)


async def central_reads(given, adapter="hci0"):
    """An advertisement is heard, and the central that connects reads a value; the advertisement comes back."""
    service = await Published.add(given.client)
    await service.advertise(adapter)
    for _ in range(2):
        found = await hears(given.phone, published.NAME)
        peer = Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))
        await asyncio.wait_for(peer.discover_all(), 60)
        [fixed] = peer.get_characteristics_by_uuid(UUID(published.FIXED))
        expect_equal(await fixed.read_value(), published.FIXED_VALUE, "what the central reads")
        await peer.connection.disconnect()
    await given.client.call("advertising.stop")
    await given.client.call("service.remove")

"""real_refusals.py ADDRESS: errors of attributes, the contents of advertisements and other things that bleak's users
rely on, with the odd device of Tests/Kernel on real radio."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner
from bleak.exc import BleakGATTProtocolError

SERVICE, EAGER, STORED = (f"b1ed10{digits}-0000-4000-8000-00805f9b34fb" for digits in ("00", "01", "02"))
BATTERY = "0000180f-0000-1000-8000-00805f9b34fb"
CODES = (0x0E, 0x11, 0x80, 0xFC)


async def advertisement(address):
    """A scan for a service hears the device with all that it says."""
    heard = asyncio.get_running_loop().create_future()

    def advertised(device, data):
        assert device.address == address, device
        # The name is in the scan response.
        if data.local_name and not heard.done():
            heard.set_result((device, data))

    async with BleakScanner(advertised, service_uuids=[BATTERY]):
        device, data = await heard
    assert data.local_name == "Odd", data
    assert data.manufacturer_data == {0x1234: b"MFG"} and data.service_data == {BATTERY: b"SER"}, data
    assert data.service_uuids == [BATTERY] and data.tx_power == 12 and -127 <= data.rssi <= 20, data
    return device


async def refused(call):
    try:
        await call
    except BleakGATTProtocolError as error:
        return error.code
    raise AssertionError("it is not refused")


async def use(client):
    for code in CODES:
        uuid = f"b1ed11{code:02x}-0000-4000-8000-00805f9b34fb"
        assert await refused(client.read_gatt_char(uuid)) == code
        assert await refused(client.write_gatt_char(uuid, b"x", response=True)) == code
    descriptor = client.services.get_characteristic(STORED).get_descriptor("00002901-0000-1000-8000-00805f9b34fb")
    await client.write_gatt_descriptor(descriptor.handle, b"written")
    assert bytes(await client.read_gatt_descriptor(descriptor.handle)) == b"written"
    # A value that was read is available without the device.
    await client.read_gatt_char(STORED)
    assert bytes(await client.read_gatt_char(STORED, use_cached=True)) == b"stored"
    mtu = client.services.get_characteristic(STORED).max_write_without_response_size + 3
    assert mtu > 23, mtu


async def eager(client, use_start_notify):
    """The device notifies before it answers the subscription."""
    values = asyncio.Queue()
    await client.start_notify(
        EAGER, lambda _, value: values.put_nowait(bytes(value)), bluez={"use_start_notify": use_start_notify})
    assert await values.get() == b"early"
    await client.stop_notify(EAGER)


async def main():
    [address] = sys.argv[1:]
    device = await advertisement(address)
    for _ in range(3):
        async with BleakClient(device) as client:
            assert client.is_connected
        assert not client.is_connected
    async with BleakClient(device) as client:
        await use(client)
        for use_start_notify in (True, False):
            await eager(client, use_start_notify)
        print("alone")
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    try:
        await BleakClient(device, timeout=3).connect()
    except (TimeoutError, asyncio.TimeoutError):
        print("done")


asyncio.run(main())

"""Connects to a device again and again with bleak's remembered services, and subscribes at once each time, as Home
Assistant does."""

import asyncio

from bleak import BleakClient, BleakScanner

BELT = "C0:DE:00:00:00:01"
RATE, PLACE = "00002a37-0000-1000-8000-00805f9b34fb", "00002a38-0000-1000-8000-00805f9b34fb"


async def main():
    device = await BleakScanner.find_device_by_address(BELT, timeout=60)
    for number in range(6):
        client = BleakClient(device)
        await client.connect(dangerous_use_bleak_cache=number > 0)
        values = asyncio.Queue()
        await client.start_notify(
            RATE, lambda _, value: values.put_nowait(value), bluez={"use_start_notify": number % 2 == 0})
        await values.get()
        assert bytes(await client.read_gatt_char(PLACE)) == b"\x01"
        await client.disconnect()
    print("done")


asyncio.run(main())

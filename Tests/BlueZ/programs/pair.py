"""bleak pairs with a device without display and keys, and forgets it."""

import asyncio

from bleak import BleakClient, BleakScanner

PLAIN = "C0:DE:00:00:00:0A"


async def main():
    device = await BleakScanner.find_device_by_address(PLAIN, timeout=60)
    client = BleakClient(device)
    await client.connect()
    await client.pair()
    print("paired")
    await client.pair()
    await client.unpair()
    print("unpaired")
    device = await BleakScanner.find_device_by_address(PLAIN, timeout=60)
    async with BleakClient(device, pair=True) as client:
        value = await client.read_gatt_char("0000fff1-0000-1000-8000-00805f9b34fb")
        assert bytes(value) == b"hello"
    print("done")


asyncio.run(main())

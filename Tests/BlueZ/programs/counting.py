"""counting.py ADDRESS COUNT: is notified of so many numbers by the device, and compares them."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

ECHOED = "b1ed0003-5eed-4b1e-8d00-000000000000"


async def main():
    address, count = sys.argv[1], int(sys.argv[2])
    device = await BleakScanner.find_device_by_address(address, timeout=60)
    async with BleakClient(device) as client:
        values = asyncio.Queue()
        await client.start_notify(ECHOED, lambda _, value: values.put_nowait(bytes(value)))
        print("subscribed")
        numbers = [int.from_bytes(await values.get(), "little") for _ in range(count)]
    assert numbers == list(range(count)), numbers
    print("done")


asyncio.run(main())

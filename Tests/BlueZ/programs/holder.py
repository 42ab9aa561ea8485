"""holder.py ADDRESS: scans, connects, subscribes, and says so at each step; then stays, scanning."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner


async def main():
    device = await BleakScanner.find_device_by_address(sys.argv[1], timeout=60)
    print("found", flush=True)
    async with BleakClient(device) as client:
        print("connected", flush=True)
        for service in client.services:
            for characteristic in service.characteristics:
                if "notify" in characteristic.properties:
                    await client.start_notify(characteristic, lambda _, value: None)
        print("subscribed", flush=True)
        async with BleakScanner():
            print("scanning", flush=True)
            await asyncio.Event().wait()


asyncio.run(main())

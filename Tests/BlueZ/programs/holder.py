"""holder.py ADDRESS [wait]: scans, connects, subscribes, and says so at each step; then stays, scanning. With `wait` it
connects when a line comes."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner


async def main():
    device = await BleakScanner.find_device_by_address(sys.argv[1], timeout=60)
    print("found", flush=True)
    if "wait" in sys.argv[2:]:
        await asyncio.to_thread(sys.stdin.readline)
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

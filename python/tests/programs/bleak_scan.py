"""Lists devices: a program for bleak that knows nothing of bled."""

import asyncio
import sys

from bleak import BleakScanner


async def main(seconds: float) -> None:
    found = await BleakScanner.discover(timeout=seconds, return_adv=True)
    for device, advertisement in found.values():
        print(device.address, device.name, sorted(advertisement.service_uuids))
    print("done", sys.argv)


asyncio.run(main(float(sys.argv[1])))

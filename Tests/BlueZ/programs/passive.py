"""A passive scan of bleak, which registers an advertisement monitor."""

import asyncio

from bleak import BleakScanner
from bleak.args.bluez import BlueZScannerArgs, OrPattern
from bleak.assigned_numbers import AdvertisementDataType

BELT = "C0:DE:00:00:00:01"


async def main():
    pattern = OrPattern(0, AdvertisementDataType.MANUFACTURER_SPECIFIC_DATA, b"\xff\xff")
    count, seen, done = 0, set(), asyncio.Event()

    def heard(device, _):
        nonlocal count
        seen.add(device.address)
        count += device.address == BELT
        if count >= 3:
            done.set()

    async with BleakScanner(heard, scanning_mode="passive", bluez=BlueZScannerArgs(or_patterns=[pattern])):
        await done.wait()
    assert seen == {BELT}, seen
    print("done")


asyncio.run(main())

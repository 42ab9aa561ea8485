"""Scans on two adapters with one connection to the bus, as Home Assistant does."""

import asyncio

from bleak import BleakScanner


async def main():
    heard = {adapter: asyncio.Event() for adapter in ("hci0", "hci1")}

    def scanner(adapter):
        def told(device, _):
            if f"/{adapter}/" in device.details["path"]:
                heard[adapter].set()

        return BleakScanner(told, bluez={"adapter": adapter})

    first, second = (scanner(adapter) for adapter in heard)
    await first.start()
    await second.start()
    for event in heard.values():
        await event.wait()
    await first.stop()
    heard["hci1"].clear()
    await heard["hci1"].wait()
    await second.stop()
    print("done")


asyncio.run(main())

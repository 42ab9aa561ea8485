"""Uses a device by its name: a program for bleak that knows nothing of bled."""

import argparse
import asyncio
from typing import Any

from bleak import BleakClient, BleakScanner


async def main(name: str, uuid: str) -> None:
    gone = asyncio.Event()
    device = await BleakScanner.find_device_by_name(name)
    if device is None:
        raise SystemExit(f"no {name}")
    values: asyncio.Queue[bytearray] = asyncio.Queue()

    def received(characteristic: Any, value: bytearray) -> None:
        values.put_nowait(value)

    async with BleakClient(device, disconnected_callback=lambda client: gone.set()) as client:
        print(client.name, client.mtu_size)
        for service in client.services:
            for characteristic in service.characteristics:
                print(service.uuid, characteristic.uuid, characteristic.properties)
                for descriptor in characteristic.descriptors:
                    print("  descriptor", descriptor.uuid, await client.read_gatt_descriptor(descriptor.handle))
        await client.start_notify(uuid, received)
        await client.write_gatt_char(uuid, b"hello", response=True)
        print("notified", await values.get())
        print("read", await client.read_gatt_char(uuid))
        await client.stop_notify(uuid)
    await gone.wait()
    print("gone")


parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--uuid", required=True)
arguments = parser.parse_args()
asyncio.run(main(arguments.name, arguments.uuid))

"""visitor.py ADAPTER ADDRESS: uses what BlueZ's example-gatt-server offers, from another adapter."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

TEST = "12345678-1234-5678-1234-56789abcdef1"


def short(digits):
    return f"0000{digits}-0000-1000-8000-00805f9b34fb"


async def main():
    adapter, address = sys.argv[1:]
    device = await BleakScanner.find_device_by_address(address, timeout=60, bluez={"adapter": adapter})
    assert device.name == "TestAdvertisement", device
    print("found")
    async with BleakClient(device, bluez={"adapter": adapter}) as client:
        assert bytes(await client.read_gatt_char(short("2a38"))) == b"\x01"
        assert bytes(await client.read_gatt_char(short("2a19"))) == b"\x64"
        await client.write_gatt_char(TEST, b"\x01\x02\x03", response=True)
        assert bytes(await client.read_gatt_char(TEST)) == b"\x01\x02\x03"
        description = client.services.get_characteristic(TEST).get_descriptor(short("2901"))
        assert bytes(await client.read_gatt_descriptor(description.handle)).startswith(b"This is a char")
        await client.write_gatt_descriptor(description.handle, b"Another one")
        assert bytes(await client.read_gatt_descriptor(description.handle)) == b"Another one"
        values = asyncio.Queue()
        await client.start_notify(short("2a37"), lambda _, value: values.put_nowait(bytes(value)))
        for _ in range(3):
            assert (await values.get())[0] & 0x06 == 0x06
        await client.stop_notify(short("2a37"))
    print("done")


asyncio.run(main())

"""guest.py ADAPTER ADDRESS: uses the characteristic that served_*.py offer, from another adapter."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

VALUE = "12345678-1234-5678-1234-56789abcdef1"
LONG = b"more than fits into one packet of the default size"


async def main():
    adapter, address = sys.argv[1:]
    device = await BleakScanner.find_device_by_address(address, timeout=60, bluez={"adapter": adapter})
    assert device.name == "Served", device
    async with BleakClient(device, bluez={"adapter": adapter}) as client:
        # The value of the start, a notified number, or the last guest's value.
        value = bytes(await client.read_gatt_char(VALUE))
        assert len(value) in (1, 4) or value == LONG, value
        await client.write_gatt_char(VALUE, LONG, response=True)
        values = asyncio.Queue()
        await client.start_notify(VALUE, lambda _, value: values.put_nowait(bytes(value)))
        numbers = [int.from_bytes(await values.get(), "little") for _ in range(5)]
        assert numbers == list(range(numbers[0], numbers[0] + 5)), numbers
        await client.stop_notify(VALUE)
    print("done")


asyncio.run(main())

"""real_central.py ADDRESS: what bleak's users do, with the peripheral of Tests/Kernel on real radio."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner
from bleak.args.bluez import BlueZScannerArgs, OrPattern
from bleak.assigned_numbers import AdvertisementDataType

RATE, LEVEL, DESCRIPTION = (f"0000{digits}-0000-1000-8000-00805f9b34fb" for digits in ("2a37", "2a19", "2901"))
LONG, WRITABLE, INDICATED = (f"b1ed000{digit}-0000-4000-8000-00805f9b34fb" for digit in (2, 3, 4))


async def passive(address):
    heard = asyncio.Event()
    pattern = OrPattern(0, AdvertisementDataType.FLAGS, b"\x06")

    def advertised(device, _):
        if device.address == address:
            heard.set()

    async with BleakScanner(advertised, scanning_mode="passive", bluez=BlueZScannerArgs(or_patterns=[pattern])):
        await heard.wait()
    print("heard")


async def use(client):
    assert {service.uuid[4:8] for service in client.services} >= {"180d", "180f", "1801"}, client.services
    assert bytes(await client.read_gatt_char(LEVEL)) == b"\x5a"
    assert len(await client.read_gatt_char(LONG)) == 512
    await client.write_gatt_char(WRITABLE, b"with a response", response=True)
    assert bytes(await client.read_gatt_char(WRITABLE)) == b"with a response"
    await client.write_gatt_char(WRITABLE, b"without", response=False)
    descriptor = client.services.get_characteristic(WRITABLE).get_descriptor(DESCRIPTION)
    assert bytes(await client.read_gatt_descriptor(descriptor.handle)) == b"store"
    values = asyncio.Queue()
    for characteristic in (RATE, INDICATED):
        await client.start_notify(characteristic, lambda _, value: values.put_nowait(bytes(value)))
    print("subscribed")
    assert {await values.get() for _ in range(2)} == {b"\x00\x55", b"\x01"}
    for characteristic in (RATE, INDICATED):
        await client.stop_notify(characteristic)


async def main():
    [address] = sys.argv[1:]
    await passive(address)
    device = await BleakScanner.find_device_by_address(address, timeout=60)
    assert device.name == "Bumble belt", device
    ended = asyncio.Event()
    async with BleakClient(device, disconnected_callback=lambda _: ended.set()) as client:
        await use(client)
    await ended.wait()
    print("disconnected")
    async with BleakClient(device) as client:
        await client.pair()
        assert bytes(await client.read_gatt_char(LEVEL)) == b"\x5a"
        print("paired")
        await client.unpair()
    print("done")


asyncio.run(main())

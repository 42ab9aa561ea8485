"""A central as bleak's users write it: scan, connect, services, read, write and notify both ways, disconnect."""

import asyncio
import sys

from bleak import BleakClient, BleakError, BleakScanner

BELT, ECHO, FLEETING = "C0:DE:00:00:00:01", "C0:DE:00:00:00:04", "C0:DE:00:00:00:0B"
RATE, PLACE = "00002a37-0000-1000-8000-00805f9b34fb", "00002a38-0000-1000-8000-00805f9b34fb"
VALUE, NOTIFIED, INDICATED = (f"b1ed000{n}-5eed-4b1e-8d00-000000000000" for n in (2, 3, 4))


async def scan():
    found = {}
    done = asyncio.Event()

    def heard(device, data):
        found[device.address] = (device, data)
        if BELT in found and ECHO in found and FLEETING in found and found[ECHO][1].local_name:
            done.set()

    async with BleakScanner(heard):
        await done.wait()
    device, data = found[BELT]
    assert device.name == "Belt" and data.manufacturer_data == {0xFFFF: b"\x01\x02"}, data
    assert data.service_uuids == ["0000180d-0000-1000-8000-00805f9b34fb"], data
    assert -75 < data.rssi < -40, data
    assert found[ECHO][1].service_data == {"0000180f-0000-1000-8000-00805f9b34fb": b"\x64"}, found[ECHO]
    print("scanned")
    return {address: device for address, (device, _) in found.items()}


async def read(device):
    ended = asyncio.Event()
    async with BleakClient(device, disconnected_callback=lambda _: ended.set()) as client:
        uuids = {service.uuid[4:8] for service in client.services}
        assert {"180d", "180f", "1800", "1801"} <= uuids, uuids
        assert bytes(await client.read_gatt_char(PLACE)) == b"\x01"
        place = client.services.get_characteristic(PLACE)
        assert place.properties == ["read"], place.properties
        descriptor = place.get_descriptor("00002901-0000-1000-8000-00805f9b34fb")
        assert bytes(await client.read_gatt_descriptor(descriptor.handle)) == b"place"
        values = asyncio.Queue()
        await client.start_notify(RATE, lambda _, value: values.put_nowait(value[1]))
        counted = [await values.get() for _ in range(10)]
        # The belt counts the time: on a busy machine it may repeat a count, or skip one.
        assert len(set(counted)) > 1 and all((b - a) % 256 < 128 for a, b in zip(counted, counted[1:])), counted
        await client.stop_notify(RATE)
        try:
            await client.write_gatt_char(PLACE, b"\x02", response=True)
            raise AssertionError("a value that cannot be written was")
        except BleakError as error:
            print("refused:", error)
    await ended.wait()
    print("read")


async def echo(device, **options):
    async with BleakClient(device) as client:
        values, indicated = asyncio.Queue(), asyncio.Queue()
        await client.start_notify(NOTIFIED, lambda _, value: values.put_nowait(bytes(value)), **options)
        await client.start_notify(INDICATED, lambda _, value: indicated.put_nowait(bytes(value)))
        for response in (True, False):
            for number in range(20):
                value = bytes([number] * (number + 1))
                await client.write_gatt_char(VALUE, value, response=response)
                assert await values.get() == value
                assert await indicated.get() == value
        long = bytes(range(256)) * 2
        await client.write_gatt_char(VALUE, long, response=True)
        assert bytes(await client.read_gatt_char(VALUE)) == long
    print("echoed")


async def lost(device):
    """The device ends the link after a second."""
    ended = asyncio.Event()
    client = BleakClient(device, disconnected_callback=lambda _: ended.set())
    await client.connect()
    await ended.wait()
    assert not client.is_connected
    ended.clear()
    await client.connect()
    await ended.wait()
    print("lost and found")


async def main():
    devices = await scan()
    await read(devices[BELT])
    await echo(devices[ECHO])
    if "both" in sys.argv:
        await echo(devices[ECHO], bluez={"use_start_notify": True})
        await echo(devices[ECHO], bluez={"use_start_notify": False})
    await lost(devices[FLEETING])
    print("done")


asyncio.run(main())

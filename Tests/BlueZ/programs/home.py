"""Connects to a device as integrations of Home Assistant do: again and again with the remembered services, and with a
client that was left over."""

import asyncio

from bleak import BleakScanner
from bleak_retry_connector import BleakClientWithServiceCache, establish_connection

BELT = "C0:DE:00:00:00:01"
RATE, PLACE = "00002a37-0000-1000-8000-00805f9b34fb", "00002a38-0000-1000-8000-00805f9b34fb"


async def connect(device, ended=lambda _: None):
    return await establish_connection(BleakClientWithServiceCache, device, "Belt", disconnected_callback=ended)


async def main():
    device = await BleakScanner.find_device_by_address(BELT, timeout=60)
    for _ in range(4):
        ended = asyncio.Event()
        client = await connect(device, lambda _, ended=ended: ended.set())
        values = asyncio.Queue()
        await client.start_notify(RATE, lambda _, value, values=values: values.put_nowait(value))
        await values.get()
        await client.disconnect()
        await ended.wait()
    print("again")
    forgotten = await connect(device)
    client = await connect(device)
    assert bytes(await client.read_gatt_char(PLACE)) == b"\x01"
    # The whole process is disconnected: nothing waits for the other client.
    await client.disconnect()
    assert not client.is_connected and not forgotten.is_connected
    print("done")


asyncio.run(main())

"""Home Assistant's own management of Bluetooth, habluetooth, on an adapter: integrations get their devices and
connections from it, and connect again with the services that it remembers."""

import asyncio
import logging
import sys

import bleak
import bleak_retry_connector
import habluetooth

BELT = "C0:DE:00:00:00:01"
RATE, PLACE = "00002a37-0000-1000-8000-00805f9b34fb", "00002a38-0000-1000-8000-00805f9b34fb"

# Each step that takes longer than a tenth of a second would be logged.
logging.getLogger("asyncio").setLevel(logging.ERROR)


async def found(manager):
    """The device as integrations get it, once it was heard."""
    while not (device := manager.async_ble_device_from_address(BELT, True)):
        await asyncio.sleep(0.05)
    return device


async def main(address):
    manager = habluetooth.BluetoothManager()
    habluetooth.set_manager(manager)
    await manager.async_setup()
    scanner = habluetooth.HaScanner(habluetooth.BluetoothScanningMode.ACTIVE, "hci0", address)
    scanner.async_setup()
    manager.async_register_scanner(scanner, connection_slots=5)
    await scanner.async_start()
    device = await found(manager)
    print("found")
    for _ in range(3):
        ended = asyncio.Event()
        # habluetooth has put its own class in this place.
        client = await bleak_retry_connector.establish_connection(
            bleak_retry_connector.BleakClientWithServiceCache, device, "Belt",
            disconnected_callback=lambda _, ended=ended: ended.set())
        assert "habluetooth" in type(client).__module__, type(client)
        values = asyncio.Queue()
        await client.start_notify(RATE, lambda _, value, values=values: values.put_nowait(value))
        await values.get()
        # Another integration of the same process.
        async with bleak.BleakClient(device) as other:
            assert bytes(await other.read_gatt_char(PLACE)) == b"\x01"
            await client.disconnect()
        await ended.wait()
    print("again")
    await scanner.async_stop()
    manager.async_stop()
    print("done")


asyncio.run(main(sys.argv[1]))

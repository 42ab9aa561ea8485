"""bled-esphome with bleak-esphome and habluetooth: how Home Assistant's integrations hear and connect."""

import asyncio
import logging
import unittest

import bleak
import bleak_retry_connector
import habluetooth
from bleak_esphome import APIConnectionManager
from habluetooth import BluetoothScanningMode
from habluetooth.central_manager import CentralBluetoothManager
from habluetooth.usage import uninstall_multiple_bleak_catcher

from home import SCENARIO, Home, settled

ECHO, PLAIN = "C0:DE:00:00:00:04", "C0:DE:00:00:00:0A"
VALUE, NOTIFIED = (f"b1ed000{number}-5eed-4b1e-8d00-000000000000" for number in (2, 3))


# Each step that takes longer than a tenth of a second would be logged.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class HomeAssistantTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.manager = habluetooth.BluetoothManager()
        habluetooth.set_manager(self.manager)
        await self.manager.async_setup()
        self.addCleanup(self.forget_manager)

    def forget_manager(self):
        self.manager.async_stop()
        uninstall_multiple_bleak_catcher()
        CentralBluetoothManager.manager = None

    def make(self, *scenarios):
        self.home = Home(*scenarios)
        self.addCleanup(self.home.close)

    async def add(self, proxy):
        """Home Assistant has the proxy; returns its scanner."""
        connection = APIConnectionManager({"address": proxy.address, "noise_psk": proxy.key})
        await connection.start()
        self.addAsyncCleanup(connection.stop)
        return self.scanner(proxy)

    def scanner(self, proxy):
        return next(
            (found for found in self.manager.async_current_scanners() if found.name.startswith(proxy.name)), None)

    async def device(self, address):
        found = []

        def look():
            found[:] = [self.manager.async_ble_device_from_address(address, True)]
            return found[0] is not None

        await settled(look, f"{address} is not found")
        return found[0]

    async def connect(self, address, **options):
        device = await self.device(address)
        # habluetooth has put its own class in this place.
        kind = bleak_retry_connector.BleakClientWithServiceCache
        return await bleak_retry_connector.establish_connection(kind, device, address, max_attempts=3, **options)

    async def echo(self, client):
        values = asyncio.Queue()
        await client.start_notify(NOTIFIED, lambda _characteristic, data: values.put_nowait(bytes(data)))
        await client.write_gatt_char(VALUE, b"good morning", response=True)
        self.assertEqual(await asyncio.wait_for(values.get(), 60), b"good morning")
        self.assertEqual(bytes(await client.read_gatt_char(VALUE)), b"good morning")
        await client.stop_notify(NOTIFIED)

    async def test_hear_and_connect(self):
        self.make()
        proxy = self.home.proxy("kitchen")
        scanner = await self.add(proxy)
        await settled(lambda: ECHO in scanner.discovered_devices_and_advertisement_data, "the device is not heard")
        await settled(
            lambda: scanner.discovered_devices_and_advertisement_data[ECHO][1].local_name == "Echo", "no name")
        client = await self.connect(ECHO)
        self.assertEqual(client.mtu_size, 247)
        await self.echo(client)
        await client.clear_cache()
        await client.disconnect()
        # The second time Home Assistant remembers the services.
        client = await self.connect(ECHO)
        await self.echo(client)
        await client.disconnect()

    async def test_scanning_mode(self):
        """Home Assistant's standard mode: passive, and active for moments in which it wants scan responses."""
        self.make()
        scanner = await self.add(self.home.proxy("kitchen"))
        await settled(lambda: scanner.current_mode == BluetoothScanningMode.ACTIVE, "the scan is not active")
        scanner.async_set_scanning_mode(BluetoothScanningMode.AUTO)
        await settled(lambda: scanner.current_mode == BluetoothScanningMode.PASSIVE, "the scan is not passive")
        self.assertEqual(scanner.configured_mode, BluetoothScanningMode.ACTIVE)
        modes = []
        self.addCleanup(self.manager.async_register_scanner_mode_change_callback(
            lambda change: modes.append(change.current_mode), scanner.source))
        self.assertTrue(await scanner.async_request_active_window(0.5))
        await settled(
            lambda: scanner.current_mode == BluetoothScanningMode.PASSIVE, "the scan does not become passive again")
        self.assertIn(BluetoothScanningMode.ACTIVE, modes)

    async def test_bleak_program(self):
        """A program of bleak within Home Assistant, by the names of bleak."""
        self.make()
        await self.add(self.home.proxy("kitchen"))
        device = await self.device(PLAIN)
        async with bleak.BleakClient(device) as client:
            await client.pair()
            characteristics = [found for service in client.services for found in service.characteristics]
            text = next(found for found in characteristics if found.uuid.startswith("0000fff1"))
            self.assertEqual(bytes(await client.read_gatt_char(text)), b"hello")
            await client.unpair()

    async def test_two_proxies_and_one_is_lost(self):
        """A device in range of two proxies: when one has gone, the other one connects."""
        self.make(SCENARIO, SCENARIO)
        adapters = zip(["attic", "cellar"], self.home.air.names)
        proxies = [self.home.proxy(name, adapter=adapter) for name, adapter in adapters]
        for proxy in proxies:
            await self.add(proxy)
        for proxy in proxies:
            await settled(
                lambda proxy=proxy: ECHO in self.scanner(proxy).discovered_devices_and_advertisement_data,
                f"{proxy.name} does not hear")
        self.assertEqual(len({scanner.source for scanner in self.manager.async_current_scanners()}), 2)
        lost = asyncio.Event()
        client = await self.connect(ECHO, disconnected_callback=lambda _client: lost.set())
        await self.echo(client)
        busy = next(
            proxy for proxy in proxies
            if self.manager.async_current_allocations(self.scanner(proxy).source)[0].allocated)
        busy.stop()
        await asyncio.wait_for(lost.wait(), 60)
        client = await self.connect(ECHO)
        await self.echo(client)
        await client.disconnect()
        # The proxy returns, with the same identity.
        busy.start()
        await settled(lambda: self.scanner(busy) is not None, "the proxy does not come back")

    async def test_bled_restarts(self):
        self.make()
        proxy = self.home.proxy("kitchen")
        scanner = await self.add(proxy)
        client = await self.connect(ECHO)
        self.home.bled.kill()
        await settled(lambda: not client.is_connected, "the end of the connection is not noticed")
        self.home.start_bled()
        await settled(lambda: scanner.scanning, "the scan does not run again")
        client = await self.connect(ECHO)
        await self.echo(client)
        await client.disconnect()


if __name__ == "__main__":
    unittest.main()

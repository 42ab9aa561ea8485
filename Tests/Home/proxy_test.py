"""bled-esphome with aioesphomeapi, the library by which Home Assistant speaks to proxies."""

import asyncio
import socket
import unittest

from aioesphomeapi import APIClient
from aioesphomeapi.core import (
    BluetoothGATTAPIError,
    EncryptionPlaintextAPIError,
    InvalidEncryptionKeyAPIError,
    RequiresEncryptionAPIError,
)
from aioesphomeapi.model import BluetoothScannerMode, BluetoothScannerState

from home import BELT, ECHO, FLEETING, PLAIN, PORT, PROGRAMS, Home, settled


class Client:
    """A client, and its received messages."""

    def __init__(self, proxy, key):
        self.api = APIClient(proxy.address, PORT, None, noise_psk=key)
        self.heard, self.states, self.slots, self.connections = [], [], [], {}
        self.ended = asyncio.Event()

    async def connect(self):
        async def stopped(_expected):
            self.ended.set()

        await self.api.connect(on_stop=stopped, login=True)
        self.device = await self.api.device_info()
        self.features = self.device.bluetooth_proxy_feature_flags_compat(self.api.api_version)
        return self

    async def listen(self):
        self.api.subscribe_bluetooth_scanner_state(self.states.append)
        self.api.subscribe_bluetooth_connections_free(lambda *slots: self.slots.append(slots))
        self.api.subscribe_bluetooth_le_raw_advertisements(lambda batch: self.heard.extend(batch.advertisements))
        await settled(lambda: self.heard and self.slots, "no advertisement came")

    async def link(self, address, has_cache=False, timeout=30):
        changes = self.connections[address] = []
        await self.api.bluetooth_device_connect(
            address, lambda *change: changes.append(change), timeout=timeout, disconnect_timeout=20,
            feature_flags=self.features, has_cache=has_cache, address_type=1)
        await settled(lambda: changes, "no answer to the connection")
        return changes

    async def characteristic(self, address, uuid):
        services = await self.api.bluetooth_gatt_get_services(address)
        return next(
            found for service in services.services for found in service.characteristics if found.uuid.startswith(uuid))


class ProxyTests(unittest.IsolatedAsyncioTestCase):
    encryption = True

    def make(self, *scenarios, policy=None, **configuration):
        self.home = Home(*scenarios, policy=policy)
        self.addCleanup(self.home.close)
        self.proxy = self.home.proxy("kitchen", encryption=self.encryption, **configuration)
        self.key = self.proxy.key if self.encryption else None

    async def client(self, **options):
        client = Client(self.proxy, options.get("key", self.key))
        await client.connect()
        self.addAsyncCleanup(client.api.disconnect, force=True)
        return client

    async def test_identity(self):
        self.make(friendlyName="The kitchen")
        client = await self.client()
        self.assertEqual((client.device.name, client.device.friendly_name), ("kitchen", "The kitchen"))
        self.assertEqual(client.device.mac_address, client.device.bluetooth_mac_address)
        self.assertEqual(client.features, 255)
        self.assertEqual(await client.api.list_entities_services(), ([], []))
        address = client.device.mac_address
        self.proxy.stop()
        await asyncio.wait_for(client.ended.wait(), 60)
        self.proxy.start()
        # The identity and the key are the same after a restart.
        self.assertEqual((await self.client()).device.mac_address, address)

    async def test_scanner(self):
        self.make()
        client = await self.client()
        await client.listen()
        everybody = {BELT, ECHO, PLAIN, FLEETING}
        await settled(lambda: everybody <= {heard.address for heard in client.heard}, "devices are missing")
        echo = next(heard for heard in client.heard if heard.address == ECHO)
        self.assertEqual((echo.address_type, echo.rssi < 0), (1, True))
        # Advertisement and scan response: the name is in the second.
        await settled(
            lambda: any(h.address == ECHO and b"Echo" in h.data and b"\xed\xb1" in h.data for h in client.heard),
            "no scan response")
        await settled(lambda: client.states[-1].state == BluetoothScannerState.RUNNING, "the scanner does not run")
        client.api.bluetooth_scanner_set_mode(BluetoothScannerMode.PASSIVE)
        await settled(
            lambda: client.states[-1].mode == BluetoothScannerMode.PASSIVE
            and client.states[-1].state == BluetoothScannerState.RUNNING, "the mode does not change")
        self.assertEqual(client.states[-1].configured_mode, BluetoothScannerMode.ACTIVE)
        # A second client receives the same, also after the first has disconnected.
        other = await self.client()
        await other.listen()
        await client.api.disconnect()
        count = len(other.heard)
        await settled(lambda: len(other.heard) > count + 20, "the other client hears no more")

    async def test_advertisements_with_their_parts(self):
        """Clients got them so before they read AD structures themselves."""
        self.make()
        client = await self.client()
        heard = {}
        client.api.subscribe_bluetooth_le_advertisements(lambda one: heard.__setitem__(one.address, one))
        await settled(lambda: {BELT, ECHO} <= set(heard), "devices are missing")
        belt, echo = heard[BELT], heard[ECHO]
        self.assertEqual((belt.name, belt.manufacturer_data), ("Belt", {0xFFFF: b"\x01\x02"}))
        self.assertEqual(belt.service_uuids, ["0000180d-0000-1000-8000-00805f9b34fb"])
        self.assertLess(belt.rssi, 0)
        self.assertEqual(echo.service_uuids, ["b1ed0001-5eed-4b1e-8d00-000000000000"])
        self.assertEqual(echo.service_data, {"0000180f-0000-1000-8000-00805f9b34fb": b"\x64"})

    async def test_connection(self):
        self.make(connections=3)
        client = await self.client()
        await client.listen()
        self.assertEqual(client.slots[-1], (3, 3, []))
        self.assertEqual(await client.link(ECHO), [(True, 247, 0)])
        await settled(lambda: client.slots[-1] == (2, 3, [ECHO]), "the slots are not told")
        value = await client.characteristic(ECHO, "b1ed0002")
        notified = await client.characteristic(ECHO, "b1ed0003")
        values = []
        stop, _ = await client.api.bluetooth_gatt_start_notify(
            ECHO, notified.handle, lambda _handle, data: values.append(bytes(data)))
        await client.api.bluetooth_gatt_write_descriptor(ECHO, notified.descriptors[0].handle, b"\x01\x00")
        for text in (b"hello", b"x" * 200):
            await client.api.bluetooth_gatt_write(ECHO, value.handle, text, True)
            self.assertEqual(bytes(await client.api.bluetooth_gatt_read(ECHO, value.handle)), text)
        for number in range(20):
            await client.api.bluetooth_gatt_write(ECHO, value.handle, bytes([number]), False)
        expected = [b"hello", b"x" * 200] + [bytes([number]) for number in range(20)]
        await settled(lambda: len(values) >= len(expected), f"values are missing: {values}")
        self.assertEqual(values, expected)
        await stop()
        with self.assertRaises(BluetoothGATTAPIError) as failure:
            await client.api.bluetooth_gatt_read(ECHO, 999)
        self.assertEqual(failure.exception.error.error, 1)
        await client.api.bluetooth_device_set_connection_params(ECHO, 12, 24, 0, 400)
        await client.api.bluetooth_device_disconnect(ECHO)
        await settled(lambda: client.slots[-1] == (3, 3, []), "the slot is not free")
        # A client that remembers the services uses handles at once.
        await client.link(ECHO, has_cache=True)
        self.assertEqual(bytes(await client.api.bluetooth_gatt_read(ECHO, value.handle)), bytes([19]))
        self.assertTrue((await client.api.bluetooth_device_clear_cache(ECHO)).success)

    async def test_descriptor_and_belt(self):
        self.make()
        client = await self.client()
        await client.link(BELT)
        place = await client.characteristic(BELT, "00002a38")
        text = await client.api.bluetooth_gatt_read_descriptor(BELT, place.descriptors[0].handle)
        self.assertEqual(bytes(text), b"place")
        rate = await client.characteristic(BELT, "00002a37")
        values = []
        await client.api.bluetooth_gatt_start_notify(
            BELT, rate.handle, lambda _handle, data: values.append(bytes(data)))
        await settled(lambda: len(values) > 5, "no values come")

    async def test_pairing(self):
        self.make()
        client = await self.client()
        await client.link(PLAIN)
        self.assertTrue((await client.api.bluetooth_device_pair(PLAIN, timeout=30)).paired)
        self.assertTrue((await client.api.bluetooth_device_unpair(PLAIN, timeout=30)).success)

    async def test_a_device_that_leaves(self):
        self.make()
        client = await self.client()
        changes = await client.link(FLEETING)
        await settled(lambda: len(changes) > 1, "the end is not told")
        self.assertEqual((changes[1][0], changes[1][2]), (False, 0x13))

    async def test_a_device_that_is_not_there(self):
        self.make()
        client = await self.client()
        self.assertEqual(await client.link(0xC0DE000000FF), [(False, 0, 0x3E)])

    async def test_one_device_has_one_client(self):
        self.make()
        first, second = await self.client(), await self.client()
        await first.link(ECHO)
        self.assertEqual(await second.link(ECHO), [(False, 0, 0x85)])
        # The first one is cut off: nothing of it is left.
        first.api._connection._socket.shutdown(socket.SHUT_RDWR)
        for _ in range(100):
            if (await second.link(ECHO))[0][0]:
                break
        self.assertEqual(second.connections[ECHO], [(True, 247, 0)])

    async def test_bled_restarts(self):
        self.make()
        client = await self.client()
        await client.listen()
        changes = await client.link(ECHO)
        report = self.home.folder / "report"
        self.home.bled.kill()
        await settled(lambda: len(changes) > 1, "the end of the connection is not told")
        await settled(lambda: report.read_text().startswith("problem "), "the loss is not reported")
        await settled(lambda: client.states[-1].state == BluetoothScannerState.STOPPED, "the scan has not stopped")
        self.home.start_bled()
        await settled(lambda: client.states[-1].state == BluetoothScannerState.RUNNING, "the scan does not run again")
        client.heard.clear()
        await settled(lambda: client.heard, "nothing is heard")
        self.assertEqual(await client.link(ECHO), [(True, 247, 0)])
        self.assertRegex(report.read_text(), "^ok 1[0-9]+ .* waits for clients")

    async def test_what_is_no_client(self):
        """Silent connections, other protocols and garbage: the proxy goes on and counts them."""
        self.make()
        client = await self.client()
        silent = [socket.create_connection((self.proxy.address, PORT)) for _ in range(100)]
        garbage = b"GET / HTTP/1.1\r\n\r\n", b"\x01\xff\xff", b"\x00\x00\x07", b"\x01\x00\x00\x01\x00\x05\x00abcd"
        for octets in garbage:
            with socket.create_connection((self.proxy.address, PORT)) as other:
                other.sendall(octets)
                other.settimeout(60)
                try:
                    while other.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
        await client.api.device_info()
        await (await self.client()).api.device_info()
        counters = self.proxy.counters()
        self.assertGreaterEqual(counters["silent"], 84)
        self.assertGreaterEqual(counters["malformed"], 3)
        for connection in silent:
            connection.close()


class PlainTests(ProxyTests):
    """The same without encryption, which loopback alone has."""

    encryption = False

    async def test_another_kind_of_client(self):
        self.make()
        with self.assertRaises(EncryptionPlaintextAPIError):
            await self.client(key="QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=")

    async def test_a_client_that_does_not_read(self):
        self.make()
        quick = await self.client()
        await quick.link(BELT)
        with socket.create_connection((self.proxy.address, PORT)) as slow:
            # Hello, and requests with longer answers than the proxy keeps.
            slow.sendall(b"\x00\x06\x01\x0a\x00\x10\x01\x18\x0f")
            with self.assertRaises(OSError):
                while True:
                    slow.sendall(b"\x00\x00\x09" * 1000)
        self.assertEqual(self.proxy.counters()["too slow"], 1)
        await quick.api.device_info()


class KeyTests(unittest.IsolatedAsyncioTestCase):
    async def test_who_has_no_key(self):
        home = Home()
        self.addCleanup(home.close)
        proxy = home.proxy("kitchen")
        self.assertEqual((proxy.state / "key").stat().st_mode & 0o777, 0o600)
        with self.assertRaises(InvalidEncryptionKeyAPIError):
            await Client(proxy, "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=").connect()
        with self.assertRaises(RequiresEncryptionAPIError):
            await Client(proxy, None).connect()
        self.assertEqual(proxy.counters()["with a wrong key"], 1)
        await Client(proxy, proxy.key).connect()

    def test_a_port_that_is_taken(self):
        home = Home()
        self.addCleanup(home.close)
        proxy = home.proxy("kitchen")
        report = home.folder / "report"
        self.assertRegex(report.read_text(), '^ok 1[0-9]+ "kitchen" .* waits for clients on port 6053, encrypted\n$')
        again = home.start(*proxy.command("--socket", home.socket))
        again.expect("port 6053 cannot be opened: .*in use.*; choose another")
        again.process.wait()
        self.assertEqual(again.process.returncode, 1)
        self.assertRegex(report.read_text(), "^problem 1[0-9]+ port 6053 cannot be opened: .*in use")

    def test_configuration(self):
        home = Home()
        self.addCleanup(home.close)
        cases = {
            '{\n  "nam": "x"\n}': r"2:3: nam: this name is not known",
            '{ "name": "Küche" }': r"1:11: name: this is not a label of a host name",
            '{ "listen": "kitchen" }': r"1:13: listen: this is not an IP address",
            '{ "encryption": false,\n  "listen": "0.0.0.0" }': r"2:13: listen: without encryption anybody",
            '{ "port": 0 }': r"1:11: port: 0.0 is not valid",
            '{ "connections": 65 }': r"connections: 65.0 is not valid",
            '{ "encryption": false, "listen": "127.0.0.1", }': r"the configuration is valid",
        }
        for text, pattern in cases.items():
            (home.folder / "e.json").write_text(text)
            program = home.start(PROGRAMS / "bled-esphome", "--config", home.folder / "e.json", "--check")
            self.assertRegex(program.finish(), pattern)
            self.assertEqual(program.process.returncode == 0, pattern.startswith("the conf"))


if __name__ == "__main__":
    unittest.main()

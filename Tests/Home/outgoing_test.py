"""bled-esphome connects to Home Assistant's listener, where Home Assistant has no way to connect: aioesphomeapi's."""

import asyncio
import logging
import re
import unittest

from aioesphomeapi import APIClient, ReconnectLogic
from aioesphomeapi.outgoing_connection import OutgoingConnectionServer

from home import ECHO, PORT, PROGRAMS, Home, settled

# Each step that takes longer than a tenth of a second, and each failed attempt, would be logged.
logging.getLogger("asyncio").setLevel(logging.ERROR)
logging.getLogger("aioesphomeapi").setLevel(logging.ERROR)
# An address of this machine on which nobody listens: the proxy behind NAT.
UNREACHABLE = "127.255.255.254"


class OutgoingTests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.home = Home()
        self.addCleanup(self.home.close)
        self.server = OutgoingConnectionServer(port=0, host="127.0.0.1")
        self.server.start()
        self.addCleanup(self.server.close)
        self.connected, self.sessions = asyncio.Event(), 0

    def proxy(self):
        """The proxy, with its address and its key."""
        proxy = self.home.proxy("kitchen", homeAssistant=f"127.0.0.1:{self.server.port}")
        address = re.search(r"\(([0-9A-F:]{17})\) waits", "\n".join(proxy.program.lines))[1]
        return proxy, address, proxy.key

    async def add(self, address, key):
        """Home Assistant has the proxy, and cannot reach it; returns the client."""
        client = APIClient(UNREACHABLE, PORT, None, noise_psk=key, outgoing_connection_target=True)

        async def connected():
            self.sessions += 1
            self.connected.set()

        async def disconnected(_expected):
            self.connected.clear()

        logic = ReconnectLogic(client=client, on_connect=connected, on_disconnect=disconnected)
        await logic.start()
        self.addAsyncCleanup(logic.stop)
        self.addAsyncCleanup(client.disconnect, force=True)
        self.addCleanup(self.server.register(address, logic))
        return client

    async def expect(self, proxy, text):
        """Waits for a line of the log, while Home Assistant goes on."""
        await asyncio.to_thread(proxy.program.expect, text)

    async def test_a_proxy_that_is_not_reachable(self):
        proxy, address, key = self.proxy()
        # Home Assistant does not know it yet.
        await self.expect(proxy, "Home Assistant ends the connection: add this proxy there")
        self.assertRegex((self.home.folder / "report").read_text(), "^problem 1[0-9]+ Home Assistant ends")
        client = await self.add(address, key)
        await asyncio.wait_for(self.connected.wait(), 60)
        await self.expect(proxy, "Home Assistant is connected")
        self.assertRegex((self.home.folder / "report").read_text(), "^ok 1[0-9]+ Home Assistant is connected")
        device = await client.device_info()
        self.assertEqual((device.name, device.mac_address), ("kitchen", address))
        self.assertTrue(device.api_outgoing_connection_supported)
        self.assertEqual(client.api_version.minor, 19)
        # A proxy like any other: advertisements, a connection, a value.
        heard, changes = [], []
        client.subscribe_bluetooth_le_raw_advertisements(lambda batch: heard.extend(batch.advertisements))
        await settled(lambda: heard, "no advertisement came")
        await client.bluetooth_device_connect(
            ECHO, lambda *change: changes.append(change), timeout=30, feature_flags=255, address_type=1)
        await settled(lambda: changes, "no answer to the connection")
        self.assertEqual(changes, [(True, 247, 0)])
        # Home Assistant restarts: it does not listen for a while, then the proxy connects again.
        await client.disconnect()
        self.server.close()
        await self.expect(proxy, "cannot connect to Home Assistant: Connection refused")
        self.server.start()
        await settled(lambda: self.sessions == 2, "the proxy does not connect again")
        self.assertEqual((await client.device_info()).mac_address, address)

    async def test_another_key(self):
        proxy, address, _ = self.proxy()
        await self.add(address, "QRTIErOb/fcE9Ukd/5qA3RGYMn0Y+p06U58SCtOXvPc=")
        await settled(lambda: proxy.counters()["with a wrong key"], "the key is not refused")
        self.assertFalse(self.connected.is_set())

    async def test_home_assistant_connects_itself(self):
        """The proxy opens no second connection."""
        self.server.close()
        proxy, address, key = self.proxy()
        await self.expect(proxy, "cannot connect to Home Assistant: Connection refused")
        client = APIClient(proxy.address, PORT, None, noise_psk=key, outgoing_connection_target=True)
        await client.connect(login=True)
        self.addAsyncCleanup(client.disconnect, force=True)
        await self.expect(proxy, "Home Assistant is connected")
        dialled = []
        listener = await asyncio.start_server(lambda *_: dialled.append(True), "127.0.0.1", self.server.port)
        self.addCleanup(listener.close)
        self.assertEqual(dialled, [])
        await client.disconnect()
        await settled(lambda: dialled, "the proxy does not connect when Home Assistant has left")

    def test_configuration(self):
        cases = {
            '{ "homeAssistant": "kitchen" }': r"1:20: homeAssistant: this is not an IP address",
            '{ "homeAssistant": "unix:/run/x" }': r"homeAssistant: this is not an IP address",
            '{ "encryption": false, "homeAssistant": "192.168.1.5" }': r"homeAssistant: the proxy connects with enc",
            '{ "homeAssistant": "192.168.1.5" }': r"the configuration is valid",
            '{ "homeAssistant": "[fd00::5]:6054" }': r"the configuration is valid",
            '{ "homeAssistant": "fd00::5" }': r"the configuration is valid",
        }
        for text, pattern in cases.items():
            (self.home.folder / "e.json").write_text(text)
            program = self.home.start(PROGRAMS / "bled-esphome", "--config", self.home.folder / "e.json", "--check")
            self.assertRegex(program.finish(), pattern)


if __name__ == "__main__":
    unittest.main()

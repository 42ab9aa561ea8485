"""The surroundings of a row: bled on a controller, a device beside that is linked all the time, and the row's peer."""

import contextlib
import os
import random

from support.air import Air
from support.cases import Failure, Resources, expect, expect_equal
from support.client import CallFailed
from support.daemon import Daemon

from .controller import ScriptedController
from .peer import Peer
from .player import LEVEL, Player
from .row import Row

ADDRESS = "F0:F1:F2:F3:F4:00"
BYSTANDER = "F0:F1:F2:F3:F4:01"


class Scene:
    """bled on the first controller of this air, for one row or many. A row has a peer and a session of its own."""

    @classmethod
    async def open(cls, resources, row=None):
        """Starts bled, for rows that need nothing of it, or for one row."""
        self = cls()
        self._resources = resources
        self._air = Air()
        self.address = ADDRESS
        row = row or Row("", "", "connect")
        members = {"le_acl_data_packet_length": 251, "script": row.controller, **row.traits}
        self.adapter = await resources.open(
            await self._air.adapter(ADDRESS, type("Scripted", (ScriptedController,), members)))
        self.daemon = await resources.open(Daemon(resources, self.adapter.name or "hci0", configuration=row.settings))
        client = await self.daemon.client()
        await self.daemon.until_on(client)
        self._bystander = None
        if not row.is_alone:
            await self._link_bystander(client)
        return self

    async def _link_bystander(self, client):
        peer = Peer(self._air, BYSTANDER, Row("", "", "connect"))
        await peer.start()
        self._resources.push_async_callback(peer.stop)
        await peer.advertise()
        linked = await client.call("peripheral.connect", address=BYSTANDER, addressType="random", timeout=60)
        self._bystander = client, linked["peripheral"]

    async def play(self, row):
        """Plays a row; raises Failure."""
        # A new device: bled remembers how the last one behaved.
        address = "F1:" + ":".join(f"{octet:02X}" for octet in random.randbytes(5))
        peer = Peer(self._air, address, row)
        await peer.start()
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(peer.stop)
            self.client = await stack.enter_async_context(await self.daemon.session())
            await Player(self, peer, row).play()
            unused = peer.unused() + (self.adapter.controller.unused() if row.controller else [])
            expect(not unused, f"the situation did not arise: nothing fitted {', '.join(unused)}")
        if self._bystander:
            await self._look_at_bystander()

    async def _look_at_bystander(self):
        """Nobody else was disturbed."""
        client, identifier = self._bystander
        try:
            value = (await client.call("gatt.read", peripheral=identifier, characteristic=LEVEL))["value"]
        except CallFailed as error:
            raise Failure(f"another device's link suffered: {error}") from None
        expect_equal(value, "64", "the value of another device")

    def log_size(self):
        """The length of bled's log."""
        return os.path.getsize(self.daemon.log)

    def log_since(self, size):
        """The lines of bled's log behind a length."""
        with open(self.daemon.log, encoding="utf-8", errors="replace") as log:
            log.seek(size)
            return log.read()


async def play_alone(row):
    """Plays a row with a bled for itself."""
    resources = Resources()
    try:
        scene = await Scene.open(resources, row)
        await scene.play(row)
    finally:
        await resources.aclose()

"""The actual state: the controller, the air and the daemon's own lists, compared with what a program wants."""

import asyncio
import time

from bumble import hci
from bumble.controller import Controller
from bumble.core import AdvertisingData

from .. import published
from ..cases import Failure


class Ear(Controller):
    """Receives everything on the air, without an effect."""

    def __init__(self, air):
        super().__init__("ear", link=air)
        self.random_address = hci.Address("F0:F1:F2:F3:F4:EE")
        self._heard = {}
        self._waiting = []

    def on_ll_advertising_pdu(self, packet):
        name = AdvertisingData.from_bytes(getattr(packet, "data", b"")).get(AdvertisingData.COMPLETE_LOCAL_NAME)
        if name:
            self._heard[name] = time.monotonic()
            for wanted, future in self._waiting:
                if wanted == name and not future.done():
                    future.set_result(packet.advertiser_address)

    def has_heard(self, name, since):
        """Returns true if an advertisement of this name was received since then."""
        return self._heard.get(name, 0) > since

    async def hears(self, name):
        """The address of the next advertisement of this name."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((name, future))
        try:
            return await future
        finally:
            self._waiting.remove((name, future))


class Truth:
    """Compares; `fail` notes what was wrong at a moment that has passed."""

    def __init__(self, walk):
        self._walk = walk
        self._failures = []

    def fail(self, text):
        """Lets the next `wait` fail."""
        self._failures.append(text)

    async def wait(self, seconds):
        """Waits until everything is so."""
        since = time.monotonic()
        reports = self._walk.reports
        while wrong := self._failures or await self._wrong(since, reports):
            if self._failures or time.monotonic() - since > seconds:
                raise Failure("; ".join(wrong) + (f" for {seconds} s" if not self._failures else ""))
            await asyncio.sleep(0.05)

    async def _wrong(self, since, reports):
        """The deviations, in words."""
        walk, controller = self._walk, self._walk.world.adapter.controller
        wrong = []

        def compare(what, is_, wanted):
            if is_ != wanted:
                wrong.append(f"{what}: {is_}, wanted: {wanted}")

        listed = (await walk.client.call("adapter.list"))["adapters"][0]
        compare("adapter.list: state", listed["state"], "on")
        compare("adapter.list: scanning", listed["scanning"], walk.scan)
        compare("adapter.list: advertising", listed["advertising"], int(walk.advertising))
        [own] = [each for each in (await walk.client.call("session.list"))["sessions"] if each["mine"]]
        links = sorted(each["peripheral"] for each in own["connections"])
        compare("session.list: connections", links, sorted(walk.connected.values()))
        compare("session.list: connecting", len(own["connecting"]), len(walk.connecting))
        compare("the controller scans", controller.le_scan_enable, walk.scan)
        compare("the controller advertises", self._advertises(controller), walk.advertising)
        compare("the controller initiates", controller.pending_le_connection is not None, bool(walk.connecting))
        for number, device in enumerate(walk.world.peripherals):
            compare(f"links of device {number}", len(device.device.connections), int(number in walk.connected))
            address = (1, bytes(hci.Address(device.address)))
            compare(f"device {number} is awaited", address in controller.accept_list, number in walk.connecting)
            if device.is_there and number in walk.connecting:
                wrong.append(f"device {number} is there and not connected")
        if walk.advertising and not walk.world.ear.has_heard(published.NAME, since):
            wrong.append("the advertisement is not heard")
        if walk.scan and walk.reports == reports and self._is_somebody_there():
            wrong.append("there are no reports")
        for client in walk.world.daemon.clients:
            wrong.extend(f"an answer to no call: {message}" for message in client.surplus)
        return wrong

    def _is_somebody_there(self):
        return any(each.is_there and not each.device.connections for each in self._walk.world.peripherals)

    @staticmethod
    def _advertises(controller):
        sets = any(each.enabled for each in controller.advertising_sets.values())
        return sets or controller.le_legacy_advertiser.enabled

"""A phone of a scenario: it connects to what advertises as it likes, works through its script, and returns."""

import asyncio
import logging

from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import Peer
from bumble.gatt import Characteristic
from bumble.hci import HCI_Error
from bumble.l2cap import LeCreditBasedChannelSpec

from .description import check, span
from .device import host
from .people import seat
from .radio import CONNECTABLE

KINDS = Characteristic.Properties
GENERIC = {UUID("1800"), UUID("1801")}
LISTS = (0x02, 0x03, 0x06, 0x07)
LONGEST_ATTEMPT = 5


class Phone:
    """Visits until it is cancelled."""

    def __init__(self, air, description):
        check(
            description, "name", "address", "addressType", "services", "namePrefix", "rssi", "mtu", "connectDelay",
            "script", "stay", "returnAfter", "pairing")
        self._description = description
        self._device, self._controller, self._own_address_type = host(air, description)
        seat(self._device, description)
        self._services = {UUID(uuid) for uuid in description.get("services", [])}

    async def start(self):
        await self._device.power_on()

    async def run(self):
        """Visits again and again, or once."""
        while True:
            connection = None
            while connection is None:
                connection = await self._connect(await self._finds())
            try:
                await self._visit(connection)
            except (BaseBumbleError, HCI_Error, TimeoutError, asyncio.CancelledError) as error:
                if asyncio.current_task().cancelling():
                    raise
                # A phone ignores errors.
                logging.info("%s: %r", self._description["name"], error)
            if (pause := span(self._description.get("returnAfter"), None)) is None:
                return
            await asyncio.sleep(pause)

    async def _finds(self):
        """The address of an advertisement that it likes."""
        found = asyncio.get_running_loop().create_future()

        def hear(pdu):
            if pdu.properties & CONNECTABLE and self._likes(pdu) and not found.done():
                found.set_result(pdu.advertiser_address)

        self._controller.on_heard = hear
        try:
            return await found
        finally:
            self._controller.on_heard = None

    def _likes(self, pdu):
        # A phone visits adapters of bled, not devices.
        if not getattr(self._controller.link.find_le_controller(pdu.advertiser_address), "is_adapter", False):
            return False
        data = AdvertisingData.from_bytes(pdu.data)
        data.append(pdu.scan_response)
        prefix = self._description.get("namePrefix")
        names = [octets.decode(errors="replace") for kind, octets in data.ad_structures if kind in (0x08, 0x09)]
        if prefix is not None and not any(name.startswith(prefix) for name in names):
            return False
        return not self._services or any(
            UUID.from_bytes(octets[place : place + size]) in self._services
            for kind, octets in data.ad_structures
            if kind in LISTS
            for size in [2 if kind < 0x06 else 16]
            for place in range(0, len(octets), size)
        )

    async def _connect(self, address):
        """A connection; None if there is none, as the advertisement has ended."""
        await asyncio.sleep(span(self._description.get("connectDelay"), 0.3))
        try:
            return await self._device.connect(
                address, own_address_type=self._own_address_type, timeout=LONGEST_ATTEMPT)
        except (BaseBumbleError, HCI_Error, TimeoutError) as error:
            logging.info("%s: %r", self._description["name"], error)
            return None

    async def _visit(self, connection):
        ended = asyncio.Event()
        connection.on("disconnection", lambda _: ended.set())
        departure = asyncio.get_running_loop().time() + span(self._description.get("stay"), 5)
        script = asyncio.ensure_future(self._script(connection))
        end = asyncio.ensure_future(ended.wait())
        try:
            await asyncio.wait({script, end}, return_when=asyncio.FIRST_COMPLETED)
            if script.done() and not end.done():
                script.result()
                rest = departure - asyncio.get_running_loop().time()
                await asyncio.wait({end}, timeout=max(rest, 0))
        finally:
            script.cancel()
            end.cancel()
            if not ended.is_set():
                await connection.disconnect()

    async def _script(self, connection):
        peer = Peer(connection)
        await peer.request_mtu(self._description.get("mtu", 185))
        values = []
        for service in await peer.discover_services():
            for value in await service.discover_characteristics():
                if service.uuid not in GENERIC:
                    values.append(value)
        for step in self._description.get("script", []):
            check(step, "do", "characteristic", "value", "text", "seconds", "psm")
            chosen = [
                value for value in values if "characteristic" not in step or value.uuid == UUID(step["characteristic"])
            ]
            await self._step(step, connection, chosen)

    async def _step(self, step, connection, values):
        match step["do"]:
            case "wait":
                await asyncio.sleep(span(step["seconds"], 0))
            case "pair":
                await connection.pair()
            case "openChannel":
                channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=step.get("psm", 0x80)))
                channel.sink = lambda _: None
                channel.write(step.get("text", "").encode())
            case action:
                for value in values:
                    await self._use(value, action, step)

    async def _use(self, value, action, step):
        has = value.properties
        try:
            if action == "read" and has & KINDS.READ:
                await value.read_value()
            elif action == "write" and has & (KINDS.WRITE | KINDS.WRITE_WITHOUT_RESPONSE):
                octets = step["text"].encode() if "text" in step else bytes.fromhex(step["value"])
                await value.write_value(octets, with_response=bool(has & KINDS.WRITE))
            elif action == "subscribe" and has & (KINDS.NOTIFY | KINDS.INDICATE):
                await value.subscribe(lambda _: None)
            elif action == "unsubscribe" and has & (KINDS.NOTIFY | KINDS.INDICATE):
                await value.unsubscribe(force=True)
        except BaseBumbleError as error:
            # The next step follows.
            logging.info("%s: %s: %r", self._description["name"], action, error)

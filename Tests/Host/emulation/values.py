"""The services of a device: their protection, values that are written, echoed, recorded and sent by themselves."""

import asyncio
import itertools

from bumble.att import ATT_Error, AttributeValueV2, is_enhanced_bearer
from bumble.core import UUID
from bumble.gatt import (
    GATT_CLIENT_SUPPORTED_FEATURES_CHARACTERISTIC,
    Characteristic,
    CharacteristicValue,
    Descriptor,
    Service,
)
from bumble.profiles.gatt_service import GenericAttributeProfileService

from .description import check, octets
from .numbers import Number

READ_NOT_PERMITTED, WRITE_NOT_PERMITTED = 0x02, 0x03
INSUFFICIENT_AUTHENTICATION, INSUFFICIENT_KEY_SIZE, INSUFFICIENT_ENCRYPTION = 0x05, 0x0C, 0x0F
PROPERTIES = {
    "read": Characteristic.Properties.READ,
    "write": Characteristic.Properties.WRITE,
    "writeWithoutResponse": Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
    "notify": Characteristic.Properties.NOTIFY,
    "indicate": Characteristic.Properties.INDICATE,
}
OPEN = "none"


def fixed(value):
    """The functions of a value that is only read."""

    def refuse(_connection, _value):
        raise ATT_Error(WRITE_NOT_PERMITTED)

    return lambda _connection: value, refuse


class Value:
    """A characteristic of a device."""

    def __init__(self, description, device):
        check(
            description, "uuid", "properties", "value", "text", "length", "rule", "notifyEvery", "descriptors",
            "security")
        self._device = device
        self._octets = octets(description)
        self._words = description.get("properties", ["read"])
        self._every = description.get("notifyEvery")
        rule = description.get("rule", {})
        kind = rule.get("kind")
        # The UUID of the value that it adopts, and the values that adopt its own.
        self.source = rule.get("of", description["uuid"]) if kind == "echo" else None
        self.echoes = []
        self._recording = rule if kind == "recording" else {}
        self._began = 0
        self._number = Number(rule) if kind not in (None, "echo", "recording") else None
        security = description.get("security", OPEN)
        if not isinstance(security, dict):
            security = dict.fromkeys(("read", "write", "subscribe"), security)
        self._security = security
        self._senders = {}
        descriptors = [
            Descriptor(each["uuid"], Descriptor.READABLE, CharacteristicValue(*fixed(octets(each))))
            for each in description.get("descriptors", [])
        ]
        if {"notify", "indicate"} & set(self._words):
            value = AttributeValueV2(read=self._read_configuration, write=self._configure)
            descriptors.append(Descriptor("2902", Descriptor.READABLE | Descriptor.WRITEABLE, value))
        properties = Characteristic.Properties(0)
        for word in self._words:
            properties |= PROPERTIES[word]
        self.characteristic = Characteristic(
            description["uuid"],
            properties,
            Characteristic.READABLE | Characteristic.WRITEABLE,
            CharacteristicValue(read=self._read, write=self._write),
            descriptors,
        )

    def _check(self, connection, kind):
        """Refuses what the link's protection is too weak for (Core 5.4, Vol 3, Part C, 10.3.1)."""
        level = self._security.get(kind, OPEN)
        if level == OPEN:
            return
        key = self._device.key(connection)
        if not connection.is_encrypted:
            raise ATT_Error(INSUFFICIENT_ENCRYPTION if key else INSUFFICIENT_AUTHENTICATION)
        if level != "encrypted" and not key.authenticated:
            raise ATT_Error(INSUFFICIENT_AUTHENTICATION)
        if level == "secureConnections" and not key.secure_connections:
            raise ATT_Error(INSUFFICIENT_AUTHENTICATION)
        if key.size < self._security.get("keySize", 7):
            raise ATT_Error(INSUFFICIENT_KEY_SIZE)

    def _read(self, connection):
        if "read" not in self._words:
            raise ATT_Error(READ_NOT_PERMITTED)
        self._check(connection, "read")
        return self._value

    @property
    def _value(self):
        if self._number:
            return self._number.within(self._octets)
        age = asyncio.get_running_loop().time() - self._began
        read = [entry["value"] for entry in self._recording.get("read", []) if entry["at"] <= age]
        return bytes.fromhex(read[-1]) if read else self._octets

    async def _write(self, connection, value):
        if not {"write", "writeWithoutResponse"} & set(self._words):
            raise ATT_Error(WRITE_NOT_PERMITTED)
        self._check(connection, "write")
        self._octets = bytes(value)
        for each in self.echoes:
            each.echo(self._octets)

    def until(self, end):
        """Its first octets."""
        return self._octets[:end]

    def echo(self, value):
        """Adopts a value, and sends it after the response to who wrote it."""
        self._octets = value
        for bearer in list(self._senders):
            asyncio.get_running_loop().call_soon(asyncio.ensure_future, self._send(bearer, value))

    def _read_configuration(self, bearer):
        return self._device.server.read_cccd(bearer, self.characteristic)

    def _configure(self, bearer, value):
        self._check(bearer.connection if is_enhanced_bearer(bearer) else bearer, "subscribe")
        self._device.server.write_cccd(bearer, self.characteristic, value)
        if sender := self._senders.pop(bearer, None):
            sender.cancel()
        if any(value):
            self._senders[bearer] = asyncio.ensure_future(self._send_often(bearer))

    async def _send_often(self, bearer):
        # Without an interval a value is sent when it is written.
        while self._every:
            await asyncio.sleep(self._every)
            await self._send(bearer, self._value)
        for entry in itertools.cycle(self._recording.get("sent", [])):
            await asyncio.sleep(entry["after"])
            await self._send(bearer, bytes.fromhex(entry["value"]))

    async def _send(self, bearer, value):
        server = self._device.server
        bits = server.read_cccd(bearer, self.characteristic)[0]
        if bits & 1:
            await server.notify_subscriber(bearer, self.characteristic, value)
        elif bits & 2:
            await server.indicate_subscriber(bearer, self.characteristic, value)

    def begin(self):
        """A link begins."""
        self._began = asyncio.get_running_loop().time()

    def end(self):
        """The link ended."""
        for sender in self._senders.values():
            sender.cancel()
        self._senders.clear()


def generic_attribute(has_hash):
    """The GATT service with what a simulated device has in it, so that handles are the same."""
    service = GenericAttributeProfileService(database_hash_enabled=has_hash)
    if not has_hash:
        # Bumble has it beside a hash only.
        service.characteristics.append(
            Characteristic(
                GATT_CLIENT_SUPPORTED_FEATURES_CHARACTERISTIC,
                PROPERTIES["read"] | PROPERTIES["write"],
                Characteristic.READABLE | Characteristic.WRITEABLE,
                bytes(1),
            )
        )
    return service


def services(descriptions, device):
    """The services, and their values."""
    found, values = [], []
    for description in descriptions:
        check(description, "uuid", "primary", "includes", "characteristics")
        here = [Value(each, device) for each in description.get("characteristics", [])]
        values += here
        included = [
            next(each for each in found if each.uuid == UUID(uuid)) for uuid in description.get("includes", [])
        ]
        characteristics = [each.characteristic for each in here]
        found.append(Service(description["uuid"], characteristics, description.get("primary", True), included))
    for each in values:
        each.echoes = [other for other in values if other.source and UUID(other.source) == each.characteristic.uuid]
    return found, values

"""Services, characteristics and descriptors, as programs for bless have them, and as the daemon publishes them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.descriptor import BleakGATTDescriptor
from bless.backends.attribute import GATTAttributePermissions as Permissions
from bless.backends.characteristic import BlessGATTCharacteristic
from bless.backends.characteristic import GATTCharacteristicProperties as Properties
from bless.backends.descriptor import BlessGATTDescriptor
from bless.backends.descriptor import GATTDescriptorProperties as DescriptorProperties
from bless.backends.server import BaseBlessServer
from bless.backends.service import BlessGATTService

from bled.protocol import ServiceToPublish, ServiceToPublishCharacteristic, ServiceToPublishDescriptor

# The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
_LONGEST = 512
# The word of the protocol for each property.
_WORDS = {
    Properties.broadcast: "broadcast",
    Properties.read: "read",
    Properties.write_without_response: "writeWithoutResponse",
    Properties.write: "write",
    Properties.notify: "notify",
    Properties.indicate: "indicate",
    Properties.authenticated_signed_writes: "signedWrite",
    Properties.extended_properties: "extendedProperties",
    Properties.reliable_write: "extendedProperties",
}
_WRITES = Properties.write | Properties.write_without_response | Properties.authenticated_signed_writes
# Characteristic Extended Properties and Client Characteristic Configuration: the daemon adds them.
_OF_THE_DAEMON = {f"0000{number}-0000-1000-8000-00805f9b34fb" for number in ("2900", "2902")}


def _rights(is_read: bool, is_written: bool, permissions: Permissions) -> list[Any]:
    """The permissions of an attribute. As in bless, what is possible is up to the properties, and only the need for
    encryption to the permissions."""
    rights = []
    if is_read:
        rights.append("readEncryptionRequired" if Permissions.read_encryption_required in permissions else "readable")
    if is_written:
        needs = Permissions.write_encryption_required in permissions
        rights.append("writeEncryptionRequired" if needs else "writeable")
    return rights


class Service(BlessGATTService):
    """A service. Its handle is 0 until it is published."""

    def __init__(self, uuid: str | UUID) -> None:
        super().__init__(uuid)
        self.obj = None
        self._handle = 0
        self._characteristics = {}

    async def init(self, server: BaseBlessServer) -> None:
        """Adds nothing: the server publishes its services when it starts."""

    def add_characteristic(self, characteristic: BleakGATTCharacteristic) -> None:
        """Adds a characteristic, which has no handle yet."""
        self._characteristics[len(self._characteristics)] = characteristic

    def to_publish(self, adapter: str | None) -> ServiceToPublish:
        """The service for the daemon to publish."""
        characteristics = [entry.to_publish() for entry in self.members]
        return ServiceToPublish(uuid=self.uuid, characteristics=characteristics, adapter=adapter)

    @property
    def members(self) -> list[Characteristic]:
        """The characteristics that were added to it."""
        return [entry for entry in self.characteristics if isinstance(entry, Characteristic)]


class _Valued:
    """The value of an attribute. Its handle is 0 until it is published."""

    _value: bytearray | None
    _handle: int

    def _prepare(self, value: bytearray | None) -> None:
        self.obj = None
        self._handle = 0
        self._value = value

    @property
    def value(self) -> bytearray:
        """A copy of the value."""
        return bytearray(self._value or b"")

    @value.setter
    def value(self, value: bytearray) -> None:
        self._value = value


class Characteristic(_Valued, BlessGATTCharacteristic):
    """A characteristic, whose reads and writes are passed to the functions of the program."""

    def __init__(
        self,
        uuid: str | UUID,
        properties: Properties,
        permissions: Permissions,
        value: bytearray | None,
    ) -> None:
        super().__init__(uuid, properties, permissions, value)
        self._prepare(value)
        self._descriptors = {}
        self._max_write_without_response_size = lambda: _LONGEST

    async def init(self, service: BlessGATTService) -> None:
        """Makes it one of a service."""
        self._service = service

    def add_descriptor(self, descriptor: BleakGATTDescriptor) -> None:
        """Adds a descriptor, which has no handle yet."""
        self._descriptors[len(self._descriptors)] = descriptor

    @property
    def notifies(self) -> bool:
        """Whether devices can subscribe to it."""
        return bool(self._properties_flags & (Properties.notify | Properties.indicate))

    def to_publish(self) -> ServiceToPublishCharacteristic:
        """The characteristic for the daemon to publish."""
        flags = self._properties_flags
        words: list[Any] = list(dict.fromkeys(word for flag, word in _WORDS.items() if flag & flags))
        return ServiceToPublishCharacteristic(
            uuid=self.uuid,
            properties=words,
            permissions=_rights(bool(flags & Properties.read), bool(flags & _WRITES), self._permissions),
            descriptors=[entry.to_publish() for entry in self.members],
        )

    @property
    def members(self) -> list[Descriptor]:
        """The descriptors that were added to it, without those that the daemon adds itself."""
        added = [entry for entry in self.descriptors if isinstance(entry, Descriptor)]
        return [entry for entry in added if entry.uuid not in _OF_THE_DAEMON]


class Descriptor(_Valued, BlessGATTDescriptor):
    """A descriptor, whose value devices read and write without a function of the program."""

    def __init__(
        self,
        uuid: str | UUID,
        properties: DescriptorProperties,
        permissions: Permissions,
        value: bytearray | None,
    ) -> None:
        super().__init__(uuid, properties, permissions, value)
        self._prepare(value)

    async def init(self, characteristic: BlessGATTCharacteristic) -> None:
        """Makes it one of a characteristic."""
        self._characteristic = characteristic

    def to_publish(self) -> ServiceToPublishDescriptor:
        """The descriptor for the daemon to publish."""
        is_read = DescriptorProperties.read in self._properties
        is_written = DescriptorProperties.write in self._properties
        return ServiceToPublishDescriptor(uuid=self.uuid, permissions=_rights(is_read, is_written, self._permissions))

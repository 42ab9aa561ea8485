"""The client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any, cast

from bleak.args import SizedBuffer
from bleak.assigned_numbers import CharacteristicPropertyName
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.client import BaseBleakClient, NotifyCallback
from bleak.backends.descriptor import BleakGATTDescriptor
from bleak.backends.device import BLEDevice
from bleak.backends.service import BleakGATTService, BleakGATTServiceCollection
from bleak.exc import BleakDeviceNotFoundError, BleakError
from bleak.uuids import normalize_uuid_str

import bled
from bled.bleak.failures import translated
from bled.protocol import CharacteristicDescription, ServiceDescription
from bled.stream import Source, Stream

_logger = logging.getLogger(__name__)
# Notifications, indications and ATT commands have three octets before the value (Core 5.4, Vol 3, Part F, 3.4.5).
_COMMAND_OCTETS = 3
_PROPERTIES = {
    "writeWithoutResponse": "write-without-response",
    "signedWrite": "authenticated-signed-writes",
    "extendedProperties": "extended-properties",
    "reliableWrite": "reliable-write",
    "writableAuxiliaries": "writable-auxiliaries",
}


class Client(BaseBleakClient):
    """A device, with a session of its own. `bluez={"adapter": "hci1"}` chooses the adapter."""

    def __init__(self, address_or_ble_device: BLEDevice | str, **kwargs: Any) -> None:
        super().__init__(
            address_or_ble_device,
            disconnected_callback=kwargs.pop("disconnected_callback", None),
            timeout=kwargs.pop("timeout", 30.0),
        )
        device = address_or_ble_device if isinstance(address_or_ble_device, BLEDevice) else None
        details = device.details if device is not None and isinstance(device.details, dict) else {}
        self._reference: str = details.get("peripheral") or self.address
        self._is_known = "peripheral" in details
        self._name = device.name if device is not None else None
        self._only: Iterable[str] | None = kwargs.get("services")
        self._adapter: str | None = (kwargs.get("bluez") or {}).get("adapter") or kwargs.get("adapter")
        self._session: AsyncExitStack | None = None
        self._link: bled.Link | None = None
        self._watching: asyncio.Task[None] | None = None
        self._notifying: dict[int, tuple[Source[bytes], asyncio.Task[None]]] = {}

    @property
    def name(self) -> str:
        """The advertised name, or else the address with dashes."""
        return self._name or self.address.replace(":", "-")

    @property
    def mtu_size(self) -> int:
        """The ATT MTU."""
        return self._connected().mtu

    @property
    def is_connected(self) -> bool:
        """Whether there is a link."""
        return self._link is not None and self._link.is_connected

    async def connect(self, pair: bool, **kwargs: Any) -> None:
        """Connects, pairs if asked to, and discovers."""
        if self._session is not None:
            raise BleakError("Client is already connected")
        timeout = kwargs.get("timeout", self._timeout)
        with translated(self.address):
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(bled.connect())
                self._session = stack
                try:
                    link = await self._open(client, timeout)
                    if pair:
                        await link.pair()
                    self.services = self._collection(link, await link.discover(timeout))
                    self._session = stack.pop_all()
                except BaseException:
                    self._session = None
                    raise
        self._link = link
        self._watching = asyncio.create_task(self._watch(link))

    async def _open(self, client: bled.Client, timeout: float) -> bled.Link:
        try:
            return await client.link(self._reference, adapter=self._adapter, timeout=timeout)
        except bled.ConnectTimeout as error:
            if self._is_known:
                raise
            message = f"Device with address {self.address} was not found."
            raise BleakDeviceNotFoundError(self.address, message) from error

    async def disconnect(self) -> None:
        """Disconnects; does nothing without a link."""
        link, watching = self._link, self._watching
        if link is not None:
            await link.disconnect()
        if watching is not None and watching is not asyncio.current_task():
            await asyncio.shield(watching)

    async def pair(self, *args: Any, **kwargs: Any) -> None:
        """Pairs. Questions go to whichever program is registered for them, such as `bleshell`."""
        with translated(self.address):
            if self._link is not None:
                await self._link.pair()
                return
            async with bled.connect() as client:
                link = await self._open(client, self._timeout)
                await link.pair()
                await link.disconnect()

    async def unpair(self) -> None:
        """Removes the bond, and disconnects."""
        with translated(self.address):
            async with bled.connect() as client:
                if self._is_known:
                    await client.pairing_forget(peripheral=self._reference)
                else:
                    await client.pairing_forget(address=self._reference)
        await self.disconnect()

    async def read_gatt_char(self, characteristic: BleakGATTCharacteristic, **kwargs: Any) -> bytearray:
        """Reads a characteristic."""
        with translated(self.address):
            return bytearray(await self._connected().read(characteristic.handle))

    async def read_gatt_descriptor(self, descriptor: BleakGATTDescriptor, **kwargs: Any) -> bytearray:
        """Reads a descriptor."""
        with translated(self.address):
            return bytearray(await self._connected().read(descriptor.handle))

    async def write_gatt_char(self, characteristic: BleakGATTCharacteristic, data: SizedBuffer, response: bool) -> None:
        """Writes a characteristic."""
        with translated(self.address):
            await self._connected().write(characteristic.handle, bytes(data), response=response)

    async def write_gatt_descriptor(self, descriptor: BleakGATTDescriptor, data: SizedBuffer) -> None:
        """Writes a descriptor."""
        with translated(self.address):
            await self._connected().write(descriptor.handle, bytes(data))

    async def start_notify(
        self, characteristic: BleakGATTCharacteristic, callback: NotifyCallback, **kwargs: Any
    ) -> None:
        """Subscribes; `force_indicate` asks for indications."""
        link, handle = self._connected(), characteristic.handle
        if handle in self._notifying:
            raise BleakError("Characteristic notifications already started")
        source = link.subscribe(handle, indications=True if kwargs.get("force_indicate") else None)
        with translated(self.address):
            values = await source.__aenter__()
        self._notifying[handle] = (source, asyncio.create_task(self._pass(values, callback)))

    async def stop_notify(self, characteristic: BleakGATTCharacteristic) -> None:
        """Unsubscribes."""
        self._connected()
        if characteristic.handle not in self._notifying:
            raise BleakError("Characteristic notifications never started")
        await self._stop(characteristic.handle)

    async def _stop(self, handle: int) -> None:
        source, passing = self._notifying.pop(handle)
        passing.cancel()
        await source.__aexit__(None, None, None)

    async def _pass(self, values: Stream[bytes], callback: NotifyCallback) -> None:
        try:
            async for value in values:
                try:
                    callback(bytearray(value))
                except Exception as error:
                    # The program's function failed; the next value is another matter.
                    context = {"message": "a notification callback failed", "exception": error}
                    asyncio.get_running_loop().call_exception_handler(context)
        except bled.BledError as error:
            _logger.debug("the values have ended: %s", error)

    async def _watch(self, link: bled.Link) -> None:
        """Waits for the end of the link, whoever ends it, and says so once."""
        await link.ended()
        for handle in tuple(self._notifying):
            await self._stop(handle)
        session, self._session = self._session, None
        self._link = self._watching = None
        self.services = None
        if session is not None:
            await session.aclose()
        if self._disconnected_callback is not None:
            self._disconnected_callback()

    def _connected(self) -> bled.Link:
        if self._link is None or not self._link.is_connected:
            raise BleakError("Not connected")
        return self._link

    def _collection(self, link: bled.Link, services: Iterable[ServiceDescription]) -> BleakGATTServiceCollection:
        only = None if self._only is None else {normalize_uuid_str(uuid) for uuid in self._only}
        collection = BleakGATTServiceCollection()
        for description in services:
            uuid = normalize_uuid_str(description.uuid)
            if only is None or uuid in only:
                service = BleakGATTService(description, description.handle, uuid)
                collection.add_service(service)
                for characteristic in description.characteristics or ():
                    _add(collection, link, service, characteristic)
        return collection


def _add(
    collection: BleakGATTServiceCollection,
    link: bled.Link,
    service: BleakGATTService,
    description: CharacteristicDescription,
) -> None:
    words = (*description.properties, *(description.extended_properties or ()))
    properties = [cast(CharacteristicPropertyName, _PROPERTIES.get(word, word)) for word in words]
    characteristic = BleakGATTCharacteristic(
        description,
        description.handle,
        normalize_uuid_str(description.uuid),
        properties,
        lambda: max(link.mtu - _COMMAND_OCTETS, 20),
        service,
    )
    collection.add_characteristic(characteristic)
    for entry in description.descriptors or ():
        collection.add_descriptor(
            BleakGATTDescriptor(entry, entry.handle, normalize_uuid_str(entry.uuid), characteristic)
        )

"""The server."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import UUID

from bleak.uuids import normalize_uuid_str
from bless.backends.attribute import GATTAttributePermissions
from bless.backends.characteristic import GATTCharacteristicProperties
from bless.backends.descriptor import GATTDescriptorProperties
from bless.backends.server import BaseBlessServer
from bless.exceptions import BlessError

import bled
from bled.bless.attributes import Characteristic, Descriptor, Service

_logger = logging.getLogger(__name__)
# Maximum values that wait to be notified; beyond it `update_value` returns False.
_LIMIT = 1024
# The pauses between attempts to publish again, in seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10
# Error codes of the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.4.1.1).
_UNLIKELY_ERROR = 0x0E
_INVALID_OFFSET = 0x07


class Server(BaseBlessServer):
    """Services and an advertisement, with a session of its own from `start` to `stop`. When the daemon restarts they
    are published again; where it refuses that, such as without the adapter, the log says why, and it is tried again.

    name: The advertised name.
    adapter: The name or address of the only adapter to use.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None, **kwargs: Any) -> None:
        super().__init__(loop=loop)
        self.name = name
        self._adapter: str | None = kwargs.get("adapter")
        self._serving: tuple[asyncio.Task[None], bled.Client] | None = None
        # One `start` or `stop` at a time.
        self._changing = asyncio.Lock()
        # The session that a `start` opens, and the number of calls of `stop`: they end the starts before them.
        self._opening: asyncio.Task[bled.Client] | None = None
        self._stops = 0
        self._forget()

    def _forget(self) -> None:
        """There is no session, so devices see and use nothing."""
        self._attributes: dict[int, Characteristic | Descriptor] = {}
        self._subscriptions: set[tuple[str, int]] = set()
        self._updates: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue(_LIMIT)
        self._is_advertising = False

    async def start(self, **kwargs: Any) -> bool:
        """Publishes the services, and advertises the name and the first service. False if `stop` was called before
        that was done."""
        stops = self._stops
        async with self._changing:
            if self._stops != stops:
                return False
            if self._serving is not None:
                raise BlessError("the server is running already")
            self._opening = opening = asyncio.create_task(self._open())
            try:
                client = await opening
            except bled.BledError as error:
                raise BlessError(str(error)) from error
            except asyncio.CancelledError:
                # The session may be open by now, and nobody's.
                if opening.done() and not opening.cancelled() and opening.exception() is None:
                    self._forget()
                    await opening.result().close()
                task = asyncio.current_task()
                if self._stops == stops or (task is not None and task.cancelling()):
                    raise
                return False
            finally:
                self._opening = None
            self._serving = asyncio.create_task(self._serve(client)), client
        return True

    async def stop(self) -> bool:
        """Ends advertising, and removes the services. The server can be started again."""
        self._stops += 1
        if self._opening is not None:
            self._opening.cancel()
        async with self._changing:
            serving, self._serving = self._serving, None
            if serving is not None:
                task, client = serving
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                # A task that had no turn yet has not closed it.
                self._forget()
                await client.close()
        return True

    async def is_connected(self) -> bool:
        """Whether a device has subscribed to a characteristic, as with bless's other backends."""
        return bool(self._subscriptions)

    async def is_advertising(self) -> bool:
        """Whether the server is advertising."""
        return self._is_advertising

    async def add_new_service(self, uuid: str) -> None:
        """Adds a service, which is published by the next `start`."""
        service = Service(uuid)
        self.services[service.uuid] = service

    async def add_new_characteristic(
        self,
        service_uuid: str,
        char_uuid: str,
        properties: GATTCharacteristicProperties,
        value: bytearray | None,
        permissions: GATTAttributePermissions,
    ) -> None:
        """Adds a characteristic to a service."""
        service = self.services[str(UUID(service_uuid))]
        characteristic = Characteristic(char_uuid, properties, permissions, value)
        await characteristic.init(service)
        service.add_characteristic(characteristic)

    async def add_new_descriptor(
        self,
        service_uuid: str,
        char_uuid: str,
        desc_uuid: str,
        properties: GATTDescriptorProperties,
        value: bytearray | None,
        permissions: GATTAttributePermissions,
    ) -> None:
        """Adds a descriptor to a characteristic."""
        characteristic = self.services[str(UUID(service_uuid))].get_characteristic(char_uuid)
        descriptor = Descriptor(normalize_uuid_str(desc_uuid), properties, permissions, value)
        await descriptor.init(characteristic)
        characteristic.add_descriptor(descriptor)

    def update_value(self, service_uuid: str, char_uuid: str) -> bool:
        """Sends the value to the devices that have subscribed. False if there is no such characteristic, or more values
        wait than devices have received."""
        service = self.get_service(service_uuid)
        characteristic = None if service is None else service.get_characteristic(char_uuid)
        if not isinstance(characteristic, Characteristic):
            return False
        if self._subscriptions and characteristic.notifies:
            try:
                self._updates.put_nowait((characteristic.handle, bytes(characteristic.value)))
            except asyncio.QueueFull:
                return False
        return True

    async def _open(self) -> bled.Client:
        """A session with the services and the advertisement."""
        client = await bled.connect()
        try:
            await self._publish(client)
        except BaseException:
            self._forget()
            await client.close()
            raise
        return client

    async def _publish(self, client: bled.Client) -> None:
        for service in self.services.values():
            assert isinstance(service, Service)
            published = (await client.publish(service.to_publish(self._adapter))).service
            service._handle = published.handle
            for characteristic, described in zip(service.members, published.characteristics or (), strict=True):
                characteristic._handle = described.handle
                self._attributes[described.handle] = characteristic
                # The daemon's own descriptors are the last.
                for descriptor, entry in zip(characteristic.members, described.descriptors or (), strict=False):
                    descriptor._handle = entry.handle
                    self._attributes[entry.handle] = descriptor
        # As bless does: all of them may be more than an advertisement has room for.
        await client.advertise(name=self.name, services=list(self.services)[:1], adapter=self._adapter)
        self._is_advertising = True

    async def _serve(self, client: bled.Client) -> None:
        while True:
            await self._answer(client)
            client = await self._open_again()

    async def _open_again(self) -> bled.Client:
        """As `_open`, as soon as there is a daemon that permits it."""
        pause: float = _FIRST_PAUSE
        said = ""
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            try:
                return await self._open()
            except bled.DaemonUnreachable:
                pass
            except bled.BledError as error:
                if str(error) != said:
                    said = str(error)
                    _logger.error("the services are not published, which is tried again: %s", said)

    async def _answer(self, client: bled.Client) -> None:
        """Answers devices until the session ends."""
        sending = asyncio.create_task(self._send(client))
        try:
            async for event in client.server_events:
                match event:
                    case bled.ReadRequest():
                        self._read(event)
                    case bled.WriteRequest():
                        self._write(event)
                    case bled.ServerSubscribed():
                        self._subscriptions.add((event.central, event.handle))
                    case bled.ServerUnsubscribed():
                        self._subscriptions.discard((event.central, event.handle))
        except bled.BledError as error:
            _logger.warning("%s: the services are published again as soon as there is a daemon", error)
        finally:
            self._forget()
            sending.cancel()
            await client.close()

    async def _send(self, client: bled.Client) -> None:
        while True:
            handle, value = await self._updates.get()
            try:
                await client.notify(handle, value)
            except bled.BledError as error:
                _logger.debug("a value was not sent: %s", error)

    def _read(self, request: bled.ReadRequest) -> None:
        attribute = self._attributes[request.handle]
        try:
            value = bytes(attribute.value if isinstance(attribute, Descriptor) else self.read_request_func(attribute))
        except Exception as error:
            self._refuse(request, "reading", error)
        else:
            request.respond(value)

    def _write(self, request: bled.WriteRequest) -> None:
        for write in request.writes:
            attribute = self._attributes[write.handle]
            value = attribute.value
            if write.offset > len(value):
                return request.refuse(_INVALID_OFFSET, "the value is shorter")
            value[write.offset :] = write.value
            try:
                if isinstance(attribute, Characteristic):
                    self.write_request_func(attribute, value)
                else:
                    attribute.value = value
            except Exception as error:
                return self._refuse(request, "writing", error)
        request.respond()

    def _refuse(self, request: bled.ReadRequest | bled.WriteRequest, doing: str, error: Exception) -> None:
        """A function of the program has failed; the next request is another matter."""
        context = {"message": f"a function for {doing} failed", "exception": error}
        self.loop.call_exception_handler(context)
        request.refuse(_UNLIKELY_ERROR, "the program failed")

"""A link with a device, and its attributes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

from bled import calls
from bled.calls import L2capOpenOptions
from bled.errors import BledError, NotConnected
from bled.pipe import Pipe
from bled.protocol import (
    CharacteristicDescription,
    DescriptorDescription,
    GattAcquireResult,
    GattReleased,
    GattValuesDropped,
    L2capClosed,
    L2capOpenResult,
    LinkWish,
    PeripheralConnected,
    PeripheralConnectFailed,
    PeripheralDisconnected,
    PeripheralPairResult,
    PeripheralParametersResult,
    ServiceDescription,
)
from bled.stream import Full, Opening, Source, Stream
from bled.uses import UsedLink
from bled.values import LIMIT, Feed

if TYPE_CHECKING:
    from bled.client import Client

Attribute: TypeAlias = int | str | CharacteristicDescription | DescriptorDescription
"""A handle, the UUID of a characteristic, or what was discovered."""

Change: TypeAlias = PeripheralConnected | PeripheralDisconnected


class Path(TypedDict):
    """How a call names an attribute."""

    handle: int | None
    characteristic: str | None
    service: str | None
    descriptor: str | None
    index: int | None


def path_of(attribute: Attribute, service: str | None, descriptor: str | None, index: int | None) -> Path:
    """The members that name an attribute. What was discovered is named by its handle, and a descriptor of it by the
    UUIDs of both."""
    handle: int | None = None
    characteristic: str | None = None
    if isinstance(attribute, str):
        characteristic = attribute
    elif isinstance(attribute, int):
        handle = attribute
    elif descriptor is not None:
        characteristic = attribute.uuid
    else:
        handle = attribute.handle
    return Path(handle=handle, characteristic=characteristic, service=service, descriptor=descriptor, index=index)


class Channel(Pipe):
    """An L2CAP channel.

    description: Its numbers, and how long packets may be.
    """

    def __init__(
        self, description: L2capOpenResult, descriptor: int, keeps_packets: bool, closed: Callable[[], None]
    ) -> None:
        super().__init__(descriptor, keeps_packets, closed)
        self.description = description


async def channel(client: Client, method: str, params: Mapping[str, object]) -> Channel:
    """Opens or accepts a channel."""
    removals: list[Callable[[], None]] = []

    def closed() -> None:
        for remove in removals:
            remove()

    def made(result: L2capOpenResult, descriptor: int) -> Channel:
        opened = Channel(result, descriptor, params.get("packets") is True, closed)

        def ended(event: L2capClosed) -> None:
            opened.reason = event.reason
            closed()

        removals.append(client.connection.on(L2capClosed, ended, result.channel))
        return opened

    return await client.passing(method, params, L2capOpenResult.from_json, made)


class Values(Pipe):
    """The values of one characteristic, a packet each, both ways.

    maximum_length: How many octets a packet may have.
    """

    def __init__(self, maximum_length: int, descriptor: int, closed: Callable[[], None]) -> None:
        super().__init__(descriptor, True, closed)
        self.maximum_length = maximum_length


class Link:
    """A link that this client uses. Programs share links; it is disconnected when none uses it any more.

    peripheral: The daemon's identifier of the device.
    address, address_type, adapter: What it is, and which adapter has the link.
    mtu: The ATT MTU; 0 before a link that is to be restored is there.
    is_connected: False while a link that reconnects is away, and after the end.
    reason: Why it has ended; None before that, and if this client ended it.
    subscriptions: The streams of what a preserved session was subscribed to, by handle.
    """

    def __init__(
        self, client: Client, peripheral: str, address: str, address_type: str, adapter: str, mtu: int | None
    ) -> None:
        self.peripheral = peripheral
        self.address = address
        self.address_type = address_type
        self.adapter = adapter
        self.mtu = mtu or 0
        self.is_connected = mtu is not None
        self.reason: BledError | None = None
        self.subscriptions: dict[int, Stream[bytes]] = {}
        self.used = UsedLink(peripheral, address, address_type)
        self._client = client
        self._feeds: list[Feed] = []
        self._is_over = False
        self._over = asyncio.Event()
        self._changes: list[Stream[Change]] = []
        connection = client.connection
        self._removals = [
            connection.on(PeripheralConnected, self._connected, peripheral),
            connection.on(PeripheralDisconnected, self._disconnected, peripheral),
            connection.on(PeripheralConnectFailed, self._failed),
            connection.on_end(self._end),
        ]

    async def disconnect(self) -> None:
        """Ends the use of the link, and what the client has on it if this is its last use. It is not an error if the
        link has ended."""
        if self._is_over:
            return
        links = self._client.links
        is_last = links.is_last(self.used)
        self._end(None)
        if not is_last:
            links.leave(self.used)
        else:
            links.lost(self.used)
            try:
                await self._client.peripheral_disconnect(peripheral=self.peripheral)
            except BledError:
                # The link has ended by itself, or the daemon has.
                pass

    close = disconnect

    def drop(self) -> None:
        """Nobody got the link."""
        self._end(None)

    async def ended(self) -> BledError | None:
        """Waits until it has ended for good; returns the reason, None if this client ended it."""
        await self._over.wait()
        return self.reason

    def changes(self) -> Source[Change]:
        """Each loss and each return of a link that reconnects. Subscriptions end with the link: subscribe again."""

        @asynccontextmanager
        async def opened() -> AsyncIterator[Stream[Change]]:
            stream: Stream[Change] = Stream(1024, Full.END)
            if self._is_over:
                stream.finish()
            self._changes.append(stream)
            try:
                yield stream
            finally:
                self._changes.remove(stream)

        return Source(opened)

    async def discover(self, timeout: float | None = None) -> Sequence[ServiceDescription]:
        """All services with what they have."""
        return (await self._client.gatt_discover(peripheral=self.peripheral, timeout=timeout)).services

    async def read(
        self,
        attribute: Attribute,
        *,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
    ) -> bytes:
        """Reads a value: of a handle or of what was discovered, or of a characteristic by its UUID, or of a descriptor
        of it. Raises ATTError with the device's code."""
        path = path_of(attribute, service, descriptor, index)
        return (await self._client.gatt_read(peripheral=self.peripheral, **path)).value

    async def write(
        self,
        attribute: Attribute,
        value: bytes,
        *,
        response: bool = True,
        offset: int | None = None,
        signed: bool | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
    ) -> None:
        """Writes a value. Without `response` it waits for room on the link alone."""
        path = path_of(attribute, service, descriptor, index)
        await self._client.gatt_write(
            peripheral=self.peripheral,
            value=value,
            response=None if response else False,
            offset=offset,
            signed=signed,
            **path,
        )

    def subscribe(
        self,
        attribute: Attribute,
        *,
        service: str | None = None,
        index: int | None = None,
        indications: bool | None = None,
        limit: int = LIMIT,
    ) -> Source[bytes]:
        """The values of a characteristic. They end when this client disconnects, and with the reason of the end of the
        link otherwise; with TooSlow when `limit` values wait to be read."""
        path = path_of(attribute, service, None, index)
        params = {name: value for name, value in path.items() if value is not None}
        return Source(lambda: self._client.subscriptions.subscribe(self.peripheral, params, indications, limit))

    async def unsubscribe(self, handle: int) -> None:
        """Ends the stream of a subscription that a preserved session had."""
        self.subscriptions.pop(handle, None)
        for feed in [feed for feed in self._feeds if feed.handle == handle]:
            self._feeds.remove(feed)
            feed.close()

    def acquire(
        self,
        attribute: Attribute,
        *,
        service: str | None = None,
        index: int | None = None,
        values: bool | None = None,
        writes: bool | None = None,
        indications: bool | None = None,
    ) -> Opening[Values]:
        """A descriptor for hundreds of values a second of one characteristic: what is sent are Write Commands, what is
        received was notified or indicated."""
        path = path_of(attribute, service, None, index)

        async def open() -> Values:
            removals: list[Callable[[], None]] = []

            def closed() -> None:
                for remove in removals:
                    remove()

            def made(result: GattAcquireResult, descriptor: int) -> Values:
                pipe = Values(result.maximum_length, descriptor, closed)

                def released(event: GattReleased) -> None:
                    pipe.reason, pipe.unsent = event.reason, event.unsent

                def dropped(event: GattValuesDropped) -> None:
                    pipe.dropped += event.values

                key = (self.peripheral, result.handle)
                removals.append(self._client.connection.on(GattReleased, released, key))
                removals.append(self._client.connection.on(GattValuesDropped, dropped, key))
                return pipe

            params = calls.GATT_ACQUIRE.request(
                peripheral=self.peripheral, values=values, writes=writes, indications=indications, **path
            )
            return await self._client.passing("gatt.acquire", params, GattAcquireResult.from_json, made)

        return Opening(open)

    def open_channel(self, psm: int, **options: Unpack[L2capOpenOptions]) -> Opening[Channel]:
        """Opens an L2CAP channel: a stream, or with `packets` one that keeps packets."""
        params = calls.L2CAP_OPEN.request(**{**options, "peripheral": self.peripheral, "psm": psm})
        return Opening(lambda: channel(self._client, "l2cap.open", params))

    async def rssi(self) -> int:
        """The signal strength, in dBm."""
        return (await self._client.peripheral_rssi(peripheral=self.peripheral)).rssi

    async def parameters(self) -> PeripheralParametersResult:
        """The parameters in force on the link."""
        return await self._client.peripheral_parameters(peripheral=self.peripheral)

    async def set_parameters(self, parameters: LinkWish | None) -> PeripheralParametersResult:
        """Asks for parameters; None withdraws that."""
        return await self._client.peripheral_set_parameters(peripheral=self.peripheral, parameters=parameters)

    async def pair(
        self, level: Literal["encrypted", "authenticated", "secureConnections"] | None = None
    ) -> PeripheralPairResult:
        """Pairs, if the link is not secure enough yet. Questions go to an agent: `Client.agent`."""
        return await self._client.peripheral_pair(peripheral=self.peripheral, level=level)

    def restore(self, handles: Sequence[int]) -> None:
        """Has the streams of subscriptions that a preserved session has."""
        for handle in handles:
            feed = self._client.subscriptions.restore(self.peripheral, handle)
            self._feeds.append(feed)
            self.subscriptions[handle] = feed.stream

    def _connected(self, event: PeripheralConnected) -> None:
        self.is_connected, self.mtu, self.adapter = True, event.mtu, event.adapter
        self._tell(event)

    def _disconnected(self, event: PeripheralDisconnected) -> None:
        self.is_connected = False
        self._tell(event)
        if not event.reconnecting:
            self._lose(event.reason)

    def _failed(self, event: PeripheralConnectFailed) -> None:
        if event.peripheral == self.peripheral and not self.is_connected:
            self._lose(event.reason)

    def _lose(self, reason: BledError | None) -> None:
        self._client.links.lost(self.used)
        self._end(reason)

    def _tell(self, event: Change) -> None:
        for stream in self._changes:
            stream.offer(event)

    def _end(self, reason: BledError | None) -> None:
        if self._is_over:
            return
        self._is_over, self.is_connected, self.reason = True, False, reason
        for remove in self._removals:
            remove()
        for stream in self._changes:
            stream.finish(None if reason is None or isinstance(reason, NotConnected) else reason)
        for feed in self._feeds:
            feed.lose(reason)
        self._over.set()

"""The peripheral role: services, advertisements, and what devices ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

from bled import calls
from bled.calls import AdvertisingStartOptions
from bled.connection import Answer, Connection
from bled.errors import BledError
from bled.link import Values
from bled.protocol import (
    AdvertisingStartResult,
    ServerAcquireResult,
    ServerConfirmed,
    ServerNotifyResult,
    ServerRead,
    ServerReady,
    ServerReleased,
    ServerSubscribed,
    ServerUnsubscribed,
    ServerWrite,
    ServerWritesLost,
    ServerWriteWrite,
    ServiceAddResult,
    ServiceDescription,
    ServiceToPublish,
)
from bled.stream import Full, Stream

if TYPE_CHECKING:
    from bled.client import Client

# Maximum waiting events of devices; beyond it requests are refused.
LIMIT = 1024
_INSUFFICIENT_RESOURCES = 0x11
_INVALID_OFFSET = 0x07


class Request:
    """A device waits for an answer, for 25 s at most.

    central: The daemon's identifier of the device.
    mtu: The ATT MTU of its link.
    """

    def __init__(self, central: str, mtu: int | None, answer: Answer) -> None:
        self.central = central
        self.mtu = mtu
        self._answer = answer

    def refuse(self, code: int, message: str = "refused") -> None:
        """Answers with an error code of the Attribute Protocol, such as 3, Write Not Permitted."""
        self._answer.error(-32000, message, {"domain": "att", "code": code, "name": ""})


class ReadRequest(Request):
    """A device reads a value.

    handle: The handle of the value.
    offset: From where on.
    """

    def __init__(self, params: ServerRead, answer: Answer) -> None:
        super().__init__(params.central, params.mtu, answer)
        self.handle = params.handle
        self.offset = params.offset

    def respond(self, value: bytes) -> None:
        """Answers with the whole value, of which the device gets what it asked for."""
        if self.offset > len(value):
            self.refuse(_INVALID_OFFSET, "the value is shorter")
        else:
            self._answer.result({"value": bytes(value[self.offset :]).hex()})


class WriteRequest(Request):
    """A device writes values.

    writes: What it writes, each with handle, offset and value.
    without_response: Whether it waits for no answer.
    """

    def __init__(self, params: ServerWrite, answer: Answer) -> None:
        super().__init__(params.central, params.mtu, answer)
        self.writes: Sequence[ServerWriteWrite] = params.writes
        self.without_response = params.without_response is True

    @property
    def value(self) -> bytes:
        """The value of the last write, which is the only one for a device that writes one."""
        return self.writes[-1].value if self.writes else b""

    def respond(self) -> None:
        """Accepts it."""
        self._answer.result({})


ServerEvent: TypeAlias = ReadRequest | WriteRequest | ServerSubscribed | ServerUnsubscribed | ServerWritesLost


class Serving:
    """The events of a client's services, in order, and the room for notifications."""

    def __init__(self, connection: Connection) -> None:
        self.events: Stream[ServerEvent] = Stream(LIMIT, Full.END)
        self._connection = connection
        self._ready = asyncio.Event()
        self._last_confirmation = 0
        self._confirmations: dict[int, Stream[ServerConfirmed]] = {}
        connection.serve("server.read", ServerRead, lambda params, answer: self._ask(ReadRequest(params, answer)))
        connection.serve("server.write", ServerWrite, lambda params, answer: self._ask(WriteRequest(params, answer)))
        connection.on(ServerSubscribed, self._offer)
        connection.on(ServerUnsubscribed, self._offer)
        connection.on(ServerWritesLost, self._offer)
        connection.on(ServerReady, self._has_room)
        connection.on(ServerConfirmed, self._confirmed)
        connection.on_end(self._end)

    async def notify(self, method: str, params: Mapping[str, object]) -> ServerNotifyResult:
        """Sends, as soon as there is room."""
        while True:
            # Of before the call: the event may precede this task's next turn, and another task's call.
            ready = self._ready
            result = await self._connection.call(
                method, params, lambda result, descriptor: ServerNotifyResult.from_json(result)
            )
            if result.sent:
                return result
            await ready.wait()

    async def indicate(self, params: Mapping[str, object]) -> list[ServerConfirmed]:
        """Sends, as soon as there is room, and waits for the confirmations."""
        self._last_confirmation += 1
        number = self._last_confirmation
        # A confirmation may precede the answer.
        arriving = self._confirmations[number] = Stream(LIMIT, Full.END)
        try:
            result = await self.notify("server.notify", {**params, "confirmation": number})
            return [await anext(arriving) for _ in result.indicated or ()]
        finally:
            del self._confirmations[number]

    def _has_room(self, event: ServerReady) -> None:
        self._ready.set()
        self._ready = asyncio.Event()

    def _confirmed(self, event: ServerConfirmed) -> None:
        if (stream := self._confirmations.get(event.confirmation)) is not None:
            stream.offer(event)

    def _ask(self, request: ReadRequest | WriteRequest) -> None:
        if not self.events.offer(request):
            request.refuse(_INSUFFICIENT_RESOURCES, "the program does not read its requests")

    def _offer(self, event: ServerSubscribed | ServerUnsubscribed | ServerWritesLost) -> None:
        self.events.offer(event)

    def _end(self, reason: BledError) -> None:
        self.events.finish(reason)
        self._ready.set()
        for stream in self._confirmations.values():
            stream.finish(reason)


def _shortest(uuid: str) -> str:
    """The UUID with as few digits as it has (Core 5.4, Vol 3, Part B, 2.5.1)."""
    text = uuid.upper()
    if text.endswith("-0000-1000-8000-00805F9B34FB"):
        text = text[:8]
    return text[4:] if len(text) == 8 and text.startswith("0000") else text


class Published:
    """A service that is published until it is closed.

    service: Its description, with the handles.
    """

    def __init__(self, client: Client, service: ServiceDescription) -> None:
        self.service = service
        self._client = client
        self._is_open = True

    def handle(self, uuid: str) -> int:
        """The handle of the characteristic with this UUID, in any of its lengths; raises KeyError if there is none."""
        for characteristic in self.service.characteristics or ():
            if _shortest(characteristic.uuid) == _shortest(uuid):
                return characteristic.handle
        raise KeyError(uuid)

    async def close(self) -> None:
        """Removes it."""
        if self._is_open:
            self._is_open = False
            await _quietly(self._client.service_remove(handle=self.service.handle))


class Advertisement:
    """An advertisement that is sent until it is closed.

    result: Its number, its adapter, its interval in seconds, its power in dBm.
    """

    def __init__(self, client: Client, result: AdvertisingStartResult) -> None:
        self.result = result
        self._client = client
        self._is_open = True

    async def close(self) -> None:
        """Stops it."""
        if self._is_open:
            self._is_open = False
            await _quietly(self._client.advertising_stop(advertising=self.result.advertising))


async def publish(client: Client, service: ServiceToPublish) -> Published:
    """Publishes a service."""
    return await client.connection.call(
        "service.add",
        {"service": service.to_json()},
        lambda result, descriptor: Published(client, ServiceAddResult.from_json(result).service),
        undo=lambda published: client.connection.tell("service.remove", {"handle": published.service.handle}),
    )


async def advertise(client: Client, **options: Unpack[AdvertisingStartOptions]) -> Advertisement:
    """Advertises."""
    return await client.connection.call(
        "advertising.start",
        calls.ADVERTISING_START.request(**options),
        lambda result, descriptor: Advertisement(client, AdvertisingStartResult.from_json(result)),
        undo=lambda sent: client.connection.tell("advertising.stop", {"advertising": sent.result.advertising}),
    )


async def acquire(client: Client, central: str, handle: int) -> Values:
    """A descriptor for the values of one characteristic and one device."""
    removals: list[Callable[[], None]] = []

    def closed() -> None:
        for remove in removals:
            remove()

    def made(result: ServerAcquireResult, descriptor: int) -> Values:
        pipe = Values(result.maximum_length, descriptor, closed)

        def released(event: ServerReleased) -> None:
            pipe.reason, pipe.unsent = event.reason, event.unsent

        removals.append(client.connection.on(ServerReleased, released, (central, handle)))
        return pipe

    params = {"central": central, "handle": handle}
    return await client.passing("server.acquire", params, ServerAcquireResult.from_json, made)


async def _quietly(call: Coroutine[object, object, None]) -> None:
    """Ends something that may have gone with its adapter or the daemon."""
    try:
        await call
    except BledError:
        pass

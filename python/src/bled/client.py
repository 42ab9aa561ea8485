"""A session with the daemon."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, TypeVar, Unpack

from bled import calls, serving
from bled.calls import AdvertisingStartOptions, Calls, L2capPublishOptions, PeripheralConnectOptions, ScanStartOptions
from bled.codec import Event
from bled.connecting import Wishes
from bled.connection import Connection
from bled.errors import violation
from bled.link import Link, Values
from bled.listening import Listener, listen
from bled.pairing import Agents, Capability, PairingEvent
from bled.pipe import Pipe
from bled.protocol import (
    CaptureStartResult,
    ScanReport,
    ServerConfirmed,
    ServerNotifyMultipleValue,
    ServerNotifyResult,
    ServiceToPublish,
    SessionOpenResult,
)
from bled.restoring import Restored
from bled.scanning import Scans
from bled.serving import Advertisement, Published, ServerEvent, Serving
from bled.stream import Full, Opening, Source, Stream
from bled.uses import LinkRequest, Undo, UsedLink, Uses
from bled.values import Subscriptions

_Result = TypeVar("_Result")
_Pipe = TypeVar("_Pipe")
_Event = TypeVar("_Event", bound=Event)

PROTOCOL = 1
EVENTS = 1024
_ADDRESS = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")


class Client(Calls):
    """A session with the daemon. What it holds (scans, links, subscriptions, services, advertisements) ends with it,
    unless it is to be restored.

    Besides what is below it has a function for each method of the protocol: `adapter_list`, `gatt_read`, and so on.

    session: What the daemon said when the session was opened: its release, the adapters, the permissions.
    restored: What a preserved session had; None if there was none.
    """

    session: SessionOpenResult
    restored: Restored | None

    def __init__(self) -> None:
        self.restored = None
        self.connection = Connection()
        self.links: Uses[UsedLink] = Uses(self._undo_links)
        self.subscriptions = Subscriptions(self.connection)
        self._serving = Serving(self.connection)
        self._agents = Agents(self.connection)
        self._scans = Scans(self.connection)
        self._wishes = Wishes(self)

    def _undo_links(self, undo: Undo[UsedLink]) -> None:
        for request in undo.withdrawn:
            if isinstance(request, LinkRequest):
                self.connection.tell("peripheral.disconnect", calls.PERIPHERAL_DISCONNECT.request(**request.named))
        for link in undo.released:
            self.connection.tell("peripheral.disconnect", {"peripheral": link.peripheral})

    async def open(
        self, path: str | None, name: str | None, restore: str | None, keep: float | None, background: bool | None
    ) -> None:
        """Connects, and opens the session."""
        await self.connection.open(path)
        try:
            params = calls.SESSION_OPEN.request(name=name, restore=restore, keep=keep, background=background)
            self.session = await self.connection.call("session.open", params, self._opened)
        except BaseException:
            await self.connection.close()
            raise

    def _opened(self, result: object, descriptor: int | None) -> SessionOpenResult:
        session = SessionOpenResult.from_json(result)
        if session.protocol != PROTOCOL:
            raise violation(f"{session.daemon} speaks version {session.protocol} of the protocol, this is {PROTOCOL}")
        if session.restored is not None:
            # Before the events that were kept, which follow this answer.
            self.restored = Restored(self, session.restored)
            self._scans.restored(scan.scan for scan, _ in self.restored.scans if scan.scan is not None)
        return session

    @property
    def is_connected(self) -> bool:
        """Whether the daemon is there."""
        return self.connection.is_open

    async def close(self) -> None:
        """Closes the connection. A session that is to be restored is preserved."""
        await self.connection.close()

    async def end(self) -> None:
        """Ends the session for good, also one that is to be restored, and closes the connection."""
        try:
            await self.session_end()
        finally:
            await self.close()

    def events(self, event: type[_Event], *, limit: int = EVENTS, full: Full = Full.END) -> Source[_Event]:
        """The events of a kind, such as `bled.AdapterChanged`."""
        return Source(lambda: self._events(event, limit, full))

    @asynccontextmanager
    async def _events(self, event: type[_Event], limit: int, full: Full) -> AsyncIterator[Stream[_Event]]:
        stream: Stream[_Event] = Stream(limit, full)

        def offer(value: _Event) -> None:
            stream.offer(value)

        removals = (self.connection.on(event, offer), self.connection.on_end(stream.finish))
        try:
            yield stream
        finally:
            for remove in removals:
                remove()

    def scan(self, **options: Unpack[ScanStartOptions]) -> Source[ScanReport]:
        """The reports of a scan: of everything on all adapters without options, which are those of scan.start. A client
        can have several scans. When 1024 reports wait to be read, the oldest are dropped (`dropped` of the stream)."""
        return Source(lambda: self._scans.run(options))

    def link(
        self, device: str | ScanReport | None = None, **options: Unpack[PeripheralConnectOptions]
    ) -> Opening[Link]:
        """Connects to a device: an identifier, an address or a report; or by `name`, `name_prefix` or `service` the
        first that is heard. It waits until the device is there; `timeout` in seconds raises ConnectTimeout then.

        async with client.link("C0:DE:00:00:00:01", timeout=10) as link: ...
        link = await client.link(report)

        With `reconnect` the daemon connects again when the link is lost: `Link.changes`.
        """
        if isinstance(device, ScanReport):
            options["peripheral"] = device.peripheral
        elif device is not None:
            if _ADDRESS.fullmatch(device):
                options["address"] = device
            else:
                options["peripheral"] = device
        return Opening(lambda: self._wishes.link(options))

    def publish(self, service: ServiceToPublish) -> Opening[Published]:
        """Publishes a service. Read `server_events` to answer the devices that use it."""
        return Opening(lambda: serving.publish(self, service))

    def advertise(self, **options: Unpack[AdvertisingStartOptions]) -> Opening[Advertisement]:
        """Advertises; the options are those of advertising.start."""
        return Opening(lambda: serving.advertise(self, **options))

    @property
    def server_events(self) -> Stream[ServerEvent]:
        """The events of this client's services, in order: reads and writes, which want an answer, and subscriptions.
        When 1024 wait, requests are refused, and the stream ends with TooSlow."""
        return self._serving.events

    async def notify(
        self,
        handle: int,
        value: bytes,
        centrals: Sequence[str] | None = None,
        when_full: Literal["wait", "skip", "newest"] | None = None,
    ) -> ServerNotifyResult:
        """Sends a value to the subscribers of a characteristic, or to some of them; waits for room at all of them.
        With `when_full` "skip" or "newest" it never waits: up to 16 values wait in the daemon for each subscriber.
        Cancelling it undoes nothing once the daemon has the value."""
        params = calls.SERVER_NOTIFY.request(handle=handle, value=value, centrals=centrals, when_full=when_full)
        return await self._serving.notify("server.notify", params)

    async def indicate(
        self,
        handle: int,
        value: bytes,
        centrals: Sequence[str] | None = None,
        when_full: Literal["wait", "skip", "newest"] | None = None,
    ) -> list[ServerConfirmed]:
        """Sends a value, and waits until each subscriber that asked for indications has confirmed it, or will not:
        `error` says why. A device has 30 s, then its link ends. Cancelling it ends the waiting alone: the value is
        sent. To learn of each confirmation when it comes, call this once for each of `centrals`."""
        params = calls.SERVER_NOTIFY.request(handle=handle, value=value, centrals=centrals, when_full=when_full)
        return await self._serving.indicate(params)

    async def notify_multiple(
        self, values: Sequence[ServerNotifyMultipleValue], centrals: Sequence[str] | None = None
    ) -> ServerNotifyResult:
        """Sends the values of up to eight characteristics; waits for room."""
        params = calls.SERVER_NOTIFY_MULTIPLE.request(values=values, centrals=centrals)
        return await self._serving.notify("server.notifyMultiple", params)

    def acquire(self, central: str, handle: int) -> Opening[Values]:
        """A descriptor for many values of a characteristic of this client's, to and from one device."""
        return Opening(lambda: serving.acquire(self, central, handle))

    def agent(self, capability: Capability) -> Source[PairingEvent]:
        """Is asked when devices pair. Answer the questions with their functions; what is not answered when it is left
        is refused."""
        return Source(lambda: self._agents.register(capability))

    def listen(self, **options: Unpack[L2capPublishOptions]) -> Opening[Listener]:
        """Publishes a number to which devices open L2CAP channels."""
        return Opening(lambda: listen(self, options))

    def capture(
        self, *, format: str | None = None, adapter: str | None = None, keys: bool | None = None
    ) -> Opening[Pipe]:
        """Records what passes between adapters and controllers: the octets of a file, "pcapng" or "btsnoop"."""
        params = calls.CAPTURE_START.request(format=format, adapter=adapter, keys=keys)
        return Opening(
            lambda: self.passing(
                "capture.start", params, CaptureStartResult.from_json, lambda result, fd: Pipe(fd, False)
            )
        )

    async def passing(
        self,
        method: str,
        params: Mapping[str, object],
        decode: Callable[[object], _Result],
        made: Callable[[_Result, int], _Pipe],
    ) -> _Pipe:
        """Calls a method whose answer passes a descriptor."""

        def arrived(result: object, descriptor: int | None) -> _Pipe:
            if descriptor is None:
                raise violation(f"the answer to {method} passed no descriptor")
            return made(decode(result), descriptor)

        # A pipe that no task gets closes its descriptor itself.
        return await self.connection.call(method, params, arrived)

    async def _call(self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]) -> _Result:
        def arrived(result: object, descriptor: int | None) -> _Result:
            value = decode(result)
            if descriptor is not None:
                os.close(descriptor)
            return value

        return await self.connection.call(method, params, arrived)

    async def _call_passing(
        self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]
    ) -> tuple[_Result, int | None]:
        def undo(passed: tuple[_Result, int | None]) -> None:
            if passed[1] is not None:
                os.close(passed[1])

        return await self.connection.call(
            method, params, lambda result, descriptor: (decode(result), descriptor), undo=undo
        )

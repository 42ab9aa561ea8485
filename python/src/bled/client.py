"""A session with the daemon."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TypeVar, Unpack

from bled import calls, serving
from bled.calls import AdvertisingStartOptions, Calls, L2capPublishOptions, PeripheralConnectOptions, ScanStartOptions
from bled.codec import Event
from bled.connection import Connection
from bled.errors import BledError, DaemonUnreachable, LimitReached, violation
from bled.link import Channel, Link, Links, Values, channel
from bled.pairing import Agents, Capability, PairingEvent
from bled.pipe import Pipe
from bled.protocol import (
    CaptureStartResult,
    L2capIncoming,
    L2capPublishResult,
    PeripheralConnectResult,
    ScanReport,
    ScanStartParams,
    ServerNotifyMultipleValue,
    ServerNotifyResult,
    ServiceToPublish,
    SessionOpenResult,
)
from bled.restoring import Restored
from bled.serving import Advertisement, Published, ServerEvent, Serving
from bled.stream import Full, Opening, Source, Stream
from bled.values import Subscriptions

_Result = TypeVar("_Result")
_Pipe = TypeVar("_Pipe")
_Event = TypeVar("_Event", bound=Event)

PROTOCOL = 1
# How many reports wait; then the oldest are dropped.
REPORTS = 1024
EVENTS = 1024
_LAST_SCAN = 65535
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
        self.links = Links()
        self.subscriptions = Subscriptions(self.connection)
        self._serving = Serving(self.connection)
        self._agents = Agents(self.connection)
        self._scans: set[int] = set()
        self._last_scan = 0
        self._wanted: Counter[tuple[tuple[str, object], ...]] = Counter()

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
            self._scans.update(scan.scan for scan, _ in self.restored.scans if scan.scan is not None)
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
        return Source(lambda: self._scan(options))

    @asynccontextmanager
    async def _scan(self, options: ScanStartOptions) -> AsyncIterator[Stream[ScanReport]]:
        number = options.get("scan") or self._free_scan()
        params = calls.SCAN_START.request(**{**options, "scan": number})
        self._scans.add(number)
        stream: Stream[ScanReport] = Stream(REPORTS, Full.DROP_OLDEST)

        def offer(report: ScanReport) -> None:
            stream.offer(report)

        removals = (self.connection.on(ScanReport, offer, number), self.connection.on_end(stream.finish))

        def stop() -> None:
            self.connection.tell("scan.stop", {"scan": number})

        try:
            await self.connection.call("scan.start", params, _nothing, abandoned=lambda: None)
            yield stream
        finally:
            stop()
            self._scans.discard(number)
            stream.finish()
            for remove in removals:
                remove()

    def _free_scan(self) -> int:
        # Not the number of the scan before, of which reports may still come.
        for _ in range(_LAST_SCAN):
            self._last_scan = self._last_scan % _LAST_SCAN + 1
            if self._last_scan not in self._scans:
                return self._last_scan
        raise LimitReached("a session has no more than 65535 scans", code=4, name="limitReached")

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
        return Opening(lambda: self._link(options))

    async def _link(self, options: PeripheralConnectOptions) -> Link:
        naming = ("peripheral", "address", "address_type", "name", "name_prefix", "service")
        reference = {name: value for name, value in options.items() if name in naming and value is not None}
        key = tuple(sorted(reference.items()))
        self._wanted[key] += 1

        def arrived(result: object, descriptor: int | None) -> Link:
            it = PeripheralConnectResult.from_json(result)
            return Link(self, it.peripheral, it.address, it.address_type, it.adapter, it.mtu)

        def abandoned() -> None:
            named = (reference.get("peripheral"), reference.get("address"))
            if self._wanted[key] <= 1 and not any(isinstance(n, str) and self.links.uses(n) for n in named):
                self.connection.tell("peripheral.disconnect", calls.PERIPHERAL_DISCONNECT.request(**reference))

        try:
            return await self.connection.call(
                "peripheral.connect",
                calls.PERIPHERAL_CONNECT.request(**options),
                arrived,
                undo=Link.drop,
                abandoned=abandoned,
            )
        finally:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                del self._wanted[key]

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

    async def notify(self, handle: int, value: bytes, centrals: Sequence[str] | None = None) -> ServerNotifyResult:
        """Sends a value to the subscribers of a characteristic, or to some of them; waits for room."""
        params = calls.SERVER_NOTIFY.request(handle=handle, value=value, centrals=centrals)
        return await self._serving.notify("server.notify", params)

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
        return Opening(lambda: self._listen(options))

    async def _listen(self, options: L2capPublishOptions) -> Listener:
        return await self.connection.call(
            "l2cap.publish",
            calls.L2CAP_PUBLISH.request(**options),
            lambda result, descriptor: Listener(self, L2capPublishResult.from_json(result)),
            undo=Listener.drop,
        )

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


def _nothing(result: object, descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


class Listener:
    """A number to which devices open channels.

    psm: The number, 128 to 255.
    incoming: The channels that devices have opened, to be accepted within 30 seconds.
    """

    def __init__(self, client: Client, result: L2capPublishResult) -> None:
        self.psm = result.psm
        self.adapter = result.adapter
        self.incoming: Stream[L2capIncoming] = Stream(64, Full.END)
        self._client = client
        self._removals = (
            client.connection.on(L2capIncoming, self._offer),
            client.connection.on_end(self.incoming.finish),
        )
        self._is_open = True

    def accept(self, *, packets: bool | None = None) -> Opening[Channel]:
        """Waits for a device, and accepts its channel."""

        async def open() -> Channel:
            waiting = await anext(self.incoming)
            params = calls.L2CAP_ACCEPT.request(channel=waiting.channel, packets=packets)
            return await channel(self._client, "l2cap.accept", params)

        return Opening(open)

    async def close(self) -> None:
        """Unpublishes the number. The channels that were accepted stay open."""
        if self._is_open:
            self._leave()
            try:
                await self._client.l2cap_unpublish(psm=self.psm, adapter=self.adapter)
            except BledError:
                # Its adapter or the daemon has gone.
                pass

    def drop(self) -> None:
        """Unpublishes the number that nobody got."""
        if self._is_open:
            self._leave()
            self._client.connection.tell("l2cap.unpublish", {"psm": self.psm, "adapter": self.adapter})

    def _offer(self, event: L2capIncoming) -> None:
        if event.psm == self.psm:
            self.incoming.offer(event)

    def _leave(self) -> None:
        self._is_open = False
        self.incoming.finish()
        for remove in self._removals:
            remove()


class connect:
    """Opens a session with the daemon.

    path: Its socket; BLED_SOCKET, or the system's, or the user's own, if missing.
    name: What the daemon's log and `session.list` call it; the name of the program if missing.
    restore: An identifier under which the daemon preserves the session when the program ends, and restores it.
    keep: For how many seconds at most.
    background: Whether no user waits for the results.

    async with bled.connect() as client: ...
    client = await bled.connect()
    async for client in bled.connect(restore="com.example.logger"): ...

    The last connects again, when the body ends or continues; while there is no daemon it waits.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        name: str | None = None,
        restore: str | None = None,
        keep: float | None = None,
        background: bool | None = None,
    ) -> None:
        self._path = path
        self._name = name or os.path.basename(sys.argv[0] if sys.argv else "") or "python"
        self._restore = restore
        self._keep = keep
        self._background = background
        self._client: Client | None = None

    async def _open(self) -> Client:
        client = Client()
        await client.open(self._path, self._name, self._restore, self._keep, self._background)
        return client

    def __await__(self) -> Generator[None, None, Client]:
        return self._open().__await__()

    async def __aenter__(self) -> Client:
        self._client = await self._open()
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def __aiter__(self) -> AsyncGenerator[Client]:
        pause = 0.1
        while True:
            try:
                client = await self._open()
            except (DaemonUnreachable, LimitReached):
                await asyncio.sleep(pause)
                pause = min(pause * 2, 10)
                continue
            pause = 0.1
            try:
                yield client
            finally:
                await client.close()


__all__ = ["Client", "Listener", "ScanStartParams", "connect"]

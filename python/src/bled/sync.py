"""For scripts without asyncio: the same calls, which block. A thread of its own talks to the daemon meanwhile, so that
nothing is lost between two calls.

    with bled.sync.connect() as client:
        for report in client.scan(services=["180D"]):
            break
        with client.link(report, timeout=10) as link:
            print(link.read("2A38"))

Whatever has no function here: `client.run(client.session.adapter_list())`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar, Unpack

import bled
from bled import stream
from bled.calls import AdvertisingStartOptions, L2capOpenOptions, PeripheralConnectOptions, ScanStartOptions
from bled.codec import Event
from bled.link import Attribute
from bled.pairing import Capability, PairingEvent
from bled.protocol import ScanReport, ServerConfirmed, ServerNotifyResult, ServiceDescription, ServiceToPublish
from bled.serving import Advertisement, Published, ServerEvent

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")
_Event = TypeVar("_Event", bound=Event)


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bled", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether it was not closed."""
        return self._thread.is_alive()

    def start(self, awaitable: Awaitable[_Result]) -> Future[_Result]:
        """Begins something; `result` of what is returned waits for it. What is begun first is sent first."""

        async def run() -> _Result:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(run(), self._loop)

    def run(self, awaitable: Awaitable[_Result], timeout: float | None = None) -> _Result:
        """Waits for something, so many seconds at most: then it is cancelled, and TimeoutError is raised."""

        async def limited() -> _Result:
            async with asyncio.timeout(timeout):
                return await awaitable

        future = self.start(limited())
        try:
            return future.result()
        except BaseException:
            # Ctrl-C as well: nothing continues without the program's knowledge.
            future.cancel()
            raise

    def close(self) -> None:
        """Ends what is still under way, and the thread."""
        if self._thread.is_alive():
            self.run(self._finish())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _finish(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()


class Stream(Generic[_Item]):
    """Items in the order in which they come.

    for item in stream: ...
    """

    def __init__(self, loop: Loop, items: stream.Stream[_Item]) -> None:
        self._loop = loop
        self._items = items

    def next(self, timeout: float | None = None) -> _Item:
        """The next one; TimeoutError if none comes in so many seconds, StopIteration at the end."""
        try:
            return self._loop.run(anext(self._items), timeout)
        except StopAsyncIteration:
            raise StopIteration from None

    @property
    def dropped(self) -> int:
        """How many were dropped because they were not read in time."""
        return self._items.dropped

    def __iter__(self) -> Iterator[_Item]:
        return self

    def __next__(self) -> _Item:
        return self.next()


class Source(Generic[_Item]):
    """Opens a stream and closes it again; `for item in source` does both."""

    def __init__(self, loop: Loop, source: stream.Source[_Item]) -> None:
        self._loop = loop
        self._source = source

    def __enter__(self) -> Stream[_Item]:
        return Stream(self._loop, self._loop.run(self._source.__aenter__()))

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._source.__aexit__(None, None, None))

    def __iter__(self) -> Iterator[_Item]:
        with self as items:
            yield from items


class Pipe:
    """Values or octets over a descriptor: `bled.Pipe`."""

    def __init__(self, loop: Loop, pipe: bled.Pipe) -> None:
        self._loop = loop
        self.asynchronous = pipe

    def send(self, octets: bytes, timeout: float | None = None) -> None:
        """Sends a packet, or all these octets."""
        self._loop.run(self.asynchronous.send(octets), timeout)

    def receive(self, timeout: float | None = None) -> bytes | None:
        """The next packet, or what there is; None at the end."""
        return self._loop.run(self.asynchronous.receive(), timeout)

    def end_sending(self) -> None:
        """Says that nothing else will be sent."""
        self.asynchronous.end_sending()


class Link:
    """A link with a device: `bled.Link`, whose functions that are missing here `run` of the client waits for."""

    def __init__(self, loop: Loop, link: bled.Link) -> None:
        self._loop = loop
        self.asynchronous = link

    @property
    def peripheral(self) -> str:
        """The daemon's identifier of the device."""
        return self.asynchronous.peripheral

    @property
    def address(self) -> str:
        """The address of the device."""
        return self.asynchronous.address

    @property
    def mtu(self) -> int:
        """The ATT MTU."""
        return self.asynchronous.mtu

    @property
    def is_connected(self) -> bool:
        """Whether the link is there."""
        return self.asynchronous.is_connected

    def discover(self, timeout: float | None = None) -> Sequence[ServiceDescription]:
        """All services with what they have."""
        return self._loop.run(self.asynchronous.discover(timeout))

    def read(self, attribute: Attribute, *, service: str | None = None, descriptor: str | None = None) -> bytes:
        """Reads a value."""
        return self._loop.run(self.asynchronous.read(attribute, service=service, descriptor=descriptor))

    def write(
        self,
        attribute: Attribute,
        value: bytes,
        *,
        response: bool = True,
        service: str | None = None,
        descriptor: str | None = None,
    ) -> None:
        """Writes a value."""
        self._loop.run(
            self.asynchronous.write(attribute, value, response=response, service=service, descriptor=descriptor)
        )

    def subscribe(
        self, attribute: Attribute, *, service: str | None = None, indications: bool | None = None
    ) -> Source[bytes]:
        """The values of a characteristic."""
        return Source(self._loop, self.asynchronous.subscribe(attribute, service=service, indications=indications))

    @contextmanager
    def acquire(self, attribute: Attribute, *, service: str | None = None) -> Iterator[Pipe]:
        """A descriptor for many values."""
        with _opened(self._loop, self.asynchronous.acquire(attribute, service=service)) as values:
            yield Pipe(self._loop, values)

    @contextmanager
    def open_channel(self, psm: int, **options: Unpack[L2capOpenOptions]) -> Iterator[Pipe]:
        """Opens an L2CAP channel."""
        with _opened(self._loop, self.asynchronous.open_channel(psm, **options)) as channel:
            yield Pipe(self._loop, channel)

    def wait(self, timeout: float | None = None) -> bled.BledError | None:
        """Waits for the end of the link; returns its reason."""
        return self._loop.run(self.asynchronous.ended(), timeout)


class Client:
    """A session with the daemon: `bled.Client`, which is its `session`."""

    def __init__(self, loop: Loop, client: bled.Client) -> None:
        self._loop = loop
        self.session = client

    def start(self, awaitable: Awaitable[_Result]) -> Future[_Result]:
        """Begins something of the session or of a link; `result` of what is returned waits for it. Calls go to the
        daemon in the order in which they were begun."""
        return self._loop.start(awaitable)

    def run(self, awaitable: Awaitable[_Result], timeout: float | None = None) -> _Result:
        """Waits for a function of the session or of a link."""
        return self._loop.run(awaitable, timeout)

    def scan(self, **options: Unpack[ScanStartOptions]) -> Source[ScanReport]:
        """The reports of a scan."""
        return Source(self._loop, self.session.scan(**options))

    def events(self, event: type[_Event]) -> Source[_Event]:
        """The events of a kind."""
        return Source(self._loop, self.session.events(event))

    @contextmanager
    def link(
        self, device: str | ScanReport | None = None, **options: Unpack[PeripheralConnectOptions]
    ) -> Iterator[Link]:
        """Connects to a device."""
        with _opened(self._loop, self.session.link(device, **options)) as link:
            yield Link(self._loop, link)

    def publish(self, service: ServiceToPublish) -> AbstractContextManager[Published]:
        """Publishes a service; read `server_events`."""
        return _opened(self._loop, self.session.publish(service))

    def advertise(self, **options: Unpack[AdvertisingStartOptions]) -> AbstractContextManager[Advertisement]:
        """Advertises."""
        return _opened(self._loop, self.session.advertise(**options))

    @property
    def server_events(self) -> Stream[ServerEvent]:
        """The events of the services; `respond` and `refuse` answer."""
        return Stream(self._loop, self.session.server_events)

    def notify(self, handle: int, value: bytes) -> ServerNotifyResult:
        """Sends a value to the subscribers of a characteristic."""
        return self._loop.run(self.session.notify(handle, value))

    def indicate(self, handle: int, value: bytes) -> list[ServerConfirmed]:
        """Sends a value, and waits until its subscribers have confirmed it, or will not."""
        return self._loop.run(self.session.indicate(handle, value))

    def agent(self, capability: Capability) -> Source[PairingEvent]:
        """Is asked when devices pair."""
        return Source(self._loop, self.session.agent(capability))

    def close(self) -> None:
        """Closes the connection."""
        if self._loop.is_running:
            try:
                self._loop.run(self.session.close())
            finally:
                self._loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(
    path: str | None = None,
    *,
    name: str | None = None,
    restore: str | None = None,
    keep: float | None = None,
    background: bool | None = None,
) -> Client:
    """Opens a session with the daemon, as `bled.connect`; close it, or use it with `with`."""
    loop = Loop()
    try:
        opening = bled.connect(path, name=name, restore=restore, keep=keep, background=background)
        return Client(loop, loop.run(opening))
    except BaseException:
        loop.close()
        raise


@contextmanager
def _opened(loop: Loop, opening: stream.Opening[Any]) -> Iterator[Any]:
    resource = loop.run(opening.__aenter__())
    try:
        yield resource
    finally:
        loop.run(opening.__aexit__(None, None, None))

"""The values of characteristics that are subscribed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from bled.connection import Connection
from bled.errors import BledError, too_slow
from bled.protocol import AttributeFound, GattSubscriptionLost, GattValue, PeripheralDisconnected
from bled.stream import Full, Stream

# How many values wait to be read before a stream ends with TooSlow.
LIMIT = 4096


class Subscriptions:
    """The subscriptions of a client, and how many streams use each: the last one ends it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._users: Counter[tuple[str, int]] = Counter()

    @asynccontextmanager
    async def subscribe(
        self, peripheral: str, path: Mapping[str, object], indications: bool | None, limit: int
    ) -> AsyncIterator[Stream[bytes]]:
        """Subscribes, and unsubscribes in the end."""
        handle = path.get("handle")
        feed = Feed(self, self._connection, peripheral, limit)
        if isinstance(handle, int):
            feed.locate(handle)
        else:
            feed.look_for()
        params = {"peripheral": peripheral, **path}
        if indications is not None:
            params["indications"] = indications

        def arrived(result: object, descriptor: int | None) -> int | None:
            found = AttributeFound.from_json(result).handle
            if found is not None:
                feed.locate(found)
            return handle if isinstance(handle, int) else found

        def undo(found: int | None) -> None:
            if found is not None:
                self.release(peripheral, found)

        try:
            await self._connection.call("gatt.subscribe", params, arrived, undo=undo)
            yield feed.stream
        finally:
            feed.close()

    def restore(self, peripheral: str, handle: int) -> Feed:
        """The stream of a subscription that a preserved session has."""
        feed = Feed(self, self._connection, peripheral, LIMIT)
        feed.locate(handle)
        return feed

    def use(self, peripheral: str, handle: int) -> None:
        """Another stream needs the values."""
        self._users[peripheral, handle] += 1

    def leave(self, peripheral: str, handle: int) -> None:
        """A stream needs them no longer."""
        self._users[peripheral, handle] -= 1
        self.release(peripheral, handle)

    def forget(self, peripheral: str, handle: int) -> None:
        """A stream ended with the daemon's subscription."""
        self._users[peripheral, handle] -= 1
        if self._users[peripheral, handle] <= 0:
            del self._users[peripheral, handle]

    def release(self, peripheral: str, handle: int) -> None:
        """Unsubscribes if no stream is left."""
        if self._users[peripheral, handle] <= 0:
            del self._users[peripheral, handle]
            self._connection.tell("gatt.unsubscribe", {"peripheral": peripheral, "handle": handle})


class Feed:
    """Fills the stream of a subscription.

    Where only the UUID is known, the values of the whole device are kept until the answer says which are meant: the
    first may come before it.
    """

    def __init__(self, subscriptions: Subscriptions, connection: Connection, peripheral: str, limit: int) -> None:
        self.stream: Stream[bytes] = Stream(limit, Full.END)
        self._subscriptions = subscriptions
        self._connection = connection
        self._peripheral = peripheral
        self.handle: int | None = None
        self._early: list[GattValue] = []
        self._is_closed = False
        self._removals: list[Callable[[], None]] = [
            connection.on(PeripheralDisconnected, self._disconnected, peripheral),
            connection.on_end(self.stream.finish),
        ]
        self._search: Callable[[], None] | None = None

    def look_for(self) -> None:
        """Keeps all values of the device for now."""
        self._search = self._connection.on(GattValue, self._keep)

    def locate(self, handle: int) -> None:
        """The handle is known."""
        if self._is_closed or self.handle is not None:
            return
        self.handle = handle
        self._subscriptions.use(self._peripheral, handle)
        key = (self._peripheral, handle)
        self._removals.append(self._connection.on(GattValue, self._offer, key))
        self._removals.append(self._connection.on(GattSubscriptionLost, self._lost, key))
        if self._search is not None:
            self._search()
        early, self._early = self._early, []
        for event in early:
            if event.handle == handle:
                self._offer(event)

    def close(self) -> None:
        """Ends the stream, and the subscription with the last one."""
        if self._end() and self.handle is not None:
            self._subscriptions.leave(self._peripheral, self.handle)

    def lose(self, reason: BledError | None) -> None:
        """Ends the stream of a subscription that the daemon has ended."""
        self.stream.finish(reason)
        if self._end() and self.handle is not None:
            self._subscriptions.forget(self._peripheral, self.handle)

    def _end(self) -> bool:
        if self._is_closed:
            return False
        self._is_closed = True
        for remove in self._removals:
            remove()
        if self._search is not None:
            self._search()
        self._early = []
        self.stream.finish()
        return True

    def _keep(self, event: GattValue) -> None:
        if event.peripheral != self._peripheral:
            return
        if len(self._early) < LIMIT:
            self._early.append(event)
        else:
            self.stream.finish(too_slow(f"more than {LIMIT} values came before the answer to gatt.subscribe"))

    def _offer(self, event: GattValue) -> None:
        self.stream.offer(event.value)

    def _lost(self, event: GattSubscriptionLost) -> None:
        self.lose(event.reason)

    def _disconnected(self, event: PeripheralDisconnected) -> None:
        self.lose(event.reason)

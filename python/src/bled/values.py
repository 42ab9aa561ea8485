"""The values of characteristics that are subscribed to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from bled.connection import Connection
from bled.errors import BledError
from bled.protocol import AttributeFound, GattSubscriptionLost, GattValue, PeripheralDisconnected
from bled.stream import Full, Stream
from bled.uses import SubscriptionRequest, Undo, UsedCharacteristic, Uses

# Maximum waiting values before a stream ends with TooSlow.
LIMIT = 4096


class Subscriptions:
    """The subscriptions of a client, and how many streams use each: the last one ends it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last = 0
        self.uses: Uses[UsedCharacteristic] = Uses(self._undo)

    @asynccontextmanager
    async def subscribe(
        self, peripheral: str, path: Mapping[str, object], indications: bool | None, limit: int
    ) -> AsyncIterator[Stream[bytes]]:
        """Subscribes, and unsubscribes in the end."""
        known = path.get("handle")
        handle = known if isinstance(known, int) else None
        feed = Feed(self.uses, self._connection, peripheral, limit)
        params = {"peripheral": peripheral, **path}
        if indications is not None:
            params["indications"] = indications
        self._last += 1
        number = self._last
        self.uses.begin(number, SubscriptionRequest(peripheral, handle))
        is_abandoned = False

        def arrived(result: object, descriptor: int | None) -> UsedCharacteristic | None:
            found = handle if handle is not None else AttributeFound.from_json(result).handle
            used = None if found is None else UsedCharacteristic(peripheral, found)
            if not is_abandoned:
                self.uses.answered(number, used)
                if used is not None:
                    feed.use(used.handle)
            return used

        def undo(used: UsedCharacteristic | None) -> None:
            if is_abandoned:
                self.uses.late(number, used)

        def abandoned() -> None:
            nonlocal is_abandoned
            is_abandoned = True
            self.uses.abandoned(number)

        try:
            await self._connection.call(
                "gatt.subscribe",
                params,
                arrived,
                undo=undo,
                abandoned=abandoned,
                failed=lambda: self.uses.late(number, None),
            )
            yield feed.stream
        finally:
            self.uses.ended(number)
            feed.close()

    def restore(self, peripheral: str, handle: int) -> Feed:
        """The stream of a subscription that a preserved session has."""
        feed = Feed(self.uses, self._connection, peripheral, LIMIT)
        self.uses.use(UsedCharacteristic(peripheral, handle))
        feed.use(handle)
        return feed

    def _undo(self, undo: Undo[UsedCharacteristic]) -> None:
        # A request is not withdrawn: the device answers soon, and the result is released then.
        for used in undo.released:
            self._connection.tell("gatt.unsubscribe", {"peripheral": used.peripheral, "handle": used.handle})


class Feed:
    """Fills the stream of a subscription: the first value comes after the answer, which tells the handle."""

    def __init__(self, uses: Uses[UsedCharacteristic], connection: Connection, peripheral: str, limit: int) -> None:
        self.stream: Stream[bytes] = Stream(limit, Full.END)
        self._uses = uses
        self._connection = connection
        self._peripheral = peripheral
        self.handle: int | None = None
        self._is_closed = False
        self._removals: list[Callable[[], None]] = [
            connection.on(PeripheralDisconnected, self._disconnected, peripheral),
            connection.on_end(self.stream.finish),
        ]

    def use(self, handle: int) -> None:
        """There is a subscription, with this stream as a user."""
        if self._is_closed:
            self._uses.leave(UsedCharacteristic(self._peripheral, handle))
        else:
            self.handle = handle
            key = (self._peripheral, handle)
            self._removals.append(self._connection.on(GattValue, self._offer, key))
            self._removals.append(self._connection.on(GattSubscriptionLost, self._lost, key))

    def close(self) -> None:
        """Ends the stream, and the subscription with the last one."""
        if self._end() and self.handle is not None:
            self._uses.leave(UsedCharacteristic(self._peripheral, self.handle))

    def lose(self, reason: BledError | None) -> None:
        """Ends the stream of a subscription that the daemon has ended."""
        self.stream.finish(reason)
        if self._end() and self.handle is not None:
            used = UsedCharacteristic(self._peripheral, self.handle)
            if self._uses.is_last(used):
                self._uses.lost(used)
            else:
                self._uses.leave(used)

    def _end(self) -> bool:
        if self._is_closed:
            return False
        self._is_closed = True
        for remove in self._removals:
            remove()
        self.stream.finish()
        return True

    def _offer(self, event: GattValue) -> None:
        self.stream.offer(event.value)

    def _lost(self, event: GattSubscriptionLost) -> None:
        self.lose(event.reason)

    def _disconnected(self, event: PeripheralDisconnected) -> None:
        self.lose(event.reason)

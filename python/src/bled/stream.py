"""Bounded queues that are read with `async for`, and what is opened and closed with `async with`."""

from __future__ import annotations

import asyncio
import enum
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from bled.errors import BledError, too_slow

_Item = TypeVar("_Item")


class Full(enum.Enum):
    """The policy of a stream that is not read."""

    DROP_OLDEST = enum.auto()
    """The oldest are dropped; `dropped` counts them."""
    END = enum.auto()
    """The stream ends with TooSlow behind the items that it has, so that nothing is lost silently."""


class Stream(AsyncIterator[_Item]):
    """Items that wait to be read, by one task or by several, which get different ones.

    dropped: How many items nobody read in time.
    """

    def __init__(self, limit: int, full: Full) -> None:
        self.dropped = 0
        self._limit = limit
        self._full = full
        self._items: deque[_Item] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_finished = False
        self._error: BledError | None = None

    def __aiter__(self) -> Stream[_Item]:
        return self

    async def __anext__(self) -> _Item:
        while not self._items:
            if self._is_finished:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    # The item goes to another task.
                    self._wake()
                raise
            finally:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
        return self._items.popleft()

    def __len__(self) -> int:
        return len(self._items)

    def offer(self, item: _Item) -> bool:
        """Adds an item; false if it was not wanted or there was no room for it."""
        if self._is_finished:
            return False
        if len(self._items) >= self._limit:
            self.dropped += 1
            if self._full is Full.END:
                self.finish(too_slow(f"{self._limit} items waited to be read: read faster, or ask for less"))
                return False
            self._items.popleft()
        self._items.append(item)
        self._wake()
        return True

    def finish(self, error: BledError | None = None) -> None:
        """Nothing else will come. What has come is still read; then the error is raised, if there is one."""
        if not self._is_finished:
            self._is_finished = True
            self._error = error
            while self._waiting:
                self._wake()

    def clear(self) -> list[_Item]:
        """Takes what has not been read."""
        items = list(self._items)
        self._items.clear()
        return items

    def _wake(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


class Source(Generic[_Item]):
    """Opens a stream, and closes it:

    async with source as stream: ...
    async for item in source: ...
    """

    def __init__(self, open: Callable[[], AbstractAsyncContextManager[Stream[_Item]]]) -> None:
        self._open = open
        self._opened: AbstractAsyncContextManager[Stream[_Item]] | None = None

    async def __aenter__(self) -> Stream[_Item]:
        if self._opened is not None:
            raise RuntimeError("it is open already")
        self._opened = self._open()
        try:
            return await self._opened.__aenter__()
        except BaseException:
            self._opened = None
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        opened, self._opened = self._opened, None
        return None if opened is None else await opened.__aexit__(kind, error, trace)

    async def __aiter__(self) -> AsyncGenerator[_Item]:
        # A generator that is left is closed: at once in CPython, which has no other reference.
        async with self._open() as stream:
            async for item in stream:
                yield item


class Closing(Protocol):
    """A resource that can be closed."""

    async def close(self) -> None:
        """Closes it; a second time does nothing."""


_Resource = TypeVar("_Resource", bound=Closing)


class Opening(Generic[_Resource]):
    """Opens something that is to be closed:

    async with opening as resource: ...
    resource = await opening
    """

    def __init__(self, open: Callable[[], Awaitable[_Resource]]) -> None:
        self._open = open
        self._resource: _Resource | None = None

    def __await__(self) -> Generator[None, None, _Resource]:
        return self._open().__await__()

    async def __aenter__(self) -> _Resource:
        if self._resource is not None:
            raise RuntimeError("it is open already")
        self._resource = await self._open()
        return self._resource

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        resource, self._resource = self._resource, None
        if resource is not None:
            await resource.close()

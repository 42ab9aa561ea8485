"""Descriptors that carry data beside the socket: many values, the octets of channels, recordings."""

from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import AsyncIterator, Callable

from bled.errors import BledError, GAPError

_AT_ONCE = 65536


class Pipe(AsyncIterator[bytes]):
    """A descriptor that is read and written without blocking. What waits in it when a task is cancelled is still there
    for the next one.

    reason: Why the daemon ended it, once that is known.
    unsent: How many packets of those that were written were not sent, once that is known.
    dropped: How many values were dropped because they were not read.
    """

    def __init__(self, descriptor: int, keeps_packets: bool, closed: Callable[[], None] | None = None) -> None:
        self.reason: BledError | None = None
        self.unsent = 0
        self.dropped = 0
        self._descriptor = descriptor
        self._keeps_packets = keeps_packets
        self._closed = closed
        self._is_open = True
        self._reading = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._waiters: set[asyncio.Future[None]] = set()
        os.set_blocking(descriptor, False)

    async def receive(self) -> bytes | None:
        """The next packet, or what there is of a stream; None at the end."""
        async with self._reading:
            while self._is_open:
                try:
                    octets = os.read(self._descriptor, _AT_ONCE)
                except BlockingIOError:
                    await self._wait(asyncio.get_running_loop().add_reader, asyncio.get_running_loop().remove_reader)
                    continue
                except OSError:
                    return None
                # A value may have no octets; then the other end has not hung up.
                return octets if octets or (self._keeps_packets and not self._has_hung_up()) else None
        return None

    async def send(self, octets: bytes) -> None:
        """Sends a packet, or all these octets of a stream; waits for room. Raises NotConnected, or the daemon's reason,
        after the end."""
        async with self._writing:
            rest = memoryview(octets)
            while self._is_open:
                try:
                    sent = self._send(rest)
                except BlockingIOError:
                    await self._wait(asyncio.get_running_loop().add_writer, asyncio.get_running_loop().remove_writer)
                    continue
                except OSError as error:
                    raise self.reason or _ended(str(error.strerror)) from None
                if self._keeps_packets or sent == len(rest):
                    return
                rest = rest[sent:]
        raise self.reason or _ended("it is closed")

    def end_sending(self) -> None:
        """Says that nothing else will be sent. What was sent before goes out; then `receive` returns None."""
        if self._is_open:
            with socket.socket(fileno=os.dup(self._descriptor)) as writer:
                writer.shutdown(socket.SHUT_WR)

    def detach(self) -> int:
        """The descriptor, which is the caller's from then on; it does not block. The pipe can no longer be used."""
        descriptor = self._descriptor
        self._leave()
        return descriptor

    async def close(self) -> None:
        """Closes it. What was written before is still sent."""
        if self._is_open:
            descriptor = self._descriptor
            self._leave()
            os.close(descriptor)
            if self._closed is not None:
                self._closed()

    def __aiter__(self) -> Pipe:
        return self

    async def __anext__(self) -> bytes:
        octets = await self.receive()
        if octets is None:
            raise StopAsyncIteration
        return octets

    def __del__(self) -> None:
        if getattr(self, "_is_open", False):
            os.close(self._descriptor)

    def _send(self, octets: memoryview) -> int:
        if len(octets) == 0 and self._keeps_packets:
            # write(2) leaves a packet without octets out.
            with socket.socket(fileno=os.dup(self._descriptor)) as sender:
                return sender.send(b"")
        return os.write(self._descriptor, octets)

    def _has_hung_up(self) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return any(events & select.POLLHUP for _, events in poll.poll(0))

    def _leave(self) -> None:
        self._is_open = False
        for waiter in tuple(self._waiters):
            _set(waiter)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._descriptor)
        loop.remove_writer(self._descriptor)

    async def _wait(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        add(self._descriptor, _set, waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
            if self._is_open:
                remove(self._descriptor)


def _set(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _ended(why: str) -> GAPError:
    return GAPError(f"the other end is gone: {why}", code=4, name="disconnected")

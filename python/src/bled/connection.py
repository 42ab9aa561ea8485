"""JSON-RPC with the daemon, in both directions: calls and their answers, events, and the daemon's own calls."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bled import protocol
from bled.codec import Event, Record
from bled.errors import BledError, error_of, violation
from bled.transport import Transport, socket_path

_Result = TypeVar("_Result")
_Event = TypeVar("_Event", bound=Event)

# The subject of frequent events: a listener of one key is not called for others.
_KEYS: Mapping[type[Event], Callable[[Any], object]] = {
    protocol.GattReleased: lambda event: (event.peripheral, event.handle),
    protocol.GattSubscriptionLost: lambda event: (event.peripheral, event.handle),
    protocol.GattValue: lambda event: (event.peripheral, event.handle),
    protocol.GattValuesDropped: lambda event: (event.peripheral, event.handle),
    protocol.L2capClosed: lambda event: event.channel,
    protocol.PeripheralConnected: lambda event: event.peripheral,
    protocol.PeripheralDisconnected: lambda event: event.peripheral,
    protocol.ScanReport: lambda event: event.scan,
    protocol.ServerReleased: lambda event: (event.central, event.handle),
}
_ANY = object()


@dataclass(slots=True)
class _Pending(Generic[_Result]):
    """A call without an answer."""

    future: asyncio.Future[_Result]
    arrived: Callable[[object, int | None], _Result]
    undo: Callable[[_Result], None] | None
    failed: Callable[[], None] | None
    is_abandoned: bool = False


class Answer:
    """The answer to a call of the daemon, which is given once; what is given later has no effect."""

    def __init__(self, connection: Connection, identifier: object) -> None:
        self._connection = connection
        self._identifier = identifier
        self.is_given = False

    def result(self, result: Mapping[str, object]) -> None:
        """Answers with a result."""
        self._give({"result": result})

    def error(self, code: int, message: str, data: Mapping[str, object] | None = None) -> None:
        """Answers with an error."""
        error: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self._give({"error": error})

    def _give(self, outcome: Mapping[str, object]) -> None:
        if not self.is_given:
            self.is_given = True
            self._connection.send({"jsonrpc": "2.0", "id": self._identifier, **outcome})


class Connection:
    """A connection to the daemon.

    ignored: How many messages it ignored because they were malformed, or answers to no call.
    """

    def __init__(self) -> None:
        self.ignored = 0
        self._transport: Transport | None = None
        self._thread = threading.get_ident()
        self._last = 0
        self._pending: dict[int, _Pending[Any]] = {}
        self._listeners: dict[type[Event], dict[object, list[Callable[[Any], None]]]] = {}
        self._endings: list[Callable[[BledError], None]] = []
        self._handlers: dict[str, tuple[type[Record], Callable[[Any, Answer], None]]] = {}
        self._said: BledError | None = None
        self._reason: BledError | None = None

    async def open(self, path: str | None = None) -> None:
        """Connects; raises DaemonUnreachable or NotPermitted."""
        self._thread = threading.get_ident()
        self._transport = await Transport.connect(path or socket_path(), self._receive, self._end)

    @property
    def is_open(self) -> bool:
        """Whether the daemon is there."""
        return self._reason is None

    async def call(
        self,
        method: str,
        params: Mapping[str, object],
        arrived: Callable[[object, int | None], _Result],
        *,
        undo: Callable[[_Result], None] | None = None,
        abandoned: Callable[[], None] | None = None,
        failed: Callable[[], None] | None = None,
    ) -> _Result:
        """Calls a method of the daemon, and returns what `arrived` makes of its result and of the descriptor that came
        with it. `arrived` is called as soon as the answer is there, before anything that the daemon sent behind it is
        looked at.

        If the task is cancelled, `undo` is called with a result that nobody gets, now or when the answer comes. Where
        there is no answer yet, `abandoned` is called before, and `failed` if the call fails later.
        """
        if self._reason is not None:
            raise self._reason
        assert self._transport is not None
        future: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._last += 1
        number = self._last
        pending = _Pending(future, arrived, undo, failed)
        self._pending[number] = pending
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            await self._transport.drain()
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                if future.exception() is None and undo is not None:
                    undo(future.result())
            elif number in self._pending:
                pending.is_abandoned = True
                if abandoned is not None:
                    abandoned()
            raise
        except BaseException:
            self._pending.pop(number, None)
            raise

    def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Calls a method whose answer does not matter."""
        if self.is_open:
            self._last += 1
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._pending[self._last] = _Pending(future, lambda result, descriptor: None, None, None, True)
            self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})

    def send(self, message: Mapping[str, object]) -> None:
        """Sends a message; raises ValueError for one that JSON cannot express."""
        line = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if self._transport is None:
            return
        if threading.get_ident() == self._thread:
            self._transport.send(line)
        else:
            # An answer of a program that has the loop in another thread.
            self._transport.loop.call_soon_threadsafe(self._transport.send, line)

    def on(self, event: type[_Event], function: Callable[[_Event], None], key: object = _ANY) -> Callable[[], None]:
        """Calls a function with each event of a kind, or with those of a key, as _KEYS has it; returns what ends
        that."""
        listeners = self._listeners.setdefault(event, {}).setdefault(key, [])
        listeners.append(function)

        def remove() -> None:
            if function in listeners:
                listeners.remove(function)
            if not listeners:
                by_key = self._listeners.get(event, {})
                if by_key.get(key) is listeners:
                    del by_key[key]

        return remove

    def on_end(self, function: Callable[[BledError], None]) -> Callable[[], None]:
        """Calls a function when the connection ends; returns what ends that."""
        self._endings.append(function)

        def remove() -> None:
            if function in self._endings:
                self._endings.remove(function)

        return remove

    def serve(self, method: str, params: type[Record], function: Callable[[Any, Answer], None]) -> None:
        """Has a function answer a method that the daemon calls."""
        self._handlers[method] = (params, function)

    async def close(self) -> None:
        """Sends what waits, for a second at most, and closes the connection."""
        if self._transport is not None:
            try:
                async with asyncio.timeout(1):
                    await self._transport.flush()
            except TimeoutError:
                pass
            finally:
                self._transport.close()

    def _end(self, reason: BledError) -> None:
        # The daemon says why, if it can.
        reason = self._said or reason
        self._reason = reason
        pending, self._pending = self._pending, {}
        for call in pending.values():
            if not call.future.done():
                call.future.set_exception(reason)
                # There may be no waiting caller.
                call.future.exception()
        endings, self._endings = self._endings, []
        for function in endings:
            function(reason)
        self._listeners.clear()

    def _receive(self, line: bytes, descriptor: int | None) -> None:
        try:
            message = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            _close(descriptor)
            raise violation("the daemon sent a line that is not valid JSON") from None
        if not isinstance(message, dict):
            _close(descriptor)
            raise violation("the daemon sent a line that is not a message")
        if "method" in message:
            _close(descriptor)
            self._receive_method(message)
        else:
            self._receive_answer(message, descriptor)

    def _receive_answer(self, message: dict[str, object], descriptor: int | None) -> None:
        number = message.get("id")
        if number is None and "error" in message:
            # About the connection: it is full, or the daemon ends.
            self._said = error_of(message["error"])
        pending = self._pending.pop(number, None) if isinstance(number, int) else None
        if pending is None:
            _close(descriptor)
            self.ignored += number is not None
            return
        if "result" not in message or "error" in message:
            _close(descriptor)
            if not pending.future.done():
                pending.future.set_exception(error_of(message.get("error")))
                if pending.is_abandoned:
                    pending.future.exception()
            if pending.is_abandoned and pending.failed is not None:
                pending.failed()
            return
        if pending.is_abandoned and pending.undo is None:
            return _close(descriptor)
        try:
            value = pending.arrived(message["result"], descriptor)
        except BledError as error:
            _close(descriptor)
            self.ignored += 1
            if not pending.future.done():
                pending.future.set_exception(error)
                pending.future.exception()
            return
        if pending.is_abandoned:
            if pending.undo is not None:
                pending.undo(value)
        elif not pending.future.done():
            pending.future.set_result(value)
        elif pending.undo is not None:
            pending.undo(value)

    def _receive_method(self, message: dict[str, object]) -> None:
        method = message["method"]
        if not isinstance(method, str):
            self.ignored += 1
        elif "id" in message:
            self._receive_call(method, message)
        elif event := protocol.EVENTS.get(method):
            self._receive_event(event, message.get("params", {}))

    def _receive_call(self, method: str, message: dict[str, object]) -> None:
        answer = Answer(self, message["id"])
        if method not in self._handlers:
            return answer.error(-32601, f'there is no method "{method}"')
        params, function = self._handlers[method]
        try:
            request = params.from_json(message.get("params", {}))
        except BledError as error:
            self.ignored += 1
            return answer.error(-32602, error.message)
        function(request, answer)

    def _receive_event(self, event: type[Event], params: object) -> None:
        by_key = self._listeners.get(event)
        if not by_key:
            return
        try:
            value = event.from_json(params)
        except BledError:
            self.ignored += 1
            return
        for function in tuple(by_key.get(_ANY, ())):
            function(value)
        if key := _KEYS.get(event):
            for function in tuple(by_key.get(key(value), ())):
                function(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not valid JSON")


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)

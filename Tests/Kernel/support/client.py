"""A client of the daemon: JSON-RPC 2.0, one message a line, both ways on one connection."""

import asyncio
import inspect
import itertools
import json

from . import own_host
from .cases import Failure

LINE_LIMIT = 4 << 20


class CallFailed(Failure):
    """The daemon answered a call with an error."""

    def __init__(self, method, error):
        super().__init__(f"{method} failed: {json.dumps(error)}")
        self.error = error
        self.data = error.get("data") or {}


class Client:
    """One session."""

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._waiting = {}
        self._inbox = []
        self._news = asyncio.Condition()
        self._answers = {}
        # The number of the last call; answers that belong to no call; the receivers of each message, in order.
        self.last_call = 0
        self.surplus = []
        self.watch = None
        self._later = []
        self._task = asyncio.create_task(self._receive())

    @classmethod
    async def connect(cls, path):
        """Opens a session on the daemon's socket."""
        return cls(*await asyncio.open_unix_connection(path, limit=LINE_LIMIT))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        self._writer.close()

    async def call(self, method, **params):
        """Calls a method and gives its result; raises CallFailed."""
        return await self.start(method, **params)

    def start(self, method, **params):
        """Sends a call and gives the future of its result."""
        number = self.last_call = next(self._numbers)
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = (method, future)
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return future

    def answer(self, method, handler):
        """Lets the handler answer the daemon's calls of this method: it takes the parameters, and gives the result, one
        to wait for, or None to leave the call without an answer."""
        self._answers[method] = handler

    async def next(self, method, where=lambda _: True, seconds=60):
        """The parameters of the first notification of this method that fits, also of one that came before."""
        found = None

        def there():
            nonlocal found
            found = next((m for m in self._inbox if m["method"] == method and where(m["params"])), None)
            return found is not None

        async with self._news:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait_for(there)
            except TimeoutError:
                others = sorted({m["method"] for m in self._inbox})
                raise Failure(f"no {method} that fits within {seconds} s; waiting to be read: {others}") from None
            self._inbox.remove(found)
        return found["params"]

    async def until(self, condition, seconds=60):
        """Waits until a condition on what came, and was not asked for, holds."""
        async with self._news:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait_for(condition)
            except TimeoutError:
                raise Failure(f"what was awaited did not come within {seconds} s") from None

    def stop_reading(self):
        """Stops reading from the socket; octets beyond the kernel's room wait in the daemon."""
        self._writer.transport.pause_reading()

    def read_again(self):
        """Goes on reading."""
        self._writer.transport.resume_reading()

    def abort(self):
        """Ends the connection at once, as a kill of the program does."""
        self._task.cancel()
        self._writer.transport.abort()

    def take(self, *methods):
        """The notifications of these methods that came, in order, as (method, params); they are dropped."""
        taken = [(m["method"], m["params"]) for m in self._inbox if m["method"] in methods]
        self._inbox = [m for m in self._inbox if m["method"] not in methods]
        return taken

    def forget(self, method):
        """Drops the notifications of this method that came and were not asked for."""
        self._inbox = [message for message in self._inbox if message["method"] != method]

    def count(self, method, where=lambda _: True):
        """The number of waiting notifications of this method."""
        return sum(m["method"] == method and where(m["params"]) for m in self._inbox)

    def _send(self, message):
        self._writer.write(own_host.outgoing(json.dumps(message).encode()) + b"\n")

    async def _answer_later(self, number, result):
        self._send({"jsonrpc": "2.0", "id": number, "result": await result})

    async def _receive(self):
        while line := await self._reader.readline():
            message = json.loads(own_host.incoming(line))
            if self.watch:
                self.watch(message)
            if "method" not in message:
                method, future = self._waiting.pop(message["id"], (None, None))
                if future is None:
                    self.surplus.append(message)
                    continue
                if future.cancelled():
                    continue
                if "error" in message:
                    future.set_exception(CallFailed(method, message["error"]))
                else:
                    future.set_result(message["result"])
            elif "id" in message:
                result = self._answers[message["method"]](message["params"])
                if inspect.isawaitable(result):
                    self._later.append(asyncio.create_task(self._answer_later(message["id"], result)))
                elif result is not None:
                    self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            else:
                async with self._news:
                    self._inbox.append(message)
                    self._news.notify_all()
        for method, future in self._waiting.values():
            if not future.done():
                future.set_exception(Failure(f"{method}: the daemon closed the connection"))


async def failure_of(call):
    """The error's `data` of a call that must fail."""
    return (await error_of(call)).data


async def error_of(call):
    """The error of a call that must fail."""
    try:
        result = await call
    except CallFailed as error:
        return error
    raise Failure(f"the call ought to have failed, and gave {result!r}")

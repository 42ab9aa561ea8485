"""Opening sessions with the daemon."""

from __future__ import annotations

import os
import sys
from asyncio import sleep
from collections.abc import AsyncGenerator, Generator
from types import TracebackType

from bled.client import Client
from bled.errors import BledError, DaemonUnreachable, LimitReached

# The time in seconds for which the former process of the program may still use a preserved session.
OVERLAP = 10


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

    The last connects again, when the body ends or continues; while there is no daemon it waits, and for some seconds
    while the former process of the program has its session.
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
        overlap = 0.0
        while True:
            try:
                client = await self._open()
            except BledError as error:
                if error.name == "alreadyInProgress" and overlap < OVERLAP:
                    overlap += pause
                elif not isinstance(error, DaemonUnreachable | LimitReached):
                    raise
                await sleep(pause)
                pause = min(pause * 2, 10)
                continue
            pause, overlap = 0.1, 0.0
            try:
                yield client
            finally:
                await client.close()

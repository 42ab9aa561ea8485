"""The scans of a session: their numbers, and the reports of each."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from bled import calls
from bled.calls import ScanStartOptions
from bled.connection import Connection
from bled.errors import LimitReached
from bled.protocol import ScanReport
from bled.stream import Full, Stream

# Maximum waiting reports; beyond it the oldest are dropped.
REPORTS = 1024
_LAST = 65535


class Scans:
    """The scans that a session has."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers: set[int] = set()
        self._last = 0

    def restored(self, numbers: Iterable[int]) -> None:
        """The session has these already."""
        self._numbers.update(numbers)

    @asynccontextmanager
    async def run(self, options: ScanStartOptions) -> AsyncIterator[Stream[ScanReport]]:
        """The reports of one scan, which ends with the block."""
        number = options.get("scan") or self._free()
        params = calls.SCAN_START.request(**{**options, "scan": number})
        self._numbers.add(number)
        stream: Stream[ScanReport] = Stream(REPORTS, Full.DROP_OLDEST)

        def offer(report: ScanReport) -> None:
            stream.offer(report)

        removals = (self._connection.on(ScanReport, offer, number), self._connection.on_end(stream.finish))
        try:
            await self._connection.call("scan.start", params, _nothing, abandoned=lambda: None)
            yield stream
        finally:
            self._connection.tell("scan.stop", {"scan": number})
            self._numbers.discard(number)
            stream.finish()
            for remove in removals:
                remove()

    def _free(self) -> int:
        # Not the number of the previous scan, which may still have reports.
        for _ in range(_LAST):
            self._last = self._last % _LAST + 1
            if self._last not in self._numbers:
                return self._last
        raise LimitReached("a session has no more than 65535 scans", code=4, name="limitReached")


def _nothing(result: object, descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)

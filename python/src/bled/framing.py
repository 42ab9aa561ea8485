"""Lines out of what a socket gives, and which descriptor belongs to which line. No I/O."""

from __future__ import annotations

import os
from collections.abc import Iterator

from bled.errors import violation

# Maximum octets of a line of the daemon.
LONGEST_LINE = 1 << 20


class Lines:
    """Cuts octets into lines.

    A descriptor belongs to the line of the last octet that came with it, be it the line feed. What is no line's any
    more is closed here.
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._received = bytearray()
        # How far there is no line feed.
        self._searched = 0
        self._taken = 0
        self._passed: dict[int, int] = {}

    def feed(self, octets: bytes, descriptors: list[int]) -> None:
        """Takes what one call of recvmsg returned."""
        if descriptors:
            line = self._taken + self._received.count(b"\n") + octets.count(b"\n", 0, -1)
            for descriptor in descriptors:
                # A line has one descriptor at most.
                self._close(line)
                self._passed[line] = descriptor
        self._received += octets

    def lines(self) -> Iterator[tuple[bytes, int | None]]:
        """The complete lines, each with its descriptor, which is the caller's from then on. Raises ProtocolViolation
        for a line that is too long."""
        while (end := self._received.find(b"\n", self._searched)) >= 0:
            if end > self._longest:
                raise violation(f"the daemon sent a line of more than {self._longest} octets")
            line = bytes(self._received[:end])
            del self._received[: end + 1]
            self._searched = 0
            descriptor = self._passed.pop(self._taken, None)
            self._taken += 1
            yield line, descriptor
        self._searched = len(self._received)
        if self._searched > self._longest:
            raise violation(f"the daemon sent a line of more than {self._longest} octets")

    def close(self) -> None:
        """Closes the descriptors that no line has claimed."""
        for line in list(self._passed):
            self._close(line)
        self._received.clear()
        self._searched = 0

    def _close(self, line: int) -> None:
        descriptor = self._passed.pop(line, None)
        if descriptor is not None:
            os.close(descriptor)

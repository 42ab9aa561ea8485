"""A connection to the daemon's socket that carries lines and descriptors. asyncio's streams cannot receive descriptors,
so this reads its own socket, whenever the loop says that there is something."""

from __future__ import annotations

import array
import asyncio
import os
import socket
from collections.abc import Callable

from bled.errors import BledError, DaemonError, NotPermitted, too_slow, unreachable
from bled.framing import Lines

SYSTEM_SOCKET = "/run/bled/bled.sock"
# The octets waiting to be sent beyond which callers wait, and beyond which the connection is given up.
HIGH_WATER = 64 * 1024
UNSENT_LIMIT = 64 << 20
_AT_ONCE = 64 * 1024
_ENDED = "bled ended the connection: it may have been stopped"


def socket_path() -> str:
    """The socket that BLED_SOCKET names; else the system's, unless only the user has a daemon of its own."""
    if named := os.environ.get("BLED_SOCKET"):
        return named
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = os.path.join(runtime, "bled/bled.sock")
    if not os.path.isabs(own) or os.path.exists(SYSTEM_SOCKET) or not os.path.exists(own):
        return SYSTEM_SOCKET
    # "su" leaves the directory of another user in the environment.
    return own if os.stat(runtime).st_uid == os.geteuid() else SYSTEM_SOCKET


class Transport:
    """An open connection. `line` is called with each line and its descriptor, or None, and `ended` once, when the
    connection has ended: with the reason, or None if this side closed it."""

    def __init__(
        self, connected: socket.socket, line: Callable[[bytes, int | None], None], ended: Callable[[BledError], None]
    ) -> None:
        self._socket = connected
        self._line = line
        self._ended = ended
        self.loop = asyncio.get_running_loop()
        self._lines = Lines()
        self._unsent = bytearray()
        self._room: asyncio.Future[None] | None = None
        self._writing = False
        self.is_open = True
        self.loop.add_reader(connected, self._read)

    @classmethod
    async def connect(
        cls, path: str, line: Callable[[bytes, int | None], None], ended: Callable[[BledError], None]
    ) -> Transport:
        """Raises DaemonUnreachable or NotPermitted, with what to do."""
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connecting.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connecting, path)
        except OSError as error:
            connecting.close()
            raise _unreachable(path, error) from error
        except BaseException:
            connecting.close()
            raise
        return cls(connecting, line, ended)

    def send(self, line: bytes) -> None:
        """Sends a line, which includes its line feed; what there is no room for waits here. After the end it does
        nothing."""
        if not self.is_open:
            return
        if len(self._unsent) + len(line) > UNSENT_LIMIT:
            return self._end(too_slow(f"bled does not read: more than {UNSENT_LIMIT} octets wait to be sent"))
        self._unsent += line
        if not self._writing:
            self._write()

    async def drain(self) -> None:
        """Waits until less than HIGH_WATER waits to be sent."""
        while self.is_open and len(self._unsent) > HIGH_WATER:
            if self._room is None:
                self._room = self.loop.create_future()
            await asyncio.shield(self._room)

    async def flush(self) -> None:
        """Waits until all is sent."""
        while self.is_open and self._unsent:
            if self._room is None:
                self._room = self.loop.create_future()
            await asyncio.shield(self._room)

    def close(self, reason: BledError | None = None) -> None:
        """Ends the connection now, also with what has not been sent."""
        self._end(reason or unreachable("the client is closed"))

    def _read(self) -> None:
        # No more than the loop can spare: it calls again if there is more.
        try:
            octets, passed = self._receive()
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            return self._end(unreachable(f"the connection to bled failed: {error.strerror}"))
        if not octets:
            return self._end(unreachable(_ENDED))
        self._lines.feed(octets, passed)
        try:
            for line, descriptor in self._lines.lines():
                self._line(line, descriptor)
                if not self.is_open:
                    return
        except BledError as error:
            self._end(error)

    def _receive(self) -> tuple[bytes, list[int]]:
        """The octets that are there, and their descriptors, which exec closes."""
        size = socket.CMSG_SPACE(16 * array.array("i").itemsize)
        octets, control, _, _ = self._socket.recvmsg(_AT_ONCE, size, socket.MSG_CMSG_CLOEXEC)
        descriptors = array.array("i")
        for level, kind, data in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
        return octets, list(descriptors)

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(memoryview(self._unsent)[:_AT_ONCE].tobytes())]
        except (BlockingIOError, InterruptedError):
            if not self._writing:
                self._writing = True
                self.loop.add_writer(self._socket, self._write)
        except OSError:
            # The daemon has ended. Its last messages, with the reason, are still to be read.
            self._unsent.clear()
        if not self._unsent and self._writing:
            self._writing = False
            self.loop.remove_writer(self._socket)
        if len(self._unsent) <= HIGH_WATER:
            self._wake()

    def _wake(self) -> None:
        if self._room is not None:
            room, self._room = self._room, None
            if not room.done():
                room.set_result(None)

    def _end(self, reason: BledError) -> None:
        if not self.is_open:
            return
        self.is_open = False
        self.loop.remove_reader(self._socket)
        if self._writing:
            self.loop.remove_writer(self._socket)
        self._socket.close()
        self._unsent.clear()
        self._lines.close()
        self._wake()
        self._ended(reason)


def _unreachable(path: str, error: OSError) -> BledError:
    if isinstance(error, PermissionError):
        remedy = "join the group bluetooth, and log in again"
        return NotPermitted(f"no permission to use the socket {path}: {remedy}", code=2, name="notPermitted")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return unreachable(f"bled is not running: there is no socket {path}. `bleshell doctor` says what to do")
    if isinstance(error, ConnectionRefusedError):
        return unreachable(f"bled is not running: nothing listens on {path}. `bleshell doctor` says what to do")
    if error.errno is None:
        return DaemonError(f"{path}: {error}", code=1, name="invalidParameter")
    return unreachable(f"bled cannot be reached at {path}: {error.strerror}")

"""bled's own host in the kernel's place: with BLED_OWN_HOST=1 each controller is offered on a socket, no kernel takes
part, and `hci0` in calls and answers stands for the name that the adapter has then."""

import contextlib
import itertools
import os
import tempfile

from bumble.transport import open_transport
from bumble.transport.common import Transport

IS_USED = bool(os.environ.get("BLED_OWN_HOST"))
# The cases that say nothing about it.
LEFT_OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Host/left_out")
# The sockets by the names that the kernel would give.
_sockets = {}


class Socket(Transport):
    """bled's end of a controller."""

    def __init__(self, name, folder, transport):
        super().__init__(transport.source, transport.sink)
        self.name = name
        self._folder, self._transport = folder, transport

    async def close(self):
        _sockets.pop(self.name)
        self._transport.server.close()
        if connection := self._transport.sink.transport:
            connection.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self._folder, "hci"))
        os.rmdir(self._folder)


async def offer():
    """A controller for bled, under the lowest free name."""
    name = next(name for name in (f"hci{number}" for number in itertools.count()) if name not in _sockets)
    folder = tempfile.mkdtemp(prefix="bled-hci-")
    path = os.path.join(folder, "hci")
    _sockets[name] = path
    return Socket(name, folder, await open_transport(f"unix-server:{path}"))


def adapter(name):
    """The name that bled has for the adapter."""
    return f"h4:unix:{_sockets[name]}" if name in _sockets else name


def outgoing(line):
    """A line for bled, with its names of adapters."""
    for name in _sockets:
        line = line.replace(f'"{name}"'.encode(), f'"{adapter(name)}"'.encode())
    return line


def incoming(line):
    """A line of bled's, with the names of the cases."""
    for name in _sockets:
        line = line.replace(adapter(name).encode(), name.encode())
    return line

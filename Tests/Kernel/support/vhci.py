"""/dev/vhci: a controller that the kernel drives, as a transport of Bumble."""

import asyncio
import errno
import os

from bumble.transport.common import StreamPacketSource, Transport

VENDOR = 0xFF  # The type of hci_vhci's own packets.


class Sink:
    """Takes what the controller sends to the kernel."""

    def __init__(self, file):
        self._file = file

    def on_packet(self, packet):
        if self._file.closed:
            return
        try:
            os.write(self._file.fileno(), packet)
        except OSError as error:
            # A kernel that has switched the controller off accepts nothing more, not even the answer to its last
            # command. Bumble's own transport closes the device then, as if the controller had been unplugged.
            if error.errno != errno.ENXIO:
                raise


class Vhci(Transport):
    """The kernel's end of a controller."""

    def __init__(self, reader, source, sink):
        super().__init__(source, sink)
        self._reader = reader

    async def close(self):
        self._reader.close()


def has_vhci():
    """Whether the kernel has such controllers."""
    return os.path.exists("/dev/vhci")


async def open_vhci(options=0):
    """Makes a controller for the kernel; `options` are those of hci_vhci for a new device."""
    file = open("/dev/vhci", "r+b", buffering=0)
    reader, source = await asyncio.get_running_loop().connect_read_pipe(StreamPacketSource, file)
    feed = source.data_received
    source.data_received = lambda data: data[:1] == bytes([VENDOR]) or feed(data)
    sink = Sink(file)
    sink.on_packet(bytes([VENDOR, options]))
    return Vhci(reader, source, sink)

"""A controller on a serial line that the kernel drives (hci_uart), as a transport of Bumble. Debian's kernels for arm64
have no /dev/vhci: there a pseudoterminal is the line, and its other end the controller's."""

import asyncio
import contextlib
import fcntl
import os
import pty
import select
import struct
import termios
import tty

from bumble.transport.common import StreamPacketSource, Transport

# <linux/tty.h>, and drivers/bluetooth/hci_uart.h: HCIUARTSETPROTO.
N_HCI = 15
SET_PROTOCOL, H4 = 0x400455C8, 0


class Sink:
    """Takes what the controller sends to the kernel, which always reads on."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def on_packet(self, packet):
        while packet and self._descriptor is not None:
            try:
                packet = packet[os.write(self._descriptor, packet) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])

    def close(self):
        self._descriptor = None


class SerialController(Transport):
    """The kernel's end of a controller."""

    def __init__(self, reader, source, sink, line):
        super().__init__(source, sink)
        self._reader, self._line = reader, line

    async def close(self):
        # Without its line discipline the line is a plain one again, and the kernel has lost the controller.
        self.sink.close()
        with contextlib.suppress(OSError):
            await asyncio.to_thread(fcntl.ioctl, self._line, termios.TIOCSETD, struct.pack("i", 0))
        os.close(self._line)
        self._reader.close()


async def open_serial():
    """Makes a controller for the kernel."""
    controller, line = pty.openpty()
    tty.setraw(line)
    fcntl.ioctl(line, termios.TIOCSETD, struct.pack("i", N_HCI))
    reader, source = await asyncio.get_running_loop().connect_read_pipe(
        StreamPacketSource, os.fdopen(controller, "r+b", buffering=0)
    )
    sink = Sink(controller)
    fcntl.ioctl(line, SET_PROTOCOL, H4)
    return SerialController(reader, source, sink, line)

"""Another program with a raw HCI socket."""

import fcntl
import socket
import struct

HCIGETCONNLIST = 0x800448D4
LE_LINK, CONNECTED = 0x80, 1


class RawSocket:
    """A raw socket on one adapter."""

    def __init__(self, index):
        self.index = index
        self._socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
        self._socket.bind((index,))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, opcode, parameters):
        """Sends a command."""
        self._socket.send(struct.pack("<BHB", 1, opcode, len(parameters)) + parameters)

    def links(self):
        """The addresses at the other ends of the kernel's LE links."""
        size, most = 16, 20
        request = bytearray(struct.pack("<HH", self.index, most) + bytes(size * most))
        fcntl.ioctl(self._socket, HCIGETCONNLIST, request)
        [count] = struct.unpack_from("<H", request, 2)
        addresses = set()
        for number in range(count):
            _, address, kind, _, state, _ = struct.unpack_from("<H6sBBHI", request, 4 + size * number)
            if (kind, state) == (LE_LINK, CONNECTED):
                addresses.add(":".join(f"{octet:02X}" for octet in reversed(address)))
        return addresses

"""The little of D-Bus that attackers and the one who is attacked need (D-Bus Specification): messages as octets, and a
connection that sends them."""

import os
import socket
import struct

CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY_EXPECTED = 1


def aligned(octets, to):
    """The octets with zeros behind them up to a multiple of `to`."""
    return octets + bytes(-len(octets) % to)


def string(text):
    """A string or the path of an object, which begins at a multiple of 4."""
    octets = text.encode()
    return struct.pack("<I", len(octets)) + octets + b"\0"


def call(serial, path, interface, member, signature="", body=b"", *, destination="org.bluez", flags=0, kind=CALL):
    """A method call, or a signal to one program."""
    fields = b""
    for code, type_, text in ((1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination)):
        fields = aligned(fields, 8) + bytes([code, 1]) + type_.encode() + b"\0" + string(text)
    if signature:
        fields = aligned(fields, 8) + bytes([8, 1]) + b"g\0" + bytes([len(signature)]) + signature.encode() + b"\0"
    start = struct.pack("<cBBBIII", b"l", kind, flags, 1, len(body), serial, len(fields))
    return aligned(start + fields, 8) + body


def empty_return(serial, destination):
    """The answer to a call, without values."""
    fields = bytes([5, 1]) + b"u\0" + struct.pack("<I", serial)
    fields += bytes([6, 1]) + b"s\0" + string(destination)
    start = struct.pack("<cBBBIII", b"l", RETURN, NO_REPLY_EXPECTED, 1, 0, serial + (1 << 31), len(fields))
    return aligned(start + fields, 8)


class Connection:
    """A connection to the bus, whose messages come one by one."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        user = str(os.geteuid()).encode().hex().encode()
        self.socket.sendall(b"\0AUTH EXTERNAL " + user + b"\r\n")
        answer = self.socket.recv(1024)
        if not answer.startswith(b"OK"):
            raise ConnectionError(f"the bus refuses: {answer}")
        self.rest = b""
        self.serial = 1
        hello = call(1, "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", destination="org.freedesktop.DBus")
        self.socket.sendall(b"BEGIN\r\n" + hello)
        self.answer(1)

    def message(self):
        """The type, the serial that it answers, and the body of the next message."""
        while len(self.rest) < 16 or len(self.rest) < self._length():
            octets = self.socket.recv(1 << 18)
            if not octets:
                raise ConnectionError("the bus has closed the connection")
            self.rest += octets
        length = self._length()
        whole, self.rest = self.rest[:length], self.rest[length:]
        size, serial, fields = struct.unpack_from("<III", whole, 4)
        answered, sender = known_fields(whole[16:16 + fields])
        if whole[1] == CALL:
            # The only call is Ping.
            self.socket.sendall(empty_return(serial, sender))
        return whole[1], answered, whole[length - size:]

    def _length(self):
        size, _, fields = struct.unpack_from("<III", self.rest, 4)
        return 16 + fields + -fields % 8 + size

    def answer(self, serial):
        """The type and the body of the answer to a call."""
        while True:
            kind, answered, body = self.message()
            if kind in (RETURN, ERROR) and answered == serial:
                return kind, body

    def call(self, path, interface, member, signature="", body=b""):
        """Calls a method of org.bluez; gives the type and the body of the answer."""
        self.serial += 1
        self.socket.sendall(call(self.serial, path, interface, member, signature, body))
        return self.answer(self.serial)


def known_fields(fields):
    """The serial that a message answers, 0 if none, and its sender."""
    place, answered, sender = 0, 0, ""
    while place < len(fields):
        place += -place % 8
        code, kind = fields[place], fields[place + 2:place + 3]
        place += 4
        if kind == b"u":
            [number] = struct.unpack_from("<I", fields, place)
            if code == 5:
                answered = number
            place += 4
        elif kind == b"g":
            place += fields[place] + 2
        else:
            length = struct.unpack_from("<I", fields, place)[0]
            if code == 7:
                sender = fields[place + 4:place + 4 + length].decode()
            place += length + 5
    return answered, sender

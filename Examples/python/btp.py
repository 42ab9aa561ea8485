"""The Bluetooth Transport Protocol of Matter, a device's side: messages in segments, which a controller writes to one
characteristic, and which are indicated with another. Values without I/O and clock."""

import struct
from collections import deque

BEGINNING, CONTINUING, ENDING, ACKNOWLEDGING, HANDSHAKE = 0x01, 0x02, 0x04, 0x08, 0x65
OPCODE = 0x6C
VERSION = 4
# Controllers have buffers for no more.
LONGEST_SEGMENT = 244
WINDOW = 6


class BTPError(Exception):
    """The controller violates the protocol, so its later segments cannot be understood."""


class BTP:
    """The connection of one controller.

    segment_length: The octets of the longest segment.
    window: The segments that a side sends before it waits for an acknowledgement.
    """

    def __init__(self, request: bytes, mtu: int) -> None:
        """From the controller's first write, and the ATT MTU of the link."""
        if len(request) != 9 or request[:2] != bytes([HANDSHAKE, OPCODE]):
            raise BTPError("this is not a request for a handshake")
        versions, _, window = struct.unpack_from("<IHB", request, 2)
        # Eight of them, four bits each; 0 is none.
        if VERSION not in [versions >> shift & 0xF for shift in range(0, 32, 4)]:
            raise BTPError(f"the controller does not have version {VERSION}")
        self.segment_length = min(mtu - 3, LONGEST_SEGMENT)
        self.window: int = min(window, WINDOW)
        # The answer to the handshake is segment 0, and wants an acknowledgement.
        self._next, self._unacknowledged = 1, 1
        self._expected, self._to_acknowledge = 0, 0
        self._received, self._length = bytearray(), -1
        self._messages: deque[bytes] = deque()
        self._rest: bytes | None = None

    @property
    def handshake(self) -> bytes:
        """The answer to the handshake, to indicate as soon as the controller has subscribed."""
        return struct.pack("<BBBHB", HANDSHAKE, OPCODE, VERSION, self.segment_length, self.window)

    def receive(self, segment: bytes) -> bytes | None:
        """Takes a segment; returns the message that it completes."""
        try:
            return self._receive(segment)
        except (struct.error, IndexError):
            raise BTPError("a segment is too short") from None

    def _receive(self, segment: bytes) -> bytes | None:
        flags, place = segment[0], 1
        if flags & ACKNOWLEDGING:
            # Sequence numbers are octets.
            left = (self._next - 1 - segment[place]) & 0xFF
            if left >= self._unacknowledged:
                raise BTPError("an acknowledgement of what was not sent")
            self._unacknowledged, place = left, place + 1
        if segment[place] != self._expected or self._to_acknowledge == self.window:
            raise BTPError("a segment is missing, or there are more than the window allows")
        self._expected, self._to_acknowledge, place = (self._expected + 1) & 0xFF, self._to_acknowledge + 1, place + 1
        if not flags & (BEGINNING | CONTINUING | ENDING):
            return None
        if bool(flags & BEGINNING) == (self._length >= 0):
            raise BTPError("a segment of a message that has not begun, or not ended")
        if flags & BEGINNING:
            (self._length,) = struct.unpack_from("<H", segment, place)
            place += 2
        self._received += segment[place:]
        if len(self._received) > self._length or bool(flags & ENDING) != (len(self._received) == self._length):
            raise BTPError("a message does not have its length")
        if not flags & ENDING:
            return None
        message, self._received, self._length = bytes(self._received), bytearray(), -1
        return message

    def send(self, message: bytes) -> None:
        """Takes a message to send."""
        self._messages.append(message)

    def segment(self) -> bytes | None:
        """The next segment to indicate, if there is one and the window allows it."""
        room = self.window - self._unacknowledged
        # The last place is kept for acknowledgements: two sides that wait for them would wait forever.
        if (self._messages or self._rest is not None) and room > (0 if self._to_acknowledge else 1):
            return self._data()
        if room and self._to_acknowledge > self.window // 2:
            return self.acknowledgement()
        return None

    def acknowledgement(self) -> bytes | None:
        """A segment without data, to indicate when a segment has waited for its acknowledgement for some seconds."""
        if not self._to_acknowledge or self._unacknowledged == self.window:
            return None
        return self._header(0)

    def _data(self) -> bytes:
        if self._rest is None:
            message = self._messages.popleft()
            header = self._header(BEGINNING) + struct.pack("<H", len(message))
        else:
            message, header = self._rest, self._header(CONTINUING)
        room = self.segment_length - len(header)
        self._rest = message[room:] or None
        return bytes([header[0] | (0 if self._rest else ENDING)]) + header[1:] + message[:room]

    def _header(self, flags: int) -> bytes:
        acknowledgement = b""
        if self._to_acknowledge:
            flags, self._to_acknowledge = flags | ACKNOWLEDGING, 0
            acknowledgement = bytes([(self._expected - 1) & 0xFF])
        number, self._next = self._next, (self._next + 1) & 0xFF
        self._unacknowledged += 1
        return bytes([flags]) + acknowledgement + bytes([number])

"""A polite ATT server with a table of attributes as data."""

import struct

from .row import octets

# Handle, type, and value as on the wire; `!` before it: only over an encrypted link.
TABLE = """
0001 2800 0018
0002 2803 02 0300 002a
0003 2a00 636c756d7379
0004 2800 0118
0005 2803 20 0600 052a
0006 2a05
0007 2902 0000
0008 2800 0f18
0009 2803 12 0a00 192a
000a 2a19 64
000b 2902 0000
000c 2800 e0ff
000d 2803 1e 0e00 e1ff
000e ffe1 01
000f 2902 0000
0010 2901 6e616d65
0011 2803 0a 1200 e2ff
0012 ffe2 aa*100
0013 2803 20 1400 e3ff
0014 ffe3 00
0015 2902 0000
0016 2803 1e 1700 e4ff
0017 ffe4 !736563726574
0018 2902 !0000
"""
GROUPS = {0x2800, 0x2801}
INVALID_HANDLE, NOT_SUPPORTED, INVALID_OFFSET, NOT_FOUND = 0x01, 0x06, 0x07, 0x0A
INSUFFICIENT_AUTHENTICATION = 0x05


class Attribute:
    """An attribute of the table."""

    def __init__(self, line):
        handle, kind, *value = line.split(maxsplit=2)
        text = "".join(value).replace(" ", "")
        self.handle = int(handle, 16)
        self.type = bytes.fromhex(kind)[::-1]
        self.is_protected = text.startswith("!")
        self.value = octets(text.removeprefix("!"))


class Server:
    """Answers requests; `written` has all that was written, with the handle. The MTU is that of one link."""

    def __init__(self, changes="", mtu=247):
        lines = {line.split()[0]: line for line in (TABLE + changes).splitlines() if line.strip()}
        attributes = [Attribute(line) for line in lines.values() if not line.endswith(" -")]
        self.attributes = {each.handle: each for each in sorted(attributes, key=lambda each: each.handle)}
        self.most, self.mtu = mtu, 23
        self.prepared = []

    def answer(self, request, is_encrypted):
        """The answer to a packet of a client, or None."""
        opcode, rest = request[0], request[1:]
        handler = {
            0x02: self._exchange, 0x04: self._information, 0x06: self._by_value, 0x08: self._by_type,
            0x0A: self._read, 0x0C: self._read, 0x10: self._by_group, 0x12: self._write, 0x52: self._write,
            0x16: self._prepare, 0x18: self._execute,
        }.get(opcode)  # fmt: skip
        if opcode & 1 or opcode in (0x1E, 0xD2):
            return None
        handle = struct.unpack_from("<H", rest + b"\0\0")[0]
        found = self.attributes.get(handle)
        try:
            if handler is None:
                raise Refusal(NOT_SUPPORTED)
            if opcode in (0x0A, 0x0C, 0x12, 0x52, 0x16):
                if found is None:
                    raise Refusal(INVALID_HANDLE)
                if found.is_protected and not is_encrypted:
                    raise Refusal(INSUFFICIENT_AUTHENTICATION)
            answer = handler(opcode, rest)
        except Refusal as refusal:
            answer = bytes([0x01, opcode, *struct.pack("<H", handle), refusal.code])
        return None if opcode & 0x40 else answer

    def _exchange(self, _, rest):
        self.mtu = max(23, min(self.most, struct.unpack("<H", rest)[0]))
        return struct.pack("<BH", 0x03, self.most)

    def _among(self, rest):
        first, last = struct.unpack_from("<HH", rest)
        found = [each for each in self.attributes.values() if first <= each.handle <= last]
        if not found:
            raise Refusal(NOT_FOUND)
        return found

    def _information(self, _, rest):
        found = self._among(rest)
        size = len(found[0].type)
        entries = [struct.pack("<H", each.handle) + each.type for each in found]
        return bytes([0x05, 1 if size == 2 else 2]) + self._joined(entries, 2)

    def _joined(self, entries, head):
        """The first entries, as long as they have one length and fit."""
        joined = b""
        for entry in entries:
            if len(entry) != len(entries[0]) or head + len(joined) + len(entry) > self.mtu:
                break
            joined += entry
        return joined

    def _end(self, handle):
        """The last handle of the group that begins here."""
        later = (h for h, each in self.attributes.items() if h > handle and number(each.type) in GROUPS)
        last = max(self.attributes)
        following = next(later, None)
        return following - 1 if following else last

    def _by_value(self, _, rest):
        kind, value = rest[4:6], rest[6:]
        found = [each for each in self._among(rest) if (each.type, each.value) == (kind, value)]
        if not found:
            raise Refusal(NOT_FOUND)
        entries = [struct.pack("<HH", each.handle, self._end(each.handle)) for each in found]
        return b"\x07" + self._joined(entries, 1)

    def _by_type(self, _, rest):
        return self._typed(0x09, rest, lambda each: struct.pack("<H", each.handle) + each.value[: self.mtu - 4])

    def _by_group(self, _, rest):
        return self._typed(
            0x11, rest, lambda each: struct.pack("<HH", each.handle, self._end(each.handle)) + each.value)

    def _typed(self, opcode, rest, entry):
        entries = [entry(each) for each in self._among(rest) if each.type == rest[4:]]
        if not entries:
            raise Refusal(NOT_FOUND)
        return bytes([opcode, len(entries[0])]) + self._joined(entries, 2)

    def _read(self, opcode, rest):
        offset = struct.unpack_from("<H", rest, 2)[0] if opcode == 0x0C else 0
        value = self.attributes[struct.unpack_from("<H", rest)[0]].value
        if offset > len(value):
            raise Refusal(INVALID_OFFSET)
        return bytes([opcode + 1]) + value[offset : offset + self.mtu - 1]

    def _write(self, _, rest):
        self.attributes[struct.unpack_from("<H", rest)[0]].value = rest[2:]
        return b"\x13"

    def _prepare(self, _, rest):
        self.prepared.append(rest)
        return b"\x17" + rest

    def _execute(self, _, rest):
        parts, self.prepared = self.prepared, []
        for part in parts if rest == b"\x01" else []:
            handle, offset = struct.unpack_from("<HH", part)
            attribute = self.attributes[handle]
            attribute.value = attribute.value[:offset] + part[4:]
        return b"\x19"


class Refusal(Exception):
    """A request is refused with an error code."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def number(kind):
    """A type of two octets as a number."""
    return int.from_bytes(kind, "little")

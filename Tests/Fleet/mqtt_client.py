"""A client of MQTT 3.1.1 for quality of service 1: it connects again, keeps its session at the broker, and sends again
what was not acknowledged, as the standard demands. It is written out here, so that no library hides a repetition."""

import select
import socket
import struct
import threading
import time

KEEP_ALIVE = 5


def text(value):
    value = value.encode()
    return struct.pack(">H", len(value)) + value


def packet(kind, body):
    length, octets = len(body), bytearray()
    while True:
        length, low = divmod(length, 128)
        octets.append(low | (128 if length else 0))
        if not length:
            return bytes([kind]) + bytes(octets) + body


def take(data):
    """The first whole packet of the octets, as its kind and its body; they lose it. None if it is not whole."""
    length, shift = 0, 0
    for index in range(1, len(data)):
        length |= (data[index] & 127) << shift
        shift += 7
        if not data[index] & 128:
            end = index + 1 + length
            if len(data) < end:
                return None
            kind, body = data[0], bytes(data[index + 1 : end])
            del data[:end]
            return kind, body
    return None


class Client(threading.Thread):
    """`received(topic, payload, is_repeated)` is called for each message, on a thread of this client."""

    def __init__(self, name, addresses, topics=(), received=None):
        super().__init__(daemon=True)
        self.name, self.topics, self.received = name, topics, received
        self.connections = 0
        self._addresses = list(addresses)
        self._lock = threading.Lock()
        self._number = 0
        self._unacknowledged = {}
        self._socket = None
        self._ends = False
        self.ready = threading.Event()
        self.start()

    def publish(self, topic, payload):
        with self._lock:
            self._number = self._number % 65535 + 1
            body = text(topic) + struct.pack(">H", self._number) + payload
            self._unacknowledged[self._number] = body
            if self.ready.is_set():
                self._send(packet(0x32, body))

    @property
    def waiting(self):
        """The number of messages that the broker has not acknowledged."""
        return len(self._unacknowledged)

    def close(self):
        self._ends = True
        self.join()

    def _send(self, data):
        try:
            self._socket.sendall(data)
        except OSError:
            self.ready.clear()

    def run(self):
        while not self._ends:
            address = self._addresses.pop(0)
            self._addresses.append(address)
            try:
                with socket.create_connection(address, timeout=3) as self._socket:
                    self._serve()
            except OSError:
                pass
            self.ready.clear()
            time.sleep(0.2)

    def _serve(self):
        # CONNECT with a session that stays (MQTT 3.1.1, 3.1.2.4).
        self._socket.sendall(packet(0x10, text("MQTT") + bytes([4, 0, 0, KEEP_ALIVE]) + text(self.name)))
        data, heard, asked = bytearray(), time.monotonic(), 0.0
        while not self._ends:
            if select.select([self._socket], [], [], 0.2)[0]:
                octets = self._socket.recv(1 << 16)
                if not octets:
                    return
                heard = time.monotonic()
                data += octets
                while found := take(data):
                    self._handle(*found)
            now = time.monotonic()
            if now - heard > 2 * KEEP_ALIVE:
                return
            if self.ready.is_set() and now - asked > KEEP_ALIVE / 2:
                asked = now
                with self._lock:
                    self._send(b"\xc0\x00")

    def _handle(self, kind, body):
        if kind == 0x20:
            if body[1]:
                raise OSError(f"the broker refuses the connection: {body[1]}")
            with self._lock:
                for place, topic in enumerate(self.topics):
                    self._send(packet(0x82, struct.pack(">H", place + 1) + text(topic) + b"\x01"))
                for number, message in self._unacknowledged.items():
                    self._send(packet(0x3A, message))
                self.connections += 1
                self.ready.set()
        elif kind == 0x40:
            with self._lock:
                self._unacknowledged.pop(struct.unpack(">H", body[:2])[0], None)
        elif kind & 0xF0 == 0x30:
            end = 2 + struct.unpack(">H", body[:2])[0]
            topic = body[2:end].decode()
            if kind & 6:
                self.received(topic, body[end + 2 :], bool(kind & 8))
                with self._lock:
                    self._send(b"\x40\x02" + body[end : end + 2])
            else:
                self.received(topic, body[end:], False)

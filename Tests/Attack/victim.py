"""The victim: a user who reads devices one value after the other, is notified of the values that it writes to a device,
and makes calls that the daemon answers by itself."""

import json
import selectors
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from stage import ECHO, HANG, IS_SHORT, Session, connect

# The intervals at which a value is written and a call is made, in seconds.
WRITE_EVERY, CALL_EVERY = 0.02, 0.02
# The time for which values may arrive after the measurement, in seconds.
GRACE = 3


@dataclass
class Measured:
    """Measurements of some seconds: latencies of reads and of calls in seconds, and how many values came back."""

    reads: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    written: int = 0
    delivered: int = 0
    lost: list = field(default_factory=list)


class Asker:
    """A session that asks one thing after the other."""

    def __init__(self, path, latencies, every=0):
        self.session = Session(path, name="victim")
        self.socket = self.session._socket
        self.latencies, self.every = latencies, every
        self.asked = None
        self.last = 0
        self.rest = b""

    def aim(self, method, **params):
        """Sets the call to make."""
        self.message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        self.socket.setblocking(False)

    def tick(self, now, _measured):
        """Asks, if it may."""
        if self.asked is None and now - self.last >= self.every:
            self.asked = self.last = now
            self.socket.send(json.dumps(self.message).encode() + b"\n")

    def lines(self):
        """The lines received."""
        octets = self.socket.recv(1 << 16)
        if not octets:
            raise ConnectionError("the daemon closed a session of the victim")
        *whole, self.rest = (self.rest + octets).split(b"\n")
        return [json.loads(line) for line in whole]

    def receive(self, now, measured):
        """Takes answers."""
        for message in self.lines():
            if message.get("id") == 0 and self.asked is not None:
                if "error" in message:
                    measured.lost.append(message["error"]["message"])
                getattr(measured, self.latencies).append(now - self.asked)
                self.asked = None

    def give_up(self, now, measured):
        """A call without an answer by the end took at least this long."""
        if self.asked is not None:
            getattr(measured, self.latencies).append(now - self.asked)


class Subscriber(Asker):
    """A session that writes numbers to a device, at its own pace, and is notified of them."""

    def __init__(self, path):
        super().__init__(path, "calls", WRITE_EVERY)
        device, handle = connect(self.session, ECHO)
        self.session.call("gatt.subscribe", peripheral=device, handle=handle)
        self.target = {"peripheral": device, "handle": handle, "response": False}
        self.next = 0
        self.awaited = set()
        self.socket.setblocking(False)

    def tick(self, now, measured):
        if now - self.last < self.every:
            return
        self.last = now
        params = {**self.target, "value": self.next.to_bytes(4, "big").hex()}
        message = {"jsonrpc": "2.0", "id": self.next, "method": "gatt.write", "params": params}
        try:
            self.socket.send(json.dumps(message).encode() + b"\n")
        except BlockingIOError:
            return
        self.awaited.add(self.next)
        self.next += 1
        measured.written += 1

    def receive(self, now, measured):
        for message in self.lines():
            if message.get("method") == "gatt.value":
                number = int.from_bytes(bytes.fromhex(message["params"]["value"]), "big")
                measured.delivered += number in self.awaited
                self.awaited.discard(number)
            elif message.get("method") in ("gatt.subscriptionLost", "gatt.valuesLost", "peripheral.disconnected"):
                measured.lost.append(message["method"])
            elif "error" in message:
                measured.lost.append(message["error"]["message"])

    def give_up(self, now, measured):
        self.awaited.clear()


def reader(path, address):
    """A session that reads a device."""
    asker = Asker(path, "reads")
    device, handle = connect(asker.session, address)
    asker.aim("gatt.read", peripheral=device, handle=handle)
    return asker


def victim(channel, path, addresses, scans):
    """The process: sets up, says so, and measures for as many seconds as it is told."""
    with ThreadPoolExecutor() as pool:
        subscriber = pool.submit(Subscriber, path)
        askers = list(pool.map(lambda address: reader(path, address), addresses))
        subscriber = subscriber.result()
    caller = Asker(path, "calls", CALL_EVERY)
    if scans:
        # The air is busy without the attack, too.
        caller.session.call("scan.start", name="nobody has this name", duplicates=True)
    caller.aim("session.open")
    askers += [caller, subscriber]
    selector = selectors.DefaultSelector()
    for asker in askers:
        selector.register(asker.socket, selectors.EVENT_READ, asker)
    channel.send("ready")
    while (seconds := channel.recv()) is not None:
        channel.send(measure(selector, askers, subscriber, seconds))


def measure(selector, askers, subscriber, seconds):
    """Measures for some seconds, in a short run until each reader had an answer, and waits for values that are still on
    their way."""
    measured = Measured()
    readers = sum(asker.latencies == "reads" for asker in askers)
    end = time.monotonic() + seconds
    last = end + HANG if IS_SHORT else end
    try:
        while (now := time.monotonic()) < end or (len(measured.reads) < readers and now < last):
            for asker in askers:
                asker.tick(now, measured)
            serve(selector, measured)
        for asker in askers:
            if asker is not subscriber:
                asker.give_up(now, measured)
        while subscriber.awaited and time.monotonic() < end + GRACE:
            serve(selector, measured)
        subscriber.give_up(now, measured)
    except (OSError, ValueError) as error:
        measured.lost.append(str(error))
    return measured


def serve(selector, measured):
    """Takes what came."""
    for key, _ in selector.select(0.002):
        key.data.receive(time.monotonic(), measured)

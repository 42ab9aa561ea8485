#!/usr/bin/env python3
"""Sends a daemon messages made from its own OpenRPC document, with mutations of values, names, Unicode and structure.

    generator.py SOCKET [--messages N] [--seed S] [--pid DAEMON_PID] [--window N] [--limit SECONDS]

Every id must be answered exactly once, within the limit unless the call waits for the air, and the daemon's memory must
not grow. Prints the seed, which repeats the messages. Exits with 0 if all of that holds.
"""

import argparse
import collections
import json
import random
import re
import select
import socket
import sys
import time

# Calls with an answer that may wait for a device, a controller or the disk.
AIR = re.compile(
    r"gatt\.|peripheral\.(connect|rssi|pair|setParameters|setPHY)|pairing\.(readOutOfBand|import)|server\.setLatency|"
    r"l2cap\.open|adapter\.power|advertising\.start|periodic\.sync"
)
ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":(null|-?\d+|"(?:[^"\\]|\\.)*")')
CALL = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+),"method":"(\w+\.\w+)"')
# The number of messages of a session before it is ended, which answers its pending calls.
SESSION = 10_000
# How much the daemon's memory may grow after the first fifth of the messages, in KiB.
GROWTH = 10 << 10
# The lengths of long lines, in octets.
LONG = (1000, 60_000, 70_000, 520_000, 1 << 20)


class Messages:
    """Makes messages. What it makes depends on the document and the seed alone."""

    def __init__(self, document, chance):
        self.chance = chance
        self.components = document["components"]["schemas"]
        self.methods = [m for m in document["methods"] if m["x-sender"] == "client" and m["name"] != "session.end"]
        # Slow calls, and calls that end everything for a while, are rarer.
        rare = {
            "rpc.discover": 0.02, "adapter.power": 0.02, "peripheral.list": 0.2, "session.list": 0.2,
            "peripheral.forget": 0.02, "peripheral.disconnect": 0.1,
        }
        self.weights = [rare.get(m["name"], 1) for m in self.methods]
        self.peripherals = ["C0DE0000-0000-4000-8000-000000000000"]
        self.has_copied = False
        self.names = sorted({p["name"] for m in self.methods for p in m["params"]} | {"jsonrpc", "id", "method"})

    # Text

    def text(self):
        chance = self.chance
        size = chance.choice([0, 1, 1, 2, 2, 5, 5, 20, 20, 42, 64, 127, 128, 129, 248, 300])
        alphabet = chance.choice([
            "abc", "0123456789abcdef", "\u0300\u0316", "\u00e9e\u0301", "\U0001f1e9", "\U0001f600\u200d",
            "\u212a\u037e",
            "\u0000\u001b\u007f\u0085", "\u05d0\u0627", "\"\\/", "\uffff\ufffd", "\u1100\u1161\u11a8",
            "\u0f71\u0f72\u0f74",
        ])
        return "".join(chance.choice(alphabet) for _ in range(size))

    def bomb(self):
        count = self.chance.choice([50, 50, 500, 500, 5000, 15_000])
        return "a" + "\u0300" * count + "\u0316" * count

    # Values

    def value(self, schema, depth=0, name=None):
        chance = self.chance
        if name in ("peripheral", "central") and chance.random() < 0.8:
            return chance.choice(self.peripherals)
        if "$ref" in schema:
            return self.value(self.components[schema["$ref"].rsplit("/", 1)[1]], depth)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "string":
            return self.string(schema)
        if kind == "integer":
            return chance.choice([0, 1, 2, 3, 11, 12, 17, 42, -60, 65535])
        if kind == "number":
            return chance.choice([0.05, 0.1, 0.5, 1, 10])
        if kind == "boolean":
            return chance.random() < 0.5
        if kind == "array":
            return [self.value(schema["items"], depth + 1) for _ in range(chance.choice([0, 1, 1, 2, 5]))]
        if kind == "object" and "additionalProperties" in schema:
            return {"180D": self.value(schema["additionalProperties"], depth + 1)}
        if kind == "object":
            required = schema.get("required", [])
            return {
                name: self.value(part, depth + 1, name) for name, part in schema["properties"].items()
                if name in required or chance.random() < 0.3
            }
        return None

    def string(self, schema):
        chance = self.chance
        pattern = schema.get("pattern", "")
        if pattern.startswith("^([0-9a-fA-F]{2})*"):
            return "%02x" % chance.randrange(256) * chance.choice([0, 1, 2, 20, 512, 513])
        if "UUID" in schema.get("description", ""):
            return chance.choice(["180D", "180F", "2A37", "2A19", "12345678", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])
        return chance.choice([
            chance.choice(self.peripherals), "C0:DE:00:00:00:01", "random", "public", "simulated", "read", "notify",
            "write", "readable", "writeable", "Heart", "caf\u00e9", "cafe\u0301",
        ])

    def odd(self):
        chance = self.chance
        return chance.choice([
            lambda: None, lambda: True, lambda: 0, lambda: -1, lambda: 1 << 63, lambda: -(1 << 63), lambda: 10**400,
            lambda: 1.5, lambda: 1e308, lambda: 5e-324, lambda: "", lambda: [], lambda: {}, self.text, self.text,
            self.bomb, lambda: [self.text() for _ in range(chance.randrange(100))],
            lambda: [1] * chance.randrange(2000),
            lambda: {self.text(): self.text() for _ in range(chance.randrange(20))}, self.nest,
            lambda: chance.choice(self.names), lambda: "\udc00", lambda: "x" * chance.choice(LONG[:2]),
        ])()

    def nest(self):
        value = 1
        for _ in range(self.chance.choice([5, 30, 31, 32, 33, 500])):
            value = [value] if self.chance.random() < 0.5 else {"a": value}
        return value

    def mutated(self, value):
        """The value with a change somewhere in it."""
        chance = self.chance
        if isinstance(value, dict) and not value and chance.random() < 0.9:
            return {self.text(): self.odd()}
        if isinstance(value, dict) and value and chance.random() < 0.95:
            value = dict(value)
            name = chance.choice(list(value))
            way = chance.randrange(5)
            if way == 0:
                del value[name]
            elif way == 1:
                value[self.text()] = value.pop(name)
            elif way == 2:
                value[chance.choice([self.bomb, self.text, lambda: chance.choice(self.names)])()] = self.odd()
            else:
                value[name] = self.mutated(value[name])
            return value
        if isinstance(value, list) and value and chance.random() < 0.8:
            value = list(value)
            index = chance.randrange(len(value))
            if chance.random() < 0.2:
                # Fifty times fifty times would be gigabytes.
                count = chance.choice([0, 2, 2 if self.has_copied else 50])
                self.has_copied |= count == 50
                return value * count
            value[index] = self.mutated(value[index])
            return value
        return self.odd()

    # Messages

    def identifier(self, number):
        way = self.chance.randrange(20)
        if way == 0:
            return f"{number}" + self.chance.choice(["\u00e9", "e\u0301", "\u212a", "\"\\\n", "x" * 100, "\u0300" * 40])
        return -number if way == 1 else number

    def next(self, number):
        """A line without its line feed, its id, its method, and whether the id must be answered."""
        chance = self.chance
        method = chance.choices(self.methods, self.weights)[0]
        name = method["name"]
        params = {
            p["name"]: self.value(p["schema"], 0, p["name"]) for p in method["params"]
            if p["required"] or chance.random() < 0.4
        }
        if name == "peripheral.connect" and chance.random() < 0.9:
            params["timeout"] = 0.2
        self.has_copied = False
        for _ in range(chance.choice([0, 0, 0, 0, 1, 1, 2, 5])):
            params = self.mutated(params)
        way = chance.randrange(100)
        # An id with changed octets must not become another message's.
        identifier = f"b{number}" if way >= 94 else self.identifier(number)
        message = {"jsonrpc": "2.0", "id": identifier, "method": name, "params": params}
        must = True
        if way < 6:
            must = self.changed_envelope(message)
        elif way == 6:
            del message["id"]
            return self.line(message), None, name, False
        line = self.line(message)
        if way >= 94:
            return self.broken(line), None, name, False
        if way == 93 and chance.random() < 0.3 and name not in ("adapter.power", "rpc.discover"):
            line = line[:-1] + b',"x":"' + b"x" * (chance.choice(LONG) - min(len(line) + 7, 999)) + b'"}'
        return line, identifier, name, must and len(line) <= 1 << 20

    def changed_envelope(self, message):
        """Changes anything but the id, which must be answered all the same."""
        chance = self.chance
        way = chance.randrange(6)
        if way == 0:
            message["method"] = self.odd()
        elif way == 1:
            message["params"] = self.odd()
        elif way == 2:
            message["jsonrpc"] = self.odd()
        elif way == 3:
            message[self.text()] = self.odd()
            return isinstance(message.get("id"), (int, str)) and "error" not in message
        elif way == 4:
            del message["method"]
        else:
            items = list(message.items())
            chance.shuffle(items)
            message.clear()
            message.update(items)
        return True

    def line(self, message):
        style = self.chance.randrange(3)
        line = json.dumps(
            message, ensure_ascii=style == 0, separators=(", ", " : ") if style == 1 else (",", ":"))
        return line.encode("utf-8", "surrogatepass" if style == 0 else "replace")

    def broken(self, line):
        """The line with changes to its octets; it may still be valid."""
        chance = self.chance
        line = bytearray(line)
        for _ in range(chance.choice([1, 1, 2, 10])):
            place = chance.randrange(len(line)) if line else 0
            way = chance.randrange(6)
            if way == 0:
                line[place:place + 1] = bytes([chance.randrange(256)])
            elif way == 1:
                del line[place:place + chance.choice([1, 2, 20])]
            elif way == 2:
                line[place:place] = line[place:place + chance.choice([1, 10, 100])]
            elif way == 3:
                line[place:place] = chance.choice(
                    [b"\xff", b"\x00", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\u"])
            elif way == 4:
                line[place:place] = chance.choice([b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"1e999"])
            elif chance.random() < 0.1:
                line[:] = line.decode("utf-8", "replace").encode(chance.choice(["utf-16", "utf-16-le", "utf-32-be"]))
        return bytes(line).replace(b"\n", b" ") or b"{"


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        # The time without an answer, in seconds, after which nothing more is expected.
        self.patience = max(10, 2 * arguments.limit)
        self.chance = random.Random(arguments.seed)
        self.messages = None
        self.failures = []
        self.slowest = []
        self.counts = collections.Counter()
        self.sent = 0
        self.connect()

    def fail(self, what):
        self.failures.append(what)

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.arguments.socket)
        self.socket.setblocking(False)
        self.output = bytearray()
        self.input = bytearray()
        # By id: the time of sending, the method, whether it waits for the air, whether it must be answered.
        self.open = {}
        # The ends in the stream of unsent lines, and their ids; the number of sent octets; the time of the last read.
        self.unsent = collections.deque()
        self.produced = self.written = 0
        self.now = time.monotonic()
        self.pending = 0
        self.done = set()
        self.has_ended = False

    def discover(self):
        self.socket.setblocking(True)
        self.socket.sendall(b'{"jsonrpc":"2.0","id":0,"method":"rpc.discover"}\n')
        line = self.socket.makefile("rb").readline()
        self.socket.close()
        self.messages = Messages(json.loads(line)["result"], self.chance)
        self.connect()

    # One message

    def send(self):
        self.sent += 1
        line, identifier, method, must = self.messages.next(self.sent)
        self.counts["octets"] += len(line)
        if identifier is not None:
            waits = AIR.match(method) is not None
            self.open[identifier] = [None, method, waits, must]
            if must and not waits:
                self.pending += 1
        if method == "adapter.power":
            line += b'\n{"jsonrpc":"2.0","method":"adapter.power","params":{"on":true}}'
        self.put(line + b"\n")
        if identifier is not None:
            self.unsent.append((self.produced, identifier))

    def put(self, octets):
        self.produced += len(octets)
        self.output += octets

    def took(self, line):
        answer = CALL.match(line)
        if answer:
            # A call of the daemon: an answer that may be right.
            result = self.chance.choice([b'"result":{"value":"00"}', b'"result":{}', b'"result":null', b'"error":{}'])
            self.put(b'{"jsonrpc":"2.0","id":' + answer[1] + b"," + result + b"}\n")
            return
        answer = ANSWER.match(line)
        if not answer:
            self.counts["events"] += 1
            if line.startswith(b'{"jsonrpc":"2.0","method":"scan.report"'):
                known = self.messages.peripherals
                known[1:] = [*known[1:][-8:], json.loads(line)["params"]["peripheral"]]
            return
        if answer[1] == b"null":
            self.counts["errors without an id"] += 1
            return
        identifier = json.loads(answer[1])
        entry = self.open.pop(identifier, None)
        if entry is None:
            if identifier in self.done:
                self.fail(f"answered twice: {line[:200]}")
            # Octets of an id were changed.
            return
        self.done.add(identifier)
        since, method, waits, must = entry
        self.counts["results" if b'"result":' in line[:200] else "errors"] += 1
        if waits:
            self.counts["waited for the air"] += 1
            return
        if must:
            self.pending -= 1
        took = self.now - (since or self.now)
        if len(self.slowest) < 5 or took > self.slowest[-1][0]:
            self.slowest = sorted([*self.slowest, (took, method)], reverse=True)[:5]
        if took > self.arguments.limit:
            self.fail(f"{method}, id {identifier!r}: answered after {took * 1000:.0f} ms")

    # The connection

    def exchange(self, timeout):
        """Reads and writes what is possible now."""
        readable, writable, _ = select.select([self.socket], [self.socket] if self.output else [], [], timeout)
        if writable:
            try:
                count = self.socket.send(self.output[:1 << 18])
                del self.output[:count]
                self.written += count
                now = time.monotonic()
                while self.unsent and self.unsent[0][0] <= self.written:
                    entry = self.open.get(self.unsent.popleft()[1])
                    if entry:
                        entry[0] = now
            except (BrokenPipeError, ConnectionResetError):
                self.output.clear()
        if readable:
            try:
                octets = self.socket.recv(1 << 18)
            except ConnectionResetError:
                octets = b""
            self.now = time.monotonic()
            self.has_ended = not octets
            self.input += octets
            lines = self.input.split(b"\n")
            self.input = lines.pop()
            for line in lines:
                self.took(bytes(line))
        return bool(readable or writable)

    def prepare(self):
        """Scans and connects, so that there is something to use."""
        self.socket.setblocking(True)
        self.socket.sendall(
            b'{"jsonrpc":"2.0","method":"adapter.power","params":{"on":true}}\n'
            b'{"jsonrpc":"2.0","method":"scan.start"}\n{"jsonrpc":"2.0","id":"p","method":"peripheral.connect",'
            b'"params":{"address":"C0:DE:00:00:00:01","addressType":"random","timeout":5}}\n')
        heard = set()
        for line in self.socket.makefile("rb"):
            message = json.loads(line)
            if message.get("method") == "scan.report":
                heard.add(message["params"]["peripheral"])
            if message.get("id") == "p":
                heard.add(message.get("result", {}).get("peripheral", ""))
                break
        self.messages.peripherals = ["C0DE0000-0000-4000-8000-000000000000", *sorted(heard)]
        self.socket.sendall(
            b'{"jsonrpc":"2.0","id":"d","method":"gatt.discover","params":{"peripheral":"%s"}}\n'
            % message.get("result", {}).get("peripheral", "").encode())
        self.socket.setblocking(False)

    def batch(self, count):
        """One session: as many messages, then its end, which answers everything that waits."""
        # The others can be restored, which must be requested first.
        if self.sent // SESSION % 4:
            self.prepare()
        goal = self.sent + count
        while self.sent < goal and not self.has_ended:
            # All are made before the first is sent: the time for making them must not count.
            for _ in range(min(self.arguments.window, goal - self.sent)):
                self.send()
            end = time.monotonic() + self.patience
            while (self.pending or self.output) and not self.has_ended:
                self.exchange(1)
                if time.monotonic() > end:
                    waiting = [(identifier, call[1]) for identifier, call in self.open.items() if call[3]]
                    self.fail(f"no answer for {self.patience:.0f} s: {waiting[:5]}")
                    break
        self.put(b'{"jsonrpc":"2.0","method":"session.end"}\n')
        end = time.monotonic() + self.patience
        while not self.has_ended and time.monotonic() < end:
            self.exchange(1)
        if not self.has_ended:
            self.fail(f"the session did not end within {self.patience:.0f} s")
        for identifier, (_, method, _, must) in self.open.items():
            if must:
                self.fail(f"never answered: {method}, id {identifier!r}")
        self.socket.close()
        self.connect()

    def memory(self):
        if not self.arguments.pid:
            return 0
        with open(f"/proc/{self.arguments.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def run(self):
        self.discover()
        total = self.arguments.messages
        begin = time.monotonic()
        settled = None
        while self.sent < total and len(self.failures) < 20:
            self.batch(min(SESSION, total - self.sent))
            if settled is None and self.sent >= total // 5:
                settled = self.memory()
        time.sleep(1)
        settled = settled or self.memory()
        grown = self.memory() - settled
        if self.sent > 5 * SESSION and grown > GROWTH:
            self.fail(f"the daemon's memory grew by {grown} KiB")
        self.socket.close()
        seconds = time.monotonic() - begin
        counts = ", ".join(f"{value} {name}" for name, value in sorted(self.counts.items()))
        print(f"generator: {self.sent} messages in {seconds:.0f} s, seed {self.arguments.seed}: {counts}")
        print("generator: slowest " + ", ".join(f"{took * 1000:.1f} ms {method}" for took, method in self.slowest))
        if self.arguments.pid:
            print(f"generator: memory {settled} KiB after a fifth, {settled + grown} KiB at the end")
        for failure in self.failures[:20]:
            print(f"generator: FAILED: {failure}")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("socket")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--pid", type=int, help="the daemon's process, whose memory is to be watched")
    parser.add_argument("--window", type=int, default=200, help="how many messages are sent at once")
    parser.add_argument("--limit", type=float, default=0.1, help="how long an answer may take, in seconds")
    arguments = parser.parse_args()
    print(f"generator: seed {arguments.seed}", flush=True)
    sys.exit(Run(arguments).run())


if __name__ == "__main__":
    main()

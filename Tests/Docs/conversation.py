"""A conversation of a page with the daemon over its socket."""

import json
import socket
import time

import compare
from desk import PATIENCE


class Difference(Exception):
    pass


class Conversation:
    """A connection, as the page begins it; the next blocks go on with it. `names` is what the page's identifiers
    stand for, in all its conversations."""

    def __init__(self, desk, names, varying):
        self._desk = desk
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(desk.socket))
        self._buffer = b""
        self._received = []
        self._names, self._varying = names, varying
        # The ids of the daemon's calls: the page's, and the actual ones.
        self._calls = {}

    def close(self):
        self._socket.close()

    def send(self, text):
        """Sends a line of the page; what it says of identifiers and ids is replaced with what they are."""
        for name, identifier in self._names.items():
            text = text.replace(f'"{name}"', f'"{identifier}"')
        try:
            message = compare.json_pattern(text)
        except ValueError:
            message = None
        if isinstance(message, dict) and "method" not in message and message.get("id") in self._calls:
            text = json.dumps({**message, "id": self._calls.pop(message["id"])})
        elif isinstance(message, dict):
            self._received = [m for m in self._received if "method" in m or m.get("id") != message.get("id")]
        self._socket.sendall(text.encode() + b"\n")

    def expect(self, text):
        """Waits for a message like this; others that come before it are not looked at, unless the page shows them
        later."""
        pattern = compare.json_pattern(text)
        deadline = time.monotonic() + PATIENCE
        seen = {}
        while True:
            for message in self._received:
                if pattern.get("method") != message.get("method"):
                    continue
                if "method" not in pattern and pattern.get("id") != message.get("id"):
                    continue
                names = dict(self._names)
                like = {**pattern, "id": message["id"]} if "method" in pattern and "id" in message else pattern
                found = compare.difference(like, message, names, self._varying)
                if found is None:
                    self._received.remove(message)
                    self._names.update(names)
                    if "method" in pattern and "id" in message:
                        self._calls[pattern.get("id")] = message["id"]
                    return
                if "method" not in pattern:
                    raise Difference(f"the answer differs: {found}")
                seen[found] = None
            if not self._receive(deadline):
                came = ", ".join(m.get("method", f"id {m.get('id')}") for m in self._received)
                why = "\n".join(list(seen)[:6]) or f"there was: {came or 'nothing'}"
                raise Difference(f"did not come within {PATIENCE} s: {text}\n{why}")

    def _receive(self, deadline):
        """Reads what has come; false if nothing came in time."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._socket.settimeout(left)
            try:
                octets = self._socket.recv(65536)
            except TimeoutError:
                return False
            if not octets:
                raise Difference("the daemon closed the connection")
            self._buffer += octets
        *lines, self._buffer = self._buffer.split(b"\n")
        self._received += [json.loads(self._desk.there(line.decode())) for line in lines]
        return True

"""A small client for bled, for tests: JSON-RPC 2.0, one message per line, over a Unix socket. It sends whatever it is
told, and needs nothing of the package `bled`.

    with Session() as session:
        session.call("scan.start", services=["180D"])
        device = session.next("scan.report")
"""

import collections
import errno
import json
import os
import socket
import time


class CallFailed(Exception):
    """The daemon answered with an error. `domain`, `code` and `name` are Bluetooth's own terms, such as att 5
    insufficientAuthentication; they are None if the call itself was not valid."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error['message']}")
        data = error.get("data", {})
        self.domain, self.code, self.name = data.get("domain"), data.get("code"), data.get("name")


def socket_path():
    """The socket that BLED_SOCKET names; else the system's, unless only the user has a daemon of its own."""
    system = "/run/bled/bled.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = os.path.join(runtime, "bled/bled.sock")
    default = own if os.path.isabs(own) and os.path.exists(own) and not os.path.exists(system) else system
    # "su" leaves the directory of another user in the environment.
    if default == own and os.stat(runtime).st_uid != os.geteuid():
        default = system
    return os.environ.get("BLED_SOCKET") or default


class Session:
    """A connection to the daemon. When it is closed, the daemon releases what it holds (scan, links, subscriptions),
    unless `restore` is among the options, which are those of session.open."""

    def __init__(self, path=None, name="python", **options):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = path or socket_path()
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            if error.errno is None:
                # The path is too long for a socket; that is all that Python says.
                raise
            remedy = "is bled running? `bleshell doctor` says what to do"
            if error.errno == errno.EACCES:
                remedy = "join the group bluetooth, and log in again"
            raise OSError(error.errno, f"{error.strerror}: {remedy}", path) from None
        self._received = bytearray()
        # The number of lines taken from it, and the descriptors passed with each line.
        self._taken = 0
        self._passed = {}
        self._last = 0
        # The calls that `start` began, with their answers.
        self._started = {}
        # The events that arrived while something else was awaited.
        self._events = collections.deque()
        self.daemon = self.call("session.open", name=name, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def call(self, method, /, within=None, **params):
        """Calls a method with its parameters, and returns its result; raises CallFailed for an error, TimeoutError
        without an answer within so many seconds: 30, or 10 more than the method's own parameter `timeout`. A
        descriptor that the daemon passes is the result's "descriptor", to be closed by the caller."""
        if within is None:
            within = params["timeout"] + 10 if params.get("timeout") else 30
        self._last += 1
        number = self._last
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        deadline = time.monotonic() + within
        while True:
            message = self._receive(deadline)
            if "method" in message:
                self._events.append(message)
            elif message["id"] in (number, None):
                # Without an id it is about the connection: the daemon accepts no more clients, for instance.
                if "error" in message:
                    raise CallFailed(method, message["error"])
                return message["result"]
            elif message["id"] in self._started:
                self._started[message["id"]] = message
            # Otherwise it answers an earlier call that timed out.

    def start(self, method, /, **params):
        """Calls a method without waiting for the answer; returns a number for `finish`."""
        self._last += 1
        self._started[self._last] = None
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def finish(self, number, within=30):
        """Returns the result of a call that `start` began; raises the same as `call`."""
        deadline = time.monotonic() + within
        while self._started[number] is None:
            message = self._receive(deadline)
            if "method" in message:
                self._events.append(message)
            elif message["id"] in self._started:
                self._started[message["id"]] = message
        message = self._started.pop(number)
        if "error" in message:
            raise CallFailed("a call", message["error"])
        return message["result"]

    def next(self, method, within=30):
        """Returns the parameters of the next event with this name, such as "gatt.value"; raises TimeoutError if it does
        not come within so many seconds."""
        deadline = time.monotonic() + within
        for event in self._events:
            if event["method"] == method:
                self._events.remove(event)
                return event["params"]
        while True:
            message = self._receive(deadline)
            if message.get("method") == method:
                return message["params"]
            if "method" in message:
                self._events.append(message)

    def message(self, within=30):
        """Returns the next event, or call of the daemon, such as server.read, which wants an answer: a dictionary with
        "method" and "params". Raises TimeoutError if none comes within so many seconds."""
        deadline = time.monotonic() + within
        while not self._events:
            message = self._receive(deadline)
            if "method" in message:
                self._events.append(message)
        return self._events.popleft()

    def answer(self, message, **result):
        """Answers a call of the daemon."""
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def refuse(self, message, code, text):
        """Refuses a read or write of a device with an error code of ATT, such as 3, Write Not Permitted."""
        data = {"domain": "att", "code": code}
        self._send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": text, "data": data}})

    def _send(self, message):
        self._socket.settimeout(None)
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def _receive(self, deadline):
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("the daemon sent nothing in time")
            self._socket.settimeout(left)
            octets, passed, _, _ = socket.recv_fds(self._socket, 65536, 1, socket.MSG_CMSG_CLOEXEC)
            if not octets:
                raise ConnectionError("the daemon closed the connection")
            self._received += octets
            if passed:
                # The descriptor belongs to the line of the last octet.
                self._passed[self._taken + self._received.count(b"\n", 0, -1)] = passed[0]
        line, _, rest = self._received.partition(b"\n")
        self._received = bytearray(rest)
        message = json.loads(line)
        if self._taken in self._passed:
            message.get("result", message.get("params"))["descriptor"] = self._passed.pop(self._taken)
        self._taken += 1
        return message

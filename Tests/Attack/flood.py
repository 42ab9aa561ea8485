"""The attacker: one process with as many sessions as it takes, which send without an end, and read or do not."""

import errno
import select
import socket
import time

CHUNK = 1 << 16


class Client:
    """A session of an attacker: `once` is sent first, then `payload` again and again."""

    def __init__(self, number, once, payload):
        self.number, self.once, self.payload = number, once, payload
        self.socket = None

    def open(self, path):
        """Connects; false if the daemon's queue is full."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        try:
            self.socket.connect(path)
        except OSError as error:
            self.socket.close()
            if error.errno in (errno.EAGAIN, errno.ECONNREFUSED, errno.ENOENT):
                return False
            raise
        self.left = memoryview(self.once or self.payload)
        return True

    def send(self):
        """Sends a bit; how much."""
        count = self.socket.send(self.left[:CHUNK])
        self.left = self.left[count:]
        if not self.left:
            self.left = memoryview(self.payload)
        return count

    @property
    def has_more(self):
        """Returns true if there is anything to send."""
        return len(self.left) > 0


def attack(channel, path, plan, reads):
    """The process: `plan` has what each session sends, once and repeatedly. Says when all are connected, and goes on
    until it is told to stop; then says how many octets it sent and received."""
    poll = select.epoll()
    poll.register(channel.fileno(), select.EPOLLIN)
    clients = {}
    closed = [Client(number, once, payload) for number, (once, payload) in enumerate(plan)]
    told = False
    started = time.monotonic()
    sent = received = 0
    while True:
        waiting, closed = closed, []
        for client in waiting:
            if client.open(path):
                clients[client.socket.fileno()] = client
                poll.register(client.socket.fileno(), mask(client, reads))
            else:
                closed.append(client)
        # A daemon that refuses some, or accepts slowly, is attacked all the same.
        if not told and (not closed or time.monotonic() - started > 3):
            told = True
            channel.send("going")
        for number, events in poll.poll(0.005 if closed else -1):
            client = clients.get(number)
            if client is None:
                return channel.send((sent, received))
            try:
                if events & select.EPOLLIN and reads:
                    count = len(client.socket.recv(1 << 18))
                    received += count
                    if not count:
                        raise ConnectionError
                elif events & (select.EPOLLHUP | select.EPOLLERR):
                    raise ConnectionError
                if events & select.EPOLLOUT and client.has_more:
                    sent += client.send()
                    if not client.has_more:
                        poll.modify(number, mask(client, reads))
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(number)
                client.socket.close()
                del clients[number]
                closed.append(client)


def mask(client, reads):
    """The events to wait for."""
    return (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if client.has_more else 0)

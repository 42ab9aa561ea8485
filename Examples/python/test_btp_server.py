"""The controllers of a Matter device that come, stay silent and leave: python3 -m pytest Examples/python"""

import asyncio
from collections.abc import Mapping
from typing import Any

from btp_server import MOST_WAITING, UNLIKELY_ERROR, Server

import bled
from bled.connection import Answer, Connection

HANDSHAKE = bytes.fromhex("656c 04000000 f700 04")


class Daemon(Connection):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Mapping[str, Any]] = []

    def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)


class Client(bled.Client):
    """Its events are the test's, and nobody confirms its indications."""

    def __init__(self, *events: bled.ServerEvent) -> None:
        super().__init__()
        self._scripted = events
        self.indicated: list[str] = []

    @property
    def server_events(self) -> Any:
        return self._all()

    async def _all(self) -> Any:
        for event in self._scripted:
            yield event
            # The tasks of the controllers have their turn.
            for _ in range(3):
                await asyncio.sleep(0)

    async def indicate(self, handle: int, value: bytes, centrals: Any = None, when_full: Any = None) -> Any:
        self.indicated += centrals
        await asyncio.Event().wait()


def write(daemon: Daemon, number: int, central: str, value: bytes) -> bled.WriteRequest:
    writes = [bled.ServerWriteWrite(handle=3, offset=0, value=value)]
    return bled.WriteRequest(bled.ServerWrite(central=central, writes=writes, mtu=247), Answer(daemon, number))


def subscribed(central: str) -> bled.ServerSubscribed:
    return bled.ServerSubscribed(central=central, handle=5, maximum_length=244)


def serve(client: Client) -> None:
    asyncio.run(Server(client, 5, lambda controller, message: None).run())


def test_controllers_that_never_subscribe_are_forgotten() -> None:
    daemon = Daemon()
    centrals = [f"C{number}" for number in range(MOST_WAITING + 1)]
    handshakes = [write(daemon, number, central, HANDSHAKE) for number, central in enumerate(centrals)]
    client = Client(*handshakes, *map(subscribed, centrals))
    serve(client)
    assert all("result" in answer for answer in daemon.sent)
    # The oldest has made room.
    assert client.indicated == centrals[1:]


def test_a_controller_that_is_served_stays() -> None:
    daemon = Daemon()
    others = [write(daemon, number, f"C{number}", HANDSHAKE) for number in range(1, 2 * MOST_WAITING)]
    left = bled.ServerUnsubscribed(central="C0", handle=5, maximum_length=244)
    client = Client(
        write(daemon, 0, "C0", HANDSHAKE), subscribed("C0"), *others, write(daemon, 99, "C0", b"\x0d\0\0\0\0"), left
    )
    serve(client)
    # The handshake is not confirmed yet when the controller leaves: the write is refused.
    assert daemon.sent[-1]["id"] == 99
    assert daemon.sent[-1]["error"]["data"]["code"] == UNLIKELY_ERROR

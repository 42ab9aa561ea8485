"""BTP over bled: the controllers of a published service, each with a connection of its own."""

import asyncio
from collections.abc import Callable

from btp import BTP, BTPError

import bled

# A controller closes the connection when it has waited 15 s for an acknowledgement.
ACKNOWLEDGEMENT_DELAY = 2.5
# Controllers with a handshake that may still subscribe.
MOST_WAITING = 8
UNLIKELY_ERROR = 0x0E


class Controller:
    """A connected controller. `serve` runs from the subscription until the controller leaves."""

    def __init__(self, client: bled.Client, identifier: str, indicated: int, btp: BTP, received: "Received") -> None:
        self.writes: asyncio.Queue[bled.WriteRequest] = asyncio.Queue()
        self._client, self._identifier, self._indicated = client, identifier, indicated
        self._btp, self._received = btp, received

    def send(self, message: bytes) -> None:
        self._btp.send(message)

    async def serve(self) -> None:
        await self._indicate(self._btp.handshake)
        print(f"A controller: segments of {self._btp.segment_length} octets", flush=True)
        while True:
            try:
                write = await asyncio.wait_for(self.writes.get(), ACKNOWLEDGEMENT_DELAY)
            except TimeoutError:
                await self._indicate(self._btp.acknowledgement())
            else:
                self._receive(write)
            while segment := self._btp.segment():
                await self._indicate(segment)

    def _receive(self, write: bled.WriteRequest) -> None:
        try:
            message = self._btp.receive(write.value)
        except BTPError:
            write.refuse(UNLIKELY_ERROR)
            raise
        write.respond()
        if message is not None:
            print(f"A message of {len(message)} octets", flush=True)
            self._received(self, message)

    def leave(self) -> None:
        """Nothing is answered any more."""
        while not self.writes.empty():
            self.writes.get_nowait().refuse(UNLIKELY_ERROR)

    async def _indicate(self, segment: bytes | None) -> None:
        if segment is not None:
            await self._client.indicate(self._indicated, segment, centrals=[self._identifier])


Received = Callable[[Controller, bytes], None]


class Server:
    """The service and its controllers."""

    def __init__(self, client: bled.Client, indicated: int, received: Received) -> None:
        """indicated: The handle of the characteristic whose indications controllers get.
        received: Takes their messages."""
        self._client, self._indicated, self._received = client, indicated, received
        # A controller without a task has not subscribed.
        self._controllers: dict[str, Controller] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        async for event in self._client.server_events:
            match event:
                case bled.WriteRequest():
                    self._write(event)
                case bled.ServerSubscribed():
                    self._subscribed(event.central)
                case bled.ServerUnsubscribed():
                    self._forget(event.central)

    def _write(self, write: bled.WriteRequest) -> None:
        if write.central in self._tasks:
            self._controllers[write.central].writes.put_nowait(write)
            return
        try:
            btp = BTP(write.value, write.mtu or 23)
        except BTPError:
            write.refuse(UNLIKELY_ERROR)
        else:
            self._controllers.pop(write.central, None)
            # Nothing says that a controller without a subscription has left.
            waiting = [central for central in self._controllers if central not in self._tasks]
            for central in waiting[: max(0, len(waiting) - MOST_WAITING + 1)]:
                del self._controllers[central]
            self._controllers[write.central] = Controller(
                self._client, write.central, self._indicated, btp, self._received
            )
            write.respond()

    def _subscribed(self, central: str) -> None:
        if central not in self._tasks and (controller := self._controllers.get(central)):
            self._tasks[central] = asyncio.create_task(self._serve(central, controller))

    async def _serve(self, central: str, controller: Controller) -> None:
        try:
            await controller.serve()
        except Exception as error:  # Errors of CircuitMatter, too, end the service of this controller alone.
            print(f"The connection of a controller failed: {error!r}", flush=True)
            self._forget(central)

    def _forget(self, central: str) -> None:
        if controller := self._controllers.pop(central, None):
            controller.leave()
        if task := self._tasks.pop(central, None):
            task.cancel()
            print("A controller has left", flush=True)

"""Numbers to which devices open L2CAP channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bled import calls
from bled.calls import L2capPublishOptions
from bled.errors import BledError
from bled.link import Channel, channel
from bled.protocol import L2capIncoming, L2capPublishResult
from bled.stream import Full, Opening, Stream

if TYPE_CHECKING:
    from bled.client import Client


async def listen(client: Client, options: L2capPublishOptions) -> Listener:
    """Publishes a number."""
    return await client.connection.call(
        "l2cap.publish",
        calls.L2CAP_PUBLISH.request(**options),
        lambda result, descriptor: Listener(client, L2capPublishResult.from_json(result)),
        undo=Listener.drop,
    )


class Listener:
    """A number to which devices open channels.

    psm: The number, 128 to 255.
    incoming: The channels that devices have opened, to be accepted within 30 seconds.
    """

    def __init__(self, client: Client, result: L2capPublishResult) -> None:
        self.psm = result.psm
        self.adapter = result.adapter
        self.incoming: Stream[L2capIncoming] = Stream(64, Full.END)
        self._client = client
        self._removals = (
            client.connection.on(L2capIncoming, self._offer),
            client.connection.on_end(self.incoming.finish),
        )
        self._is_open = True

    def accept(self, *, packets: bool | None = None) -> Opening[Channel]:
        """Waits for a device, and accepts its channel."""

        async def open() -> Channel:
            waiting = await anext(self.incoming)
            params = calls.L2CAP_ACCEPT.request(channel=waiting.channel, packets=packets)
            return await channel(self._client, "l2cap.accept", params)

        return Opening(open)

    async def close(self) -> None:
        """Unpublishes the number. The channels that were accepted stay open."""
        if self._is_open:
            self._leave()
            try:
                await self._client.l2cap_unpublish(psm=self.psm, adapter=self.adapter)
            except BledError:
                # Its adapter was removed, or the daemon has ended.
                pass

    def drop(self) -> None:
        """Unpublishes the number that nobody got."""
        if self._is_open:
            self._leave()
            self._client.connection.tell("l2cap.unpublish", {"psm": self.psm, "adapter": self.adapter})

    def _offer(self, event: L2capIncoming) -> None:
        if event.psm == self.psm:
            self.incoming.offer(event)

    def _leave(self) -> None:
        self._is_open = False
        self.incoming.finish()
        for remove in self._removals:
            remove()

"""Waiting for devices: the links that a session has asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bled import calls
from bled.calls import PeripheralConnectOptions
from bled.link import Link
from bled.protocol import PeripheralConnectResult
from bled.uses import LinkRequest

if TYPE_CHECKING:
    from bled.client import Client


class Wishes:
    """The wishes of a session for links."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._last = 0

    async def link(self, options: PeripheralConnectOptions) -> Link:
        """The link, once the device is there. A cancelled call takes nothing away from another user of the device."""
        links = self._client.links
        self._last += 1
        number = self._last
        links.begin(
            number,
            LinkRequest(
                options.get("peripheral"),
                options.get("address"),
                options.get("address_type"),
                options.get("name"),
                options.get("name_prefix"),
                options.get("service"),
            ),
        )
        is_abandoned = False

        def arrived(result: object, descriptor: int | None) -> Link:
            it = PeripheralConnectResult.from_json(result)
            link = Link(self._client, it.peripheral, it.address, it.address_type, it.adapter, it.mtu)
            if not is_abandoned:
                links.answered(number, link.used)
            return link

        def undo(link: Link) -> None:
            link.drop()
            if is_abandoned:
                links.late(number, link.used)
            else:
                links.leave(link.used)

        def abandoned() -> None:
            nonlocal is_abandoned
            is_abandoned = True
            links.abandoned(number)

        try:
            return await self._client.connection.call(
                "peripheral.connect",
                calls.PERIPHERAL_CONNECT.request(**options),
                arrived,
                undo=undo,
                abandoned=abandoned,
                failed=lambda: links.late(number, None),
            )
        finally:
            links.ended(number)

"""Waiting for devices: the links that a session has asked for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bled import calls
from bled.calls import PeripheralConnectOptions
from bled.link import Link
from bled.protocol import PeripheralConnectResult

if TYPE_CHECKING:
    from bled.client import Client


class Wishes:
    """The wishes of a session for links. Several for one device end with the last that is abandoned."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._wanted: Counter[tuple[tuple[str, object], ...]] = Counter()

    async def link(self, options: PeripheralConnectOptions) -> Link:
        """The link, once the device is there."""
        naming = ("peripheral", "address", "address_type", "name", "name_prefix", "service")
        reference = {name: value for name, value in options.items() if name in naming and value is not None}
        key = tuple(sorted(reference.items()))
        self._wanted[key] += 1

        def arrived(result: object, descriptor: int | None) -> Link:
            it = PeripheralConnectResult.from_json(result)
            return Link(self._client, it.peripheral, it.address, it.address_type, it.adapter, it.mtu)

        def abandoned() -> None:
            named = (reference.get("peripheral"), reference.get("address"))
            if self._wanted[key] <= 1 and not any(isinstance(n, str) and self._client.links.uses(n) for n in named):
                self._client.connection.tell("peripheral.disconnect", calls.PERIPHERAL_DISCONNECT.request(**reference))

        try:
            return await self._client.connection.call(
                "peripheral.connect",
                calls.PERIPHERAL_CONNECT.request(**options),
                arrived,
                undo=Link.drop,
                abandoned=abandoned,
            )
        finally:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                del self._wanted[key]

"""The adapter of bleak 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bleak.backends.device import BLEDevice
from bleak.uuids import normalize_uuid_str

import bled
from bled.bleak.failures import translated
from bled.protocol import PeripheralListEntry

if TYPE_CHECKING:
    from bleak.backends.adapter import BaseBleakAdapter
else:
    try:
        from bleak.backends.adapter import BaseBleakAdapter
    except ImportError:
        # bleak 3.0 has none.
        BaseBleakAdapter = object


class Adapter(BaseBleakAdapter):
    """The devices that are connected, by any program."""

    def __init__(self, adapter: str | None = None) -> None:
        self._adapter = adapter

    @classmethod
    async def get(cls, **kwargs: Any) -> Adapter:
        """`bluez={"adapter": "hci1"}` chooses the adapter."""
        return cls((kwargs.get("bluez") or {}).get("adapter"))

    async def get_connected_devices(self, service_uuids: frozenset[str]) -> list[BLEDevice]:
        """The connected devices that have one of these services. They are asked for them, unless the daemon knows."""
        wanted = {normalize_uuid_str(uuid) for uuid in service_uuids}
        devices: list[BLEDevice] = []
        with translated():
            async with bled.connect() as client:
                for entry in (await client.peripheral_list()).peripherals:
                    is_here = self._adapter is None or entry.adapter == self._adapter
                    if entry.state == "connected" and is_here and await _has(client, entry, wanted):
                        details = {"peripheral": entry.peripheral, "adapter": entry.adapter}
                        devices.append(BLEDevice(entry.address, entry.name, details))
        return devices


async def _has(client: bled.Client, entry: PeripheralListEntry, wanted: set[str]) -> bool:
    try:
        async with client.link(entry.peripheral, timeout=10) as link:
            found = await client.gatt_discover_services(peripheral=link.peripheral)
            return any(normalize_uuid_str(service.uuid) in wanted for service in found.services)
    except bled.GAPError:
        # The link has ended meanwhile.
        return False

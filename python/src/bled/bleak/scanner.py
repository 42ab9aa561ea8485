"""The scanner."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Literal

from bleak.backends.scanner import AdvertisementData, AdvertisementDataCallback, BaseBleakScanner
from bleak.exc import BleakError
from bleak.uuids import normalize_uuid_str

import bled
from bled.bleak.failures import translated
from bled.protocol import ScanReport
from bled.stream import Stream

_logger = logging.getLogger(__name__)
_MANUFACTURER = 0xFF
# The signal strength if unknown, as in HCI.
_UNKNOWN_RSSI = 127


class Scanner(BaseBleakScanner):
    """Scans with a session of its own. `bluez={"adapter": "hci1"}` chooses the adapter."""

    def __init__(
        self,
        detection_callback: AdvertisementDataCallback | None,
        service_uuids: list[str] | None,
        scanning_mode: Literal["active", "passive"] = "active",
        **kwargs: Any,
    ) -> None:
        uuids = None if service_uuids is None else [normalize_uuid_str(uuid) for uuid in service_uuids]
        super().__init__(detection_callback, uuids)
        self._is_active = scanning_mode != "passive"
        self._adapter: str | None = (kwargs.get("bluez") or {}).get("adapter") or kwargs.get("adapter")
        self._open: AsyncExitStack | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts scanning."""
        if self._open is not None:
            raise BleakError("the scanner is running already")
        self.seen_devices = {}
        with translated():
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(bled.connect())
                scan = client.scan(
                    services=self._service_uuids or None,
                    adapter=self._adapter,
                    active=None if self._is_active else False,
                    duplicates=True,
                )
                reports = await stack.enter_async_context(scan)
                self._open = stack.pop_all()
        self._reading = asyncio.create_task(self._read(reports))

    async def stop(self) -> None:
        """Stops scanning."""
        stack, self._open = self._open, None
        reading, self._reading = self._reading, None
        if reading is not None and reading is not asyncio.current_task():
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        if stack is not None:
            await stack.aclose()

    async def _read(self, reports: Stream[ScanReport]) -> None:
        try:
            async for report in reports:
                try:
                    self._report(report)
                except Exception as error:
                    # The program's function failed; the next report is another matter.
                    context = {"message": "a detection callback failed", "exception": error}
                    asyncio.get_running_loop().call_exception_handler(context)
        except bled.BledError as error:
            _logger.warning("the scan has ended: %s", error)

    def _report(self, report: ScanReport) -> None:
        data = advertisement_of(report)
        before = self.seen_devices.get(report.peripheral)
        # A passive scan has the name in some advertisements only.
        name = report.name or (before[0].name if before else None)
        details = {
            "peripheral": report.peripheral,
            "adapter": report.adapter,
            "address": report.address,
            "address_type": report.address_type,
        }
        device = self.create_or_update_device(report.peripheral, report.address, name, details, data)
        if self.is_allowed_uuid(data.service_uuids):
            self.call_detection_callbacks(device, data)


def advertisement_of(report: ScanReport) -> AdvertisementData:
    """The advertisement as bleak describes it."""
    return AdvertisementData(
        local_name=report.name,
        manufacturer_data=dict(_manufacturer_data(report)),
        service_data={normalize_uuid_str(uuid): data for uuid, data in (report.service_data or {}).items()},
        service_uuids=[normalize_uuid_str(uuid) for uuid in report.services or ()],
        tx_power=report.tx_power,
        rssi=_UNKNOWN_RSSI if report.rssi is None else report.rssi,
        platform_data=(report,),
    )


def _manufacturer_data(report: ScanReport) -> Iterator[tuple[int, bytes]]:
    """Company identifiers and data of all structures that have some (Core Specification Supplement, Part A, 1.4)."""
    for data in (report.data, report.scan_response or b""):
        place = 0
        while place < len(data) and data[place]:
            structure = data[place + 1 : place + 1 + data[place]]
            if len(structure) >= 3 and structure[0] == _MANUFACTURER:
                yield int.from_bytes(structure[1:3], "little"), bytes(structure[3:])
            place += 1 + data[place]

"""The state of a preserved session, with streams that miss none of the events that were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bled.link import Link
from bled.protocol import AdvertisingStartResult, RestoredState, ScanReport, ScanStartParams
from bled.serving import Advertisement, Published
from bled.stream import Full, Stream

if TYPE_CHECKING:
    from bled.client import Client

_REPORTS = 1024


class Restored:
    """The state of the session when its connection ended. The streams begin with the events that were kept.

    state: As the daemon describes it.
    links: The links; those of devices that are away yet are not connected.
    scans: The scans with their reports; `Client.scan_stop` ends one.
    services: The services that are published.
    advertisements: The advertisements.
    """

    def __init__(self, client: Client, state: RestoredState) -> None:
        self.state = state
        self.links: list[Link] = []
        self.scans: list[tuple[ScanStartParams, Stream[ScanReport]]] = []
        for had in state.peripherals:
            mtu = (had.mtu or 0) if had.state == "connected" else None
            link = Link(client, had.peripheral, had.address, had.address_type, had.adapter, mtu)
            client.links.use(link.used)
            link.restore(had.subscriptions)
            self.links.append(link)
        for scan in (*([state.scan] if state.scan else []), *(state.scans or ())):
            self.scans.append((scan, self._reports(client, scan)))
        self.services = [Published(client, had.service) for had in state.services]
        self.advertisements = [
            Advertisement(
                client, AdvertisingStartResult(advertising=had.advertising, adapter=had.adapter, interval=0.0)
            )
            for had in state.advertisements
        ]

    @staticmethod
    def _reports(client: Client, scan: ScanStartParams) -> Stream[ScanReport]:
        stream: Stream[ScanReport] = Stream(_REPORTS, Full.DROP_OLDEST)

        def offer(report: ScanReport) -> None:
            stream.offer(report)

        client.connection.on(ScanReport, offer, scan.scan)
        client.connection.on_end(stream.finish)
        return stream

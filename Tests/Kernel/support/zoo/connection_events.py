"""Data leaves at connection events only, as on the air."""

import asyncio

from ..air import EmulatedController


class ConnectionEvents(EmulatedController):
    """Sends data only at connection events, 50 ms apart, and drops what still waits when the link ends."""

    PACKETS = 6  # per event

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.interval = 0.05
        self._waiting = []
        self._next_event = None

    def on_hci_acl_data_packet(self, packet):
        self._waiting.append(packet)
        self._schedule()

    def _schedule(self):
        if self._waiting and self._next_event is None:
            self._next_event = asyncio.get_running_loop().call_later(self.interval, self._connection_event)

    def _connection_event(self):
        self._next_event = None
        now, self._waiting = self._waiting[: self.PACKETS], self._waiting[self.PACKETS :]
        for packet in now:
            super().on_hci_acl_data_packet(packet)
        self._schedule()

    def on_le_disconnected(self, connection, reason):
        self._waiting = [packet for packet in self._waiting if packet.connection_handle != connection.handle]
        super().on_le_disconnected(connection, reason)

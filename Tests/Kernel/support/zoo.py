"""The zoo: personalities of controllers that people own and that Bumble's polite one lacks."""

import asyncio

from bumble import hci

from .air import EmulatedController


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


class LostEnds(EmulatedController):
    """Does not report the end of links while `loses_ends`, and refuses to disconnect links that are gone."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.loses_ends = False
        self._last_handle = 0

    def allocate_connection_handle(self):
        # The kernel still knows the link whose end was lost: its handle is not used again.
        self._last_handle += 1
        return self._last_handle

    def send_hci_packet(self, packet):
        if not (self.loses_ends and isinstance(packet, hci.HCI_Disconnection_Complete_Event)):
            super().send_hci_packet(packet)

    def on_hci_disconnect_command(self, command):
        if self.find_le_connection_by_handle(command.connection_handle) is None:
            unknown = hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
            return self._send_hci_command_status(unknown, command.op_code)
        return super().on_hci_disconnect_command(command)

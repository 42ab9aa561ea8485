"""Events that never reach the host."""

from bumble import hci

from ..air import EmulatedController


class LostEnds(EmulatedController):
    """Does not report the end of links while `loses_ends`, and refuses to disconnect links that are gone."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.loses_ends = False
        self._last_handle = 0

    def allocate_connection_handle(self):
        # The kernel still knows the link with the lost end: its handle is not reused.
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


class LostEvents(EmulatedController):
    """Loses the events of the classes in `losing`, and counts them."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.losing = ()
        self.lost = 0

    def send_hci_packet(self, packet):
        if isinstance(packet, self.losing):
            self.lost += 1
        else:
            super().send_hci_packet(packet)

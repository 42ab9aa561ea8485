"""Controllers with extended advertising whose other extended commands do not work (ATS2851, Apple's bcm4377).

The kernel knows them by their missing command bits or by quirks, and mixes extended advertising with legacy scanning
and initiating on them, which others refuse (Core 5.4, Vol 4, Part E, 3.1.1).
"""

from bumble import hci

from ..air import EXTENDED_ADVERTISING, EXTENDED_CREATE, EXTENDED_SCAN, EmulatedController

LEGACY = {
    hci.HCI_LE_SET_ADVERTISING_PARAMETERS_COMMAND,
    hci.HCI_LE_READ_ADVERTISING_PHYSICAL_CHANNEL_TX_POWER_COMMAND,
    hci.HCI_LE_SET_ADVERTISING_DATA_COMMAND,
    hci.HCI_LE_SET_SCAN_RESPONSE_DATA_COMMAND,
    hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND,
    hci.HCI_LE_SET_SCAN_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_SCAN_ENABLE_COMMAND,
    hci.HCI_LE_CREATE_CONNECTION_COMMAND,
}
EXTENDED = EXTENDED_ADVERTISING | EXTENDED_SCAN | EXTENDED_CREATE


class LegacyScanAndCreate(EmulatedController):
    """Has neither extended scanning nor extended create connection, and says so in its supported commands."""

    absent = frozenset(EXTENDED_SCAN | EXTENDED_CREATE)


class SilentExtendedScan(EmulatedController):
    """Claims both: an extended scan is accepted and reports nothing, extended create connection is not known."""

    def send_hci_packet(self, packet):
        # The base reports by the family of the scan.
        if not (self._scans_extended and isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event)):
            super().send_hci_packet(packet)

    def on_hci_le_extended_create_connection_command(self, command):
        return self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)


class Strict(EmulatedController):
    """Answers legacy commands with Command Disallowed after an extended one, and the other way round, until reset."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self._refused = frozenset()

    def on_hci_command_packet(self, command):
        if command.op_code in self._refused:
            return self.refuse_command(command, hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        if command.op_code in LEGACY:
            self._refused = EXTENDED
        elif command.op_code in EXTENDED:
            self._refused = LEGACY
        elif command.op_code == hci.HCI_RESET_COMMAND:
            self._refused = frozenset()
        super().on_hci_command_packet(command)

"""The procedures that change the PHY and the packet lengths of a link.

Bumble's controller leaves them out, and gives no answer at all to LE Set PHY.
"""

from bumble import hci
from bumble.controller import Controller

COMMANDS = {hci.HCI_LE_SET_PHY_COMMAND, hci.HCI_LE_SET_DATA_LENGTH_COMMAND}
PHYS = {1: 1, 2: 2, 3: 2, 4: 3}  # Masks, and the numbers in events: of two PHYs the faster.
UNKNOWN = hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR


class LinkProcedures(Controller):
    """Changes them as it is asked, as if the other side agreed; `asked` has the commands, `lacks` PHYs of the other."""

    supported_max_tx_octets = 251
    supported_max_tx_time = 17040
    supported_max_rx_octets = 251
    supported_max_rx_time = 17040

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.asked = []
        # The masks of PHYs that scans and connects were given.
        self.scanned = set()
        self.initiated = set()
        self.lacks = set()

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.scanned.add(int(command.scanning_phys))
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_extended_create_connection_command(self, command):
        self.initiated.add(int(command.initiating_phys))
        return super().on_hci_le_extended_create_connection_command(command)

    def on_hci_le_set_phy_command(self, command):
        if not self.find_le_connection_by_handle(command.connection_handle):
            return self._send_hci_command_status(UNKNOWN, command.op_code)
        self.asked.append(("phy", command.tx_phys, command.rx_phys, command.phy_options))
        phy = PHYS.get(int(command.tx_phys), 1)
        refusal = hci.HCI_ErrorCode.UNSUPPORTED_REMOTE_FEATURE_ERROR
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.send_hci_packet(
            hci.HCI_LE_PHY_Update_Complete_Event(
                status=refusal if phy in self.lacks else hci.HCI_ErrorCode.SUCCESS,
                connection_handle=command.connection_handle,
                tx_phy=phy,
                rx_phy=phy,
            )
        )

    def on_hci_le_set_data_length_command(self, command):
        if not self.find_le_connection_by_handle(command.connection_handle):
            return hci.HCI_StatusAndConnectionHandleReturnParameters(UNKNOWN, command.connection_handle)
        self.asked.append(("octets", command.tx_octets, command.tx_time))
        self.send_hci_packet(
            hci.HCI_LE_Data_Length_Change_Event(
                connection_handle=command.connection_handle,
                max_tx_octets=command.tx_octets,
                max_tx_time=command.tx_time,
                max_rx_octets=command.tx_octets,
                max_rx_time=command.tx_time,
            )
        )
        success = hci.HCI_ErrorCode.SUCCESS
        return hci.HCI_StatusAndConnectionHandleReturnParameters(success, command.connection_handle)

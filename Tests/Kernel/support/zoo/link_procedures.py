"""A controller with the procedures that change the PHY and the packet lengths of a link, which Bumble's leaves out."""

from bumble import hci

from ..air import SUCCESS, EmulatedController

SET_PHY = hci.HCI_LE_SET_PHY_COMMAND
SET_DATA_LENGTH = hci.HCI_LE_SET_DATA_LENGTH_COMMAND
PHYS = {1: 1, 2: 2, 4: 3}  # The bits of a mask, and the numbers in events.


class LinkProcedures(EmulatedController):
    """Changes them as it is asked, as if the other side agreed; `asked` has the commands, `lacks` PHYs of the other."""

    supported_max_tx_octets = 251
    supported_max_tx_time = 2120
    supported_max_rx_octets = 251
    supported_max_rx_time = 2120

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | {SET_PHY, SET_DATA_LENGTH}
        self.asked = []
        # The masks of PHYs that scans and connects were given.
        self.scanned = {1}
        self.initiated = {1}
        self.lacks = set()

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.scanned.add(int(command.scanning_phys))
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_extended_create_connection_command(self, command):
        self.initiated.add(int(command.initiating_phys))
        return super().on_hci_le_extended_create_connection_command(command)

    def on_hci_le_set_phy_command(self, command):
        self.asked.append(("phy", command.tx_phys, command.rx_phys, command.phy_options))
        phy = PHYS.get(int(command.tx_phys), 1)
        status = hci.HCI_ErrorCode.UNSUPPORTED_REMOTE_FEATURE_ERROR if phy in self.lacks else SUCCESS
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.send_hci_packet(
            hci.HCI_LE_PHY_Update_Complete_Event(
                status=status, connection_handle=command.connection_handle, tx_phy=phy, rx_phy=phy
            )
        )

    def on_hci_le_set_data_length_command(self, command):
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
        return hci.HCI_StatusAndConnectionHandleReturnParameters(SUCCESS, command.connection_handle)

"""A controller of Bluetooth 5.4 with a choice of coding for advertisements on LE Coded, which Bumble's lacks.

The second version of LE Set Extended Advertising Parameters has two octets more: 3 requires S=2, 4 S=8 (Core 5.4, Vol
4, Part E, 7.8.53).
"""

from dataclasses import dataclass, field

from bumble import hci

from .extended_advertiser import ExtendedAdvertiser

V2 = hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_V2_COMMAND


@hci.HCI_SyncCommand.sync_command(hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters)
@dataclass
class ParametersV2(hci.HCI_LE_Set_Extended_Advertising_Parameters_Command):
    """The command, with the coding."""

    op_code = V2
    name = "HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_V2_COMMAND"

    primary_advertising_phy_options: int = field(metadata=hci.metadata(1))
    secondary_advertising_phy_options: int = field(metadata=hci.metadata(1))


class CodingSelection(ExtendedAdvertiser):
    """Takes both versions of the command."""

    le_features = ExtendedAdvertiser.le_features | hci.LeFeatureMask.ADVERTISING_CODING_SELECTION

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | {V2}

    def on_hci_le_set_extended_advertising_parameters_v2_command(self, command):
        return self.on_hci_le_set_extended_advertising_parameters_command(command)

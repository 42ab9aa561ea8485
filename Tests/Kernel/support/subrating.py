"""Connection subrating in controllers: Bumble's gives every link the factor 2, and asks no host whether it wants it.

Here a controller has what its host has set (Core 5.4, Vol 4, Part E, 7.8.115, 7.8.123 and 7.8.124), asks the other side
where that is due (Vol 6, Part B, 5.1.19 and 5.1.20), and says nothing that the host has masked. It does not know the
interval of its links, so it does not check the timeout.
"""

from dataclasses import dataclass

from bumble import hci, ll

from .air import EmulatedController

COMMANDS = frozenset(
    {
        hci.HCI_LE_SET_HOST_FEATURE_COMMAND,
        hci.HCI_LE_SET_DEFAULT_SUBRATE_COMMAND,
        hci.HCI_LE_SUBRATE_REQUEST_COMMAND,
    }
)
SUBRATING = hci.LeFeatureMask.CONNECTION_SUBRATING
HOST_SUPPORT = hci.LeFeatureMask.CONNECTION_SUBRATING_HOST_SUPPORT
REQUEST = ll.ControlPdu.Opcode.LL_SUBRATE_REQ
EVENT = 1 << 34
ERRORS = hci.HCI_ErrorCode


@dataclass
class SubrateReq(ll.ControlPdu):
    """A peripheral's request."""

    opcode = REQUEST

    wanted: object


class Subrating(EmulatedController):
    """`acceptable` is what peripherals may ask for, `factors` has those of the links, by their handle."""

    le_features = EmulatedController.le_features | SUBRATING

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | COMMANDS
        self.acceptable = None
        self.factors = {}
        self._theirs = {}

    def on_hci_reset_command(self, command):
        self.le_features &= ~HOST_SUPPORT
        self.acceptable = None
        return super().on_hci_reset_command(command)

    def send_hci_packet(self, packet):
        if not isinstance(packet, hci.HCI_LE_Subrate_Change_Event) or self.le_event_mask & EVENT:
            super().send_hci_packet(packet)

    def on_hci_le_set_host_feature_command(self, command):
        if self.le_connections:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        bit = hci.LeFeatureMask(1 << command.bit_number)
        self.le_features = self.le_features | bit if command.bit_value else self.le_features & ~bit
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_set_default_subrate_command(self, command):
        if is_forbidden(command):
            return hci.HCI_StatusReturnParameters(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR)
        self.acceptable = command
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_subrate_request_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            return self._send_hci_command_status(ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
        if is_forbidden(command):
            return self._send_hci_command_status(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR, command.op_code)
        needed = int(SUBRATING | HOST_SUPPORT)
        if self._theirs.get(connection.handle, 0) & int(self.le_features) & needed != needed:
            return self._send_hci_command_status(ERRORS.UNSUPPORTED_REMOTE_FEATURE_ERROR, command.op_code)
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        if connection.role == hci.Role.PERIPHERAL:
            return connection.send_ll_control_pdu(SubrateReq(command))
        return self._change(connection, command, command.subrate_max)

    def _change(self, connection, wanted, factor):
        """The central has chosen."""
        change = {
            "subrate_factor": factor,
            "peripheral_latency": wanted.max_latency,
            "continuation_number": min(wanted.continuation_number, factor - 1),
        }
        self.factors[connection.handle] = factor
        self._tell(connection, ERRORS.SUCCESS, supervision_timeout=wanted.supervision_timeout, **change)
        connection.send_ll_control_pdu(ll.SubrateInd(timeout=wanted.supervision_timeout, **change))

    def _tell(self, connection, status, **change):
        nothing = dict.fromkeys(
            ("subrate_factor", "peripheral_latency", "continuation_number", "supervision_timeout"), 0
        )
        self.send_hci_packet(
            hci.HCI_LE_Subrate_Change_Event(
                status=status, connection_handle=connection.handle, **{**nothing, **change}
            )
        )

    def on_ll_control_pdu(self, sender_address, packet):
        connection = self.le_connections.get(sender_address)
        if connection is None:
            return super().on_ll_control_pdu(sender_address, packet)
        match packet:
            case ll.FeatureReq() | ll.PeripheralFeatureReq() | ll.FeatureRsp():
                self._theirs[connection.handle] = int.from_bytes(packet.feature_set, "little")
            case SubrateReq(wanted):
                return self._asked(connection, wanted)
            case ll.RejectExtInd(reject_opcode=opcode, error_code=error) if opcode == REQUEST:
                return self._tell(connection, error)
        return super().on_ll_control_pdu(sender_address, packet)

    def _asked(self, connection, wanted):
        """The peripheral asks; without a word of the host each event is used."""
        most = self.acceptable
        accepts = (
            most is not None
            and HOST_SUPPORT in self.le_features
            and wanted.max_latency <= most.max_latency
            and wanted.supervision_timeout <= most.supervision_timeout
            and most.subrate_min <= wanted.subrate_max
            and wanted.subrate_min <= most.subrate_max
        )
        if not accepts:
            refusal = ERRORS.UNSUPPORTED_LMP_OR_LL_PARAMETER_VALUE_ERROR
            return connection.send_ll_control_pdu(ll.RejectExtInd(REQUEST, refusal))
        return self._change(connection, wanted, min(wanted.subrate_max, most.subrate_max))


def is_forbidden(command):
    """Whether these can be no parameters of any link."""
    return (
        not 1 <= command.subrate_min <= command.subrate_max <= 500
        or command.subrate_max * (command.max_latency + 1) > 500
        or command.continuation_number >= command.subrate_max
    )

"""Shorter connection intervals in controllers, which Bumble's gives every link without asking anybody.

Here a controller has what its host has set (Core 6.2, Vol 4, Part E, 7.8.115 and 7.8.154 to 7.8.156), learns what the
other one has only when its host reads the features beyond the first 64, asks the central where that is due (Vol 6, Part
B, 5.1.32 and 5.1.33), and says nothing that the host has masked.
"""

from dataclasses import dataclass, field

from bumble import hci, ll

from .subrating import Subrating, is_forbidden

ERRORS = hci.HCI_ErrorCode
FEATURE = 1 << hci.LeFeature.SHORTER_CONNECTION_INTERVALS - 64
HOST_SUPPORT = 1 << hci.LeFeature.SHORTER_CONNECTION_INTERVALS_HOST_SUPPORT - 64
EXTENDED = hci.LeFeatureMask.LL_EXTENDED_FEATURE_SET
FEATURES_EVENT = 1 << 42
RATE_EVENT = 1 << 54
REQUEST = 0x30  # LL_CONNECTION_RATE_REQ
COMMANDS = frozenset(
    {
        hci.HCI_LE_READ_ALL_LOCAL_SUPPORTED_FEATURES_COMMAND,
        hci.HCI_LE_READ_ALL_REMOTE_FEATURES_COMMAND,
        hci.HCI_LE_SET_HOST_FEATURE_V2_COMMAND,
        hci.HCI_LE_CONNECTION_RATE_REQUEST_COMMAND,
        hci.HCI_LE_SET_DEFAULT_RATE_PARAMETERS_COMMAND,
        hci.HCI_LE_READ_MINIMUM_SUPPORTED_CONNECTION_INTERVAL_COMMAND,
    }
)


def two():
    """A field of two octets."""
    return field(metadata=hci.metadata(2))


@hci.HCI_Command.command
@dataclass
class ReadAllRemoteFeatures(hci.HCI_AsyncCommand):
    """7.8.129"""

    op_code = hci.HCI_LE_READ_ALL_REMOTE_FEATURES_COMMAND
    name = "HCI_LE_READ_ALL_REMOTE_FEATURES_COMMAND"

    connection_handle: int = two()
    pages_requested: int = field(metadata=hci.metadata(1))


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class SetHostFeatureV2(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """7.8.115"""

    op_code = hci.HCI_LE_SET_HOST_FEATURE_V2_COMMAND
    name = "HCI_LE_SET_HOST_FEATURE_V2_COMMAND"

    bit_number: int = two()
    bit_value: int = field(metadata=hci.metadata(1))


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class SetDefaultRateParameters(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """7.8.155"""

    op_code = hci.HCI_LE_SET_DEFAULT_RATE_PARAMETERS_COMMAND
    name = "HCI_LE_SET_DEFAULT_RATE_PARAMETERS_COMMAND"

    connection_interval_min: int = two()
    connection_interval_max: int = two()
    subrate_min: int = two()
    subrate_max: int = two()
    max_latency: int = two()
    continuation_number: int = two()
    supervision_timeout: int = two()
    min_ce_length: int = two()
    max_ce_length: int = two()


@dataclass
class Shortest(hci.HCI_StatusReturnParameters):
    """The shortest interval, and no groups of them."""

    minimum_supported_connection_interval: int = field(metadata=hci.metadata(1))
    groups: int = field(metadata=hci.metadata(1))


@hci.HCI_SyncCommand.sync_command(Shortest)
@dataclass
class ReadMinimumSupportedConnectionInterval(hci.HCI_SyncCommand[Shortest]):
    """7.8.156"""

    op_code = hci.HCI_LE_READ_MINIMUM_SUPPORTED_CONNECTION_INTERVAL_COMMAND
    name = "HCI_LE_READ_MINIMUM_SUPPORTED_CONNECTION_INTERVAL_COMMAND"


@dataclass
class FeatureExt(ll.ControlPdu):
    """The features beyond the first 64, requested or reported."""

    opcode = ll.ControlPdu.Opcode.LL_FEATURE_EXT_REQ

    features: int
    is_request: bool


@dataclass
class RateReq(ll.ControlPdu):
    """A peripheral's request."""

    opcode = REQUEST

    wanted: object


class ShortIntervals(Subrating):
    """`shortest` is what it has at the least, in 0.125 ms; `rates` are the intervals of its links, by their handle."""

    le_features = Subrating.le_features | EXTENDED
    shortest = 3

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | COMMANDS
        self.more_features = FEATURE
        self.acceptable_rate = None
        self.rates = {}
        self._known = {}

    def on_hci_reset_command(self, command):
        self.more_features &= ~HOST_SUPPORT
        self.acceptable_rate = None
        self._known = {}
        return super().on_hci_reset_command(command)

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Connection_Rate_Change_Event):
            if not self.le_event_mask & RATE_EVENT:
                return
            self.rates[packet.connection_handle] = packet.connection_interval
        super().send_hci_packet(packet)

    def on_hci_le_read_all_local_supported_features_command(self, _command):
        return hci.HCI_LE_Read_All_Local_Supported_Features_ReturnParameters(
            ERRORS.SUCCESS, 1, self._pages(self.more_features)
        )

    def on_hci_le_set_host_feature_v2_command(self, command):
        if self.le_connections:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        if command.bit_number == hci.LeFeature.SHORTER_CONNECTION_INTERVALS_HOST_SUPPORT:
            self.more_features |= HOST_SUPPORT * command.bit_value
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_read_minimum_supported_connection_interval_command(self, _command):
        return Shortest(ERRORS.SUCCESS, self.shortest, 0)

    def on_hci_le_set_default_rate_parameters_command(self, command):
        if is_no_rate(command):
            return hci.HCI_StatusReturnParameters(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR)
        self.acceptable_rate = command
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_read_all_remote_features_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            return self._send_hci_command_status(ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command.op_code)
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        return connection.send_ll_control_pdu(FeatureExt(self.more_features, is_request=True))

    def on_hci_le_connection_rate_request_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        refusal = self._refusal(connection, command)
        self._send_hci_command_status(refusal or hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        if refusal:
            return None
        if connection.role == hci.Role.PERIPHERAL:
            return connection.send_ll_control_pdu(RateReq(command))
        return self._set(connection, command, max(self.shortest, command.connection_interval_min))

    def _refusal(self, connection, command):
        """The error of the command, if it is refused."""
        if connection is None:
            return ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR
        if is_no_rate(command):
            return ERRORS.INVALID_COMMAND_PARAMETERS_ERROR
        needed = FEATURE | HOST_SUPPORT
        if self._known.get(connection.handle, 0) & self.more_features & needed != needed:
            return ERRORS.UNSUPPORTED_REMOTE_FEATURE_ERROR
        if command.connection_interval_max < self.shortest:
            return ERRORS.UNSUPPORTED_FEATURE_OR_PARAMETER_VALUE_ERROR
        return None

    def _set(self, connection, wanted, interval):
        """The central has chosen."""
        rate = {
            "subrate_factor": wanted.subrate_max,
            "peripheral_latency": wanted.max_latency,
            "continuation_number": wanted.continuation_number,
        }
        self._tell_rate(
            connection,
            ERRORS.SUCCESS,
            connection_interval=interval,
            supervision_timeout=wanted.supervision_timeout,
            **rate,
        )
        connection.send_ll_control_pdu(
            ll.ConnectionRateInd(interval=interval, timeout=wanted.supervision_timeout, **rate)
        )

    def _tell_rate(self, connection, status, **rate):
        names = ("connection_interval", "subrate_factor", "peripheral_latency", "continuation_number")
        nothing = dict.fromkeys((*names, "supervision_timeout"), 0)
        self.send_hci_packet(
            hci.HCI_LE_Connection_Rate_Change_Event(
                status=status, connection_handle=connection.handle, **{**nothing, **rate}
            )
        )

    def on_ll_control_pdu(self, sender_address, packet):
        connection = self.le_connections.get(sender_address)
        match packet:
            case FeatureExt(features, is_request) if connection:
                self._known[connection.handle] = features
                if is_request:
                    return connection.send_ll_control_pdu(FeatureExt(self.more_features, is_request=False))
                return self._tell_features(connection, features)
            case RateReq(wanted) if connection:
                most = self.acceptable_rate
                shortest = max(self.shortest, wanted.connection_interval_min)
                if most is None or not most.connection_interval_min <= shortest <= most.connection_interval_max:
                    refusal = ERRORS.UNSUPPORTED_LMP_OR_LL_PARAMETER_VALUE_ERROR
                    return connection.send_ll_control_pdu(ll.RejectExtInd(REQUEST, refusal))
                return self._set(connection, wanted, shortest)
            case ll.RejectExtInd(reject_opcode=opcode, error_code=error) if opcode == REQUEST and connection:
                return self._tell_rate(connection, error)
        return super().on_ll_control_pdu(sender_address, packet)

    def _tell_features(self, connection, features):
        if not self.le_event_mask & FEATURES_EVENT:
            return
        event = bytes([0x2B, ERRORS.SUCCESS]) + connection.handle.to_bytes(2, "little") + bytes([1, 1])
        self.send_hci_packet(bytes([4, hci.HCI_LE_META_EVENT, 254]) + event + self._pages(features))

    def _pages(self, more):
        """The features of all pages: eight octets of page 0, 24 of page 1."""
        return (int(self.le_features) | more << 64).to_bytes(248, "little")


def is_no_rate(command):
    """Whether these can be no rate of any link."""
    intervals = command.connection_interval_min, command.connection_interval_max
    longest = intervals[1] * command.subrate_max * (command.max_latency + 1) * 125 * 2
    return (
        is_forbidden(command)
        or not 3 <= intervals[0] <= intervals[1] <= 0x7D00
        or longest >= command.supervision_timeout * 10_000
        or not 1 <= command.min_ce_length <= command.max_ce_length <= 0x3E7F
    )

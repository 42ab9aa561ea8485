"""Controllers that transfer trains of periodic advertisements over links (Core 5.4, Vol 6, Part B, 5.1.13).

The host of the receiver says for each link whether it takes trains (Vol 4, Part E, 7.8.91); one that is transferred
otherwise is ignored.
"""

from dataclasses import dataclass

from bumble import hci, ll

from ..periodic import MASKS, Periodic

COMMANDS = frozenset(
    {
        hci.HCI_LE_PERIODIC_ADVERTISING_SYNC_TRANSFER_COMMAND,
        hci.HCI_LE_PERIODIC_ADVERTISING_SET_INFO_TRANSFER_COMMAND,
        hci.HCI_LE_SET_PERIODIC_ADVERTISING_SYNC_TRANSFER_PARAMETERS_COMMAND,
    }
)
SENDER = hci.LeFeatureMask.PERIODIC_ADVERTISING_SYNC_TRANSFER_SENDER
RECIPIENT = hci.LeFeatureMask.PERIODIC_ADVERTISING_SYNC_TRANSFER_RECIPIENT
ERRORS = hci.HCI_ErrorCode
EVENT = hci.HCI_LE_Periodic_Advertising_Sync_Transfer_Received_Event
MASKS[EVENT] = 1 << 23
REPORTED = 2


@dataclass
class PeriodicSyncInd(ll.ControlPdu):
    """Where a train is to be found."""

    opcode = ll.ControlPdu.Opcode.LL_PERIODIC_SYNC_IND

    service_data: int
    advertiser: hci.Address
    sid: int
    train: object


class Transfers(Periodic):
    """`takers` has the parameters for trains of the device of a link, by its handle."""

    le_features = Periodic.le_features | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING | SENDER | RECIPIENT

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | COMMANDS
        self.takers = {}
        # The number of failed trains of each link.
        self.ignored = 0
        self._theirs = {}

    def on_hci_reset_command(self, command):
        self.takers.clear()
        return super().on_hci_reset_command(command)

    def on_hci_le_set_periodic_advertising_sync_transfer_parameters_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            return answer(ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command)
        self.takers[command.connection_handle] = command if command.mode else None
        return answer(ERRORS.SUCCESS, command)

    def on_hci_le_periodic_advertising_sync_transfer_command(self, command):
        if command.sync_handle not in self.followed:
            return answer(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR, command)
        address, sid, *_ = self.followed[command.sync_handle]
        train = next(
            train
            for other in self.link.controllers
            for handle, train in getattr(other, "trains", {}).items()
            if other.advertising_sets[handle].address == address
        )
        return self._transfer(command, address, sid, train)

    def on_hci_le_periodic_advertising_set_info_transfer_command(self, command):
        train = self.trains.get(command.advertising_handle)
        if train is None or not train.enabled:
            return answer(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR, command)
        known = self.advertising_sets[command.advertising_handle]
        return self._transfer(command, known.address, known.parameters.advertising_sid, train)

    def give_stale(self, link, handle):
        """Transfers a train over a link although it is no longer on the air."""
        known = self.advertising_sets[handle]
        sid = known.parameters.advertising_sid
        self.find_le_connection_by_handle(link).send_ll_control_pdu(
            PeriodicSyncInd(0, known.address, sid, self.trains[handle])
        )

    def _transfer(self, command, address, sid, train):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if connection is None:
            return answer(ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, command)
        theirs = self._theirs.get(connection.handle)
        if theirs is not None and not theirs & int(RECIPIENT):
            return answer(ERRORS.UNSUPPORTED_REMOTE_FEATURE_ERROR, command)
        connection.send_ll_control_pdu(PeriodicSyncInd(command.service_data, address, sid, train))
        return answer(ERRORS.SUCCESS, command)

    def on_ll_control_pdu(self, sender_address, packet):
        connection = self.le_connections.get(sender_address)
        match packet:
            case ll.FeatureReq() | ll.PeripheralFeatureReq() | ll.FeatureRsp() if connection is not None:
                self._theirs[connection.handle] = int.from_bytes(packet.feature_set, "little")
            case PeriodicSyncInd() if connection is not None:
                return self._take(connection.handle, packet)
        return super().on_ll_control_pdu(sender_address, packet)

    def _take(self, link, ind):
        """Follows a train that the other side has transferred, if the host wants that and it is still there."""
        taker = self.takers.get(link)
        if taker is None or any(known[:2] == (ind.advertiser, ind.sid) for known in self.followed.values()):
            self.ignored += 1
            return
        handle = next(handle for handle in range(0x20, 0xEFF) if handle not in self.followed)
        if ind.train.enabled:
            fuse = self._fuse(handle, taker)
            self.followed[handle] = (ind.advertiser, ind.sid, taker.sync_timeout, fuse)
        self.send_hci_packet(
            EVENT(
                status=ERRORS.SUCCESS if ind.train.enabled else ERRORS.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR,
                connection_handle=link,
                service_data=ind.service_data,
                sync_handle=handle,
                advertising_sid=ind.sid,
                advertiser_address_type=ind.advertiser.address_type,
                advertiser_address=ind.advertiser,
                advertiser_phy=hci.Phy.LE_1M,
                periodic_advertising_interval=ind.train.interval,
                advertiser_clock_accuracy=0,
            )
        )


def answer(code, command):
    return hci.HCI_StatusAndConnectionHandleReturnParameters(code, command.connection_handle)

"""A controller that follows trains with subevents and responds to them (Core 5.4, Vol 6, Part B, 4.4.2.12.2).

It receives the subevents that its host chose, and tells of trains in the second versions of the events where these are
not masked (Vol 4, Part E, 7.7.65.14, 7.7.65.15 and 7.7.65.24). Bumble knows the events, and none of the commands.
"""

import asyncio
from dataclasses import dataclass, field

from bumble import hci

from ..periodic import MASKS, Periodic
from .responder import Subevents

RESPONSE = hci.HCI_LE_SET_PERIODIC_ADVERTISING_RESPONSE_DATA_COMMAND
CHOICE = hci.HCI_LE_SET_PERIODIC_SYNC_SUBEVENT_COMMAND
ERRORS = hci.HCI_ErrorCode
# A status and a handle, here that of a train.
Answer = hci.HCI_StatusAndConnectionHandleReturnParameters
SECOND = {
    hci.HCI_LE_Periodic_Advertising_Sync_Established_Event: (
        hci.HCI_LE_Periodic_Advertising_Sync_Established_V2_Event,
        1 << 35,
    ),
    hci.HCI_LE_Periodic_Advertising_Report_Event: (hci.HCI_LE_Periodic_Advertising_Report_V2_Event, 1 << 36),
    hci.HCI_LE_Periodic_Advertising_Sync_Transfer_Received_Event: (
        hci.HCI_LE_Periodic_Advertising_Sync_Transfer_Received_V2_Event,
        1 << 37,
    ),
}
MASKS.update(SECOND.values())


@hci.HCI_SyncCommand.sync_command(Answer)
@dataclass
class ResponseData(hci.HCI_SyncCommand[Answer]):
    """A response to a packet of a train."""

    op_code = RESPONSE
    name = "HCI_LE_SET_PERIODIC_ADVERTISING_RESPONSE_DATA_COMMAND"

    sync_handle: int = field(metadata=hci.metadata(2))
    request_event: int = field(metadata=hci.metadata(2))
    request_subevent: int = field(metadata=hci.metadata(1))
    response_subevent: int = field(metadata=hci.metadata(1))
    response_slot: int = field(metadata=hci.metadata(1))
    response_data: bytes = field(metadata=hci.metadata("v"))


@hci.HCI_SyncCommand.sync_command(Answer)
@dataclass
class SyncSubevent(hci.HCI_SyncCommand[Answer]):
    """The subevents that are received."""

    op_code = CHOICE
    name = "HCI_LE_SET_PERIODIC_SYNC_SUBEVENT_COMMAND"

    sync_handle: int = field(metadata=hci.metadata(2))
    properties: int = field(metadata=hci.metadata(2))
    subevents: bytes = field(metadata=hci.metadata("v"))


class Listener(Periodic):
    """`chosen` are the subevents that it receives, by the handle of their train, at most `room` of them."""

    le_features = Periodic.le_features | (
        hci.LeFeatureMask.LE_PERIODIC_ADVERTISING | hci.LeFeatureMask.PERIODIC_ADVERTISING_WITH_RESPONSES_SCANNER
    )

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | {RESPONSE, CHOICE}
        self.chosen = {}
        self.room = 128

    def send_hci_packet(self, packet):
        second, mask = SECOND.get(type(packet), (None, 0))
        super().send_hci_packet(self._second(packet, second) if self.le_event_mask & mask else packet)

    def _second(self, packet, second):
        """The same event with the fields of its second version."""
        fields = {name: getattr(packet, name) for name in packet.__dataclass_fields__}
        if second is hci.HCI_LE_Periodic_Advertising_Report_V2_Event:
            return second(**fields, periodic_event_counter=0, subevent=0xFF)
        _, train = self._sender(packet.advertiser_address, packet.advertising_sid)
        command = getattr(train, "command", None)
        return second(
            **fields,
            num_subevents=command.num_subevents if command else 0,
            subevent_interval=command.subevent_interval if command else 0,
            response_slot_delay=command.response_slot_delay if command else 0,
            response_slot_spacing=command.response_slot_spacing if command else 0,
        )

    def _sender(self, address, sid):
        """The sender of a train, and the train; nothing if it is not on the air."""
        for other in self.link.controllers:
            for handle, train in getattr(other, "trains", {}).items():
                known = other.advertising_sets.get(handle)
                if known and (known.address, known.parameters.advertising_sid) == (address, sid):
                    return other, train
        return None, None

    def on_hci_le_set_periodic_sync_subevent_command(self, command):
        if command.sync_handle not in self.followed:
            return Answer(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR, command.sync_handle)
        _, train = self._sender(*self.followed[command.sync_handle][:2])
        if not isinstance(train, Subevents) or max(command.subevents) >= train.command.num_subevents:
            return Answer(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR, command.sync_handle)
        if len(command.subevents) > self.room:
            return Answer(ERRORS.MEMORY_CAPACITY_EXCEEDED_ERROR, command.sync_handle)
        self.chosen[command.sync_handle] = set(command.subevents)
        return Answer(ERRORS.SUCCESS, command.sync_handle)

    def on_hci_le_periodic_advertising_terminate_sync_command(self, command):
        self.chosen.pop(command.sync_handle, None)
        return super().on_hci_le_periodic_advertising_terminate_sync_command(command)

    def _lose(self, handle):
        self.chosen.pop(handle, None)
        super()._lose(handle)

    def hear_packet(self, address, sid, train):
        if not isinstance(train, Subevents):
            return super().hear_packet(address, sid, train)
        for handle, (followed, number, timeout, fuse) in list(self.followed.items()):
            if (followed, number) == (address, sid):
                fuse.cancel()
                again = asyncio.get_running_loop().call_later(timeout * 0.01, self._lose, handle)
                self.followed[handle] = (followed, number, timeout, again)

    def hear_subevent(self, address, sid, event, subevent, data):
        """A packet in a subevent of a train is on the air."""
        for handle, known in self.followed.items():
            if known[:2] != (address, sid) or subevent not in self.chosen.get(handle, ()):
                continue
            self.send_hci_packet(
                hci.HCI_LE_Periodic_Advertising_Report_V2_Event(
                    sync_handle=handle,
                    tx_power=127,
                    rssi=-50,
                    cte_type=0xFF,
                    periodic_event_counter=event,
                    subevent=subevent,
                    data_status=0,
                    data=data,
                )
            )

    def on_hci_le_set_periodic_advertising_response_data_command(self, command):
        if command.sync_handle not in self.followed:
            return Answer(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR, command.sync_handle)
        sender, train = self._sender(*self.followed[command.sync_handle][:2])
        if sender is None:
            return Answer(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR, command.sync_handle)
        return Answer(sender.hear_response(train, command), command.sync_handle)

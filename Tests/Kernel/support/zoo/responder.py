"""A controller whose trains have subevents and slots for responses (Core 5.4, Vol 6, Part B, 4.4.2.12.2).

Shortly before its subevents are sent the controller asks its host for their data; the tags hear it and respond in the
slots that it leaves them. Bumble knows neither the commands nor the events.
"""

import asyncio
from dataclasses import dataclass, field

from bumble import hci

from ..periodic import Periodic, Train, status
from .extended_advertiser import ExtendedAdvertiser

PARAMETERS = hci.HCI_LE_SET_PERIODIC_ADVERTISING_PARAMETERS_V2_COMMAND
DATA = hci.HCI_LE_SET_PERIODIC_ADVERTISING_SUBEVENT_DATA_COMMAND
ERRORS = hci.HCI_ErrorCode
PACKET_TOO_LATE = 0x46
PACKET_TOO_EARLY = 0x47
EVENTS = {
    hci.HCI_LE_PERIODIC_ADVERTISING_SUBEVENT_DATA_REQUEST_EVENT: 1 << 38,
    hci.HCI_LE_PERIODIC_ADVERTISING_RESPONSE_REPORT_EVENT: 1 << 39,
}


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class ParametersV2(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """The parameters of a train with subevents."""

    op_code = PARAMETERS
    name = "HCI_LE_SET_PERIODIC_ADVERTISING_PARAMETERS_V2_COMMAND"

    advertising_handle: int = field(metadata=hci.metadata(1))
    interval_min: int = field(metadata=hci.metadata(2))
    interval_max: int = field(metadata=hci.metadata(2))
    properties: int = field(metadata=hci.metadata(2))
    num_subevents: int = field(metadata=hci.metadata(1))
    subevent_interval: int = field(metadata=hci.metadata(1))
    response_slot_delay: int = field(metadata=hci.metadata(1))
    response_slot_spacing: int = field(metadata=hci.metadata(1))
    num_response_slots: int = field(metadata=hci.metadata(1))


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class SubeventData(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """The data of subevents, as they are on the wire."""

    op_code = DATA
    name = "HCI_LE_SET_PERIODIC_ADVERTISING_SUBEVENT_DATA_COMMAND"

    advertising_handle: int = field(metadata=hci.metadata(1))
    num_subevents: int = field(metadata=hci.metadata(1))
    rest: bytes = field(metadata=hci.metadata("*"))


@dataclass
class Subevents(Train):
    """A train with subevents; `asked` has those whose data the host may give, and `latest` the slots and the number of
    the event in which each was sent last."""

    command: ParametersV2 | None = None
    asked: set = field(default_factory=set)
    data_of: dict = field(default_factory=dict)
    latest: dict = field(default_factory=dict)
    event: int = 0xFFFD


class Responder(ExtendedAdvertiser, Periodic):
    """`tags` hear the data of subevents: called with the subevent, the slots and the data, each gives a slot and its
    response, or nothing."""

    le_features = Periodic.le_features | (
        hci.LeFeatureMask.LE_PERIODIC_ADVERTISING | hci.LeFeatureMask.PERIODIC_ADVERTISING_WITH_RESPONSES_ADVERTISER
    )

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | {PARAMETERS, DATA}
        self.tags = []

    def on_hci_le_set_periodic_advertising_parameters_v2_command(self, command):
        limits = (
            1 <= command.num_subevents <= 128
            and command.subevent_interval >= 6
            and command.num_subevents * command.subevent_interval <= command.interval_min
            and command.response_slot_delay * 10 + command.response_slot_spacing * command.num_response_slots
            <= command.subevent_interval * 10
        )
        if not limits:
            return status(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR)
        if command.advertising_handle not in self.advertising_sets:
            return status(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        self.trains[command.advertising_handle] = Subevents(interval=command.interval_max, command=command)
        return status(0)

    def on_hci_le_set_periodic_advertising_data_command(self, command):
        if isinstance(self.trains.get(command.advertising_handle), Subevents):
            return status(ERRORS.COMMAND_DISALLOWED_ERROR)
        return super().on_hci_le_set_periodic_advertising_data_command(command)

    def on_hci_le_set_periodic_advertising_subevent_data_command(self, command):
        train = self.trains.get(command.advertising_handle)
        if not isinstance(train, Subevents):
            return status(ERRORS.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR)
        rest = command.rest
        for _ in range(command.num_subevents):
            subevent, first, count, length = rest[:4]
            if subevent not in train.asked:
                return status(PACKET_TOO_EARLY)
            train.data_of[subevent] = (range(first, first + count), rest[4 : 4 + length])
            rest = rest[4 + length :]
        return status(0)

    def _send_packet(self, known, train):
        if not isinstance(train, Subevents):
            return super()._send_packet(known, train)
        handle = train.command.advertising_handle
        train.event = (train.event + 1) % 0x10000
        for other in self._followers():
            other.hear_packet(known.address, known.parameters.advertising_sid, train)
        self._send_subevents(handle, known, train)
        count = train.command.num_subevents
        train.asked = set(range(count))
        self._tell(hci.HCI_LE_PERIODIC_ADVERTISING_SUBEVENT_DATA_REQUEST_EVENT, bytes([handle, 0, count]))
        seconds = train.interval * 0.00125
        train.timer = asyncio.get_running_loop().call_later(seconds, self._send_packet, known, train)

    def _followers(self):
        return [other for other in self.link.controllers if other is not self and hasattr(other, "hear_subevent")]

    def _send_subevents(self, handle, known, train):
        """The data of the host is on the air; the tags respond."""
        given, train.data_of, train.asked = train.data_of, {}, set()
        for subevent, (slots, data) in sorted(given.items()):
            responses = [response for tag in self.tags if (response := tag(subevent, slots, data))]
            report = bytes([handle, subevent, 0, len(responses)])
            for slot, response in responses:
                report += bytes([127, 256 - 50, 0xFF, slot, 0, len(response)]) + response
            self._tell(hci.HCI_LE_PERIODIC_ADVERTISING_RESPONSE_REPORT_EVENT, report)
            train.latest[subevent] = (train.event, slots)
            for other in self._followers():
                other.hear_subevent(known.address, known.parameters.advertising_sid, train.event, subevent, data)

    def hear_response(self, train, command):
        """A device has a response to a subevent; its time is over when the next packet was sent there.

        So it does not depend on how fast a machine is."""
        event, slots = train.latest.get(command.request_subevent, (None, ()))
        if event != command.request_event:
            return PACKET_TOO_LATE
        if command.response_slot not in slots:
            return ERRORS.INVALID_COMMAND_PARAMETERS_ERROR
        report = bytes([train.command.advertising_handle, command.response_subevent, 0, 1])
        report += bytes([127, 256 - 50, 0xFF, command.response_slot, 0, len(command.response_data)])
        self._tell(hci.HCI_LE_PERIODIC_ADVERTISING_RESPONSE_REPORT_EVENT, report + command.response_data)
        return ERRORS.SUCCESS

    def _tell(self, subevent, parameters):
        if self.le_event_mask & EVENTS[subevent]:
            parameters = bytes([subevent]) + parameters
            self.send_hci_packet(hci.HCI_LE_Meta_Event(subevent_code=subevent, parameters=parameters))

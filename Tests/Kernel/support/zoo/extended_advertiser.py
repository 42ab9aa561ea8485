"""A controller that keeps the rules of extended advertising sets, which Bumble's does not look at.

Sets end by their duration or their count; parameters and data that do not go together are refused; and what is on the
air can be read from `on_air` (Core 5.4, Vol 4, Part E, 7.8.53 to 7.8.57 and 7.7.65.18).
"""

import asyncio

from bumble import hci

from ..air import EmulatedController

CONNECTABLE, SCANNABLE, DIRECTED, HIGH_DUTY, LEGACY, ANONYMOUS = (1 << bit for bit in range(6))
INVALID = hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR


def answer(status):
    return hci.HCI_StatusReturnParameters(status)


class ExtendedAdvertiser(EmulatedController):
    """`length` octets an advertisement may have, in `sets` sets; `fragments` counts the commands of data."""

    length = 1650
    sets = 4

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.fragments = 0
        self._ends = {}

    def on_hci_le_read_maximum_advertising_data_length_command(self, command):
        result = super().on_hci_le_read_maximum_advertising_data_length_command(command)
        result.max_advertising_data_length = self.length
        return result

    def on_hci_le_read_number_of_supported_advertising_sets_command(self, command):
        result = super().on_hci_le_read_number_of_supported_advertising_sets_command(command)
        result.num_supported_advertising_sets = self.sets
        return result

    def on_hci_le_set_extended_advertising_parameters_command(self, command):
        properties = int(command.advertising_event_properties)
        known = self.advertising_sets.get(command.advertising_handle)
        refused = (
            known is not None
            and bool(properties & LEGACY)
            and (len(known.data) > 31 or len(known.scan_response_data) > 31)
            or known is not None
            and bool(known.data)
            and not holds_data(properties)
            or bool(properties & ANONYMOUS)
            and bool(properties & (CONNECTABLE | SCANNABLE | LEGACY))
        )
        if refused:
            return hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters(INVALID, 0)
        result = super().on_hci_le_set_extended_advertising_parameters_command(command)
        # Bumble reads the octet as an unsigned number; this one sends with 7 dBm at the most.
        wanted = int(command.advertising_tx_power)
        result.selected_tx_power = wanted - 256 if wanted > 127 else min(wanted, 7)
        return result

    def on_hci_le_set_extended_advertising_data_command(self, command):
        self.fragments += 1
        known = self.advertising_sets.get(command.advertising_handle)
        if known and not holds_data(int(known.parameters.advertising_event_properties)):
            return answer(INVALID)
        return super().on_hci_le_set_extended_advertising_data_command(command)

    def on_hci_le_set_extended_advertising_enable_command(self, command):
        for handle in list(self._ends) if not command.advertising_handles else command.advertising_handles:
            if end := self._ends.pop(handle, None):
                end.cancel()
        result = super().on_hci_le_set_extended_advertising_enable_command(command)
        if command.enable:
            limits = zip(
                command.advertising_handles, command.durations, command.max_extended_advertising_events, strict=True
            )
            for handle, duration, events in limits:
                self._limit(handle, duration, events)
        return result

    def _limit(self, handle, duration, events):
        interval = self.advertising_sets[handle].parameters.primary_advertising_interval_min * 0.000625
        limits = []
        if duration:
            limits.append((duration * 0.01, hci.HCI_ErrorCode.ADVERTISING_TIMEOUT_ERROR))
        if events:
            limits.append((events * interval, hci.HCI_ErrorCode.LIMIT_REACHED_ERROR))
        if limits:
            seconds, status = min(limits)
            loop = asyncio.get_running_loop()
            self._ends[handle] = loop.call_later(seconds, self._terminate, handle, status, events)

    def _terminate(self, handle, status, events):
        del self._ends[handle]
        self.advertising_sets[handle].stop()
        self.send_hci_packet(
            hci.HCI_LE_Advertising_Set_Terminated_Event(
                status=status,
                advertising_handle=handle,
                connection_handle=0,
                num_completed_extended_advertising_events=events,
            )
        )

    @property
    def on_air(self):
        """The sets that are on the air."""
        return [each for each in self.advertising_sets.values() if each.enabled]


def holds_data(properties):
    """Whether such PDUs have advertising data."""
    if properties & LEGACY:
        return not properties & DIRECTED
    return not properties & SCANNABLE

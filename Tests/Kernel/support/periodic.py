"""Periodic advertising in controllers: Bumble's keep one fragment of the data, and send nothing of a train's own.

Here a train has its parameters, its data and its own times; a controller that follows it hears each packet in reports
of at most 247 octets, says when it is lost, and says nothing of it that the host has masked (Core 5.4, Vol 4, Part E,
7.8.1, 7.8.61 to 7.8.63 and 7.8.67 to 7.8.69).
"""

import asyncio
from dataclasses import dataclass

from bumble import hci, ll

from .air import EmulatedController

COMMANDS = frozenset(
    {
        hci.HCI_LE_SET_PERIODIC_ADVERTISING_PARAMETERS_COMMAND,
        hci.HCI_LE_SET_PERIODIC_ADVERTISING_DATA_COMMAND,
        hci.HCI_LE_SET_PERIODIC_ADVERTISING_ENABLE_COMMAND,
        hci.HCI_LE_PERIODIC_ADVERTISING_CREATE_SYNC_COMMAND,
        hci.HCI_LE_PERIODIC_ADVERTISING_CREATE_SYNC_CANCEL_COMMAND,
        hci.HCI_LE_PERIODIC_ADVERTISING_TERMINATE_SYNC_COMMAND,
    }
)
DISALLOWED = hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR
UNKNOWN = hci.HCI_ErrorCode.UNKNOWN_ADVERTISING_IDENTIFIER_ERROR
MASKS = {
    hci.HCI_LE_Periodic_Advertising_Sync_Established_Event: 1 << 13,
    hci.HCI_LE_Periodic_Advertising_Report_Event: 1 << 14,
    hci.HCI_LE_Periodic_Advertising_Sync_Lost_Event: 1 << 15,
}
FRAGMENT = 247


def status(code):
    return hci.HCI_StatusReturnParameters(code)


@dataclass
class Train:
    """The train that a set sends beside its advertisements."""

    interval: int = 0
    data: bytes = b""
    enabled: bool = False
    timer: object = None


@dataclass
class TrainInd(ll.AdvExtInd):
    """An advertisement that announces a train."""

    train: Train | None = None


class Periodic(EmulatedController):
    """`trains` are those that it sends, by the handle of their set; `followed` those that it is synchronised with."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | COMMANDS
        self.trains = {}
        self.followed = {}
        self.sought = None

    def send_hci_packet(self, packet):
        mask = MASKS.get(type(packet))
        if mask is None or self.le_event_mask & mask:
            super().send_hci_packet(packet)

    def on_hci_reset_command(self, command):
        for train in self.trains.values():
            if train.timer:
                train.timer.cancel()
        self.trains.clear()
        self.followed.clear()
        self.sought = None
        return super().on_hci_reset_command(command)

    # Sending

    def on_hci_le_set_periodic_advertising_parameters_command(self, command):
        known = self.advertising_sets.get(command.advertising_handle)
        if known is None or known.parameters is None:
            return status(UNKNOWN)
        if int(known.parameters.advertising_event_properties) & 0b111111:
            return status(hci.HCI_ErrorCode.INVALID_COMMAND_PARAMETERS_ERROR)
        train = self.trains.setdefault(command.advertising_handle, Train())
        if train.enabled:
            return status(DISALLOWED)
        train.interval = command.periodic_advertising_interval_max
        return status(0)

    def on_hci_le_set_periodic_advertising_data_command(self, command):
        train = self.trains.get(command.advertising_handle)
        if train is None:
            return status(DISALLOWED)
        train.data = (train.data if command.operation in (0, 2) else b"") + bytes(command.advertising_data)
        return status(0)

    def on_hci_le_set_periodic_advertising_enable_command(self, command):
        if command.advertising_handle not in self.advertising_sets:
            return status(UNKNOWN)
        train = self.trains.get(command.advertising_handle)
        if train is None:
            return status(DISALLOWED if command.enable else 0)
        train.enabled = bool(command.enable & 1)
        self._announce(command.advertising_handle, train)
        return status(0)

    def on_hci_le_remove_advertising_set_command(self, command):
        train = self.trains.get(command.advertising_handle)
        if train and train.enabled:
            return status(DISALLOWED)
        self.trains.pop(command.advertising_handle, None)
        return super().on_hci_le_remove_advertising_set_command(command)

    def on_hci_le_clear_advertising_sets_command(self, command):
        if any(train.enabled for train in self.trains.values()):
            return status(DISALLOWED)
        self.trains.clear()
        return super().on_hci_le_clear_advertising_sets_command(command)

    def _announce(self, handle, train):
        """Makes the set's advertisements announce the train, and sends its packets."""
        known = self.advertising_sets[handle]

        def send():
            known.controller.send_advertising_pdu(
                TrainInd(known.address, bytes(known.data), sid=known.parameters.advertising_sid, train=running)
            )

        running = train if train.enabled else None
        known.send_extended_advertising_data = send
        if train.timer:
            train.timer.cancel()
        if running:
            self._send_packet(known, train)

    def _send_packet(self, known, train):
        for other in self.link.controllers:
            if other is not self and hasattr(other, "followed"):
                other.hear_packet(known.address, known.parameters.advertising_sid, train)
        seconds = train.interval * 0.00125
        train.timer = asyncio.get_running_loop().call_later(seconds, self._send_packet, known, train)

    # Following

    def on_hci_le_periodic_advertising_create_sync_command(self, command):
        if self.sought:
            return self._send_hci_command_status(DISALLOWED, command.op_code)
        self.sought = command
        return self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)

    def on_hci_le_periodic_advertising_create_sync_cancel_command(self, _command):
        if not self.sought:
            return status(DISALLOWED)
        sought, self.sought = self.sought, None
        self._established(sought, hci.HCI_ErrorCode.OPERATION_CANCELLED_BY_HOST_ERROR, 0, 0)
        return status(0)

    def on_hci_le_periodic_advertising_terminate_sync_command(self, command):
        if end := self.followed.pop(command.sync_handle, None):
            end[-1].cancel()
            return status(0)
        return status(UNKNOWN)

    def on_advertising_pdu(self, pdu):
        if not isinstance(pdu, TrainInd):
            return super().on_advertising_pdu(pdu)
        sought = self.sought
        is_sought = sought and (sought.advertiser_address, sought.advertising_sid) == (pdu.advertiser_address, pdu.sid)
        if self.le_scan_enable and pdu.train and is_sought:
            self.sought = None
            handle = 0x10 + len(self.followed)
            self._established(sought, 0, handle, pdu.train.interval)
            self.followed[handle] = (pdu.advertiser_address, pdu.sid, sought.sync_timeout, self._fuse(handle, sought))
        if self.le_scan_enable:
            self.send_hci_packet(hci.HCI_LE_Extended_Advertising_Report_Event([report(pdu)]))

    def _established(self, sought, code, handle, interval):
        self.send_hci_packet(
            hci.HCI_LE_Periodic_Advertising_Sync_Established_Event(
                status=code,
                sync_handle=handle,
                advertising_sid=sought.advertising_sid,
                advertiser_address_type=sought.advertiser_address_type,
                advertiser_address=sought.advertiser_address,
                advertiser_phy=hci.Phy.LE_1M,
                periodic_advertising_interval=interval,
                advertiser_clock_accuracy=0,
            )
        )

    def _fuse(self, handle, sought):
        return asyncio.get_running_loop().call_later(sought.sync_timeout * 0.01, self._lose, handle)

    def _lose(self, handle):
        self.followed.pop(handle, None)
        self.send_hci_packet(hci.HCI_LE_Periodic_Advertising_Sync_Lost_Event(sync_handle=handle))

    def hear_packet(self, address, sid, train):
        """A packet of a train is on the air."""
        for handle, (followed, number, timeout, fuse) in list(self.followed.items()):
            if (followed, number) != (address, sid):
                continue
            fuse.cancel()
            again = asyncio.get_running_loop().call_later(timeout * 0.01, self._lose, handle)
            self.followed[handle] = (followed, number, timeout, again)
            for start in range(0, max(len(train.data), 1), FRAGMENT):
                more = start + FRAGMENT < len(train.data)
                self.send_hci_packet(
                    hci.HCI_LE_Periodic_Advertising_Report_Event(
                        sync_handle=handle,
                        tx_power=127,
                        rssi=-50,
                        cte_type=0xFF,
                        data_status=1 if more else 0,
                        data=train.data[start : start + FRAGMENT],
                    )
                )


def report(pdu):
    """The report of a scan on an advertisement with a train."""
    return hci.HCI_LE_Extended_Advertising_Report_Event.Report(
        event_type=0,
        address_type=pdu.advertiser_address.address_type,
        address=pdu.advertiser_address,
        primary_phy=hci.Phy.LE_1M,
        secondary_phy=hci.Phy.LE_1M,
        advertising_sid=pdu.sid,
        tx_power=127,
        rssi=-50,
        periodic_advertising_interval=pdu.train.interval if pdu.train else 0,
        direct_address_type=0,
        direct_address=hci.Address.ANY,
        data=pdu.data[:229],
    )

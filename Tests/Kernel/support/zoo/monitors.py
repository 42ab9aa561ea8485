"""A controller of Bluetooth 6.0 that monitors advertisers (Core 6.0, Vol 4, Part E, 7.8.146 to 7.8.150).

Enabled, it takes each device of its list to be there, and tells when one was not heard for its time, and when such a
one is heard again. Where duplicates are filtered it reports each advertiser once until its scan ends. Bumble knows
neither.
"""

import asyncio
from dataclasses import dataclass, field

from bumble import hci

from ..air import EmulatedController

ERRORS = hci.HCI_ErrorCode
SIZE = hci.HCI_LE_READ_MONITORED_ADVERTISERS_LIST_SIZE_COMMAND
ENABLE = hci.hci_command_op_code(0x08, 0x009C)
COMMANDS = frozenset(
    {
        hci.HCI_LE_READ_ALL_LOCAL_SUPPORTED_FEATURES_COMMAND,
        hci.HCI_LE_ADD_DEVICE_TO_MONITORED_ADVERTISERS_LIST_COMMAND,
        hci.HCI_LE_CLEAR_MONITORED_ADVERTISERS_LIST_COMMAND,
        SIZE,
        ENABLE,
    }
)
EVENT = 1 << 51


def one(spec=1):
    """A field of one octet, or of this kind."""
    return field(metadata=hci.metadata(spec))


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class Add(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """7.8.146"""

    op_code = hci.HCI_LE_ADD_DEVICE_TO_MONITORED_ADVERTISERS_LIST_COMMAND
    name = "HCI_LE_ADD_DEVICE_TO_MONITORED_ADVERTISERS_LIST_COMMAND"

    address_type: int = one()
    address: bytes = one(6)
    low: int = one(-1)
    high: int = one(-1)
    timeout: int = one()


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class Clear(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """7.8.148"""

    op_code = hci.HCI_LE_CLEAR_MONITORED_ADVERTISERS_LIST_COMMAND
    name = "HCI_LE_CLEAR_MONITORED_ADVERTISERS_LIST_COMMAND"


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class Enable(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """7.8.149"""

    op_code = ENABLE
    name = "HCI_LE_ENABLE_MONITORING_ADVERTISERS_COMMAND"

    enable: int = one()


@dataclass
class Size(hci.HCI_StatusReturnParameters):
    """The number of devices that the list holds."""

    size: int = one()


@hci.HCI_SyncCommand.sync_command(Size)
@dataclass
class ReadSize(hci.HCI_SyncCommand[Size]):
    """7.8.150"""

    op_code = SIZE
    name = "HCI_LE_READ_MONITORED_ADVERTISERS_LIST_SIZE_COMMAND"


@dataclass
class Entry:
    """A device of the list; `timer` runs while it is there."""

    command: Add
    is_awaited: bool = False
    timer: asyncio.TimerHandle | None = None


class Monitors(EmulatedController):
    """`monitored` is the list, by type and address, `is_monitoring` whether it is enabled; `heard` counts what came
    from the air while it scanned, `told` the reports and events of it that the host got."""

    le_features = EmulatedController.le_features | hci.LeFeatureMask.LL_EXTENDED_FEATURE_SET
    list_size = 8

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.supported_commands = self.supported_commands | COMMANDS
        self.monitored = {}
        self.is_monitoring = False
        self.heard = self.told = 0
        self._reported = set()
        self._filters = False

    def on_hci_reset_command(self, command):
        self._stop()
        self.monitored.clear()
        return super().on_hci_reset_command(command)

    def on_hci_le_read_all_local_supported_features_command(self, _command):
        features = (int(self.le_features) | 1 << 64).to_bytes(248, "little")
        return hci.HCI_LE_Read_All_Local_Supported_Features_ReturnParameters(ERRORS.SUCCESS, 1, features)

    def on_hci_le_read_monitored_advertisers_list_size_command(self, _command):
        return Size(ERRORS.SUCCESS, self.list_size)

    def on_hci_le_clear_monitored_advertisers_list_command(self, _command):
        if self.is_monitoring:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        self.monitored.clear()
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_add_device_to_monitored_advertisers_list_command(self, command):
        if self.is_monitoring:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        if command.address_type > 1 or command.timeout == 0 or command.high < command.low:
            return hci.HCI_StatusReturnParameters(ERRORS.INVALID_COMMAND_PARAMETERS_ERROR)
        if len(self.monitored) >= self.list_size:
            return hci.HCI_StatusReturnParameters(ERRORS.MEMORY_CAPACITY_EXCEEDED_ERROR)
        self.monitored[command.address_type, bytes(command.address)] = Entry(command)
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_enable_monitoring_advertisers_command(self, command):
        self._stop()
        self.is_monitoring = bool(command.enable)
        if self.is_monitoring:
            for key in self.monitored:
                self._wait(key)
        return hci.HCI_StatusReturnParameters(ERRORS.SUCCESS)

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self._filters = bool(command.filter_duplicates)
        self._reported.clear()
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def on_advertising_pdu(self, pdu):
        if self.le_scan_enable:
            self.heard += 1
            address = pdu.advertiser_address
            self._monitor((int(not address.is_public), bytes(address)))
        super().on_advertising_pdu(pdu)

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event):
            for report in packet.reports:
                key = bytes(report.address), report.event_type
                if self._filters and key in self._reported:
                    return
                self._reported.add(key)
            self.told += 1
        super().send_hci_packet(packet)

    def _monitor(self, key):
        entry = self.monitored.get(key)
        if not self.is_monitoring or entry is None:
            return
        if entry.is_awaited:
            entry.is_awaited = False
            self._tell(key, 1)
        self._wait(key)

    def _wait(self, key):
        """Begins the time of a device anew."""
        entry = self.monitored[key]
        if entry.timer:
            entry.timer.cancel()
        entry.timer = asyncio.get_running_loop().call_later(entry.command.timeout, self._lose, key)

    def _lose(self, key):
        self.monitored[key].is_awaited, self.monitored[key].timer = True, None
        self._tell(key, 0)

    def _tell(self, key, condition):
        if not self.le_event_mask & EVENT:
            return
        self.told += 1
        kind, address = key
        self.send_hci_packet(bytes([4, hci.HCI_LE_META_EVENT, 9, 0x34, kind]) + address + bytes([condition]))

    def _stop(self):
        self.is_monitoring = False
        for entry in self.monitored.values():
            if entry.timer:
                entry.timer.cancel()
            entry.is_awaited, entry.timer = False, None

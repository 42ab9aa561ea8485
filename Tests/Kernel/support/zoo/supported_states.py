"""Controllers that cannot do everything at once, and the dongle of 2010 that most people still own."""

from bumble import hci

from ..air import ALL_STATES, EmulatedController

# Bits of LE Read Supported States (Core 5.4, Vol 4, Part E, 7.8.27). Directed advertising is left out.
TOGETHER = {
    ("non-connectable", "passive"): 8,
    ("scannable", "passive"): 9,
    ("connectable", "passive"): 10,
    ("non-connectable", "active"): 12,
    ("scannable", "active"): 13,
    ("connectable", "active"): 14,
    ("non-connectable", "initiating"): 16,
    ("scannable", "initiating"): 17,
    ("non-connectable", "central"): 18,
    ("scannable", "central"): 19,
    ("non-connectable", "peripheral"): 20,
    ("scannable", "peripheral"): 21,
    ("passive", "initiating"): 22,
    ("active", "initiating"): 23,
    ("passive", "central"): 24,
    ("active", "central"): 25,
    ("passive", "peripheral"): 26,
    ("active", "peripheral"): 27,
    ("initiating", "central"): 28,
    ("connectable", "initiating"): 32,
    ("connectable", "central"): 35,
    ("connectable", "peripheral"): 38,
    ("initiating", "peripheral"): 41,
}
ADVERTISING = {0: "connectable", 2: "scannable", 3: "non-connectable"}
PASSIVE, ACTIVE = "passive", "active"


def without(*bits):
    """All states but those of these bits."""
    return ALL_STATES & ~sum(1 << bit for bit in bits)


class SupportedStates(EmulatedController):
    """Answers Command Disallowed where its mask forbids what a command would start beside what goes on already.

    `refused` has what was asked for and what it would have come beside.
    """

    states = without(22, 23, 32, 35, 38, 41)

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.refused = []

    def on_hci_command_packet(self, command):
        starts = self._started_by(command)
        for other in self.current() if starts else ():
            if not self.allows(starts, other):
                self.refused.append((starts, other))
                return self.refuse_command(command, hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        super().on_hci_command_packet(command)

    def allows(self, one, other):
        """Whether the mask has both at once."""
        bit = TOGETHER.get((one, other), TOGETHER.get((other, one)))
        return bit is None or bool(self.states >> bit & 1)

    def current(self):
        """The present activities of the controller."""
        now = {("central", "peripheral")[connection.role] for connection in self.le_connections.values()}
        if self.le_scan_enable:
            now.add(self._scan())
        if self.pending_le_connection is not None:
            now.add("initiating")
        if self.le_legacy_advertiser.enabled:
            now.add(self._legacy())
        return now | {kind(each) for each in self.advertising_sets.values() if each.enabled}

    def _started_by(self, command):
        match command:
            case hci.HCI_LE_Set_Scan_Enable_Command(le_scan_enable=1):
                return self._scan()
            case hci.HCI_LE_Set_Extended_Scan_Enable_Command(enable=1):
                return self._scan()
            case hci.HCI_LE_Create_Connection_Command() | hci.HCI_LE_Extended_Create_Connection_Command():
                return "initiating"
            case hci.HCI_LE_Set_Advertising_Enable_Command(advertising_enable=1):
                return self._legacy()
            case hci.HCI_LE_Set_Extended_Advertising_Enable_Command(enable=1):
                started = self.advertising_sets.get(command.advertising_handles[0])
                return kind(started) if started else None

    def _scan(self):
        return ACTIVE if self.le_scan_type else PASSIVE

    def _legacy(self):
        return ADVERTISING.get(self.le_legacy_advertiser.advertising_type)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.le_scan_type = command.scan_types[0]
        return super().on_hci_le_set_extended_scan_parameters_command(command)


def kind(advertising_set):
    """The state of an advertising set: bits 0 and 1 of its properties (Core 5.4, Vol 4, Part E, 7.8.53)."""
    properties = int(advertising_set.parameters.advertising_event_properties)
    return "connectable" if properties & 1 else "scannable" if properties & 2 else "non-connectable"


class Dongle40(SupportedStates):
    """A USB dongle with Bluetooth 4.0: legacy commands, no parameter requests by peripherals, few states at once."""

    hci_version = lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_0
    le_features = hci.LeFeatureMask.LE_ENCRYPTION
    absent = frozenset(range(0x2020, 0x2100))  # What came with 4.1 and later.

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.leaves_parameters_to_hosts = True

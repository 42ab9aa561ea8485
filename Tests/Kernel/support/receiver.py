"""A controller of the kernel whose reception the case decides."""

from bumble import hci

from .air import EmulatedController

CONNECTABLE = hci.HCI_LE_Extended_Advertising_Report_Event.EventType.CONNECTABLE_ADVERTISING


class Receiver(EmulatedController):
    """Hears all devices with the `strength` that is set, in dBm, and takes those of `unconnectable`, a set of
    addresses, for devices that accept no connections; `asked` has whether each scan was to be an active one."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.strength = -50
        self.unconnectable = set()
        self.asked = []

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event):
            for report in packet.reports:
                report.rssi = self.strength
                if report.address.to_string(False) in self.unconnectable:
                    report.event_type &= ~CONNECTABLE
        super().send_hci_packet(packet)

    def on_hci_le_set_scan_parameters_command(self, command):
        self.asked.append(bool(command.le_scan_type))
        return super().on_hci_le_set_scan_parameters_command(command)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self.asked.append(bool(command.scan_types[0]))
        return super().on_hci_le_set_extended_scan_parameters_command(command)

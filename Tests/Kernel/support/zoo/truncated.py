"""A controller that has no room for long advertising data."""

from bumble import hci

from ..air import EmulatedController

TRUNCATED = 0b10 << 5  # Data status of the event type (Core 5.4, Vol 4, Part E, 7.7.65.13).


class Truncated(EmulatedController):
    """Cuts the data of extended reports after `room` octets and says so."""

    room = 10

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event):
            for report in packet.reports:
                if len(report.data) > self.room:
                    report.data = report.data[: self.room]
                    report.event_type |= TRUNCATED
        super().send_hci_packet(packet)

"""Two controllers that hear each other: btvirt's for the kernel, Bumble's for bled's own host."""

from bumble import hci

from . import own_host
from .air import EXTENDED_ADVERTISING, EXTENDED_CREATE, EXTENDED_SCAN, Air, EmulatedController
from .btvirt import Emulator


class Legacy(EmulatedController):
    """A controller with legacy commands alone and packets as long as a real one's. Its scan responses have data;
    Bumble's have none."""

    absent = EXTENDED_ADVERTISING | EXTENDED_SCAN | EXTENDED_CREATE
    le_features = EmulatedController.le_features & ~hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
    le_acl_data_packet_length = 251

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_LE_Advertising_Report_Event):
            for report in packet.reports:
                advertiser = self.link.find_le_controller(report.address)
                if report.event_type == packet.EventType.SCAN_RSP and advertiser is not None:
                    report.data = bytes(advertiser.le_legacy_advertiser.scan_response_data)
            packet = hci.HCI_LE_Advertising_Report_Event(packet.reports)
        super().send_hci_packet(packet)


async def two_adapters(resources, air=None, personality=Legacy):
    """Makes hci0 and hci1; on this air, and of this class, if they are Bumble's."""
    if not own_host.IS_USED:
        await resources.open(Emulator(2))
        return
    air = air or Air()
    for number in range(2):
        await resources.open(await air.adapter(f"F0:F1:F2:F3:F4:0{number}", personality))

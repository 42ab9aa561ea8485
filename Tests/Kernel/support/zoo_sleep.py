"""Controllers of the zoo for systems that sleep and daemons that do not keep up."""

import asyncio

from bumble import hci

from .air import EmulatedController

DISCONNECTION_COMPLETE = 1 << 4  # In the event mask (Core 5.4, Vol 4, Part E, 7.3.1).


class Sleeper(EmulatedController):
    """Honours the event mask. As on the air, a link ends some time after Disconnect, when the event may be masked."""

    LINGER = 0.2

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        # The names of all commands, in order.
        self.heard = []

    @property
    def activities(self):
        """The controller's activities, in words."""
        doing = {
            "scanning": self.le_scan_enable,
            "advertising": any(advertising.enabled for advertising in self.advertising_sets.values()),
            "connecting": self.pending_le_connection is not None,
            "connected": bool(self.le_connections),
        }
        return {word for word, is_so in doing.items() if is_so}

    def on_hci_command_packet(self, command):
        self.heard.append(command.name)
        super().on_hci_command_packet(command)

    def send_hci_packet(self, packet):
        if isinstance(packet, hci.HCI_Disconnection_Complete_Event):
            asyncio.get_running_loop().call_later(self.LINGER, self._end, packet)
        else:
            super().send_hci_packet(packet)

    def _end(self, packet):
        if self.event_mask & DISCONNECTION_COMPLETE:
            super().send_hci_packet(packet)


class Flood(EmulatedController):
    """Can say so much at once that whoever does not read loses what comes then."""

    def flood(self, count):
        """Says so many times that the data length of a link that is not there has changed."""
        nothing = hci.HCI_LE_Data_Length_Change_Event(
            connection_handle=0xEFF, max_tx_octets=27, max_tx_time=328, max_rx_octets=27, max_rx_time=328
        )
        for _ in range(count):
            self.send_hci_packet(nothing)

    def flood_reports(self, count):
        """Says so many times that the same device advertises."""
        report = hci.HCI_LE_Extended_Advertising_Report_Event.Report(
            event_type=hci.HCI_LE_Extended_Advertising_Report_Event.EventType.LEGACY_ADVERTISING_PDU_USED,
            address_type=hci.Address.RANDOM_DEVICE_ADDRESS,
            address=hci.Address("F0:F1:F2:F3:F4:3F"),
            primary_phy=1,
            secondary_phy=0,
            advertising_sid=0xFF,
            tx_power=127,
            rssi=-50,
            periodic_advertising_interval=0,
            direct_address_type=0,
            direct_address=hci.Address.ANY,
            data=b"\x02\x01\x06",
        )
        event = hci.HCI_LE_Extended_Advertising_Report_Event([report])
        for _ in range(count):
            self.send_hci_packet(event)

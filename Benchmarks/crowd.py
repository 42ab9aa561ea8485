"""A controller of the kernel tests that reports many devices, for the benchmarks of scans."""

import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/Kernel"))

from support.air import EmulatedController  # noqa: E402

DEVICES = 50
ADVERTISEMENT = bytes.fromhex("0201061106fb349b5f8000008000100000010ded1b") + bytes.fromhex("06ff4c00100501")
RESPONSE = bytes.fromhex("0a095468696e67203030") + bytes.fromhex("05ffffff0102")


class Crowd(EmulatedController):
    """Reports the devices while a scan is on, one after the other, with the events that belong to the command that
    started it. A legacy advertisement and its scan response each time, with a signal strength that varies."""

    # Advertising events a second, of all devices together.
    rate = 250

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.events = 0
        self.scanning = asyncio.Event()
        self._task = None
        self._packets = {
            report: [[pair(report, number, rssi) for rssi in range(-90, -50)] for number in range(DEVICES)]
            for report in (legacy_report, extended_report)
        }

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self._scan(command.enable, extended_report)
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def on_hci_le_set_scan_enable_command(self, command):
        self._scan(command.le_scan_enable, legacy_report)
        return super().on_hci_le_set_scan_enable_command(command)

    def _scan(self, enable, report):
        if self._task:
            self._task.cancel()
            self._task = None
        self.scanning.clear()
        if enable:
            self._task = asyncio.create_task(self._advertise(self._packets[report]))
            self.scanning.set()

    async def _advertise(self, packets):
        loop = asyncio.get_running_loop()
        at = loop.time()
        while self.rate:
            at += 1 / self.rate
            await asyncio.sleep(at - loop.time())
            of_device = packets[self.events % DEVICES]
            for packet in of_device[self.events * 7 // DEVICES % len(of_device)]:
                self.host.on_packet(packet)
            self.events += 1


def pair(report, number, rssi):
    """The two packets of an advertising event."""
    address = bytes([number, 0, 0, 0, 0, 0xC0])
    return report(address, False, ADVERTISEMENT, rssi), report(address, True, RESPONSE, rssi)


def legacy_report(address, is_response, data, rssi):
    """An LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2)."""
    kind = 4 if is_response else 0
    return meta_event(bytes([0x02, 1, kind, 1]) + address + bytes([len(data)]) + data + bytes([rssi & 0xFF]))


def extended_report(address, is_response, data, rssi):
    """An LE Extended Advertising Report of a legacy PDU (Core 5.4, Vol 4, Part E, 7.7.65.13)."""
    kind = 0x1B if is_response else 0x13
    sent = bytes([1, 0, 0xFF, 127, rssi & 0xFF, 0, 0]) + bytes(7)
    return meta_event(bytes([0x0D, 1, kind, 0, 1]) + address + sent + bytes([len(data)]) + data)


def meta_event(parameters):
    """A packet with an LE Meta event."""
    return bytes([0x04, 0x3E, len(parameters)]) + parameters

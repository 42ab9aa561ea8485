"""bled's controller: one of Bumble's, whose answers a script replaces, with as many buffers as a row says."""

import asyncio
import functools

from bumble import hci
from support.air import EmulatedController

from .row import choose, octets, script, unused

NOP = "0e010000"
RESET = hci.HCI_RESET_COMMAND


class Raw:
    """A packet as it is."""

    def __init__(self, octets_):
        self._octets = octets_

    def __bytes__(self):
        return self._octets


def event(digits):
    """An event with this code and these parameters."""
    code, *parameters = octets(digits)
    return Raw(bytes([0x04, code, len(parameters), *parameters]))


class ScriptedController(EmulatedController):
    """Follows `script`. With `buffers`, it has that many for LE data, and one is free again after `airtime` seconds:
    `in_flight` is the number of those in use, `most_in_flight` the largest there was. `commands` has what came."""

    script = ""
    buffers = 0
    airtime = 0.01

    def __init__(self, *arguments, **named):
        if self.buffers:
            self.total_num_le_acl_data_packets = self.buffers
        super().__init__(*arguments, **named)
        self._rules = script(self.script)
        self.commands = []
        self.in_flight = self.most_in_flight = 0
        self._is_deaf = False

    def unused(self):
        """The patterns of the script that nothing fitted."""
        return unused(self._rules)

    def is_in(self, state):
        """Returns true if it does this now."""
        return {
            "scanning": self.le_scan_enable,
            "advertising": self.le_legacy_advertiser.enabled
            or any(each.enabled for each in self.advertising_sets.values()),
            "scanning-extended": self.le_scan_enable and self._scans_extended,
            "linked": bool(self.le_connections),
            "initiating": self.pending_le_connection is not None,
        }[state]

    def on_hci_command_packet(self, command):
        text = bytes(command)[1:3].hex() + bytes(command)[4:].hex()
        self.commands.append(text)
        if command.op_code == hci.HCI_LE_SET_EVENT_MASK_COMMAND:
            self._is_deaf = False
        found = choose(self._rules, text, state=self.is_in)
        polite = functools.partial(super().on_hci_command_packet, command)
        self.follow(found.answers if found else ["polite"], polite, command)

    def follow(self, words, polite=lambda: None, command=None):
        """Follows words of a script."""
        for place, word in enumerate(words):
            if word.startswith("pause:"):
                rest = words[place + 1 :]
                asyncio.get_running_loop().call_later(float(word[6:]), self.follow, rest, polite, command)
                return
            self._do(word, polite, command)

    def _do(self, word, polite, command):
        match word.split(":"):
            case ["nothing"]:
                pass
            case ["polite"]:
                polite()
            case ["status", code]:
                self.refuse_command(command, int(code, 16))
            case ["pending"]:
                self._send_hci_command_status(0, command.op_code)
            case ["return", digits]:
                self.send_raw("0e01" + command.op_code.to_bytes(2, "little").hex() + digits)
            case ["event", digits]:
                self.send_raw(digits)
            case ["nop"]:
                self.send_raw(NOP)
            case ["forgets"]:
                self.forget()
            case ["stops-scanning"]:
                self.le_scan_enable = False
            case _:
                raise ValueError(f"no word of a controller's script: {word}")

    def send_raw(self, digits):
        """Sends an event whatever the rules say. LINK in it is the handle of the first link."""
        links = [connection.handle for connection in self.le_connections.values()]
        handle = (links[0] if links else 0xEFF).to_bytes(2, "little").hex()
        super().send_hci_packet(event(digits.replace("LINK", handle)))

    def forget(self):
        """Restarts, as after a brown-out: all settings are lost, and it does not report that."""
        super().on_hci_reset_command(hci.HCI_Reset_Command())
        # LE Meta events are masked then (Core 5.4, Vol 4, Part E, 7.3.1).
        self._is_deaf = True

    def send_hci_packet(self, packet):
        if self._is_deaf and isinstance(packet, hci.HCI_LE_Meta_Event):
            return
        if isinstance(packet, hci.HCI_Event):
            octets_ = bytes(packet)
            text = octets_[1:2].hex() + octets_[3:].hex()
            if found := choose(self._rules, text, is_out=True, state=self.is_in):
                return self.follow(found.answers, functools.partial(super().send_hci_packet, packet))
        super().send_hci_packet(packet)

    def on_hci_acl_data_packet(self, packet):
        connection = self.find_connection_by_handle(packet.connection_handle) if self.buffers else None
        if connection is None:
            return super().on_hci_acl_data_packet(packet)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        connection.assembler.feed_packet(packet)
        asyncio.get_running_loop().call_later(self.airtime, self._free, connection)

    def _free(self, connection):
        self.in_flight -= 1
        if connection.peer_address in self.le_connections:
            self.send_hci_packet(
                hci.HCI_Number_Of_Completed_Packets_Event(
                    connection_handles=[connection.handle], num_completed_packets=[1]))

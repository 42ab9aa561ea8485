"""A controller that now and then answers Command Disallowed for no reason that anybody knows."""

import random

from bumble import hci

from ..air import EmulatedController

LE = 0x08  # The group of the LE commands (Core 5.4, Vol 4, Part E, 5.4.1).
OTHERS = {hci.HCI_DISCONNECT_COMMAND, hci.HCI_READ_RSSI_COMMAND}


class Refusals(EmulatedController):
    """Refuses LE commands, Disconnect and Read RSSI: those that `refuse` picks, and others by chance."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.refused = []  # The names of the commands that were refused.
        self._countdown = 0
        self._opcodes = None
        self._chance = None

    def refuse(self, nth=1, *opcodes):
        """Refuses the nth command from now on, of those with one of these opcodes if any are given."""
        self._countdown = nth
        self._opcodes = set(opcodes)

    def refuse_by_chance(self, seed, one_in):
        """Refuses one command in this many, in the order given by the seed; none if `one_in` is 0."""
        self._chance = (random.Random(seed), one_in) if one_in else None

    def on_hci_command_packet(self, command):
        if self._is_unlucky(command.op_code):
            self.refused.append(command.name)
            return self.refuse_command(command, hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        super().on_hci_command_packet(command)

    def _is_unlucky(self, opcode):
        if opcode >> 10 != LE and opcode not in OTHERS:
            return False
        if self._countdown and (not self._opcodes or opcode in self._opcodes):
            self._countdown -= 1
            if self._countdown == 0:
                return True
        if self._chance is None:
            return False
        generator, one_in = self._chance
        return generator.randrange(one_in) == 0

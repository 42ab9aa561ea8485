"""A controller that takes its time."""

import asyncio
from collections import deque

from ..air import EmulatedController


class Slow(EmulatedController):
    """Executes and answers each command only after `delay` seconds, one after the other."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.delay = 0
        self._commands = deque()

    def on_hci_command_packet(self, command):
        if not self.delay and not self._commands:
            return super().on_hci_command_packet(command)
        self._commands.append(command)
        if len(self._commands) == 1:
            self._wait()

    def _wait(self):
        asyncio.get_running_loop().call_later(self.delay, self._execute)

    def _execute(self):
        super().on_hci_command_packet(self._commands[0])
        self._commands.popleft()
        if self._commands:
            self._wait()

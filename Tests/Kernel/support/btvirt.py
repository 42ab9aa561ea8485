"""BlueZ's emulator: LE controllers with legacy commands, linked to each other. It reports an advertisement once, when
it begins, so what is to be heard again must begin again."""

import signal

from .management import Management
from .tools import Program, run


class Emulator(Program):
    """btvirt with a number of controllers, which the kernel calls hci0, hci1 …"""

    def __init__(self, count):
        super().__init__("btvirt", "-L", f"-l{count}")

    async def kill(self):
        """Takes all its controllers away at once."""
        await self.end(signal.SIGKILL)


class Beacon:
    """Advertises, not connectable, with HCI commands on an adapter that nobody else uses."""

    def __init__(self, adapter):
        self.adapter = adapter

    async def start(self):
        """Powers the adapter and sets the parameters."""
        async with Management(self.adapter) as management:
            await management.power_on()
        # Interval 100 ms, not connectable, public address, all channels, no filter.
        await self._command(0x0006, "a000a00003000000000000000700")

    async def say(self, text):
        """Advertises this text as the data of company 0xFFFF."""
        data = b"\xff\xff\xff" + text.encode()
        data = bytes([len(data)]) + data
        await self._command(0x000A, "00")
        await self._command(0x0008, bytes([len(data)]).hex() + data.ljust(31, b"\0").hex())
        await self._command(0x000A, "01")

    async def _command(self, code, parameters):
        octets = [parameters[at : at + 2] for at in range(0, len(parameters), 2)]
        await run("hcitool", "-i", self.adapter, "cmd", "0x08", f"{code:#06x}", *octets)

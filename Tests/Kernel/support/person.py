"""People at a device of Bumble that pairs."""

import asyncio

from bumble.pairing import PairingDelegate


class Person(PairingDelegate):
    """A person at the other device: numbers shown are put into a queue, numbers typed are taken from another."""

    def __init__(self, capability):
        super().__init__(capability)
        self.shown = asyncio.Queue()
        self.typed = asyncio.Queue()

    async def compare_numbers(self, number, digits):
        self.shown.put_nowait(f"{number:0{digits}}")
        return True

    async def display_number(self, number, digits):
        self.shown.put_nowait(f"{number:0{digits}}")

    async def get_number(self):
        return int(await self.typed.get())

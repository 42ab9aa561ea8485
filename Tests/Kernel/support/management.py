"""BlueZ's btmgmt, for adapters that bled does not use."""

from .tools import Program


class Management(Program):
    """btmgmt on one adapter."""

    def __init__(self, adapter):
        super().__init__("btmgmt")
        self.adapter = adapter

    async def __aenter__(self):
        await super().__aenter__()
        self.type(f"select {self.adapter}")
        return self

    async def power_on(self):
        """Switches the adapter on; waits for it first if it is not there yet."""
        while True:
            self.type("power on")
            answer = await self.wait_for("Set Powered complete|Invalid Index")
            if "complete" in answer.group():
                return
            await self.wait_for(f"{self.adapter} added")

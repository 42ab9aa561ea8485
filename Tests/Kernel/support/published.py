"""A service that a client of bled publishes, with a value of every kind, and what devices did to it."""

import asyncio

SERVICE = "B1ED1001-0000-4000-8000-00805F9B34FB"
FIXED = "B1ED1002-0000-4000-8000-00805F9B34FB"
ASKED = "B1ED1003-0000-4000-8000-00805F9B34FB"
NOTIFIED = "B1ED1004-0000-4000-8000-00805F9B34FB"
INDICATED = "B1ED1005-0000-4000-8000-00805F9B34FB"
NAME = "bled here"
FIXED_VALUE = b"fixed"
LONG_VALUE = bytes(index * 11 % 256 for index in range(300))


class Published:
    """The service, owned by one client, which answers its reads and writes."""

    @classmethod
    async def add(cls, client):
        """Publishes it."""
        self = cls()
        self.client = client
        self.value = LONG_VALUE
        self.written = asyncio.Queue()
        client.answer("server.read", self._read)
        client.answer("server.write", self._write)
        characteristics = [
            {"uuid": FIXED, "properties": ["read"], "value": FIXED_VALUE.hex()},
            {"uuid": ASKED, "properties": ["read", "write", "writeWithoutResponse"]},
            {"uuid": NOTIFIED, "properties": ["read", "notify"]},
            {"uuid": INDICATED, "properties": ["indicate"]},
        ]
        result = await client.call("service.add", service={"uuid": SERVICE, "characteristics": characteristics})
        self.handles = {each["uuid"]: each["handle"] for each in result["service"]["characteristics"]}
        return self

    async def advertise(self, adapter):
        """Advertises under NAME with the heart rate service, which is short enough to leave room for both."""
        return await self.begin_advertising(adapter)

    def begin_advertising(self, adapter):
        """Sends the call of `advertise`, and gives the future of its result."""
        return self.client.start("advertising.start", adapter=adapter, name=NAME, services=["180D"])

    async def subscribed(self, uuid):
        """Waits for a subscriber of the characteristic."""
        handle = self.handles[uuid]
        return await self.client.next("server.subscribed", lambda event: event["handle"] == handle)

    async def notify(self, uuid, value):
        """Sends a new value to the subscribers."""
        return await self.client.call("server.notify", handle=self.handles[uuid], value=value.hex())

    def _read(self, params):
        return {"value": self.value[params["offset"] :].hex()}

    def _write(self, params):
        for write in params["writes"]:
            self.value = bytes.fromhex(write["value"])
            self.written.put_nowait(self.value)
        return {}

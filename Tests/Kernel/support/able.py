"""bled with two sessions, a device and a phone: all their controllers have a feature, which their hosts use."""

import asyncio
import contextlib
from dataclasses import dataclass

from bumble.device import Peer

from .air import Adapter, Air
from .daemon import Daemon
from .waiting import until

HUB = "F0:F1:F2:F3:F4:00"
ADDRESS = "F0:F1:F2:F3:F4:01"
PHONE = "F0:F1:F2:F3:F4:02"
SERVICE = "B1ED0020-0000-4000-8000-00805F9B34FB"
VALUE = "B1ED0021-0000-4000-8000-00805F9B34FB"


@dataclass
class Able:
    """bled on hci0 with two sessions, a device that advertises, and a phone."""

    adapter: Adapter
    client: object
    other: object
    device: object
    phone: object

    @classmethod
    async def make(cls, resources, personality, host_feature):
        """Gives all controllers this personality; the hosts of the other two send this command first."""
        air = Air()
        adapter = await resources.open(await air.adapter(HUB, personality))
        device = await air.device("Bumble device", ADDRESS, personality=personality)
        phone = await air.device("Bumble phone", PHONE, personality=personality)
        for each in (device, phone):
            await each.send_sync_command(host_feature)
        await device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)
        daemon = await resources.open(Daemon(resources, "hci0"))
        client, other = await daemon.client(), await daemon.client()
        await daemon.until_on(client)
        return cls(adapter, client, other, device, phone)

    async def connect(self, session=None, **params):
        """Connects a session, the first one if none is given; gives the identifier of the device."""
        connected = await (session or self.client).call(
            "peripheral.connect", address=ADDRESS, addressType="random", timeout=60, **params
        )
        return connected["peripheral"]

    async def until_ended(self):
        """Waits until the device has no link; what the sessions heard of it is forgotten."""
        await until(lambda: not self.device.connections)
        for session in (self.client, self.other):
            session.forget("peripheral.parametersChanged")

    @contextlib.asynccontextmanager
    async def visit(self):
        """The phone connects and uses a service of the first session, which has wishes for that link from then on.
        Gives the phone's connection, and the phone's identifier."""
        centrals = []

        def read(params):
            centrals.append(params["central"])
            return {"value": "00"}

        self.client.answer("server.read", read)
        service = {"uuid": SERVICE, "characteristics": [{"uuid": VALUE, "properties": ["read"]}]}
        added = (await self.client.call("service.add", service=service))["service"]
        advertising = await self.client.call("advertising.start", name="bled here")
        connection = await asyncio.wait_for(self.phone.connect(f"{HUB}/P"), 60)
        await connection.get_remote_le_features()
        await Peer(connection).gatt_client.read_value(added["characteristics"][0]["handle"])
        yield connection, centrals[0]
        await connection.disconnect()
        await self.client.call("advertising.stop", advertising=advertising["advertising"])
        await self.client.call("service.remove", handle=added["handle"])

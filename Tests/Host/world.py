"""bled as the host of an emulated controller: Bumble's, which it reaches over a socket, with Bumble's own host as the
device at the other end. No kernel takes part."""

import asyncio
import json
import os
import pathlib
import shutil
import sys
import tempfile

from bumble.core import AdvertisingData
from bumble.transport import open_transport

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("BLED_PROGRAMS", ROOT / ".build/debug"))
# The time without activity after which a program counts as hung, in seconds. No result depends on it.
PATIENCE = float(os.environ.get("BLED_TEST_PATIENCE", 120))

sys.path[:0] = [str(ROOT / "Tests/Client"), str(ROOT / "Tests/Kernel")]
from session import Session  # noqa: E402
from support.air import Air, EmulatedController  # noqa: E402

FAR = "F1:F2:F3:F4:F5:F6"
NAME = "far end"
NEAR = "01:02:03:04:05:06"


class World:
    """An air with bled's controller and a device; `async with` starts both. With the air of another world there is no
    other device. `configuration` is the device's, `settings` are those of bled."""

    def __init__(self, transport="unix", configuration=None, air=None, address=NEAR, settings=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bled-host-"))
        self.kind = transport
        self.configuration = configuration
        self.settings = settings or {}
        self.air = air or Air()
        self.address = address
        self.far = None
        self.has_device = air is None
        self.session = None
        self.transport = None
        self.controller = None

    async def __aenter__(self):
        if self.has_device:
            self.far = await self.air.device(NAME, FAR, configuration=self.configuration)
            self.far.gatt_server.max_mtu = 517
        await self.plug_in()
        await self._start()
        return self

    async def __aexit__(self, *_):
        if self.session:
            self.session.__exit__()
        self.daemon.terminate()
        await asyncio.wait_for(self.daemon.wait(), PATIENCE)
        await self.unplug()
        shutil.rmtree(self.folder)

    async def plug_in(self):
        """Offers bled's controller. A port that is 0 is any that is free."""
        if self.kind == "unix":
            path = self.folder / "hci"
            path.unlink(missing_ok=True)
            self.transport = await open_transport(f"unix-server:{path}")
            self.adapter = f"h4:unix:{path}"
        else:
            port = self.adapter.rpartition(":")[2] if self.controller else "0"
            self.transport = await open_transport(f"tcp-server:127.0.0.1:{port}")
            port = self.transport.server.sockets[0].getsockname()[1] if port == "0" else port
            self.adapter = f"h4:tcp:{port}"
        self.controller = EmulatedController(
            "near", host_source=self.transport.source, host_sink=self.transport.sink, link=self.air,
            public_address=self.address)

    async def unplug(self):
        """The controller and its transport vanish."""
        self.transport.server.close()
        if connection := self.transport.sink.transport:
            connection.close()
        self.air.remove_controller(self.controller)

    async def _start(self):
        state, self.socket = self.folder / "state", self.folder / "bled.sock"
        state.mkdir()
        settings = self.folder / "bled.json"
        settings.write_text(json.dumps(self.settings))
        reader, writer = os.pipe()
        self.daemon = await asyncio.create_subprocess_exec(
            PROGRAMS / "bled", "--adapter", self.adapter, "--socket", self.socket, "--state-directory", state,
            "--config", settings, "--ready-fd", str(writer), pass_fds=[writer],
            env=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
        os.close(writer)
        with open(reader, "rb") as ready:
            assert await self.thread(ready.read) == b"READY=1\n", "bled is ready"
        self.session = await self.thread(Session, str(self.socket), name="test")
        await self.state("on")

    @staticmethod
    async def thread(function, *arguments, **named):
        """A call that waits, beside the controllers, which run on this thread."""
        return await asyncio.wait_for(asyncio.to_thread(function, *arguments, **named), PATIENCE)

    async def call(self, method, **params):
        return await self.thread(self.session.call, method, within=PATIENCE, **params)

    async def next(self, method):
        return await self.thread(self.session.next, method, within=PATIENCE)

    async def state(self, wanted):
        """Waits until the adapter has a state; returns the adapter."""
        while (adapter := (await self.call("adapter.list"))["adapters"][0])["state"] != wanted:
            await self.next("adapter.changed")
        return adapter

    async def change(self, wanted):
        """Waits until the adapter is reported to have a state."""
        while (await self.next("adapter.changed"))["state"] != wanted:
            pass

    async def report(self, name):
        """Waits until a device of this name is reported."""
        while (report := await self.next("scan.report")).get("name") != name:
            pass
        return report

    async def advertise(self, name=NAME):
        """Has the far end advertise a name."""
        await self.far.start_advertising(
            advertising_data=bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())])),
            auto_restart=True)

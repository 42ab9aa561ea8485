"""The daemon under test: the binary that `make build` made."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile

from . import own_host
from .cases import Failure
from .client import Client
from .tools import DIST, run


class Daemon:
    """bled on the given adapters, with a socket, a state folder, a configuration and a log of its own."""

    def __init__(self, resources, *adapters, capable=True, configuration=None):
        self.adapters = adapters
        self.prefix = () if capable else ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
        self.folder = tempfile.mkdtemp(prefix="bled-")
        resources.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.socket = os.path.join(self.folder, "bled.sock")
        self.log = os.path.join(self.folder, "bled.log")
        self.configuration = os.path.join(self.folder, "bled.json")
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump(configuration or {}, file)
        self.clients = []
        self._resources = resources
        resources.logs.append(self.log)

    async def __aenter__(self):
        """Starts it and returns when it says that it is ready."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, open(self.log, "ab") as log:
            path = os.path.join(self.folder, "notify")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            ready.bind(path)
            ready.setblocking(False)
            arguments = [
                argument
                for adapter in self.adapters
                for argument in ("--adapter", own_host.adapter(adapter))
            ]
            self.process = await asyncio.create_subprocess_exec(
                *self.prefix,
                os.path.join(DIST, "bled"),
                *arguments,
                "--config",
                self.configuration,
                "--socket",
                self.socket,
                "--log-level",
                "debug",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ
                | {"NOTIFY_SOCKET": path, "STATE_DIRECTORY": self.folder, "SWIFT_BACKTRACE": "enable=no"},
            )
            ended = asyncio.create_task(self.process.wait())
            try:
                async with asyncio.timeout(60):
                    while True:
                        message = asyncio.create_task(asyncio.get_running_loop().sock_recv(ready, 4096))
                        await asyncio.wait([message, ended], return_when=asyncio.FIRST_COMPLETED)
                        if not message.done():
                            message.cancel()
                            raise Failure(f"bled ended with status {self.process.returncode} before it was ready")
                        if b"READY=1" in message.result().split(b"\n"):
                            break
            except TimeoutError:
                raise Failure("bled did not say that it is ready within 60 s") from None
        return self

    async def __aexit__(self, *_):
        await self.stop()

    async def stop(self):
        """Asks it to end, and waits for that."""
        if self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                await self.process.wait()
        if self.process.returncode is None:
            self.process.kill()
            raise Failure("bled did not end within 30 s of SIGTERM")

    async def restart(self):
        """Ends it in order, and starts it again with the same folders; gives a new session, the adapter is on."""
        await self.stop()
        await self.__aenter__()
        client = await self.client()
        await self.until_on(client)
        return client

    async def session(self):
        """A session that ends with its context."""
        return await Client.connect(self.socket)

    async def client(self):
        """A session that ends with the stage."""
        self.clients.append(await self._resources.open(await self.session()))
        return self.clients[-1]

    async def until_on(self, client, adapter=None, seconds=60):
        """Waits until the adapter, or the only one, works; gives its description."""
        return await self.until_state(client, "on", adapter, seconds)

    async def until_state(self, client, state, adapter=None, seconds=60):
        """Waits until the adapter, or the only one, has this state; gives its description."""

        def fits(description):
            return description["state"] == state and adapter in (None, description["adapter"])

        client.forget("adapter.changed")
        listed = (await client.call("adapter.list"))["adapters"]
        now = next((description for description in listed if fits(description)), None)
        return now or await client.next("adapter.changed", fits, seconds)

    async def bleshell(self, *arguments, seconds=60, ok=(0,)):
        """Runs one command of bleshell against this daemon and gives what it printed."""
        return await run(
            os.path.join(DIST, "bleshell"), *arguments, "--socket", self.socket, seconds=seconds, ok=ok
        )

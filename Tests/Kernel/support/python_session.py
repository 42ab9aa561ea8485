"""A session of the tests' own client, which receives descriptors."""

import asyncio
import os
import sys
from dataclasses import dataclass

from .air import Air
from .daemon import Daemon
from .main_things import ADDRESS, hub_and_belt
from .peripheral import Peripheral
from .tools import ROOT

sys.path.insert(0, os.path.join(ROOT, "Tests/Client"))
from session import Session  # noqa: E402


@dataclass
class PythonSession:
    """The daemon on hci0, the session, whose calls block, and a peripheral, which advertises at ADDRESS on that air."""

    air: Air
    daemon: Daemon
    session: Session
    peripheral: Peripheral

    @classmethod
    async def open(cls, resources):
        """Makes all three."""
        air, peripheral, daemon = await hub_and_belt(resources)
        session = await asyncio.to_thread(Session, daemon.socket)
        resources.callback(session.__exit__, None, None, None)
        return cls(air, daemon, session, peripheral)

    async def call(self, method, **params):
        """Calls a method in a thread."""
        return await asyncio.to_thread(self.session.call, method, 60, **params)

    async def next(self, method):
        """Waits in a thread for the next event of this name."""
        return await asyncio.to_thread(self.session.next, method, 60)

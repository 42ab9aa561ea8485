"""Bluetooth LE on Linux through the daemon bled.

    import asyncio, bled

    async def main():
        async with bled.connect() as client:
            async for report in client.scan(services=["180D"]):
                print(report.name, report.rssi)
                break

    asyncio.run(main())

The types of the messages are here, too: `bled.ScanReport`, `bled.ServiceToPublish`.
"""

from bled import protocol
from bled.client import Client
from bled.errors import (
    ATTError,
    BledError,
    CallError,
    ConnectTimeout,
    DaemonError,
    DaemonUnreachable,
    GAPError,
    HCIError,
    LimitReached,
    NotConnected,
    NotPermitted,
    ProtocolViolation,
    TooSlow,
)
from bled.link import Attribute, Channel, Link, Values
from bled.listening import Listener
from bled.pairing import Confirmation, PasskeyEntry
from bled.pipe import Pipe
from bled.protocol import *  # noqa: F403
from bled.restoring import Restored
from bled.serving import Advertisement, Published, ReadRequest, ServerEvent, WriteRequest
from bled.session import connect
from bled.stream import Full, Opening, Source, Stream

__version__ = "0.2.0"

__all__ = [
    "ATTError",
    "Advertisement",
    "Attribute",
    "BledError",
    "CallError",
    "Channel",
    "Client",
    "Confirmation",
    "ConnectTimeout",
    "DaemonError",
    "DaemonUnreachable",
    "Full",
    "GAPError",
    "HCIError",
    "LimitReached",
    "Link",
    "Listener",
    "NotConnected",
    "NotPermitted",
    "Opening",
    "PasskeyEntry",
    "Pipe",
    "ProtocolViolation",
    "Published",
    "ReadRequest",
    "Restored",
    "ServerEvent",
    "Source",
    "Stream",
    "TooSlow",
    "Values",
    "WriteRequest",
    "connect",
]
__all__ += protocol.__all__

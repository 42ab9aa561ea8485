"""The programs of Examples, and what hears them."""

import asyncio
import os

from bumble.core import AdvertisingData

from support.cases import expect
from support.tools import ROOT, Program

PROGRAMS = os.path.join(ROOT, "Examples/.build/debug")


def example(daemon, name, *arguments):
    """A program of Examples that uses this daemon; it tells each line as it comes."""
    path = os.path.join(PROGRAMS, name)
    expect(os.access(path, os.X_OK), f"there is no {path}: run 'make examples'")
    return Program("env", f"BLED_SOCKET={daemon.socket}", "stdbuf", "-oL", path, *arguments)


async def hear(phone, name):
    """Scans until an advertisement with this name is heard; gives it."""
    heard = asyncio.get_running_loop().create_future()

    def advertisement(found):
        if found.data.get(AdvertisingData.COMPLETE_LOCAL_NAME) == name and not heard.done():
            heard.set_result(found)

    phone.on(phone.EVENT_ADVERTISEMENT, advertisement)
    await phone.start_scanning()
    found = await asyncio.wait_for(heard, 60)
    await phone.stop_scanning()
    return found

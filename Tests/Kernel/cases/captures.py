"""Group 14: recordings of the kernel's adapter, as tshark reads them."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass

from support import peripheral as p
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.peripheral import Peripheral

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Examples/python"))
import bled  # noqa: E402

ADDRESS = "F0:F1:F2:F3:F4:01"
FIELDS = ["frame.interface_name", "btatt.opcode", "btatt.value", "bthci_acl.src.bd_addr", "frame.comment"]


@dataclass
class Given:
    """The daemon, a session of the Python client, whose calls block, and the peripheral, which advertises."""

    daemon: Daemon
    session: bled.Session
    peripheral: Peripheral


@stage(14, "captures")
async def captures(resources):
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    await daemon.until_on(await daemon.client())
    session = await asyncio.to_thread(bled.Session, daemon.socket)
    resources.callback(session.__exit__, None, None, None)
    return Given(daemon, session, peripheral)


async def call(given, method, **params):
    """Calls a method in a thread."""
    return await asyncio.to_thread(given.session.call, method, 60, **params)


def whole(descriptor):
    """What a pipe holds until its end."""
    with open(descriptor, "rb") as pipe:
        return pipe.read()


@captures.case("the kernel's packets are recorded with the adapter, what was read, and who asked for it")
async def reading(given):
    # tshark shows the values of characteristics that it knows in fields of their own.
    given.peripheral.stored = b"\x5a\x5b"
    capture = await call(given, "capture.start", format="pcapng")
    recording = asyncio.create_task(asyncio.to_thread(whole, capture["descriptor"]))
    connected = await call(given, "peripheral.connect", address=ADDRESS, addressType="random")
    read = await call(given, "gatt.read", peripheral=connected["peripheral"], characteristic=p.WRITABLE)
    expect_equal(read["value"], "5a5b", "the value")
    await call(given, "peripheral.disconnect", peripheral=connected["peripheral"])
    counts = await call(given, "capture.stop", capture=capture["capture"])
    octets = await asyncio.wait_for(recording, 60)
    expect(counts["lost"] == 0 and counts["packets"] > 10, f"{counts} were recorded")
    path = os.path.join(given.daemon.folder, "a.pcapng")
    with open(path, "wb") as file:
        file.write(octets)
    fields = [word for field in FIELDS for word in ("-e", field)]
    shown = await asyncio.to_thread(
        subprocess.run, ["tshark", "-r", path, "-T", "fields", *fields], capture_output=True, text=True, timeout=120
    )
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    expect(any(line[:4] == ["hci0", "0x0b", "5a5b", ADDRESS.lower()] for line in lines), f"no Read Response: {lines}")
    expect(any("gatt.read" in line[-1] and "python" in line[-1] for line in lines), f"no note: {lines}")

"""Group 14: recordings of the kernel's adapter, as tshark reads them."""

import asyncio
import os
import subprocess

from support import peripheral as p
from support.cases import expect, expect_equal, stage
from support.python_session import ADDRESS, PythonSession

FIELDS = ["frame.interface_name", "btatt.opcode", "btatt.value", "bthci_acl.src.bd_addr", "frame.comment"]


@stage(14, "captures")
async def captures(resources):
    return await PythonSession.open(resources)


def whole(descriptor):
    """What a pipe holds until its end."""
    with open(descriptor, "rb") as pipe:
        return pipe.read()


@captures.case("the kernel's packets are recorded with the adapter, what was read, and who asked for it")
async def reading(given):
    # tshark shows the values of characteristics that it knows in fields of their own.
    given.peripheral.stored = b"\x5a\x5b"
    capture = await given.call("capture.start", format="pcapng")
    recording = asyncio.create_task(asyncio.to_thread(whole, capture["descriptor"]))
    connected = await given.call("peripheral.connect", address=ADDRESS, addressType="random")
    read = await given.call("gatt.read", peripheral=connected["peripheral"], characteristic=p.WRITABLE)
    expect_equal(read["value"], "5a5b", "the value")
    await given.call("peripheral.disconnect", peripheral=connected["peripheral"])
    counts = await given.call("capture.stop", capture=capture["capture"])
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

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
    """The content of a pipe until its end."""
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
    lines = await shown(given, octets)
    expect(any(line[:4] == ["hci0", "0x0b", "5a5b", ADDRESS.lower()] for line in lines), f"no Read Response: {lines}")
    notes = [number for number, line in enumerate(lines) if "gatt.read" in line[-1] and "python" in line[-1]]
    expect(notes, f"no note: {lines}")
    # The characteristic had to be found: its first request is the next packet of ATT.
    after = [line[1] for line in lines[notes[0] + 1 :] if line[1]]
    expect(after[0] in ("0x04", "0x06", "0x08", "0x10"), f"not directly before a request: {after}")


async def shown(given, octets):
    """A recording as tshark shows it: the fields of each packet."""
    path = os.path.join(given.daemon.folder, "a.pcapng")
    with open(path, "wb") as file:
        file.write(octets)
    fields = [word for field in FIELDS for word in ("-e", field)]
    result = await asyncio.to_thread(
        subprocess.run, ["tshark", "-r", path, "-T", "fields", *fields], capture_output=True, text=True, timeout=120
    )
    return [line.split("\t") for line in result.stdout.splitlines()]


@captures.case("the notes of two calls that share a link stand directly before their requests")
async def sharing(given):
    given.peripheral.stored = b"\x5a\x5b"
    connected = await given.call("peripheral.connect", address=ADDRESS, addressType="random")
    peripheral = connected["peripheral"]
    found = await given.call("gatt.read", peripheral=peripheral, characteristic=p.WRITABLE)
    capture = await given.call("capture.start", format="pcapng")
    recording = asyncio.create_task(asyncio.to_thread(whole, capture["descriptor"]))
    # All at once: five of them wait for the others.
    clients = [await given.daemon.client() for _ in range(2)]
    for client in clients:
        await client.call("peripheral.connect", peripheral=peripheral)
    reads = [client.start("gatt.read", peripheral=peripheral, handle=found["handle"]) for client in clients * 3]
    for value in await asyncio.gather(*reads):
        expect_equal(value["value"], "5a5b", "the value")
    await given.call("capture.stop", capture=capture["capture"])
    lines = await shown(given, await asyncio.wait_for(recording, 60))
    story = [line[1] or "note" for line in lines if line[1] in ("0x0a", "0x0b") or "gatt.read" in line[-1]]
    expect_equal(story, ["note", "0x0a", "0x0b"] * 6, f"the order in {lines}")
    await given.call("peripheral.disconnect", peripheral=peripheral)

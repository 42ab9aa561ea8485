"""Group 5: Home Assistant's library, on bled-esphome and a real kernel."""

import os
import tempfile
from dataclasses import dataclass

from support.cases import expect_equal, stage
from support.main_things import ADDRESS, hub_and_belt
from support.peripheral import Peripheral
from support.tools import DIST, ROOT, Program, run

PYTHON = os.path.join(ROOT, ".build/home/bin/python")
PROXY = "127.0.0.1"


@dataclass
class Given:
    """bled-esphome with its key, and a peripheral."""

    resources: object
    peripheral: Peripheral
    key: str


@stage(5, "a proxy for Home Assistant")
async def proxy(resources):
    _, peripheral, daemon = await hub_and_belt(resources)
    folder = tempfile.mkdtemp()
    program = os.path.join(DIST, "bled-esphome")
    serving = await resources.open(Program(program, "--socket", daemon.socket, "--state-directory", folder))
    await serving.wait_for("waits for clients on port")
    return Given(resources, peripheral, (await run(program, "--show-key", "--state-directory", folder)).strip())


@proxy.case("aioesphomeapi: advertisements, services, values both ways, the device's end of the link, pairing")
async def client(given):
    path = os.path.join(ROOT, "Tests/Home/programs/real_proxy.py")
    program = await given.resources.open(Program(PYTHON, "-B", "-u", path, PROXY, given.key, ADDRESS))
    await program.wait_for("^heard")
    await program.wait_for("subscribed")
    await given.peripheral.notify(b"\x00\x55")
    await given.peripheral.indicate(b"\x01")
    expect_equal(await given.peripheral.written.get(), b"with a response", "the first value that was written")
    expect_equal(await given.peripheral.written.get(), b"without", "the second")
    [connection] = given.peripheral.device.connections.values()
    await connection.disconnect()
    await program.wait_for("disconnected")
    await program.wait_for("paired")
    await program.wait_for("done")

"""Group 3: a file goes from one adapter to another, as nearby sessions carry it."""

import os
import random
from dataclasses import dataclass

from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.legacy import two_adapters
from support.own_host import adapter
from support.tools import DIST, Program


@dataclass
class Given:
    """bled on hci0 and hci1."""

    daemon: Daemon


@stage(3, "nearby sessions")
async def nearby(resources):
    await two_adapters(resources)
    daemon = await resources.open(Daemon(resources, "hci0", "hci1"))
    client = await daemon.client()
    for name in ("hci0", "hci1"):
        await daemon.until_on(client, name)
    return Given(daemon)


@nearby.case("a file is found, offered and received whole; one of the same name is kept beside it")
async def files(given):
    folder = os.path.join(given.daemon.folder, "inbox")
    os.mkdir(folder)
    source = os.path.join(given.daemon.folder, "picture.bin")
    for number, name in enumerate(("picture.bin", "picture (2).bin")):
        content = random.Random(number).randbytes(200_000)
        with open(source, "wb") as file:
            file.write(content)
        receiver = Program(
            os.path.join(DIST, "bleshell"), "receive", folder, "--once", "--yes-from", "bob", "--name", "alice",
            "--adapter", adapter("hci1"), "--socket", given.daemon.socket,
        )  # fmt: skip
        async with receiver:
            sent = await given.daemon.bleshell(
                "send", source, "--to", "alice", "--yes", "--name", "bob", "--adapter", adapter("hci0"),
                "--timeout", "120", seconds=300,
            )  # fmt: skip
            expect("picture.bin" in sent, f"bleshell send: {sent}")
            await receiver.wait_for("picture", 60)
            expect_equal(await receiver.process.wait(), 0, "the status of bleshell receive")
        with open(os.path.join(folder, name), "rb") as file:
            expect(file.read() == content, f"{name} is not what was sent")
    expect_equal(len(os.listdir(folder)), 2, "the files of the folder")

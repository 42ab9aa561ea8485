"""matter_controller.py NUMBER: the CHIP SDK's controller, on the adapter hciNUMBER of org.bluez. Each line of standard
input calls a function of Controller with numbers; its name with "done" and the result, or with "failed" and the error,
is the answer, as soon as there is one."""

import asyncio
import logging
import mmap
import pathlib
import sys

import chip

LIBRARY = pathlib.Path(chip.__file__).with_name("_ChipDeviceCtrl.so")


def keep_state_here():
    """The library has absolute paths compiled in for its state, and nothing changes them. They become paths in the
    folder in which this program runs: of the same length, since they are changed where they stand."""
    changes = {
        b"/data/chip_factory.ini\0": b"data//chip_factory.ini\0",
        b"/data/chip_config.ini\0": b"data//chip_config.ini\0",
        b"/data/chip_counters.ini\0": b"data//chip_counters.ini\0",
        b"/tmp/chip_kvs\0": b"data/chip_kvs\0",
    }
    with LIBRARY.open("r+b") as file, mmap.mmap(file.fileno(), 0) as image:
        for old, new in changes.items():
            if (place := image.find(old)) >= 0:
                image[place : place + len(old)] = new
            assert image.find(new) >= 0, f"{LIBRARY} has no {old}"
    pathlib.Path("data").mkdir()


keep_state_here()
import chip.clusters  # noqa: E402
import chip.logging  # noqa: E402
import chip.native  # noqa: E402
from chip.CertificateAuthority import CertificateAuthorityManager  # noqa: E402
from chip.ChipStack import ChipStack  # noqa: E402


class Controller:
    """The functions that lines of standard input call."""

    def __init__(self, controller):
        self._controller = controller
        # One with a session would not be connected to again.
        self._node = 1

    async def session(self, discriminator, passcode):
        """Finds the device, connects, and agrees on keys (PASE)."""
        self._node += 1
        await self._controller.EstablishPASESessionBLE(passcode, discriminator, self._node)

    async def commission(self, discriminator, passcode):
        self._node += 1
        await self._controller.ConnectBLE(discriminator, passcode, self._node)

    async def read(self, times):
        """Reads all of the Basic Information cluster."""
        cluster = chip.clusters.BasicInformation
        for _ in range(times):
            result = await self._controller.ReadAttribute(self._node, [(0, cluster)])
        return result[0][cluster][cluster.Attributes.ProductName]

    async def write(self, length):
        """Sends a command with this many octets."""
        commands = chip.clusters.OperationalCredentials.Commands
        await self._controller.SendCommand(self._node, 0, commands.AddTrustedRootCertificate(bytes(length)))


async def main():
    # The log is long, and written by threads that must not wait for a reader of standard output.
    logging.basicConfig(filename="log", level=logging.DEBUG)
    chip.native.Init(bluetoothAdapter=int(sys.argv[1]))
    chip.logging.RedirectToPythonLogging()
    stack = ChipStack("storage.json", enableServerInteractions=False)
    authorities = CertificateAuthorityManager(stack, stack.GetStorageManager())
    fabric = authorities.NewCertificateAuthority().NewFabricAdmin(vendorId=0xFFF1, fabricId=1)
    controller = Controller(fabric.NewController(nodeId=1))
    print("ready", flush=True)
    calls = set()
    while line := (await asyncio.to_thread(sys.stdin.readline)).split():
        calls.add(asyncio.create_task(call(controller, *line)))


async def call(controller, name, *numbers):
    try:
        print(name, "done", await getattr(controller, name)(*map(int, numbers)), flush=True)
    except Exception as error:
        print(name, "failed", type(error).__name__, error, flush=True)


asyncio.run(main())

#!/usr/bin/env python3
"""emulated_air.py SCENARIO FOLDER ADAPTERS: plays the devices of a scenario with Bumble, around controllers for bled's
own host at the sockets hci0, hci1 … in the folder. At the socket `control`, which is there when everything is, the line
`disconnect NAME` has a device end its link, `vanish NAME` and `comeBack NAME` have it go out of range, with its link,
and come back; the answer is `done`, or the error. It ends with the program that started it, or at SIGTERM.
EMULATED_AIR_LOG=debug prints what Bumble does."""

import asyncio
import logging
import os
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/Kernel")]

from bumble.transport import open_transport  # noqa: E402
from emulation.description import NotEmulated, check, parse  # noqa: E402
from emulation.device import EmulatedDevice  # noqa: E402
from emulation.phone import Phone  # noqa: E402
from emulation.radio import Radio  # noqa: E402
from support.air import Air  # noqa: E402

# Adapters have these addresses, from the second on with other last octets.
ADDRESS = "02:B1:ED:00:00:00"


async def offer(air, path, number, description):
    """A controller for bled."""
    check(description, "links", "advertisingSets", "advertisingDataLength", "mtu")
    transport = await open_transport(f"unix-server:{path}")
    radio = Radio(
        f"adapter {number}", host_source=transport.source, host_sink=transport.sink, link=air,
        public_address=f"{ADDRESS[:-2]}{number:02X}")
    radio.is_adapter = True
    radio.links = description.get("links", 64)
    radio.sets = description.get("advertisingSets", 4)
    radio.mtu = description.get("mtu", 517)
    radio.length = description.get("advertisingDataLength", 31)
    return transport


async def control(devices, reader, writer):
    """Carries out the commands of the test."""
    while line := (await reader.readline()).decode().strip():
        command, _, name = line.partition(" ")
        try:
            match command:
                case "disconnect":
                    await devices[name].disconnect()
                case "vanish":
                    devices[name].vanish()
                case "comeBack":
                    devices[name].come_back()
                case _:
                    raise NotEmulated(command)
            answer = "done"
        except Exception as error:  # The test tells it.
            answer = repr(error)
        writer.write(f"{answer}\n".encode())
        await writer.drain()
    writer.close()


async def orphaned(parent):
    """Returns when the program that started this one has ended."""
    while os.getppid() == parent:
        await asyncio.sleep(1)


async def main(scenario, folder, count):
    parent = os.getppid()
    description = parse(pathlib.Path(scenario).read_text(encoding="utf-8"))
    check(description, "adapter", "devices", "phones", "seed")
    Radio.seed = description.get("seed", Radio.seed)
    folder = pathlib.Path(folder)
    air = Air()
    transports = [
        await offer(air, folder / f"hci{number}", number, description.get("adapter", {})) for number in range(count)
    ]
    devices = {each["name"]: EmulatedDevice(air, each) for each in description.get("devices", [])}
    phones = [Phone(air, each) for each in description.get("phones", [])]
    for each in [*devices.values(), *phones]:
        await each.start()
    visits = [asyncio.ensure_future(phone.run()) for phone in phones]
    await asyncio.start_unix_server(lambda *streams: control(devices, *streams), folder / "control")
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    _, waiting = await asyncio.wait(
        {asyncio.ensure_future(end.wait()), asyncio.ensure_future(orphaned(parent))},
        return_when=asyncio.FIRST_COMPLETED)
    for task in [*waiting, *visits]:
        task.cancel()
    for transport in transports:
        transport.server.close()


if __name__ == "__main__":
    level = os.environ.get("EMULATED_AIR_LOG", "error").upper()
    logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=level)
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

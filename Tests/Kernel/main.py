"""Runs the cases inside the virtual machine: python main.py GROUPS [TEXT]

GROUPS is a list such as 1,2,3; TEXT chooses cases by a part of their name, or a whole group by its number.
With BLED_OWN_HOST=1 it runs those that do without a kernel, with bled's own host in its place, outside the machine.
BLED_LEFT_OUT names a file with patterns of cases that do not apply.
"""

import asyncio
import contextlib
import importlib
import logging
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bumble.hci import HCI_Error  # noqa: E402
from machine import Results  # noqa: E402
from support import cases, own_host  # noqa: E402

# A file with patterns of cases that do not apply.
LEFT_OUT = own_host.LEFT_OUT if own_host.IS_USED else os.environ.get("BLED_LEFT_OUT")
ALIVE_EVERY = 5  # Seconds between two signs of life.

MODULES = {
    1: ["bumble_peripheral", "corebluetooth"],
    2: ["bumble_central", "gatttool_central", "silent_central", "corebluetooth"],
    3: ["two_adapters", "pending_connects", "nearby"],
    4: ["vanishing_adapter", "adapter_trouble"],
    5: ["bluetoothd", "user_channel", "bluez_programs", "home_assistant"],
    6: ["systemd"],
    7: [
        "zoo",
        "zoo_personalities",
        "zoo_turns",
        "zoo_families",
        "zoo_quirks",
        "zoo_refusals",
        "zoo_limits",
        "presence",
        "sleep",
        "losses",
        "disturbed",
        "zoo_walk",
    ],
    8: [
        "pairing",
        "pairing_policy",
        "out_of_band",
        "privacy",
        "own_privacy",
        "pairing_attacks",
        "phone_attacks",
        "bonded_phone",
    ],
    9: ["scan_filters"],
    10: ["gatt_in_full"],
    11: ["link_parameters"],
    12: ["advertising_in_full", "periodic"],
    13: ["l2cap_channels", "enhanced_channels", "corebluetooth_channels"],
    14: ["bulk_values", "captures", "enhanced_bearers"],
    15: ["beacons", "subrating", "short_intervals"],
    16: ["clumsy_peers"],
    17: ["clumsy_peers"],
    18: ["hid", "midi"],
}


def complain(loop, context):
    """Reports unhandled exceptions, except those of Bumble's host when it asks about a link that has just ended."""
    if not isinstance(context.get("exception"), HCI_Error):
        loop.default_exception_handler(context)


async def tell_alive():
    """Prints the lines by which Tests/Kernel/vm knows that the machine is alive."""
    while True:
        print(".", flush=True)
        await asyncio.sleep(ALIVE_EVERY)


async def main(groups, wanted):
    asyncio.get_running_loop().set_exception_handler(complain)
    # Bumble's controller warns of packets that meet the end of their link, which is as it should be.
    logging.getLogger("bumble").setLevel(logging.ERROR)
    for group in groups:
        for module in MODULES[group]:
            importlib.import_module(f"cases.{module}")
    results = Results(os.environ.get("OUT", "/out"))
    leaves_out = cases.left_out(LEFT_OUT) if LEFT_OUT else lambda _: False
    surroundings = "host" if own_host.IS_USED else ".".join(os.uname().release.split(".")[:2])
    runner = cases.Runner(surroundings, wanted, results, leaves_out)
    async with contextlib.AsyncExitStack() as stack:
        if not own_host.IS_USED:
            stack.callback(asyncio.create_task(tell_alive()).cancel)
        # A module may have stages of several groups.
        for stage in cases.stages:
            if stage.group in groups:
                await runner.run(stage)
    results.add("end")
    if own_host.IS_USED:
        print(f"{len(results.verdicts()) - runner.failed} passed, {runner.failed} failed")
    return runner.failed


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[1].split(",")]
    sys.exit(1 if asyncio.run(main(numbers, sys.argv[2] if len(sys.argv) > 2 else "")) else 0)

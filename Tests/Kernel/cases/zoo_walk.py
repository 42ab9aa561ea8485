"""Group 7: a random walk over the zoo (`make test-kernel CASE=walk ZOO_SEED=… ZOO_STEPS=…`).

Without a seed it is the same walk every time, since a change is not to be refused for an older fault; ZOO_SEED=random
looks for those.
"""

import os
import random
from dataclasses import dataclass

from support import zoo
from support.air import Air
from support.cases import stage
from support.daemon import Daemon
from support.peripheral import Peripheral
from support.zoo.truth import Ear
from support.zoo.walk import DEVICES, Walk

GIVEN = os.environ.get("ZOO_SEED") or "1007"
SEED = random.SystemRandom().randrange(1 << 32) if GIVEN == "random" else int(GIVEN)
STEPS = int(os.environ.get("ZOO_STEPS") or 60)
SCRIPT = os.environ.get("ZOO_TRACE")
PERSONALITIES = [zoo.Strict, zoo.ConnectionEvents, zoo.Truncated, zoo.Addressless]


@dataclass
class World:
    """bled on hci0, devices, a phone, and another program."""

    adapter: object
    daemon: Daemon
    peripherals: list
    phone: object
    ear: Ear
    disturber: object


@stage(7, "a random walk")
async def walk(resources):
    air = Air()
    personality = random.Random(SEED).choice(PERSONALITIES)
    print(f"ZOO_SEED={SEED} ZOO_STEPS={STEPS}: {personality.__name__}", flush=True)
    walker = type("Walker", (zoo.Slow, zoo.Refusals, personality), {})
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", walker))
    peripherals = [await Peripheral.make(air, f"Device {each}", f"F0:F1:F2:F3:F4:1{each}") for each in range(DEVICES)]
    for each in peripherals:
        await each.advertise()
    phone = await air.device("Bumble phone", "F0:F1:F2:F3:F4:02")
    daemon = await resources.open(Daemon(resources, "hci0"))
    await daemon.until_on(await daemon.client())
    disturber = await resources.open(zoo.Disturber())
    return World(adapter, daemon, peripherals, phone, Ear(air), disturber)


@walk.case(f"{STEPS} steps: what is wanted is what is, and every call is answered once", deadline=max(600, 6 * STEPS))
async def steps(given):
    await Walk(given, SEED).go(STEPS, SCRIPT)

"""Groups 16 and 17: the clumsy and hostile peers of Tests/Host/kit, with the kernel's host, without the rows that the
kernel answers itself. Group 17 has those that wait for a time limit."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Host"))

from kit.rows import ROWS
from kit.scene import Scene
from support.cases import stage


@stage(16, "clumsy peers")
async def together(resources):
    return await Scene.open(resources)


def alone(row):
    """The stage of a row that needs a controller or a daemon for itself."""

    @stage(17 if row.slow else 16, "clumsy peers, alone")
    async def build(resources):
        return await Scene.open(resources, row)

    return build


def add(row):
    """Adds a row as a case."""

    async def case(scene):
        await scene.play(row)

    (alone(row) if row.is_alone else together).case(row.situation)(case)


for each in ROWS:
    if not each.kernel:
        add(each)

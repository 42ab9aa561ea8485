"""Conditions, and events of Bumble's links, that a case waits for, with deadlines."""

import asyncio
import inspect


async def until(condition, seconds=60):
    """Waits until a condition, which may have to be awaited, gives something; gives that."""
    async with asyncio.timeout(seconds):
        while True:
            value = condition()
            if inspect.isawaitable(value):
                value = await value
            if value:
                return value
            await asyncio.sleep(0.05)


class First:
    """The first of some events of a link, from now on."""

    def __init__(self, connection, *events):
        self._future = asyncio.get_running_loop().create_future()
        for event in events:
            connection.once(event, lambda *_: self._future.done() or self._future.set_result(None))

    async def happens(self, seconds=60):
        """Waits for it."""
        await asyncio.wait_for(self._future, seconds)

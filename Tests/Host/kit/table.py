"""Runs rows with bled's own host, and prints how each ended."""

import asyncio
import contextlib
import sys
import time
import traceback

from bumble.hci import HCI_Error
from support.cases import Failure, Resources

from .scene import Scene, play_alone

# Rows with a bled of their own that run at once, beside the rows that mostly wait.
AT_ONCE = 2
# So many failures have one cause: the rows behind them, half a minute each, would show nothing else.
MOST_FAILURES = 10
COLOURS = {"ok": 32, "FAILED": 31, "known": 33, "mended": 31}


class Table:
    """The results: a line each, as soon as it is there."""

    def __init__(self, output=sys.stdout):
        self._output = output
        self.bad = 0
        self.count = 0

    def complain(self, loop, context):
        """Reports mistakes of the kit itself; Bumble's hosts have many exceptions with such peers."""
        error = context.get("exception")
        frames = traceback.extract_tb(error.__traceback__) if error else []
        if any("/kit/" in frame.filename for frame in frames) and not isinstance(error, HCI_Error):
            self.bad += 1
            loop.default_exception_handler(context)

    def give_up(self):
        """Notes that the rest is not played."""
        print(f"{MOST_FAILURES} rows failed: the rest is not played", file=self._output, flush=True)

    def add(self, row, seconds, failure):
        """Notes how a row ended."""
        verdict = {(True, False): "FAILED", (True, True): "known", (False, True): "mended"}.get(
            (failure is not None, bool(row.fails)), "ok")
        self.count += 1
        self.bad += verdict in ("FAILED", "mended")
        text = f"\x1b[{COLOURS[verdict]}m{verdict}\x1b[0m" if self._output.isatty() else verdict
        print(f"{row.situation:<92} {row.source:<19} {seconds:5.1f} s  {text}", file=self._output)
        if verdict == "FAILED":
            print(f"    {failure}", file=self._output)
        elif verdict == "known":
            print(f"    {row.fails}", file=self._output)
        elif verdict == "mended":
            print("    it passes: remove `fails` from the row", file=self._output)
        self._output.flush()


async def attempt(table, row, play):
    """Plays a row, and notes how it ended."""
    began = time.monotonic()
    failure = None
    try:
        await play(row)
    except Failure as error:
        failure = str(error)
    except Exception:  # Whatever it is, the other rows go on.
        failure = traceback.format_exc().rstrip().replace("\n", "\n    ")
    table.add(row, time.monotonic() - began, failure)
    return failure is None


async def run_together(table, rows):
    """Plays rows one after the other with one bled, or with another one behind a row that failed."""
    resources = scene = None
    failures = 0
    for row in rows:
        if failures == MOST_FAILURES:
            return table.give_up()
        if scene is None:
            resources = Resources()
            scene = await Scene.open(resources)
        if not await attempt(table, row, scene.play):
            failures += 1
            await resources.aclose()
            scene = None
    if scene:
        await resources.aclose()


async def run(rows):
    """Plays rows; gives the table."""
    table = Table()
    asyncio.get_running_loop().set_exception_handler(table.complain)
    gate = asyncio.Semaphore(AT_ONCE)

    async def alone(row):
        async with contextlib.nullcontext() if row.slow else gate:
            await attempt(table, row, play_alone)

    together = [row for row in rows if not row.is_alone]
    await asyncio.gather(run_together(table, together), *(alone(row) for row in rows if row.is_alone))
    return table

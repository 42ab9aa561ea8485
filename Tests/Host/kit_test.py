#!/usr/bin/env python3
"""kit_test.py [TEXT]: plays clumsy and hostile peers to bled's own host, those with TEXT in their line of the table."""

import asyncio
import logging
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("BLED_PROGRAMS", ".build/debug")
os.environ["BLED_OWN_HOST"] = "1"
sys.path[:0] = [str(ROOT / "Tests/Kernel")]

from kit.rows import ROWS  # noqa: E402
from kit.table import run  # noqa: E402


async def main(text):
    """Plays the rows; gives the status."""
    # Bumble reports every violation, and these peers consist of violations.
    logging.disable(logging.CRITICAL)
    began = time.monotonic()
    chosen = [row for row in ROWS if text.lower() in f"{row.situation} {row.source}".lower()]
    table = await run(chosen)
    print(f"{table.count - table.bad} of {table.count} situations as they should be, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if table.bad else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "")))

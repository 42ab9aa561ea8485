#!/usr/bin/env python3
"""Sends a device many values and reads many, over a descriptor: a thousand packets to a device that sends them back.

bled --adapter simulated &
python3 Examples/python/bulk.py
"""

import asyncio
import sys

import bled

ADDRESS = "C0:DE:00:00:00:04"
ECHO = "B1ED0002-5EED-4B1E-8D00-000000000000"
COUNT = 1000
# How many are on their way.
WINDOW = 16


async def main() -> None:
    last = b""
    async with bled.connect() as client, client.link(ADDRESS, timeout=20) as link:
        # A packet is a value, both ways. `send` waits while the link has no room; values that are not read are dropped
        # in the end, and `dropped` counts them.
        async with link.acquire(ECHO) as pipe:
            length = pipe.maximum_length // 2 * 2
            for number in range(COUNT + WINDOW):
                if number < COUNT:
                    await pipe.send(number.to_bytes(2, "little") * (length // 2))
                if number >= WINDOW:
                    last = await pipe.receive() or b""
    print(f"{COUNT} values of {length} octets went there and came back.")
    print(f"The last one was {int.from_bytes(last[:2], 'little')}.")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except bled.BledError as error:
        sys.exit(f"bulk.py: {error}")

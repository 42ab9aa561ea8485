#!/usr/bin/env python3
"""Opens an L2CAP channel to a device that sends back what it receives, and shows that nothing is lost.

bled --adapter simulated &
python3 Examples/python/l2cap_echo.py
"""

import asyncio
import sys

import bled

PSM = 128
OCTETS = bytes(range(256)) * 128


async def main() -> None:
    async with bled.connect() as client, client.link(name="Echo", timeout=20) as link:
        # Leaving the block closes the channel.
        async with link.open_channel(PSM) as channel:
            print(f"Channel {channel.description.channel} takes packets of {channel.description.send_mtu} octets.")
            # Two programs that only write would wait for each other.
            sending = asyncio.create_task(channel.send(OCTETS))
            received = bytearray()
            while len(received) < len(OCTETS):
                received += await anext(channel)
            await sending
        print(f"{len(received)} octets came back{' unchanged' if received == OCTETS else ', but others'}.")
    print("Disconnected.")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except bled.BledError as error:
        sys.exit(f"l2cap_echo.py: {error}")

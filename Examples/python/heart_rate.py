#!/usr/bin/env python3
"""Finds a heart rate sensor, connects, reads where it is worn, and prints five values.

bled --adapter simulated &
python3 Examples/python/heart_rate.py
"""

import asyncio
import struct
import sys

import bled

HEART_RATE = "180D"
MEASUREMENT = "2A37"
LOCATION = "2A38"
LOCATIONS = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]


def beats(value: bytes) -> int:
    """The heart rate in a Heart Rate Measurement, in beats per minute: 8 or 16 bits, as the first flag says."""
    rate: int = struct.unpack_from("<H" if value[0] & 1 else "<B", value, 1)[0]
    return rate


async def main() -> None:
    async with bled.connect() as client:
        print(f"Connected to {client.session.daemon}.")

        async with client.scan(services=[HEART_RATE]) as reports:
            report = await anext(reports)
        strength = "?" if report.rssi is None else report.rssi
        print(f"Found {report.name or report.address} at {strength} dBm.")

        async with client.link(report, timeout=20) as link:
            print(f"Linked with an MTU of {link.mtu}.")
            for service in await link.discover():
                print(f"  {service.uuid}: {', '.join(c.uuid for c in service.characteristics or ())}")

            print(f"Worn: {LOCATIONS[(await link.read(LOCATION))[0]]}.")

            async with link.subscribe(MEASUREMENT) as values:
                for _ in range(5):
                    print(f"{beats(await anext(values))} beats per minute")
        print("Disconnected.")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except bled.BledError as error:
        sys.exit(f"heart_rate.py: {error}")

#!/usr/bin/env python3
"""Finds a heart rate sensor, connects, reads where it is worn, and prints five values.

    bled --adapter simulated &
    python3 Examples/python/heart_rate.py
"""

import struct
import sys

from bled import CallFailed, Session

HEART_RATE = "180D"
MEASUREMENT = "2A37"
LOCATION = "2A38"
LOCATIONS = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]


def beats(value):
    """The heart rate in a Heart Rate Measurement, in beats per minute: 8 or 16 bits, as the first flag says."""
    return struct.unpack_from("<H" if value[0] & 1 else "<B", value, 1)[0]


def find(services, uuid):
    """The characteristic with this UUID, in any service."""
    return next(c for service in services for c in service["characteristics"] if c["uuid"] == uuid)


def main():
    with Session(name="heart_rate.py") as session:
        print(f"Connected to {session.daemon['daemon']}.")

        session.call("scan.start", services=[HEART_RATE])
        report = session.next("scan.report")
        session.call("scan.stop")
        print(f"Found {report.get('name', report['address'])} at {report.get('rssi', '?')} dBm.")

        link = session.call("peripheral.connect", peripheral=report["peripheral"], timeout=20)
        device = link["peripheral"]
        print(f"Linked with an MTU of {link['mtu']}.")

        services = session.call("gatt.discover", peripheral=device)["services"]
        for service in services:
            print(f"  {service['uuid']}: {', '.join(c['uuid'] for c in service['characteristics'])}")

        # Values are identified by the handle of their characteristic, and sent as hex digits.
        location = session.call("gatt.read", peripheral=device, handle=find(services, LOCATION)["handle"])
        print(f"Worn: {LOCATIONS[bytes.fromhex(location['value'])[0]]}.")

        measurement = find(services, MEASUREMENT)["handle"]
        session.call("gatt.subscribe", peripheral=device, handle=measurement)
        for _ in range(5):
            value = session.next("gatt.value")
            print(f"{beats(bytes.fromhex(value['value']))} beats per minute")

        session.call("peripheral.disconnect", peripheral=device)
        session.next("peripheral.disconnected")
        print("Disconnected.")


if __name__ == "__main__":
    try:
        main()
    except (CallFailed, OSError) as error:
        sys.exit(f"heart_rate.py: {error}")

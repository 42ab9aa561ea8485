#!/usr/bin/env python3
"""Sends a device many values and reads many, over a descriptor: a thousand packets to a device that sends them back.

    bled --adapter simulated &
    python3 Examples/python/bulk.py
"""

import socket
import sys

from bled import CallFailed, Session

ADDRESS = "C0:DE:00:00:00:04"
ECHO = "B1ED0002-5EED-4B1E-8D00-000000000000"
COUNT = 1000
# How many are on their way.
WINDOW = 16


def main():
    with Session(name="bulk.py") as session:
        device = session.call("peripheral.connect", address=ADDRESS, timeout=20)["peripheral"]
        acquired = session.call("gatt.acquire", peripheral=device, characteristic=ECHO)
        length = acquired["maximumLength"] // 2 * 2
        # A packet is a value, both ways. What the link has no room for makes send wait; what nobody reads is dropped in
        # the end, which gatt.valuesDropped tells.
        with socket.socket(fileno=acquired["descriptor"]) as pipe:
            pipe.settimeout(30)
            for number in range(COUNT + WINDOW):
                if number < COUNT:
                    pipe.send(number.to_bytes(2, "little") * (length // 2))
                if number >= WINDOW:
                    last = pipe.recv(512)
        # Closing the descriptor has released the characteristic.
        print(f"{COUNT} values of {length} octets went there and came back.")
        print(f"The last one was {int.from_bytes(last[:2], 'little')}.")
        session.call("peripheral.disconnect", peripheral=device)


if __name__ == "__main__":
    try:
        main()
    except (CallFailed, OSError) as error:
        sys.exit(f"bulk.py: {error}")

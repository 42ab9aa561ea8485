#!/usr/bin/env python3
"""Publishes a stream of samples, and passes the phone that subscribes many of them over a descriptor.

    bled --adapter simulated &
    python3 Examples/python/stream.py
"""

import socket
import sys

from bled import CallFailed, Session

SERVICE = "B1ED0010-5EED-4B1E-8D00-000000000000"
SAMPLES = "B1ED0011-5EED-4B1E-8D00-000000000000"
COUNT = 200


def main():
    with Session(name="stream.py") as session:
        characteristics = [{"uuid": SAMPLES, "properties": ["notify"]}]
        session.call("service.add", service={"uuid": SERVICE, "characteristics": characteristics})
        session.call("advertising.start", name="Samples", services=[SERVICE])
        phone = session.next("server.subscribed", within=60)
        acquired = session.call("server.acquire", central=phone["central"], handle=phone["handle"])
        length = acquired["maximumLength"] // 2 * 2
        with socket.socket(fileno=acquired["descriptor"]) as pipe:
            pipe.settimeout(30)
            # A packet is a value. What the link has no room for makes send wait.
            for number in range(COUNT):
                pipe.send(number.to_bytes(2, "little") * (length // 2))
            # The end comes back when all of them are sent, or the phone has left.
            pipe.shutdown(socket.SHUT_WR)
            pipe.recv(512)
        try:
            released = session.next("server.released", within=0.1)
            print(f"The phone has left; {released['unsent']} of {COUNT} values were not sent.")
        except TimeoutError:
            print(f"{COUNT} values of {length} octets went to the phone.")


if __name__ == "__main__":
    try:
        main()
    except (CallFailed, OSError) as error:
        sys.exit(f"stream.py: {error}")

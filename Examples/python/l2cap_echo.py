#!/usr/bin/env python3
"""Opens an L2CAP channel to a device that sends back what it receives, and shows that nothing is lost.

    bled --adapter simulated &
    python3 Examples/python/l2cap_echo.py
"""

import socket
import sys
import threading

from bled import CallFailed, Session

PSM = 128
OCTETS = bytes(range(256)) * 128


def main():
    with Session(name="l2cap_echo.py") as session:
        device = session.call("peripheral.connect", name="Echo", timeout=20)["peripheral"]
        channel = session.call("l2cap.open", peripheral=device, psm=PSM)
        print(f"Channel {channel['channel']} takes packets of {channel['sendMTU']} octets.")

        # Closing the socket closes the channel.
        with socket.socket(fileno=channel["descriptor"]) as octets:
            # Two programs that only write would wait for each other.
            sender = threading.Thread(target=octets.sendall, args=(OCTETS,), daemon=True)
            sender.start()
            received = bytearray()
            while len(received) < len(OCTETS):
                part = octets.recv(65536)
                if not part:
                    raise ConnectionError("the channel ended")
                received += part
            sender.join()
        print(f"{len(received)} octets came back{' unchanged' if received == OCTETS else ', but others'}.")

        session.next("l2cap.closed")
        session.call("peripheral.disconnect", peripheral=device)
        print("Disconnected.")


if __name__ == "__main__":
    try:
        main()
    except (CallFailed, OSError) as error:
        sys.exit(f"l2cap_echo.py: {error}")

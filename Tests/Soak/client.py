"""One client of the soak run, a separate process: client.py MANNER SOCKET SEED. It runs until it is done or killed."""

import json
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Client"))
from session import CallFailed, Session  # noqa: E402

HEART_RATE = "180D"


def use_device(session, chance, stay):
    """Connects to a device, reads what it has, and listens to it."""
    report = find(session, chance)
    device = session.call("peripheral.connect", peripheral=report["peripheral"], timeout=5)["peripheral"]
    services = session.call("gatt.discover", peripheral=device)["services"]
    for service in [service for service in services if service["uuid"] not in ("1800", "1801")]:
        for characteristic in service["characteristics"]:
            handle, properties = characteristic["handle"], characteristic["properties"]
            if "read" in properties:
                session.call("gatt.read", peripheral=device, handle=handle)
            if "write" in properties:
                session.call("gatt.write", peripheral=device, handle=handle, value="00" * chance.randrange(300))
            if "notify" in properties:
                session.call("gatt.subscribe", peripheral=device, handle=handle)
    if stay:
        end = time.monotonic() + stay
        while time.monotonic() < end:
            session.next("gatt.value", within=10)
    return device


def find(session, chance):
    """One of the devices that are on the air."""
    session.call("scan.start", services=[HEART_RATE])
    found = [session.next("scan.report") for _ in range(chance.randrange(1, 5))]
    session.call("scan.stop")
    return chance.choice(found)


def visitor(session, chance):
    """Comes, uses a device, and leaves properly."""
    device = use_device(session, chance, chance.uniform(0.5, 4))
    session.call("peripheral.disconnect", peripheral=device)


def scanner(session, chance):
    """Wants every advertisement."""
    session.call("scan.start", duplicates=True)
    end = time.monotonic() + chance.uniform(1, 6)
    while time.monotonic() < end:
        session.next("scan.report")


def flooder(session, chance):
    """Asks far more than can be answered, and sends lines that are no messages."""
    device = use_device(session, chance, 0)
    lines = [json.dumps({"jsonrpc": "2.0", "id": n + 1000, "method": "gatt.read",
                         "params": {"peripheral": device, "handle": 3}}) for n in range(3000)]
    lines[::100] = ["nonsense"] * len(lines[::100])
    session._socket.sendall("\n".join(lines).encode() + b"\n")
    session.call("adapter.list", within=60)


def sleeper(session, chance):
    """Subscribes and scans, and never reads a thing of it."""
    use_device(session, chance, 0)
    session.call("scan.start", duplicates=True)
    # Called continuously, so that answers wait as well, until the daemon no longer reads or the parent kills us.
    session._socket.settimeout(None)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "adapter.list"}).encode() + b"\n"
    session._socket.sendall(line * 20000)
    signal.pause()


def server(session, chance):
    """Publishes a service, answers those who come, and notifies as fast as there is room."""
    service = {"uuid": "FFE0", "characteristics": [
        {"uuid": "FFE1", "properties": ["read", "write", "notify"]}, {"uuid": "FFE2", "properties": ["indicate"]}]}
    published = session.call("service.add", service=service)["service"]
    session.call("advertising.start", name="soak", services=["FFE0"])
    handle = published["characteristics"][0]["handle"]
    end = time.monotonic() + chance.uniform(2, 8)
    while time.monotonic() < end:
        for _ in range(20):
            session.call("server.notify", handle=handle, value="00" * 100)
        for event in [event for event in session._events if "id" in event]:
            session._events.remove(event)
            result = {"value": "0102"} if event["method"] == "server.read" else {}
            session._send({"jsonrpc": "2.0", "id": event["id"], "result": result})
        time.sleep(0.05)


def main():
    manner, path, seed = sys.argv[1:]
    chance = random.Random(int(seed))
    try:
        with Session(path, name=f"soak {manner}") as session:
            globals()[manner](session, chance)
    except (CallFailed, OSError) as error:
        # Devices misbehave, adapters have a bound of links: a client lives with it.
        print(f"{manner}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A fleet at one broker: so many gateways, each a connection, publish reports of devices as bled-mqtt does, at a rate
that goes up, while one subscriber receives all of them.

    fleet.py [--gateways 100] [--devices 20000] [--rates 1000,2000,5000,10000,20000] [--seconds 10] [--qos 0]

Starts mosquitto on the loopback interface, and ends it. Says for each rate what came through, how late, and what the
broker used. Packets of MQTT 3.1.1 are made here, so that a client library does not set the limit.
"""

import argparse
import collections
import json
import multiprocessing
import os
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Fleet"))

from mqtt_client import packet, text  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def connect(port, name):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(packet(0x10, text("MQTT") + b"\x04\x02\x00\x3c" + text(name)))
    assert connection.recv(4) == b"\x20\x02\x00\x00", "the broker refuses a connection"
    return connection


class Gateway:
    def __init__(self, port, number, devices, qos):
        self.connection = connect(port, f"gateway-{number}")
        self.connection.setblocking(False)
        self.name, self.qos = f"g{number:03}", qos
        self.devices = [f"{number * devices + device:012X}" for device in range(devices)]
        self.next = self.sequence = 0
        self.unsent = b""

    def report(self):
        """The packet of a report of the next device."""
        mac = self.devices[self.next % len(self.devices)]
        self.next += 1
        self.sequence += 1
        payload = json.dumps({
            "id": ":".join(mac[place : place + 2] for place in range(0, 12, 2)), "mac_type": 1, "rssi": -60,
            "servicedata": "4000a20148", "servicedatauuid": "fcd2", "brand": "GENERIC", "model": "BTHome",
            "model_id": "BTHome", "type": "bthome", "tempc": 25.06, "tempf": 77.11, "hum": 50.55,
            "connectable": False, "bled_id": "9C0E77AA-2B1B-4C3B-9C0E-77AA2B1B4C3B", "adapter": "hci0",
            "gateway": self.name, "seq": self.sequence, "time": time.time()})  # fmt: skip
        body = text(f"home/{self.name}/BTtoMQTT/{mac}")
        if self.qos:
            body += struct.pack(">H", self.sequence % 65535 + 1)
        return packet(0x30 | self.qos << 1, body + payload.encode())

    def send(self, packets):
        """Sends as much as there is room for; what does not fit waits for the next call."""
        data = self.unsent + b"".join(packets)
        try:
            count = self.connection.send(data)
        except BlockingIOError:
            count = 0
        self.unsent = data[count:]
        try:
            self.connection.recv(65536)
        except BlockingIOError:
            pass


def publish(port, options, rate, results):
    """Publishes for so many seconds at a rate of all gateways together."""
    gateways = [
        Gateway(port, number, options.devices // options.gateways, options.qos) for number in range(options.gateways)
    ]
    start = time.monotonic()
    sent = 0
    while (now := time.monotonic() - start) < options.seconds:
        wanted = int(now * rate) - sent
        batches = collections.defaultdict(list)
        for step in range(min(wanted, 2000)):
            gateway = gateways[(sent + step) % len(gateways)]
            # The broker slows down a gateway with unsent packets.
            if len(gateway.unsent) < 65536:
                batches[gateway].append(gateway.report())
        for gateway, packets in batches.items():
            gateway.send(packets)
        sent += min(wanted, 2000)
        time.sleep(0.002)
    results.put(("sent", sum(gateway.sequence for gateway in gateways)))
    time.sleep(3)


def subscribe(port, options, ready, results):
    """Receives everything; the delay is that of every tenth message."""
    connection = connect(port, "dashboard")
    connection.sendall(packet(0x82, b"\x00\x01" + text("home/#") + b"\x00"))
    connection.recv(5)
    ready.set()
    selector = selectors.DefaultSelector()
    selector.register(connection, selectors.EVENT_READ)
    delays, count, data = [], 0, bytearray()
    last = time.monotonic()
    while time.monotonic() - last < 2 or count == 0:
        if not selector.select(0.2):
            continue
        data += connection.recv(1 << 20)
        last, place = time.monotonic(), 0
        while len(data) - place > 5:
            length, shift, index = 0, 0, place + 1
            while True:
                length |= (data[index] & 127) << shift
                shift += 7
                index += 1
                if not data[index - 1] & 128:
                    break
            if len(data) < index + length:
                break
            count += 1
            if count % 10 == 0:
                at = data.rfind(b'"time": ', index, index + length)
                delays.append(time.time() - float(data[at + 8 : index + length - 1]))
            place = index + length
        del data[:place]
    delays.sort()
    results.put(("received", (count, delays[len(delays) // 2], delays[len(delays) * 99 // 100])))


def usage(process):
    """The CPU time in seconds and the resident memory in MiB of a process."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def measure(options, rate):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 100000\n")
        file.flush()
        broker = subprocess.Popen(["mosquitto", "-c", file.name], stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.05)
            results, ready = multiprocessing.Queue(), multiprocessing.Event()
            subscriber = multiprocessing.Process(target=subscribe, args=(port, options, ready, results))
            subscriber.start()
            ready.wait()
            before, _ = usage(broker.pid)
            publisher = multiprocessing.Process(target=publish, args=(port, options, rate, results))
            publisher.start()
            found = dict(results.get() for _ in range(2))
            after, memory = usage(broker.pid)
            publisher.join()
            subscriber.join()
        finally:
            broker.terminate()
            broker.wait()
    received, median, late = found["received"]
    print(
        f"{rate:>8} {found['sent'] / options.seconds:>10.0f} {received / options.seconds:>10.0f}"
        f" {100 * (after - before) / options.seconds:>8.0f} % {memory:>7.1f} MiB"
        f" {median * 1000:>9.1f} ms {late * 1000:>9.1f} ms", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gateways", type=int, default=100)
    parser.add_argument("--devices", type=int, default=20000)
    parser.add_argument("--rates", default="1000,2000,5000,10000,20000")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--qos", type=int, default=0)
    options = parser.parse_args()
    print(f"{options.gateways} gateways, {options.devices} devices, quality of service {options.qos}")
    print("  wanted     sent/s received/s broker CPU    memory     delay 50 %    99 %")
    for rate in options.rates.split(","):
        measure(options, int(rate))


if __name__ == "__main__":
    main()

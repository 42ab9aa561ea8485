#!/usr/bin/env python3
"""A fleet of bled-mqtt at a cluster of three nodes, of which one is killed, one cut off and one restarted, while the
gateways publish and take commands. No report may be lost, and no more come twice than quality of service 1 allows.

    fleet_test.py [--gateways 100] [--seconds 20]

Needs root, for the network namespaces of the nodes, and takes some five minutes. Prints the figures of each phase.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import select
import signal
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Tests/Home")]
from cluster import PATIENCE, Cluster  # noqa: E402
from house import PROGRAMS, House  # noqa: E402
from mqtt_client import Client  # noqa: E402

ECHO = ("C0:DE:00:00:00:04", "b1ed0002-5eed-4b1e-8d00-000000000000")
# A gateway has so many messages on their way, and the broker for an observer: these may come twice after a connection
# was lost (`Outbox.window`, and RabbitMQ's `mqtt.prefetch`).
WINDOW, PREFETCH = 64, 10


class Gateway:
    """A bled-mqtt, and the times at which it was connected to a node."""

    def __init__(self, house, name, addresses):
        self.name = name
        folder = house.folder / name
        folder.mkdir()
        configuration = {
            "broker": {"host": [f"{host}:{port}" for host, port in addresses], "keepAlive": 5},
            "gateway": name, "qos": 1, "publish": {"every": 1, "interval": 1},
            "undecoded": False, "discovery": False, "commands": ["write"],
        }  # fmt: skip
        file = folder / "mqtt.json"
        file.write_text(json.dumps(configuration))
        file.chmod(0o640)
        self.program = house.start(
            PROGRAMS / "bled-mqtt", "--config", file, "--socket", house.socket, "--state-directory", folder)
        self.node = None
        # When, and to which node; None for the end of a connection.
        self.history = []

    def read(self):
        start = len(self.program.lines)
        self.program._read(0)
        for line in self.program.lines[start:]:
            if found := re.search(r"connected to the broker at (\S+):", line):
                self._note(found[1])
            elif "cannot be used" in line and self.node:
                self._note(None)

    def _note(self, node):
        self.node = node
        self.history.append((time.monotonic(), node))

    def was_away(self, start, end):
        return any(start <= at <= end for at, _ in self.history)


class Fleet(House):
    def __init__(self, gateways):
        super().__init__()
        self.cluster = Cluster(pathlib.Path(tempfile.mkdtemp(prefix="bled-fleet-")))
        self.count = gateways
        self.gateways = {}
        self.received = []
        self.answers = collections.Counter()
        self.commands = {}

    def start_all(self):
        began = time.monotonic()
        self.cluster.start()
        print(f"three nodes of RabbitMQ after {time.monotonic() - began:.0f} s", flush=True)
        self.start_bled()
        addresses = self.cluster.addresses
        topics = ("home/+/BTtoMQTT/#", "home/+/LWT")
        self.observer = Client("observer", addresses, topics, self.hear)
        self.operator = Client("operator", addresses, ("answers/none",), lambda *_: None)
        for client in (self.observer, self.operator):
            if not client.ready.wait(PATIENCE):
                raise AssertionError("the cluster accepts no client")
        for number in range(self.count):
            name = f"gateway-{number:03}"
            self.gateways[name] = Gateway(self, name, addresses)
        self.until(lambda: all(gateway.node for gateway in self.gateways.values()), "not all gateways are connected")

    def hear(self, topic, payload, is_repeated):
        message = json.loads(payload) if payload.startswith(b"{") else {}
        if "write" in message:
            self.answers[message["write"]] += 1
        elif "seq" in message:
            gateway = message["gateway"]
            node = self.gateways[gateway].node if gateway in self.gateways else None
            self.received.append((gateway, message["seq"], time.time() - message["time"], node))

    def until(self, condition, failure, patience=PATIENCE):
        end = time.monotonic() + patience
        while not condition():
            self.read(0.1)
            if time.monotonic() > end:
                texts = [g.program.text()[-2000:] for g in self.gateways.values() if not g.node][:3]
                raise AssertionError("\n".join([failure, *texts]))

    def read(self, seconds):
        """Reads what the gateways say."""
        pipes = {gateway.program.process.stdout: gateway for gateway in self.gateways.values()}
        for pipe in select.select([*pipes, self.bled.process.stdout], [], [], seconds)[0]:
            if gateway := pipes.get(pipe):
                gateway.read()
            else:
                self.bled._read(0)

    def command(self):
        """A command with a number of its own for some gateway."""
        gateway = random.choice(list(self.gateways.values()))
        value = f"{len(self.commands) + 1:08x}"
        self.commands[value] = (gateway, time.monotonic())
        address, characteristic = ECHO
        payload = {"ble_write_address": address, "ble_write_char": characteristic, "ble_write_value": value,
                   "value_type": "HEX"}  # fmt: skip
        self.operator.publish(f"home/{gateway.name}/commands/MQTTtoBT/config", json.dumps(payload).encode())

    def work(self, seconds, condition=lambda: True):
        """The fleet at work for so long, and until a condition holds."""
        end = time.monotonic() + seconds
        last = end + PATIENCE
        following = 0.0
        while (now := time.monotonic()) < end or not condition():
            if now > last:
                raise AssertionError("the cluster does not recover:\n" + "\n".join(n.log() for n in self.cluster.nodes))
            if now >= following:
                following = now + 0.5
                self.command()
            self.read(0.05)

    def close(self):
        for client in ("observer", "operator"):
            if hasattr(self, client):
                getattr(self, client).close()
        super().close()
        self.cluster.close()

    # Figures.

    def phase(self, name, seconds, lost=None, action=lambda: None, condition=lambda: True):
        """An event, and the work after it; prints what came, how late, and how long the gateways of the lost node were
        away."""
        first, began = len(self.received), time.monotonic()
        victims = [gateway for gateway in self.gateways.values() if lost and gateway.node == lost.address]
        action()
        self.work(seconds, condition)
        took = time.monotonic() - began
        reports = self.received[first:]
        delays = sorted(delay for _, _, delay, _ in reports)
        nodes = collections.Counter(node for _, _, _, node in reports)
        rates = " ".join(f"{nodes[node.address] / took:.0f}" for node in self.cluster.nodes)
        back = sorted(
            next((at for at, node in gateway.history if at > began and node), began + took) - began
            for gateway in victims
        )
        away = f"{statistics.median(back):.1f} {back[-1]:.1f}" if back else "-"
        print(
            f"{name:<24} {took:>4.0f} s {len(reports) / took:>6.0f}/s  {rates:<12}"
            f" {delays[len(delays) // 2] * 1000:>6.0f}"
            f" {delays[len(delays) * 99 // 100] * 1000:>6.0f} ms {len(victims):>4} {away} s", flush=True)  # fmt: skip

    def check(self):
        """Ends the gateways, which send what they have, and looks at everything that came."""
        for gateway in self.gateways.values():
            gateway.program.process.send_signal(signal.SIGTERM)
        self.until(
            lambda: all(g.program.process.poll() is not None for g in self.gateways.values()), "a gateway does not end")
        count = -1
        while count != len(self.received):
            count = len(self.received)
            time.sleep(3)
        numbers = collections.defaultdict(list)
        for gateway, number, _, _ in self.received:
            numbers[gateway].append(number)
        lost, repeated = 0, 0
        for name, found in numbers.items():
            new = set(found)
            lost += max(new) - min(new) + 1 - len(new)
            repeated += len(found) - len(new)
            connections = sum(1 for _, node in self.gateways[name].history if node)
            allowed = (connections - 1) * WINDOW + (self.observer.connections - 1) * PREFETCH
            assert len(found) - len(new) <= allowed, f"{name} repeats {len(found) - len(new)} of {allowed}"
        assert set(numbers) == set(self.gateways), "a gateway is missing"
        # A gateway that was away while its command came does not get it: its session ends with the connection.
        promised = {value for value, (g, at) in self.commands.items() if not g.was_away(at - 15, at + 30)}
        unanswered = sorted(promised - set(self.answers))
        print(
            f"{len(self.received)} reports, {lost} lost, {repeated} twice; {len(self.commands)} commands,"
            f" {len(promised)} to connected gateways, {len(unanswered)} unanswered,"
            f" {sum(count - 1 for count in self.answers.values())} answers twice", flush=True)  # fmt: skip
        assert lost == 0, f"{lost} reports are lost"
        # The node that is cut off still takes commands until it notices, and gateways subscribe with quality 0.
        assert max(self.answers.values(), default=0) <= 1, "a command is executed twice"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gateways", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    fleet = Fleet(options.gateways)
    try:
        fleet.start_all()
        one, two, three = fleet.cluster.nodes
        per_node = collections.Counter(g.node for g in fleet.gateways.values())
        print(f"{options.gateways} gateways, of which at the nodes: {[per_node[n.address] for n in (one, two, three)]}")
        print("phase                    took    all, of each node    delay 50 %, 99 %  away: gateways, 50 %, 100 %")

        def is_whole():
            return all(gateway.node for gateway in fleet.gateways.values()) and not fleet.operator.waiting

        seconds = options.seconds
        fleet.phase("nothing happens", seconds)
        fleet.phase("a node is killed", seconds, one, one.kill, is_whole)
        one.start()
        fleet.phase("it starts", seconds, condition=lambda: one.is_open() and is_whole())
        fleet.phase("a node is cut off", 2 * seconds, two, two.cut_off, is_whole)
        two.connect()
        fleet.phase("it is back", seconds, condition=lambda: two.is_open() and is_whole())
        fleet.phase("a node is restarted", seconds, three, three.stop, is_whole)
        three.start()
        fleet.phase("it starts", seconds, condition=lambda: three.is_open() and is_whole())
        fleet.check()
    finally:
        fleet.close()


if __name__ == "__main__":
    main()

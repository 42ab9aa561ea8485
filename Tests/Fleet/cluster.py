"""Three nodes of RabbitMQ, each in a network namespace of its own, so that one can be killed, restarted and cut off.

RabbitMQ starts slowly beside other work: its limits are minutes."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
PORT = 1883
PATIENCE = 600
NETWORK = "10.77.83"

# Queues of sessions that stay are on all nodes. A node that sees less than half of the others pauses itself.
CONFIGURATION = f"""\
cluster_formation.peer_discovery_backend = classic_config
{{nodes}}
cluster_partition_handling = pause_minority
loopback_users = none
listeners.tcp.default = 5672
mqtt.listeners.tcp.default = {PORT}
mqtt.allow_anonymous = true
mqtt.durable_queue_type = quorum
mqtt.subscription_ttl = 3600000
vm_memory_high_watermark.absolute = 2GB
disk_free_limit.absolute = 50MB
log.console = false
"""
# A node that is cut off counts as lost after 6 to 10 s.
ADVANCED = "[{kernel, [{net_ticktime, 8}]}].\n"


def run(*arguments):
    subprocess.run([str(argument) for argument in arguments], check=True, stdin=subprocess.DEVNULL)


class Node:
    def __init__(self, folder, number):
        self.number = number
        self.address = f"{NETWORK}.{number}"
        self.folder = folder / f"node-{number}"
        self.folder.mkdir()
        self.space = f"bled-fleet-{number}"
        self.link = f"bledfleet{number}"
        self.process = None

    def prepare(self, bridge, configuration):
        run("ip", "netns", "add", self.space)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        run("ip", "link", "set", self.link, "master", bridge, "up")
        inside = ("ip", "-n", self.space)
        run(*inside, "addr", "add", f"{self.address}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        run(*inside, "link", "set", "lo", "up")
        (self.folder / "rabbitmq.conf").write_text(configuration)
        (self.folder / "advanced.config").write_text(ADVANCED)
        (self.folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        cookie = self.folder / ".erlang.cookie"
        cookie.write_text("BLEDFLEET")
        cookie.chmod(0o400)

    def start(self):
        environment = {
            "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"rabbit@{self.address}", "RABBITMQ_USE_LONGNAME": "true",
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.folder / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"), "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            # Two schedulers each: three nodes share this machine.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none",
        }  # fmt: skip
        self.output = (self.folder / "output").open("a")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.space, SERVER], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)

    def wait(self):
        """Waits until it accepts clients."""
        end = time.monotonic() + PATIENCE
        while not self.is_open():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"node {self.number} does not start:\n{self.log()}")
            time.sleep(0.5)

    def is_open(self):
        """True if a client is let in: the node is part of the cluster."""
        connect = b"\x10\x11\x00\x04MQTT\x04\x02\x00\x3c\x00\x05probe"
        try:
            with socket.create_connection((self.address, PORT), timeout=2) as connection:
                connection.sendall(connect)
                return connection.recv(4) == b"\x20\x02\x00\x00"
        except OSError:
            return False

    def kill(self, number=signal.SIGKILL):
        """Ends it at once."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, number)
            self.process.wait(PATIENCE)

    def stop(self):
        """Ends it in order."""
        self.kill(signal.SIGTERM)

    def cut_off(self):
        run("ip", "link", "set", self.link, "down")

    def connect(self):
        run("ip", "link", "set", self.link, "up")

    def log(self):
        texts = [(self.folder / "output").read_text()]
        texts += [file.read_text(errors="replace") for file in sorted((self.folder / "log").glob("*.log"))]
        return "\n".join("\n".join(text.splitlines()[-20:]) for text in texts)

    def close(self):
        self.kill()
        # The port mapper of Erlang stays in the namespace.
        found = subprocess.run(["ip", "netns", "pids", self.space], capture_output=True, text=True)
        for process in found.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        subprocess.run(["ip", "link", "del", self.link], stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "netns", "del", self.space], stderr=subprocess.DEVNULL)


class Cluster:
    BRIDGE = "bledfleet"

    def __init__(self, folder: pathlib.Path):
        if not pathlib.Path(SERVER).exists():
            raise AssertionError("there is no RabbitMQ: run scripts/deps fleet")
        self.folder = folder
        self.nodes = [Node(folder, number) for number in (1, 2, 3)]

    def start(self):
        run("ip", "link", "add", self.BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}.254/24", "dev", self.BRIDGE)
        run("ip", "link", "set", self.BRIDGE, "up")
        lines = [
            f"cluster_formation.classic_config.nodes.{node.number} = rabbit@{node.address}" for node in self.nodes
        ]
        for node in self.nodes:
            node.prepare(self.BRIDGE, CONFIGURATION.format(nodes="\n".join(lines)))
        # The first makes the cluster, and the others join it.
        for node in self.nodes:
            node.start()
            node.wait()

    @property
    def addresses(self):
        return [(node.address, PORT) for node in self.nodes]

    def close(self):
        for node in self.nodes:
            node.close()
        subprocess.run(["ip", "link", "del", self.BRIDGE], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

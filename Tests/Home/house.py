"""A house: an MQTT broker, bled on an air of the tests, and bled-mqtt, each a process of its own."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests/BlueZ"))
from world import PATIENCE, PROGRAMS, Program, Session, TestAir  # noqa: E402

BELT, ECHO, PLAIN = (f"C0:DE:00:00:00:{number}" for number in ("01", "04", "0A"))
SECRET = 0o640


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class House:
    def __init__(self, scenario=ROOT / "Tests/BlueZ/scenario.json"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bled-home-"))
        self.folder.chmod(0o755)
        self.programs = []
        self.scenario = scenario
        self.socket = str(self.folder / "bled.sock")
        self.port = free_port()
        self.environment = {
            **os.environ, "BLED_SOCKET": self.socket, "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8",
            "RUNTIME_DIRECTORY": str(self.folder),
        }  # fmt: skip
        self.air = self.bled = self.broker = self.gateway = None

    def start(self, *arguments, **options):
        program = Program([str(argument) for argument in arguments], self.environment, **options)
        self.programs.append(program)
        return program

    def file(self, name, content, mode=0o644):
        path = self.folder / name
        path.write_text(content)
        path.chmod(mode)
        return str(path)

    # The three processes.

    def start_bled(self):
        self.air = self.air or TestAir(self.folder, self.scenario)
        self.bled = self.start(
            PROGRAMS / "bled", "--socket", self.socket, "--state-directory", self.folder / "state", "--adapter",
            *self.air.adapters)
        self.bled.expect("is ready on")

    def start_broker(self, *lines, anonymous=True, persistent=False, port=None):
        """Starts mosquitto, again on the same port, or another one on a port of its own."""
        port = port or self.port
        content = [f"listener {port} 127.0.0.1", f"allow_anonymous {str(anonymous).lower()}", "user root", *lines]
        if persistent:
            content += [
                "persistence true", f"persistence_location {self.folder}/", "autosave_interval 1",
                "autosave_on_changes true", "max_queued_messages 0"]  # fmt: skip
        self.broker = self.start("mosquitto", "-c", self.file(f"mosquitto-{port}.conf", "\n".join(content) + "\n"))
        self.broker.expect("running")
        return self.broker

    def configure(self, **settings):
        broker = {"host": "127.0.0.1", "port": self.port, **settings.pop("broker", {})}
        return self.file(
            "mqtt.json", json.dumps({"broker": broker, "gateway": "kitchen", "qos": 1, **settings}), SECRET)

    def start_gateway(self, state="mqtt", **settings):
        state = self.folder / state
        state.mkdir(exist_ok=True)
        self.gateway = self.start(
            PROGRAMS / "bled-mqtt", "--config", self.configure(**settings), "--socket", self.socket,
            "--state-directory", state)
        return self.gateway

    def spool(self, ending="spool"):
        """The files of the spool."""
        return sorted((self.folder / "mqtt/spool").glob(f"*.{ending}"))

    # Clients of the broker.

    def subscribe(self, topic="#", *arguments, port=None):
        """A subscriber, whose lines are `retained quality topic payload`."""
        program = self.start(
            "stdbuf", "-oL", "mosquitto_sub", "-V", "5", "-p", port or self.port, "-t", topic, "-q", "1", "-F",
            "%r %q %t %p", "-d", *arguments)
        program.expect("Subscribed")
        return program

    def publish(self, topic, payload, *arguments):
        subprocess.run(
            ["mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", topic, "-s", *arguments], check=True,
            input=payload if isinstance(payload, bytes) else payload.encode(), timeout=PATIENCE)

    def request(self, command, topic="home/kitchen/commands/MQTTtoBT/config"):
        """Sends a command with a topic for the answer (MQTT 5); returns the answer."""
        result = subprocess.run(
            ["mosquitto_rr", "-V", "5", "-p", str(self.port), "-t", topic, "-e", "app/answer", "-q", "1", "-m",
             json.dumps(command), "-W", str(int(PATIENCE))], check=True, capture_output=True)  # fmt: skip
        return json.loads(result.stdout)

    def close(self):
        for program in reversed(self.programs):
            if program.process.poll() is None:
                program.process.send_signal(signal.SIGCONT)
            program.kill()
        if self.air:
            self.air.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def messages(program):
    """The messages of a subscriber: (topic, payload), in their order."""
    found = []
    for line in program.lines:
        parts = line.split(" ", 3)
        if len(parts) == 4 and parts[0] in "01" and parts[1] in "012":
            found.append((parts[2], parts[3]))
    return found


def reports(program):
    """The reports and values, decoded."""
    return [
        (topic, json.loads(payload)) for topic, payload in messages(program)
        if "/BTtoMQTT/" in topic and not topic.endswith("undecoded")
    ]  # fmt: skip


__all__ = [
    "BELT", "ECHO", "House", "PATIENCE", "PLAIN", "PROGRAMS", "Program", "ROOT", "SECRET", "Session", "free_port",
    "messages", "reports",
]  # fmt: skip

"""bled on the simulated adapter, and `bleshell web` on it."""

import http.client
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests/BlueZ"))
from world import PATIENCE, PROGRAMS, SIMULATED, Program, Session  # noqa: E402, F401


class Site:
    """The processes. Without a scenario it is the built-in one."""

    def __init__(self, scenario=HERE / "scenario.json", *, writes=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bled-web-"))
        self.folder.chmod(0o755)
        self.socket = str(self.folder / "bled.sock")
        self.programs = []
        self.environment = {
            **os.environ, "BLED_SOCKET": self.socket, "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }  # fmt: skip
        self.scenario = scenario
        try:
            self.start_bled(scenario)
            self.web, self.address = self.start_web(writes=writes)
        except BaseException:
            self.close()
            raise
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})", self.address)
        self.port, self.token = int(found.group(1)), found.group(2)

    def start(self, *arguments):
        program = Program([str(argument) for argument in arguments], self.environment)
        self.programs.append(program)
        return program

    def start_bled(self, scenario):
        self.bled = self.start(
            PROGRAMS / "bled", "--socket", self.socket, "--state-directory", self.folder / "state", "--adapter",
            f"{SIMULATED}:{scenario}" if scenario else SIMULATED)
        self.bled.expect("is ready on")

    def start_web(self, *, writes):
        """Starts the server; returns it with its address."""
        keys = self.folder / "keys.json"
        keys.write_text('{ "54:48:E6:8F:80:A5": "231d39c1d7cc1ab1aee224cd096db932" }')
        web = self.start(
            PROGRAMS / "bleshell", "web", "--keys", keys, *(["--allow-writes"] if writes else []))
        return web, web.expect(r"(http://\S+)").group(1)

    def request(self, method, path, *, body=None, token=True, headers=None):
        """A request as a program makes it; returns the status, the head and the body."""
        connection = self.connect()
        fields = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        if token:
            fields["Authorization"] = f"Bearer {self.token if token is True else token}"
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def events(self):
        """The event stream: each event's name and content."""
        connection = self.connect()
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {self.token}"})
        return connection, connection.getresponse()

    def close(self):
        for program in reversed(self.programs):
            program.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def read_event(answer, name):
    """The content of the next event of a name."""
    while line := answer.readline():
        if line == f"event: {name}\n".encode():
            return json.loads(answer.readline().removeprefix(b"data: "))
    raise AssertionError(f"the stream ended before {name}")

"""A private bus with bled on an air of the tests and bled-bluez, and the programs that use them."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = pathlib.Path(os.environ.get("BLED_PROGRAMS", ROOT / ".build/debug"))
# The time without activity after which a program counts as hung, in seconds. No result depends on it.
PATIENCE = float(os.environ.get("BLED_TEST_PATIENCE", 120))
SYSTEM_PYTHON = "/usr/bin/python3"
NEW = str(ROOT / ".build/bleak/bin/python")
OLD = str(ROOT / ".build/bleak-old/bin/python")
WITH_SYSTEM = str(ROOT / ".build/bluezero/bin/python")

# Some programs are ended by SIGINT. A shell has background jobs ignore it, and programs inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(ROOT / "Tests/Client"))
from session import Session  # noqa: E402
from test_air import SIMULATED, TestAir  # noqa: E402, F401

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <!-- Less than its default, 127 MiB, so that a flood reaches it sooner. -->
  <limit name="max_incoming_bytes">67108864</limit>
  <policy context="default">
    <allow send_destination="*" eavesdrop="false"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
    <allow user="*"/>
    {rules}
  </policy>
</busconfig>
"""


class Program:
    """A process whose output is collected line by line."""

    def __init__(self, arguments, environment, **options):
        self.lines = []
        self._rest = b""
        self.process = subprocess.Popen(
            arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            **{"stderr": subprocess.STDOUT, **options})
        os.set_blocking(self.process.stdout.fileno(), False)

    def say(self, text):
        self.process.stdin.write((text + "\n").encode())
        self.process.stdin.flush()

    def _read(self, seconds):
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return False
        data = self.process.stdout.read()
        if not data:
            return False
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines += [clean(line) for line in whole]
        return True

    def expect(self, pattern, start=0):
        """Waits for a line that has the pattern; returns the match. Without groups the line may be incomplete."""
        end = time.monotonic() + PATIENCE
        place = start
        while True:
            rest = [] if re.compile(pattern).groups else [clean(self._rest)]
            for line in self.lines[place:] + rest:
                if found := re.search(pattern, line):
                    return found
            if not self._read(0.5):
                if self.process.poll() is not None and not select.select([self.process.stdout], [], [], 0)[0]:
                    raise AssertionError(f"ended without {pattern!r}:\n" + self.text())
                if time.monotonic() > end:
                    raise AssertionError(f"{pattern!r} did not come:\n" + self.text())
                if self.process.poll() is not None and not self._read(0):
                    raise AssertionError(f"ended without {pattern!r}:\n" + self.text())

    def text(self):
        return "\n".join(self.lines + [clean(self._rest)])

    def finish(self):
        """Waits for the end; returns the output."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._read(0.5)
            if time.monotonic() > end:
                self.kill()
                raise AssertionError("did not end:\n" + self.text())
        while self._read(0):
            pass
        return self.text()

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


def clean(line):
    """Without the colours and the carriage returns of a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x01\x02]", "", line.decode(errors="replace"))


class World:
    def __init__(self, *scenarios, configuration=None, rules=""):
        """`rules`: of the bus's policy, beside those that allow everything."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bled-bluez-"))
        self.folder.chmod(0o755)
        self.programs = []
        self.socket = str(self.folder / "bled.sock")
        self.bus = f"unix:path={self.folder}/bus"
        self.environment = {
            **os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.bus, "BLED_SOCKET": self.socket, "PYTHONUNBUFFERED": "1",
            "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8", "COLUMNS": "200",
        }  # fmt: skip
        (self.folder / "bus.conf").write_text(BUS.format(folder=self.folder, rules=rules))
        self.configuration = configuration
        # In a file: the bus reports each refused call of a flood, and must not wait until that is read.
        with open(self.folder / "bus.log", "wb") as log:
            self.daemon = self.start(
                "dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--print-address", stderr=log)
        self.daemon.expect("unix:")
        self.air = TestAir(self.folder, *(scenarios or (HERE / "scenario.json",)))
        self.start_bled()
        self.start_facade()

    def start(self, *arguments, **options):
        program = Program([str(argument) for argument in arguments], self.environment, **options)
        self.programs.append(program)
        return program

    def start_bled(self):
        arguments = [PROGRAMS / "bled", "--socket", self.socket, "--state-directory", self.folder / "state"]
        for adapter in self.air.adapters:
            arguments += ["--adapter", adapter]
        if self.configuration:
            (self.folder / "bled.json").write_text(json.dumps(self.configuration))
            arguments += ["--config", self.folder / "bled.json"]
        self.bled = self.start(*arguments)
        self.bled.expect("is ready on")

    def start_facade(self):
        state = self.folder / "bluez"
        state.mkdir(exist_ok=True)
        self.facade = self.start(PROGRAMS / "bled-bluez", "--socket", self.socket, "--state-directory", state)
        self.facade.expect("org.bluez is served by bled")

    def python(self, program, *arguments, python=NEW):
        """Starts a program of Tests/BlueZ/programs."""
        return self.start(python, "-B", HERE / "programs" / program, *arguments)

    def script(self, name, *arguments):
        """Starts one of BlueZ's own test scripts."""
        folder = pathlib.Path("/usr/share/doc/bluez-test-scripts/examples")
        return self.start(SYSTEM_PYTHON, "-W", "ignore", folder / name, *arguments, cwd=folder)

    def bluetoothctl(self):
        program = self.start("bluetoothctl")
        program.expect("Agent registered")
        return program

    def session(self):
        return Session(self.socket)

    def sessions(self):
        """The sessions of bled, without this one."""
        with self.session() as session:
            return [entry for entry in session.call("session.list")["sessions"] if not entry["mine"]]

    def devices(self):
        """The devices of bled by name."""
        with self.session() as session:
            return {entry.get("name"): entry for entry in session.call("peripheral.list")["peripherals"]}

    def settled(self, condition, failure):
        """Waits until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(failure())
            time.sleep(0.05)

    def expect_nothing_left(self):
        """Programs have gone: bled has no session but that of the facade itself, and no link."""
        def left():
            return [entry for entry in self.sessions() if entry.get("name") != "org.bluez"]

        self.settled(lambda: not left(), lambda: f"sessions are left: {left()}")
        links = [name for name, entry in self.devices().items() if entry["state"] == "connected"]
        assert not links, f"links are left: {links}"

    def close(self):
        for program in reversed(self.programs):
            program.kill(signal.SIGTERM if program is self.facade else signal.SIGKILL)
        self.air.close()
        shutil.rmtree(self.folder, ignore_errors=True)

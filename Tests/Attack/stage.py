"""Common ground of the attacks: users, processes of theirs, a scenario, and the daemon under attack.

Everybody has a user of their own. The daemon has the first core for itself; who attacks and who measures share the
second, where who measures goes first (by its nice value). So what is measured is the daemon's fairness and not the
kernel's: the attackers' own use of the processor delays neither the daemon nor the measurements.
"""

import ctypes
import json
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "Tests", "Client"))
from session import CallFailed, Session  # noqa: E402, F401

# Users that each Debian has, without processes of their own (base-passwd): the bus refuses users without an entry.
DAEMON, VICTIM, ATTACKER, OTHER = 1, 2, 5, 3  # daemon, bin, games, sys
IS_ROOT = os.geteuid() == 0
CORES = sorted(os.sched_getaffinity(0))
# So that other programs of the machine disturb less.
FIRST = -15
# A short run finds hangs only, also on a machine that is busy with other things: its deadlines are longer.
IS_SHORT = "--short" in sys.argv
SCALE = 12 if IS_SHORT else 1
# A read of this duration in a short run hangs, in seconds.
HANG = 60
# How soon the daemon must have ended after SIGTERM, in seconds.
LAST_WORDS = 5 * SCALE


def place(user):
    """Gives this process its user, its core and its priority."""
    if len(CORES) > 1:
        os.sched_setaffinity(0, {CORES[0] if user == DAEMON else CORES[1]})
    if IS_ROOT:
        if user in (DAEMON, VICTIM):
            os.nice(FIRST)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    # The process ends with this program, whatever ends that.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Child:
    """A process that runs a function of ours as some user, and talks with us through `channel`."""

    def __init__(self, user, function, *arguments):
        self.channel, other = multiprocessing.Pipe()
        self.pid = os.fork()
        if self.pid:
            other.close()
            return
        self.channel.close()
        status = 1
        try:
            place(user)
            function(other, *arguments)
            status = 0
        except (EOFError, ConnectionError):
            # The daemon was killed, or we end.
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def ask(self, question, timeout):
        """Its answer; None if there is none in time (in seconds, times SCALE), or if it has ended."""
        try:
            self.channel.send(question)
            return self.channel.recv() if self.channel.poll(timeout * SCALE) else None
        except (EOFError, OSError):
            return None

    def told(self, timeout):
        """The next message that it sends by itself, within so many seconds times SCALE."""
        try:
            return self.channel.recv() if self.channel.poll(timeout * SCALE) else None
        except EOFError:
            return None

    def end(self):
        """Kills it."""
        self.channel.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


# MARK: The air

READERS = [f"C0:DE:00:00:00:{number:02X}" for number in range(1, 5)]
SHARED, ECHO, FAST, OPEN = "C0:DE:00:00:00:11", "C0:DE:00:00:00:12", "C0:DE:00:00:00:13", "C0:DE:00:00:00:14"
# The one service of these devices, and its characteristic.
SERVICE, VALUE = "FFE0", "FFE1"


def scenario(*, is_busy=False):
    """Devices to read, one that sends back what is written to it, one that notifies 200 times a second; and, if the air
    is to be busy, 200 more that are heard five times a second each."""

    def device(address, **value):
        characteristic = {
            "uuid": VALUE, "properties": ["read", "write", "writeWithoutResponse"], "value": "00", **value}
        return {"name": f"d{address[-2:]}", "address": address, "addressType": "random", "interval": 0.02,
                "connectDelay": 0.01, "services": [{"uuid": SERVICE, "characteristics": [characteristic]}]}

    devices = [device(address) for address in [*READERS, SHARED, OPEN]]
    devices.append(device(ECHO, properties=["read", "write", "writeWithoutResponse", "notify"], rule={"kind": "echo"}))
    devices.append(device(FAST, properties=["notify"], length=20, notifyEvery=0.005))
    if is_busy:
        devices += [{"name": f"b{number}", "address": f"C0:DE:00:01:00:{number:02X}", "addressType": "random",
                     "connectable": False, "interval": 0.2, "advertising": {"name": f"b{number}"}}
                    for number in range(200)]
    return {"devices": devices}


def connect(session, address):
    """Connects to a device of the air; its identifier and the handle of its value."""
    device = session.call("peripheral.connect", address=address, addressType="random", timeout=20)["peripheral"]
    services = session.call("gatt.discover", peripheral=device)["services"]
    [service] = [service for service in services if service["uuid"] == SERVICE]
    return device, service["characteristics"][0]["handle"]


# MARK: The daemon

PERMISSIONS = ["scan", "connect", "serve", "advertise", "pair"]


class Daemon:
    """bled on a simulated adapter, in a folder and with a state of its own."""

    def __init__(self, *, is_busy=False, configuration=None, files=None, errors=None):
        """`files` is its limit of open files, `errors` a descriptor for its standard error."""
        self.folder = tempfile.mkdtemp(prefix="bled-attack-")
        self.socket = f"{self.folder}/run/s"
        self.log = f"{self.folder}/log"
        self.pid = None
        self._prepare(is_busy, configuration)
        self.start(files, errors)

    def _prepare(self, is_busy, configuration):
        os.chmod(self.folder, 0o755)
        for name in ("run", "state"):
            os.mkdir(f"{self.folder}/{name}", 0o755)
            if IS_ROOT:
                os.chown(f"{self.folder}/{name}", DAEMON, DAEMON)
        # A place that the daemon's user can reach.
        shutil.copy(os.environ.get("BLED") or f"{ROOT}/.build/dist/bled", f"{self.folder}/bled")
        everybody = {permission: ["everyone"] for permission in PERMISSIONS}
        with open(f"{self.folder}/bled.json", "w", encoding="utf-8") as file:
            json.dump({"policy": everybody, "socket": {"mode": "0666"}, **(configuration or {})}, file)
        with open(f"{self.folder}/air.json", "w", encoding="utf-8") as file:
            json.dump(scenario(is_busy=is_busy), file)

    def start(self, files=None, errors=None):
        """Starts it, also again after its end, and returns when it listens."""
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            return self._await()
        try:
            log = errors
            if log is None:
                log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            place(DAEMON)
            arguments = ["bled", "--config", f"{self.folder}/bled.json", "--adapter",
                         f"simulated:{self.folder}/air.json", "--socket", self.socket, "--state-directory",
                         f"{self.folder}/state"]
            os.execve(f"{self.folder}/bled", arguments, {"SWIFT_BACKTRACE": "enable=no", "PATH": os.environ["PATH"]})
        finally:
            os._exit(127)

    def _await(self):
        deadline = time.monotonic() + 20 * SCALE
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = None
                break
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(self.socket)
                    return
                except OSError:
                    time.sleep(0.005)
        self.kill()
        raise ConnectionError(f"the daemon did not start: {self.said()}")

    def said(self):
        """The end of its log."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()[-2000:].strip()
        except FileNotFoundError:
            return ""

    def stop(self, patience=2 * LAST_WORDS):
        """Sends SIGTERM; how many seconds passed until it ended, and its status: None if it had to be killed."""
        started = time.monotonic()
        os.kill(self.pid, signal.SIGTERM)
        while time.monotonic() - started < patience:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.pid = None
                return time.monotonic() - started, os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        self.kill()
        return time.monotonic() - started, None

    def kill(self):
        """Ends it at once."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = None

    def memory(self, kind="VmRSS"):
        """Its resident memory in MiB; with VmHWM, the most it ever was."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(kind)) / 1024

    def processor_time(self):
        """The seconds of processor that it has used."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        """The number of its open files."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def clear(self):
        """Ends it and removes what it leaves behind."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.clear()

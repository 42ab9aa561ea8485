"""Attacks over D-Bus on bled-bluez: users flood the bus with calls to org.bluez, or register without an end, while
another one reads a device by it. A list of faults comes back, empty if all is well."""

import os
import re
import select
import statistics
import struct
import time

import wire
from stage import (ATTACKER, CORES, DAEMON, FIRST, HANG, IS_ROOT, LAST_WORDS, OPEN, PERMISSIONS, READERS, ROOT, SCALE,
                   VICTIM, Child, Daemon, place)

# The ratio by which a read of another program may take longer, at the median.
BOUND = 2
CONNECTIONS = 8
# More than the number whose waiting calls use all places of a user: the calls of the others are refused.
MANY_CONNECTIONS = 24
# The time in which refusals without a bound fill the bus, in seconds.
FILLING = 16
# As many calls as the bus permits one connection to have pending.
PENDING = 128
ADAPTER = "/org/bluez/hci0"
# The device of the attacked program, and the attackers'.
DEVICE, OTHER = (f"{ADAPTER}/dev_" + address.replace(":", "_") for address in (READERS[0], OPEN))
CONFIGURATION = """<busconfig>
  <type>system</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
  <limit name="max_incoming_bytes">{limit}</limit>
  <policy context="default">
    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
  </policy>
</busconfig>"""
# The octets that the bus keeps of bled-bluez, instead of 127 MiB: more than a user's programs may leave unread.
LIMIT = 20 << 20
DEPARTURE = "NameOwnerChanged"
EMPTY_OPTIONS = b"\0\0\0\0\0\0\0\0"


class Served:
    """A daemon, a bus, and bled-bluez of the same user on it."""

    def __init__(self, configuration=None):
        self.bus = self.facade = None
        self.daemon = Daemon(configuration=configuration)
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise

    def _start_all(self):
        self.path = f"{self.daemon.folder}/bus"
        with open(f"{self.daemon.folder}/bus.conf", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(folder=self.daemon.folder, limit=LIMIT))
        os.chmod(self.daemon.folder, 0o777)
        # Beside the attackers, but with precedence over them: the bus is not measured.
        configuration = f"--config-file={self.daemon.folder}/bus.conf"
        self.bus = self._start(None if IS_ROOT else VICTIM, "dbus-daemon", "--nofork", configuration)
        self._await(lambda: os.path.exists(self.path))
        os.chmod(self.path, 0o777)
        program = os.environ.get("BLED_BLUEZ") or f"{ROOT}/.build/dist/bled-bluez"
        self.facade = self._start(DAEMON, program, "--socket", self.daemon.socket)
        self._await(lambda: b"is served" in self._said())

    def _start(self, user, *arguments):
        child = os.fork()
        if child:
            return child
        try:
            log = os.open(f"{self.daemon.folder}/log-{user}", os.O_WRONLY | os.O_CREAT, 0o644)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if user is None:
                os.nice(FIRST)
                os.sched_setaffinity(0, {CORES[-1]})
            else:
                place(user)
            os.execvpe(arguments[0], arguments, {
                "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.path}", "PATH": os.environ["PATH"],
                "SWIFT_BACKTRACE": "enable=no"})
        finally:
            os._exit(127)

    def _said(self):
        try:
            with open(f"{self.daemon.folder}/log-{DAEMON}", "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _await(self, condition):
        end = time.monotonic() + 20 * SCALE
        while not condition():
            if time.monotonic() > end:
                raise ConnectionError(f"org.bluez is not served: {self._said()}")
            time.sleep(0.01)

    def has_ended(self):
        """Returns true if bled-bluez has ended."""
        if self.facade and os.waitpid(self.facade, os.WNOHANG)[0]:
            self.facade = None
        return self.facade is None

    def memory(self):
        """The most that was resident of bled-bluez, in MiB."""
        with open(f"/proc/{self.facade}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in (self.facade, self.bus):
            if child:
                os.kill(child, 9)
                os.waitpid(child, 0)
        self.daemon.clear()


# MARK: The attacked program

def reader(channel, path):
    """The process: connects to a device by org.bluez, says so, and reads it for as many seconds as it is told; then
    says how long each read took."""
    bus = wire.Connection(path)
    bus.call(ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
    while bus.call(DEVICE, "org.bluez.Device1", "Connect")[0] != wire.RETURN:
        time.sleep(0.02)
    while not (value := value_of(bus)):
        time.sleep(0.02)
    bus.call(ADAPTER, "org.bluez.Adapter1", "StopDiscovery")
    channel.send("ready")
    while (seconds := channel.recv()) is not None:
        took, faults, end = [], [], time.monotonic() + seconds
        while time.monotonic() < end:
            started = time.monotonic()
            kind, body = bus.call(
                value, "org.bluez.GattCharacteristic1", "ReadValue", "a{sv}", EMPTY_OPTIONS)
            took.append(time.monotonic() - started)
            if kind != wire.RETURN:
                faults.append(body[4:].decode(errors="replace"))
        channel.send((took, faults))


def value_of(bus):
    """The path of the device's characteristic, of its own service; nothing if it is not known yet."""
    _, body = bus.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    before, uuid, _ = body.partition(b"0000ffe1-0000-1000-8000-00805f9b34fb")
    paths = re.findall(DEVICE.encode() + rb"/service[0-9a-f]{4}/char[0-9a-f]{4}\0", before)
    return paths[-1][:-1].decode() if uuid and paths else None


# MARK: The attackers

# They read the answers, they want none, or they leave them unread.
READING, WANTING_NONE, LEAVING = range(3)


def flooder(channel, path, calls, manner):
    """The process: connections that call one of `calls` after the other without an end, until it is told to stop. Those
    that read have as many calls pending as the bus allows."""
    reads = manner == READING
    connections = [wire.Connection(path) for _ in range(MANY_CONNECTIONS if manner == LEAVING else CONNECTIONS)]
    channel.send("going")
    poll = select.epoll()
    poll.register(channel.fileno(), select.EPOLLIN)
    by_number, pending, number = {}, {}, 0
    for connection in connections:
        connection.socket.setblocking(False)
        by_number[connection.socket.fileno()] = connection
        pending[connection] = 0
        poll.register(connection.socket.fileno(), select.EPOLLOUT | (select.EPOLLIN if reads else 0))
    sent = {connection: b"" for connection in connections}
    while True:
        for ready, events in poll.poll():
            connection = by_number.get(ready)
            if connection is None:
                return channel.send(number)
            try:
                if events & select.EPOLLIN:
                    connection.message()
                    pending[connection] = max(0, pending[connection] - 1)
                if events & select.EPOLLOUT and (not reads or pending[connection] < PENDING):
                    if not sent[connection]:
                        number += 1
                        path, interface, member, signature, body = calls[number % len(calls)]
                        kind = wire.SIGNAL if member == DEPARTURE else wire.CALL
                        pending[connection] += kind == wire.CALL
                        if callable(body):
                            body = body(number)
                        sent[connection] = wire.call(
                            number % (1 << 31) + 2, path, interface, member, signature, body, kind=kind,
                            flags=wire.NO_REPLY_EXPECTED if manner == WANTING_NONE else 0)
                    sent[connection] = sent[connection][connection.socket.send(sent[connection]):]
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(ready)
                connection.socket.close()
                del by_number[ready]
                if not by_number:
                    return channel.send(number)


def path_body(number):
    """The path of an object of an attacker."""
    return wire.string(f"/a{number % 5000}")


def application(number):
    """An application at a path, without options."""
    # The length of the options stands at a multiple of 4, the first of them would at one of 8.
    path = wire.aligned(path_body(number), 4)
    return wire.aligned(path + bytes(4), 8)


OBJECTS = ("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", b"")
ADAPTERS = "org.bluez.Adapter1"
EVERYTHING = [
    OBJECTS,
    (ADAPTER, ADAPTERS, "StartDiscovery", "", b""),
    (ADAPTER, ADAPTERS, "SetDiscoveryFilter", "a{sv}", EMPTY_OPTIONS),
    (ADAPTER, ADAPTERS, "StopDiscovery", "", b""),
    (ADAPTER, "org.freedesktop.DBus.Properties", "GetAll", "s", wire.string(ADAPTERS)),
    (OTHER, "org.bluez.Device1", "Connect", "", b""),
    (OTHER, "org.bluez.Device1", "Pair", "", b""),
    (OTHER, "org.bluez.Device1", "Disconnect", "", b""),
    ("/", "org.freedesktop.DBus.Introspectable", "Introspect", "", b""),
]
REGISTRATIONS = [
    (ADAPTER, "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", application),
    (ADAPTER, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", "oa{sv}", application),
    (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor", "o", path_body),
]


def string_variant(text):
    """A variant with a string, which begins at a multiple of 4."""
    return wire.aligned(b"\1s\0", 4) + wire.string(text)


def device_body(number):
    """The options of ConnectDevice, with another address each time."""
    address = "C1:" + ":".join(f"{number >> place & 0xFF:02X}" for place in (32, 24, 16, 8, 0))
    options = b""
    for name, text in (("Address", address), ("AddressType", "random")):
        options = wire.aligned(options, 8) + wire.string(name) + string_variant(text)
    return wire.aligned(struct.pack("<I", len(options)), 8) + options


def alias_body(_):
    """The arguments of Set, with an alias of 60 KiB."""
    body = wire.aligned(wire.string("org.bluez.Device1"), 4) + wire.string("Alias")
    return wire.aligned(body + b"\1s\0", 4) + wire.string("a" * 60000)


def departure_body(number):
    """The arguments of NameOwnerChanged, as the bus says that a program has left."""
    name = wire.string(f":1.{number % 64}")
    return wire.aligned(wire.aligned(name, 4) + name, 4) + wire.string("")


REFUSED = [
    (ADAPTER, ADAPTERS, "ConnectDevice", "a{sv}", device_body),
    (DEVICE, "org.freedesktop.DBus.Properties", "Set", "ssv", alias_body),
    (DEVICE, "org.bluez.Device1", "Connect", "", b""),
    (DEVICE, "org.bluez.Device1", "Disconnect", "", b""),
    (ADAPTER, ADAPTERS, "SetDiscoveryFilter", "a{sv}", EMPTY_OPTIONS),
    (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor", "o", path_body),
    # A signal: the program says it to bled-bluez alone.
    ("/org/freedesktop/DBus", "org.freedesktop.DBus", DEPARTURE, "sss", departure_body),
]


def bytes_of(octets):
    """An array of octets, and the padding up to what follows at a multiple of 4."""
    return wire.aligned(struct.pack("<I", len(octets)) + octets, 4)


DUPLICATES = wire.aligned(wire.string("DuplicateData") + b"\1b\0", 4) + struct.pack("<I", 1)
SCANNING = [
    (ADAPTER, ADAPTERS, "SetDiscoveryFilter", "a{sv}", struct.pack("<II", len(DUPLICATES), 0) + DUPLICATES),
    (ADAPTER, ADAPTERS, "StartDiscovery", "", b""),
    (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor", "o", path_body),
    (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "UnregisterMonitor", "o", path_body),
    OBJECTS,
    (ADAPTER, ADAPTERS, "StopDiscovery", "", b""),
    *REFUSED,
]


def sharing(value):
    """The calls of a user who may connect, about the device of another one; `value` is its characteristic."""
    characteristic = "org.bluez.GattCharacteristic1"
    return [
        (DEVICE, "org.bluez.Device1", "Connect", "", b""),
        (value, characteristic, "ReadValue", "a{sv}", EMPTY_OPTIONS),
        (value, characteristic, "WriteValue", "aya{sv}", bytes_of(b"attack!!") + bytes(4)),
        (value, characteristic, "AcquireWrite", "a{sv}", EMPTY_OPTIONS),
        (value, characteristic, "AcquireNotify", "a{sv}", EMPTY_OPTIONS),
        (value, characteristic, "StartNotify", "", b""),
        (value, characteristic, "StopNotify", "", b""),
        (DEVICE, "org.bluez.Device1", "Pair", "", b""),
        (DEVICE, "org.bluez.Device1", "CancelPairing", "", b""),
        (DEVICE, "org.bluez.Device1", "Disconnect", "", b""),
        (ADAPTER, ADAPTERS, "RemoveDevice", "o", wire.string(DEVICE)),
        (ADAPTER, "org.bluez.BatteryProviderManager1", "RegisterBatteryProvider", "o", path_body),
    ]


# More than refused calls may leave, in MiB.
MEMORY = 64


def run(options, calls, manner, configuration=None):
    """Measures a reader before an attack and during it. `calls` may be a function of the reader's characteristic."""
    seconds = max(2.0, options.seconds)
    faults, children = [], []
    with Served(configuration) as served:
        try:
            watcher = Child(VICTIM, reader, served.path)
            children.append(watcher)
            if watcher.told(30) != "ready":
                return ["the other program could not begin"]
            before, _ = watcher.ask(seconds, 60) or ([], [])
            if callable(calls):
                calls = calls(value_of(wire.Connection(served.path)))
            attackers = Child(ATTACKER, flooder, served.path, calls, manner)
            children.append(attackers)
            attackers.told(20)
            during, refused = watcher.ask(max(seconds, FILLING) if manner == LEAVING else seconds, 60) or ([], [])
            if served.has_ended():
                return ["bled-bluez has ended"]
            if not before or not during:
                return ["the other program was not served"]
            ratio = statistics.median(during) / statistics.median(before)
            number = attackers.ask("stop", 10)
            print(f"  p50 {statistics.median(before) * 1000:.1f} ms, × {ratio:.1f}, slowest "
                  f"{max(during) * 1000:.0f} ms; {number} calls; {served.memory():.0f} MiB", flush=True)
            if configuration and served.memory() > MEMORY:
                faults.append(f"{served.memory():.0f} MiB after refused calls")
            if refused:
                faults.append(f"{len(refused)} × {refused[0][:80]}")
            if options.short and max(during) >= HANG:
                faults.append(f"a read took {max(during):.1f} s")
            if not options.short and round(ratio, 1) > BOUND:
                faults.append(f"p50 × {ratio:.1f} > {BOUND}")
            took, status = served.daemon.stop()
            if status != 0 or took > LAST_WORDS:
                faults.append(f"SIGTERM: status {status} after {took:.1f} s")
        except (OSError, ValueError) as error:
            faults.append(str(error))
        finally:
            for child in children:
                child.end()
    return faults


def objects(options):
    """Over D-Bus, a user asks for all objects without an end, and reads the answers."""
    return run(options, [OBJECTS], READING)


def everything(options):
    """Over D-Bus, a user calls all methods without an end, and wants no answer."""
    return run(options, EVERYTHING, WANTING_NONE)


def registrations(options):
    """Over D-Bus, a user registers thousands of applications, advertisements and monitors that never answer."""
    return run(options, REGISTRATIONS, READING)


def unread(options):
    """Over D-Bus, a user with many connections asks for all objects without an end, and reads no answer."""
    return run(options, [OBJECTS], LEAVING)


def with_policy(options, calls, *permissions):
    """An attack of a user who has these permissions alone."""
    if not IS_ROOT:
        return []
    policy = {name: ["user:bin", "user:daemon"] + ["user:games"] * (name in permissions) for name in PERMISSIONS}
    return run(options, calls, READING, {"policy": policy})


def nothing(options):
    """Over D-Bus, a user without permissions calls all that changes something, and says that all programs have left."""
    return with_policy(options, REFUSED)


def scanning(options):
    """Over D-Bus, a user with the permission scan alone scans, monitors, and calls what is refused."""
    return with_policy(options, SCANNING, "scan")


def connecting(options):
    """Over D-Bus, a user with the permission connect uses, and tries to take away, the device of another one."""
    return with_policy(options, sharing, "scan", "connect")


ALL = (objects, everything, registrations, unread, nothing, scanning, connecting)

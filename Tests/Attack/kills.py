"""Kills: clients at any moment, and the daemon itself, which has its whole state when it starts again."""

import random
import time

from lines import methods
from stage import ATTACKER, ECHO, FAST, LAST_WORDS, READERS, SCALE, VICTIM, CallFailed, Child, Daemon, Session, connect

# Maximum growth of the daemon's memory after all clients were killed, in MiB.
GROWTH = 10
# Maximum time for releasing the resources of killed clients, in seconds.
REST = 10 * SCALE
# A killed daemon may lose the programs' changes of the last second; a bit more for the write itself.
UNWRITTEN = 1.5 * SCALE


def clients(options):
    """1,000 clients that are killed at any moment leave nothing behind."""
    chance = random.Random(options.seed)
    faults = []
    with Daemon() as daemon:
        watch = Session(daemon.socket)
        before = descriptors = memory = None
        running = []
        for number in range(100 if options.short else 1000):
            running.append(Child(ATTACKER, life, daemon.socket, chance.random()))
            if len(running) > 8:
                running.pop(chance.randrange(len(running))).end()
                time.sleep(chance.uniform(0, 0.02))
            if number == 50:
                before = (daemon.descriptors(), daemon.memory())
        for child in running:
            child.end()
        left = "nothing was looked at"
        deadline = time.monotonic() + REST
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            left = leftovers(watch)
        if left:
            faults.append(left)
        descriptors, memory = daemon.descriptors(), daemon.memory()
        if descriptors > before[0]:
            faults.append(f"{descriptors} descriptors, and {before[0]} while the first fifty came")
        if memory > before[1] + GROWTH:
            faults.append(f"{memory:.0f} MiB after {before[1]:.0f} MiB")
        took, status = daemon.stop()
        if status != 0 or took > LAST_WORDS:
            faults.append(f"SIGTERM: status {status} after {took:.1f} s")
    return faults


def life(_channel, path, seed):
    """A client that uses everything, until it is killed."""
    chance = random.Random(seed)
    try:
        with Session(path, name="mortal") as session:
            device, handle = connect(session, chance.choice([*READERS, ECHO, FAST]))
            calls = [call for call in methods(device, handle) if call[0] not in ("peripheral.forget", "rpc.discover")]
            while True:
                try:
                    method, params = chance.choice(calls)
                    session.call(method, within=20 * SCALE, **params)
                except CallFailed:
                    pass
    except (CallFailed, OSError):
        time.sleep(60)


def leftovers(session):
    """The resources still held though no program is left, in words; nothing if all is well."""
    sessions = session.call("session.list")["sessions"]
    [adapter] = session.call("adapter.list")["adapters"]
    if len(sessions) > 1:
        return f"{len(sessions) - 1} sessions are left"
    held = {name: adapter[name] for name in ("scanning", "advertising", "links") if adapter[name]}
    return f"the adapter still has {held}" if held else ""


def daemons(options):
    """200 kills of the daemon: it starts each time, and has the whole state of its programs."""
    chance = random.Random(options.seed)
    faults = []
    with Daemon() as daemon:
        # The numbers that the next program may find for its scan and for its advertisement.
        scans = names = {None}
        number = 0
        for kill in range(20 if options.short else 200):
            program = Child(VICTIM, work, daemon.socket, number, chance.random())
            found = program.told(30)
            if found is None or found[0] not in scans or found[1] not in names | {None}:
                faults.append(f"after {kill} kills the state is that of changes {found}, not of {scans} and {names}")
                break
            time.sleep(chance.choice([0, 0.02, 0.2, 0.2, 1.2, 2.5]) if not options.short else 0.2)
            killed = time.monotonic()
            daemon.kill()
            changes = []
            while (change := program.told(0)) is not None:
                changes.append(change)
            program.end()
            # Of the changes that were surely written the last one may have been on its way; another one precedes it.
            written = sum(at < killed - UNWRITTEN for at, _ in changes)
            later = {number for _, number in changes[max(written - 2, 0):]}
            scans, names = (later, later) if written > 2 else ({found[0]} | later, {found[1]} | later)
            number = changes[-1][1] if changes else number
            try:
                daemon.start()
            except ConnectionError as error:
                return [*faults, f"after {kill + 1} kills: {error}"]
        if daemon.pid:
            took, status = daemon.stop()
            if status != 0 or took > LAST_WORDS:
                faults.append(f"SIGTERM: status {status} after {took:.1f} s")
    return faults


def work(channel, path, number, seed):
    """A program with a session to preserve: says what it finds, then changes that, and says so before it does."""
    chance = random.Random(seed)
    with Session(path, restore="kills") as session:
        restored = session.daemon.get("restored") or {"advertisements": []}
        scan = int(restored["scan"]["services"][0], 16) if restored.get("scan") else None
        names = [int(each["parameters"]["name"].removeprefix("kills")) for each in restored["advertisements"]]
        channel.send((scan, *(names or [None])))
        while True:
            number += 1
            channel.send((time.monotonic(), number))
            session.call("scan.start", services=[f"{number:04X}"])
            session.call("advertising.stop")
            session.call("advertising.start", name=f"kills{number}")
            time.sleep(chance.uniform(0.01, 0.05))


ALL = [clients, daemons]

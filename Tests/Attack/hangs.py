"""Attacks that once stopped the daemon or made it spin, each by itself: a list of faults comes back, empty if all is
well."""

import fcntl
import os
import socket
import time

from flood import attack
from lines import unicode_lines
from stage import (ATTACKER, ECHO, IS_ROOT, LAST_WORDS, OTHER, SCALE, VICTIM, CallFailed, Child, Daemon, Session,
                   connect)

# Maximum time of another user's call meanwhile, in seconds.
PATIENCE = 1 * SCALE


def ask(path):
    """How long a new client waits for an answer, in seconds; infinite if that is more than `PATIENCE`."""
    started = time.monotonic()
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        try:
            client.connect(path)
            client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"adapter.list"}\n')
            return time.monotonic() - started if b'"result"' in client.recv(1 << 16) else float("inf")
        except OSError:
            return float("inf")


def faults_of(daemon):
    """Asks the daemon for something, then ends it."""
    faults = [] if ask(daemon.socket) < PATIENCE else [f"a new client had no answer within {PATIENCE} s"]
    took, status = daemon.stop()
    if status != 0 or took > LAST_WORDS:
        faults.append(f"SIGTERM: status {status} after {took:.1f} s")
    return faults


def unicode(_options):
    """A text that is slow to normalise, wherever the protocol has a name, delays nobody."""
    places = []
    faults = []
    daemon = None
    for place, line in unicode_lines("nobody"):
        daemon = daemon or Daemon()
        attacker = Child(ATTACKER, attack, daemon.socket, [(line, b"")], False)
        attacker.told(5)
        time.sleep(0.1)
        if ask(daemon.socket) > PATIENCE:
            places.append(place)
            daemon.clear()
            daemon = None
        attacker.end()
    if daemon:
        faults = faults_of(daemon)
        daemon.clear()
    return faults + ([f"no answer within {PATIENCE} s to others, with it as: {', '.join(places)}"] if places else [])


def wake_folder(_options):
    """A FIFO or a link that others put where programs are woken hangs nothing, and leads nowhere else."""
    faults = []
    for kind in ("FIFO", "link", "folder"):
        with Daemon() as daemon:
            daemon.stop()
            # Everybody may make files there. In /tmp the kernel itself prevents some of this (fs.protected_symlinks).
            os.chmod(f"{daemon.folder}/run", 0o777)
            elsewhere = set_trap(kind, daemon)
            try:
                daemon.start()
            except ConnectionError:
                # A folder that others may write is refused, as it should be.
                continue
            try:
                spring_trap(daemon)
            except (OSError, TimeoutError, CallFailed) as error:
                faults.append(f"{kind}: {error}")
            if os.listdir(elsewhere) != ["kept"]:
                faults.append(f"{kind}: files elsewhere: {os.listdir(elsewhere)}")
            faults += [f"{kind}: {fault}" for fault in faults_of(daemon)]
            if not os.path.exists(f"{elsewhere}/kept"):
                faults.append(f"{kind}: it removed a file elsewhere")
    return faults


def set_trap(kind, daemon):
    """Puts something where the daemon would make a file; the folder that it must not touch."""
    elsewhere, wake = f"{daemon.folder}/elsewhere", f"{daemon.socket}.wake"
    os.mkdir(elsewhere)
    os.chmod(elsewhere, 0o777)
    with open(f"{elsewhere}/kept", "w", encoding="utf-8"):
        pass
    if kind == "folder":
        os.symlink(elsewhere, wake)
        return elsewhere
    os.mkdir(wake)
    os.chmod(wake, 0o777)
    if kind == "FIFO":
        os.mkfifo(f"{wake}/trap")
        os.chmod(f"{wake}/trap", 0o666)
    else:
        os.symlink(f"{elsewhere}/made", f"{wake}/trap")
    return elsewhere


def spring_trap(daemon):
    """Has something happen for a program that is gone: a value of what it subscribed to."""
    with Session(daemon.socket, restore="trap") as program:
        device, handle = connect(program, ECHO)
        program.call("gatt.subscribe", peripheral=device, handle=handle)
    with Session(daemon.socket) as other:
        device, handle = connect(other, ECHO)
        for value in ("01", "02"):
            other.call("gatt.write", peripheral=device, handle=handle, value=value, within=5 * SCALE)


def descriptors(_options):
    """Without descriptors for more clients the daemon does not spin, and those that come are told."""
    faults = []
    with Daemon(files=32) as daemon:
        held = []
        for _ in range(60):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(0.5 * SCALE)
            try:
                client.connect(daemon.socket)
            except OSError:
                pass
            held.append(client)
        time.sleep(0.2)
        before = daemon.processor_time()
        time.sleep(2)
        used = (daemon.processor_time() - before) / 2
        if used > 0.2:
            faults.append(f"it uses {used:.0%} of a processor")
        try:
            if b"limitReached" not in held[-1].recv(4096):
                faults.append("who came last is not told limitReached")
        except OSError:
            faults.append("who came last waits, and is not told")
        for client in held:
            client.close()
        faults += faults_of(daemon)
    return faults


def unread_errors(_options):
    """A standard error that nobody reads stops nothing."""
    reading, writing = os.pipe()
    # Nearly full from the start: one page is left.
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 64)
    except BlockingIOError:
        pass
    os.set_blocking(writing, True)
    try:
        return refused(writing)
    except ConnectionError:
        return ["it does not even start"]
    finally:
        os.close(reading)
        os.close(writing)


def refused(errors):
    """Has sessions refused for two seconds; what others notice."""
    with Daemon(configuration={"limits": {"sessions": 4, "perUser": {"sessions": 2}}}, errors=errors) as daemon:
        attacker = Child(ATTACKER, attack, daemon.socket, [(b"{}\n", b"")] * 20, True)
        try:
            attacker.told(5)
            time.sleep(2)
        finally:
            attacker.end()
        return faults_of(daemon)


def log(_options):
    """Sessions that are refused by the thousand do not fill the log."""
    with Daemon(configuration={"limits": {"perUser": {"sessions": 2}}}) as daemon:
        begun = time.monotonic()
        attacker = Child(ATTACKER, attack, daemon.socket, [(b"{}\n", b"")] * 20, True)
        try:
            attacker.told(5)
            time.sleep(3)
        finally:
            attacker.end()
        took = time.monotonic() - begun
        with open(daemon.log, encoding="utf-8", errors="replace") as file:
            count = sum(1 for _ in file)
        faults = faults_of(daemon)
    return faults + ([f"{count} lines in {took:.1f} s"] if count > max(50, 16 * took) else [])


def shares(_options):
    """Two users who fill all sessions leave room for a third, and for root."""
    faults = []
    with Daemon() as daemon:
        crowds = [Child(user, attack, daemon.socket, [(b"", b"")] * 500, False)
                  for user in (ATTACKER, OTHER)]
        try:
            for crowd in crowds:
                crowd.told(10)
            time.sleep(1)
            for name, user in (("another user", VICTIM), ("root", 0)):
                guest = Child(user, visit, daemon.socket)
                said = guest.told(5)
                if said != "served":
                    faults.append(f"{name} is refused: {said}")
                guest.end()
        finally:
            for crowd in crowds:
                crowd.end()
    return faults if IS_ROOT else []


def visit(channel, path):
    """One call of whoever this is."""
    try:
        with Session(path):
            pass
        channel.send("served")
    except Exception as error:
        channel.send(str(error))


ALL = [unicode, wake_folder, descriptors, unread_errors, log, shares]

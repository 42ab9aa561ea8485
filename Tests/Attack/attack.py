#!/usr/bin/env python3
"""make attack: users without rights attack the daemon; what another user notices of that, as ratios to the same run
before the attack. Prints a line for each attack, then the table of bounds; fails if one is exceeded.

    attack.py [--short] [--seconds N] [--messages N] [--seed N] [TEXT]

TEXT chooses the attacks with this in their names. With --short a few attacks last some seconds each, and only hangs and
a daemon that does not end in time are failures: for machines that do other things meanwhile.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

import bus
import hangs
import kills
from attacks import BOUNDS, Attack, attacks
from flood import attack
from stage import ATTACKER, HANG, IS_ROOT, LAST_WORDS, ROOT, VICTIM, Child, Daemon, Session, connect
from victim import victim

# The seed of --short, so that no change is refused by chance.
SHORT_SEED = 2026


@dataclass
class Outcome:
    """The effects of an attack on another user."""

    attack: Attack
    p50: float = float("inf")
    p99: float = float("inf")
    values: float = 0
    before: float = 0
    call: float = float("inf")
    slowest: float = float("inf")
    end: str = ""
    memory: float = 0
    sent: int = 0
    received: int = 0
    faults: list = field(default_factory=list)

    def text(self):
        """Its line."""
        return (f"{self.attack.title:<58} {self.before * 1000:>6.1f} {self.p50:>7.1f} {self.p99:>7.1f} "
                f"{self.call * 1000:>8.1f} {self.values:>6.1%} {self.end:>8} {self.memory:>5.0f} "
                f"{self.sent / 1e6:>6.1f} {self.received / 1e6:>6.1f}  "
                + ("; ".join(self.faults) or "ok"))


HEAD = (f"{'attack':<58} {'p50 ms':>6} {'p50 ×':>7} {'p99 ×':>7} {'call p99':>8} {'values':>6} {'SIGTERM':>8} "
        f"{'MiB':>5} {'sent':>6} {'got MB':>6}")


def percentile(values, part):
    """The value that this part of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def run(what, seconds, is_short):
    """One attack on a daemon of its own."""
    outcome = Outcome(what)
    duration = max(2.0, seconds * what.seconds)
    with Daemon(is_busy=what.is_busy) as daemon:
        children = []
        try:
            # Holds the link, so that the attackers have it at once.
            holder = Session(daemon.socket)
            plan = what.plan(*connect(holder, what.device))
            watcher = Child(VICTIM, victim, daemon.socket, what.victims, what.is_busy)
            children.append(watcher)
            if watcher.told(20) != "ready":
                outcome.faults.append("the other user could not begin")
                return outcome
            before = watcher.ask(duration / 2, 60)
            attackers = Child(ATTACKER, attack, daemon.socket, plan, what.reads)
            children.append(attackers)
            attackers.told(20)
            during = watcher.ask(duration, duration + 60)
            outcome.memory = daemon.memory("VmHWM")
            took, status = daemon.stop()
            outcome.end = f"{took:.2f} s" if status is not None else "killed"
            outcome.sent, outcome.received = attackers.ask("stop", 5) or (0, 0)
            judge(outcome, before, during, took, status, is_short)
        except (OSError, StopIteration) as error:
            outcome.faults.append(f"{error} {daemon.said()[-200:]}")
        finally:
            for child in children:
                child.end()
    return outcome


def judge(outcome, before, during, took, status, is_short):
    """Compares what was measured with the bounds."""
    faults = outcome.faults
    if not before or not during or not before.reads or not during.reads:
        return faults.append("the other user was not served")
    if before.lost:
        faults.append(f"before the attack: {before.lost[0]}")
    median = statistics.median(before.reads)
    outcome.before = median
    outcome.p50 = statistics.median(during.reads) / median
    outcome.p99 = percentile(during.reads, 0.99) / percentile(before.reads, 0.99)
    outcome.call = percentile(during.calls, 0.99) if during.calls else float("inf")
    outcome.slowest = max(during.reads)
    outcome.values = during.delivered / during.written if during.written else 0
    if is_short:
        if outcome.slowest >= HANG:
            faults.append(f"a read took {outcome.slowest:.1f} s")
    else:
        bound50, bound99 = BOUNDS[outcome.attack.row]
        # As printed: half of a link is twice the time, plus the processor's share.
        if round(outcome.p50, 1) > bound50:
            faults.append(f"p50 > {bound50} ×")
        if round(outcome.p99, 1) > bound99:
            faults.append(f"p99 > {bound99} ×")
        if outcome.values < 1:
            faults.append("values missing")
    if during.lost:
        faults.append(f"{len(during.lost)} × {during.lost[0][:80]}")
    if status != 0 or took > LAST_WORDS:
        faults.append(f"SIGTERM: status {status} after {took:.1f} s")


def table(outcomes):
    """The table of bounds, with the worst of each row."""
    print(f"\n{'While …':<60} {'p50':>14} {'p99':>14} {'values':>8} {'SIGTERM':>8}")
    for row, (bound50, bound99) in BOUNDS.items():
        of_row = [outcome for outcome in outcomes if outcome.attack.row == row]
        if not of_row:
            continue
        print(f"{row:<60} {max(o.p50 for o in of_row):>6.1f} (≤ {bound50:<3}) "
              f"{max(o.p99 for o in of_row):>6.1f} (≤ {bound99}) {min(o.values for o in of_row):>8.1%} "
              f"{max(o.end for o in of_row):>8}")


def generate(messages, seed, is_short):
    """Mutated calls, as many as are wanted; the program says what is wrong."""
    with Daemon() as daemon:
        command = [sys.executable, f"{ROOT}/Tests/Attack/generator.py", daemon.socket, "--messages", str(messages),
                   "--seed", str(seed), "--pid", str(daemon.pid), *(["--limit", str(HANG)] if is_short else [])]
        status = subprocess.run(command, check=False).returncode
        took, ended = daemon.stop()
    faults = [f"generator.py: status {status}"] if status else []
    if ended != 0 or took > LAST_WORDS:
        faults.append(f"after it, SIGTERM: status {ended} after {took:.1f} s")
    return faults


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--short", action="store_true")
    arguments.add_argument("--seconds", type=float, default=4)
    arguments.add_argument("--messages", type=int)
    arguments.add_argument("--seed", type=int)
    arguments.add_argument("text", nargs="?", default="")
    options = arguments.parse_args()
    options.seed = options.seed or (SHORT_SEED if options.short else random.randrange(1, 1 << 31))
    if not IS_ROOT:
        if not options.short:
            sys.exit("attack: run it as root: the daemon, the attackers and who is attacked are different users")
        print("attack: not as root, so all are one user")
    started = time.monotonic()
    print(f"attack: --seed {options.seed}")
    faults = []

    def wanted(title):
        return options.text.lower() in title.lower()

    outcomes = []
    chosen = [what for what in attacks() if wanted(f"{what.row}: {what.title}")]
    if options.short:
        chosen = [what for what in chosen if what.is_short]
    if chosen:
        print(HEAD, flush=True)
    for what in chosen:
        outcome = run(what, options.seconds, options.short)
        outcomes.append(outcome)
        faults += [f"{what.title}: {fault}" for fault in outcome.faults]
        print(outcome.text(), flush=True)
    for part in (*hangs.ALL, *kills.ALL, *bus.ALL):
        if wanted(part.__doc__):
            here = part(options)
            print(f"{part.__doc__.rstrip('.'):<100}  {'; '.join(here) or 'ok'}", flush=True)
            faults += [f"{part.__doc__} {fault}" for fault in here]
    if wanted("messages from the generator"):
        faults += generate(options.messages or (20_000 if options.short else 1_000_000), options.seed, options.short)
    if chosen and not options.short:
        table(outcomes)
    print(f"attack: {len(faults)} failures, {time.monotonic() - started:.0f} s")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

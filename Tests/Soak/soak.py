#!/usr/bin/env python3
"""make soak SOAK_TIME=600: real clients come, go, are killed, flood and stop reading; the daemon's memory and
descriptors are measured in the middle of each round and at rest after it. Fails if they grew over the rounds,
or if the daemon ended."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Client"))
from session import Session  # noqa: E402

# The number of clients at once, and the frequency of each kind.
CLIENTS = 16
MANNERS = ["visitor"] * 6 + ["scanner"] * 3 + ["server"] * 2 + ["flooder", "sleeper", "shell"]
# Maximum growth of memory at rest from the end of the first round to the end of the last, in KiB.
MEMORY_BOUND = 8 << 10
# Maximum time of a call on an otherwise idle session meanwhile, in seconds.
PATIENCE = 5
# Until everything that was left behind is given up: ATT times out after 30 s, a session's last words after one.
REST = 3


def scenario(chance):
    """Devices of all kinds, three phones, and many that are only heard."""
    faults = [{}, {}, {}, {"disconnectAfter": [0.5, 3]}, {"faults": {"mute": [0, 5]}}, {"faults": {"nonsense": 0.1}},
              {"faults": {"changeServices": [1, 3]}}, {"losses": {"connect": 0.5, "link": [1, 5]}}]
    devices = []
    for number, fault in enumerate(faults * 3):
        devices.append({
            "name": f"d{number}", "address": f"C0:DE:00:00:00:{number:02X}", "addressType": "random", "interval": 0.1,
            "advertising": {"name": f"d{number}", "services": ["180D"]}, **fault,
            "services": [
                {"uuid": "1815", "characteristics": [
                    {"uuid": "2A56", "properties": ["read", "write"], "length": 300, "rule": {"kind": "echo"}}]},
                {"uuid": "180D", "characteristics": [
                    {"uuid": "2A37", "properties": ["notify"], "length": 20, "notifyEvery": [0.5, 0.005][number % 2]}]},
            ]})
    for number in range(200):
        devices.append({
            "name": f"a{number}", "address": f"C0:DE:00:01:00:{number:02X}", "addressType": "random",
            "connectable": False, "interval": chance.uniform(0.1, 1), "advertising": {"name": f"a{number}"}})
    phones = [{"name": f"p{number}", "address": f"C0:DE:00:02:00:{number:02X}", "addressType": "random",
               "services": ["FFE0"], "stay": [1, 4], "returnAfter": [0.5, 2],
               "script": [{"do": "read"}, {"do": "subscribe"}, {"do": "write", "value": "0102"}]}
              for number in range(3)]
    return {"devices": devices, "phones": phones}


def status(pid):
    """Resident memory in KiB and the number of descriptors."""
    with open(f"/proc/{pid}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return memory, len(os.listdir(f"/proc/{pid}/fd"))


class Crowd:
    """The clients of one round."""

    def __init__(self, folder, path, chance):
        self.folder, self.path, self.chance = folder, path, chance
        self.running = []
        self.started = self.killed = 0

    def tend(self):
        """Sees to it that there are as many as there should be; kills one now and then."""
        self.running = [process for process in self.running if process.poll() is None]
        if self.running and self.chance.random() < 0.3:
            self.chance.choice(self.running).kill()
            self.killed += 1
        while len(self.running) < CLIENTS:
            manner = self.chance.choice(MANNERS)
            self.running.append(self._start(manner))
            self.started += 1

    def _start(self, manner):
        environment = {**os.environ, "BLED_SOCKET": self.path, "PYTHONDONTWRITEBYTECODE": "1"}
        if manner == "shell":
            command = [".build/dist/bleshell", "scan", "--time", "2", "--json"]
        else:
            command = [sys.executable, f"{HERE}/client.py", manner, self.path, str(self.chance.randrange(1 << 30))]
        with open(f"{self.folder}/clients.log", "a") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                    env=environment)

    def disperse(self):
        """Ends them all, each by its own number."""
        for process in self.running:
            process.kill()
            self.killed += 1
        for process in self.running:
            process.wait()
        self.running = []


def start_daemon(folder, chance):
    with open(f"{folder}/scenario.json", "w") as file:
        json.dump(scenario(chance), file)
    log = open(f"{folder}/bled.log", "w")
    path = f"{folder}/s"
    daemon = subprocess.Popen(
        [".build/dist/bled", "--adapter", f"simulated:{folder}/scenario.json", "--socket", path]
        + ["--log-level", "warning"],
        stdout=log, stderr=log)
    deadline = time.monotonic() + 20
    while not os.path.exists(path):
        if daemon.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"soak: the daemon did not start:\n{open(log.name).read()}")
        time.sleep(0.05)
    return daemon, path


def soak(seconds, seed, folder):
    chance = random.Random(seed)
    daemon, path = start_daemon(folder, chance)
    faults = []
    try:
        with Session(path, name="soak watch") as watch:
            round_time = max(10, seconds / 20)
            rounds = max(2, round(seconds / (round_time + REST)))
            print(f"soak: {rounds} rounds of {round_time:.0f} s with {CLIENTS} clients at once, SOAK_SEED={seed}")
            print(f"{'round':>5} {'clients':>8} {'killed':>7} {'slowest':>9} | {'busy KiB':>9} {'fds':>4} |"
                  f" {'rest KiB':>9} {'fds':>4}", flush=True)
            resting = []
            crowd = Crowd(folder, path, chance)
            for number in range(1, rounds + 1):
                busy, slowest = (0, 0), 0.0
                end = time.monotonic() + round_time
                while time.monotonic() < end:
                    crowd.tend()
                    before = time.monotonic()
                    watch.call("adapter.list", within=60)
                    slowest = max(slowest, time.monotonic() - before)
                    busy = tuple(max(pair) for pair in zip(busy, status(daemon.pid)))
                    time.sleep(0.25)
                crowd.disperse()
                time.sleep(REST)
                watch.call("adapter.list", within=60)
                resting.append(status(daemon.pid))
                print(f"{number:>5} {crowd.started:>8} {crowd.killed:>7} {slowest * 1000:>6.0f} ms | "
                      f"{busy[0]:>9} {busy[1]:>4} |"
                      f" {resting[-1][0]:>9} {resting[-1][1]:>4}", flush=True)
                if slowest > PATIENCE:
                    faults.append(f"in round {number} a call took {slowest:.1f} s")
        memory = resting[-1][0] - resting[0][0]
        descriptors = resting[-1][1] - resting[0][1]
        print(f"soak: at rest memory grew by {memory} KiB (bound: {MEMORY_BOUND}), "
              f"descriptors by {descriptors} (bound: 0)")
        if memory > MEMORY_BOUND:
            faults.append(f"memory grew by {memory} KiB")
        if descriptors > 0:
            faults.append(f"{descriptors} more descriptors are open")
    except Exception as error:
        faults.append(f"{type(error).__name__}: {error}")
    if daemon.poll() is not None:
        faults.append(f"the daemon ended with {daemon.returncode}")
    daemon.send_signal(signal.SIGTERM)
    try:
        if daemon.wait(10) != 0:
            faults.append(f"the daemon ended with {daemon.returncode}")
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
        faults.append("the daemon did not end within 10 s of SIGTERM")
    return faults


def main():
    seconds = float(os.environ.get("SOAK_TIME") or 60)
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(1, 1_000_000))
    with tempfile.TemporaryDirectory(prefix="bled-soak-") as folder:
        faults = soak(seconds, seed, folder)
        if faults:
            with open(f"{folder}/bled.log") as log:
                tail = log.readlines()[-20:]
            sys.exit("soak: FAILED: " + "; ".join(faults) + "\n" + "".join(tail))
    print("soak: passed")


if __name__ == "__main__":
    main()

"""Measurements that several benchmarks take, and the form of their reports."""

import os
import statistics


def cpu(pid):
    """The CPU time that a process has used, in seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_time(pid):
    """The same of all its threads, not in ticks of the clock, of which a transfer takes few."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def spread(values, digits=0):
    """The median of some values, and the least and the most."""
    return " ".join(f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))

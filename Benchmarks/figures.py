"""Measurements that several benchmarks take, and the form of their reports."""

import os
import statistics


def cpu(pid):
    """The CPU time that a process has used, in seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spread(values, digits=0):
    """The median of some values, and the least and the most."""
    return " ".join(f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))

"""The programs of Examples."""

import os

from support.cases import expect
from support.tools import ROOT, Program

PROGRAMS = os.path.join(ROOT, "Examples/.build/debug")


def example(daemon, name, *arguments):
    """A program of Examples that uses this daemon; it reports each line on arrival."""
    path = os.path.join(PROGRAMS, name)
    expect(os.access(path, os.X_OK), f"there is no {path}: run 'make examples'")
    return Program("env", f"BLED_SOCKET={daemon.socket}", "stdbuf", "-oL", path, *arguments)

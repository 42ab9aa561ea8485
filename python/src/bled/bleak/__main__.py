"""Runs a program for bleak on bled: python -m bled.bleak PROGRAM [ARG…], or -m MODULE [ARG…]."""

from __future__ import annotations

import os
import runpy
import sys

from bled.bleak import install

USAGE = "usage: python -m bled.bleak PROGRAM [ARG…]\n       python -m bled.bleak -m MODULE [ARG…]"


def main() -> None:
    """Runs the program as `python PROGRAM` would."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments:
        sys.exit(USAGE)
    install()
    sys.argv = arguments
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()

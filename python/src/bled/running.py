"""Runs programs that are not changed, after a library that they use was given another backend."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable


def run(name: str, install: Callable[[], None]) -> None:
    """Runs the program of the command line as `python PROGRAM` would; `name` is the module that was run instead."""
    usage = f"usage: python -m {name} PROGRAM [ARG…]\n       python -m {name} -m MODULE [ARG…]"
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(usage)
        return
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if is_module else arguments
    if not arguments:
        sys.exit(usage)
    install()
    sys.argv = arguments
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")

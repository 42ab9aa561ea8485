"""Runs a program for bless on bled: python -m bled.bless PROGRAM [ARG…], or -m MODULE [ARG…]."""

from bled.bless import install
from bled.running import run

run("bled.bless", install)

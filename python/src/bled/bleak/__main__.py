"""Runs a program for bleak on bled: python -m bled.bleak PROGRAM [ARG…], or -m MODULE [ARG…]."""

from bled.bleak import install
from bled.running import run

run("bled.bleak", install)

"""Stages and cases, and how one is run and reported.

A stage is what several cases share: adapters, peers, a daemon. It is built once, and again after a case that failed.
"""

import asyncio
import contextlib
import os
import time
import traceback
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from . import own_host

DEADLINE = 300  # Seconds of the machine's clock that a case may take; it waits for events, not for the clock.

CONTROLLERS_REMOVED = 30  # Seconds until the kernel has removed the controllers of a stage.

SECOND_ATTEMPTS = 3  # How many cases may fail once.

stages = []


class Failure(Exception):
    """A failure found by a case, in words that can be understood without the code."""


def expect(condition, otherwise):
    """Ends the case unless the condition holds."""
    if not condition:
        raise Failure(otherwise)


def expect_equal(actual, wanted, what):
    """Ends the case unless both are equal."""
    expect(actual == wanted, f"{what}: expected {wanted!r}, got {actual!r}")


@dataclass
class Case:
    """One thing to be shown."""

    title: str
    body: object
    deadline: int = DEADLINE


@dataclass
class Stage:
    """The surroundings shared by several cases of one group, made by `build`."""

    group: int
    title: str
    build: object
    cases: list = field(default_factory=list)

    def case(self, title, deadline=DEADLINE):
        """Adds the decorated function, which takes what `build` gave, as a case that may take so many seconds."""

        def add(body):
            self.cases.append(Case(title, body, deadline))
            return body

        return add


def stage(group, title):
    """Makes the decorated function, which takes `Resources` and gives what the cases need, into a stage."""

    def add(build):
        made = Stage(group, title, build)
        stages.append(made)
        return made

    return add


class Resources(contextlib.AsyncExitStack):
    """Resources to give back when a stage ends, and the logs that explain a failure."""

    def __init__(self):
        super().__init__()
        self.logs = []

    async def open(self, resource):
        """Enters the resource's context until the stage ends."""
        return await self.enter_async_context(resource)


class Runner:
    """Runs the cases that have no result yet, prints a line for each, and notes their results (machine.py)."""

    def __init__(self, kernel, wanted, results, leaves_out):
        self.kernel = kernel
        self._leaves_out = leaves_out
        self.wanted = wanted.lower()
        self.failed = 0
        self._results = results
        self._done = set(results.verdicts())
        self._second_attempts = SECOND_ATTEMPTS
        self._resources = self._given = None

    def wants(self, stage_, case):
        """Whether the text that chooses cases is in this one's name; a bare number chooses a group."""
        if self.wanted.isdigit():
            return stage_.group == int(self.wanted)
        return self.wanted in f"{stage_.title} {case.title}".lower()

    async def run(self, stage_):
        """Runs the wanted cases of a stage."""
        self._resources = self._given = None
        for case in stage_.cases:
            name = f"{stage_.title}: {case.title}"
            if not self.wants(stage_, case) or name in self._done or self._leaves_out(name):
                continue
            self._results.add("begins", name)
            if not (reason := await self.attempt(stage_, case)):
                self._results.add("passed", name)
                continue
            again = self._second_attempts > 0
            self._second_attempts -= again
            if again and not await self.attempt(stage_, case):
                self._results.add("failed once", name, reason[:300])
            else:
                self.failed += 1
                self._results.add("failed", name, reason[:300])
        await self.close(self._resources)

    async def attempt(self, stage_, case):
        """Runs a case, and reports its outcome. Returns the reason for a failure, in a line, or None."""
        started = time.monotonic()
        failure = reason = None
        try:
            async with asyncio.timeout(case.deadline):
                if self._resources is None:
                    self._resources = Resources()
                    self._given = await stage_.build(self._resources)
                await case.body(self._given)
        except (Failure, TimeoutError) as error:
            failure = explain(error)
            reason = " ".join(failure.splitlines())
        except asyncio.CancelledError as error:
            # Bumble cancels pending operations on a link that ends.
            if asyncio.current_task().cancelling():
                raise
            failure, reason = traceback.format_exc(), repr(error)
        except Exception as error:  # Whatever it is, the other cases go on.
            failure, reason = traceback.format_exc(), repr(error)
        self.tell(stage_, case, time.monotonic() - started, failure, self._resources)
        if failure:
            await self.close(self._resources)
            self._resources = None
        return reason

    async def close(self, resources):
        """Releases a stage's resources. Errors here are reported, and are no case's failure."""
        if resources is None:
            return
        try:
            async with asyncio.timeout(DEADLINE):
                await resources.aclose()
        except Exception:
            print(f"cleaning up: {traceback.format_exc()}", flush=True)
        # Until the kernel has removed the controllers, the next stage's have higher numbers than hci0.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONTROLLERS_REMOVED):
                while controllers():
                    await asyncio.sleep(0.05)

    def tell(self, stage_, case, seconds, failure, resources):
        """Prints the line of a case and, if it failed, why."""
        verdict = "FAILED" if failure else "ok"
        print(
            f"{self.kernel:<4}  {stage_.group}  {stage_.title + ': ' + case.title:<112} {seconds:5.1f} s  {verdict}",
            flush=True,
        )
        if failure is None:
            return
        print("    " + failure.rstrip().replace("\n", "\n    "))
        for log in resources.logs if resources else []:
            print(f"    --- {log}")
            with contextlib.suppress(OSError), open(log, encoding="utf-8", errors="replace") as lines:
                for line in lines.readlines()[-40:]:
                    print("    | " + line.rstrip())
        print(end="", flush=True)


def left_out(path):
    """Tells of the name of a case whether a pattern in a file, one a line, leaves it out."""
    with open(path, encoding="utf-8") as lines:
        patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return lambda name: any(fnmatchcase(name, pattern) for pattern in patterns)


def controllers():
    """The controllers that the kernel has, without links of theirs; they are not ours without a kernel."""
    if own_host.IS_USED:
        return []
    try:
        return [name for name in os.listdir("/sys/class/bluetooth") if ":" not in name]
    except FileNotFoundError:
        return []


def explain(error):
    """The words of an error, with the line of the case that met it."""
    place = next(
        (frame for frame in reversed(traceback.extract_tb(error.__traceback__)) if "/cases/" in frame.filename), None
    )
    words = str(error) or f"no end within {DEADLINE} s"
    return f"{words}\n(at line {place.lineno}: {place.line})" if place else words

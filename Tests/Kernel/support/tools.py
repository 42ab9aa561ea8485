"""Programs of the machine: their output as it comes, with deadlines, and their end when the stage ends."""

import asyncio
import contextlib
import os
import re
import signal

from . import own_host
from .cases import Failure

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
DIST = os.path.join(ROOT, os.environ.get("BLED_PROGRAMS", ".build/dist"))


async def run(*command, seconds=60, ok=(0,), text=None):
    """Runs a program to its end and gives what it printed; another status than `ok` is a failure."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE if text else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(text.encode() if text else None)
    except TimeoutError:
        raise Failure(f"{' '.join(command)}: no end within {seconds} s") from None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    output = output.decode(errors="replace")
    if process.returncode not in ok:
        raise Failure(f"{' '.join(command)}: status {process.returncode}\n{output}")
    return output


class Program:
    """A program that goes on, whose output is awaited line by line. Used as a context, it is ended with SIGTERM."""

    def __init__(self, *command):
        self.command = command
        self.output = ""
        self._news = asyncio.Condition()

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_):
        await self.end(signal.SIGTERM)

    async def end(self, number):
        """Ends the program with a signal, and waits until it is gone."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            try:
                async with asyncio.timeout(20):
                    await self.process.wait()
            except TimeoutError:
                os.killpg(self.process.pid, signal.SIGKILL)
                await self.process.wait()
        self._reader.cancel()

    def type(self, line):
        """Gives the program a line on its standard input."""
        self.process.stdin.write(line.encode() + b"\n")

    async def wait_for(self, pattern, seconds=60):
        """The match of a pattern in what the program printed since the last one."""
        match = None

        def there():
            nonlocal match
            match = re.search(pattern, self.output)
            return match is not None or self._reader.done()

        async with self._news:
            try:
                async with asyncio.timeout(seconds):
                    await self._news.wait_for(there)
            except TimeoutError:
                pass
        if match is None:
            raise Failure(f"{' '.join(self.command)}: no {pattern!r} within {seconds} s in:\n{self.output}")
        self.output = self.output[match.end() :]
        return match

    async def _read(self):
        while chunk := await self.process.stdout.read(4096):
            async with self._news:
                self.output += own_host.incoming(chunk).decode(errors="replace")
                self._news.notify_all()
        async with self._news:
            self._news.notify_all()

"""Runs Avatar: python main.py ADAPTER FOLDER [TEXT], or sample for a short run. ADAPTER is kernel, inside the virtual
machine, or host, for bled's own host. FOLDER takes the logs.

TEXT chooses cases by a part of their name. Each case must end as expected: an unexpected failure and an unexpected pass
both count as failed. The suite has races of its own on a slow machine: the other device may be asked for security
before it waits for that. So a few cases may have a second attempt.
"""

import asyncio
import os
import re
import sys
import time
from collections import deque

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../Kernel"))

import expectations  # noqa: E402
import radio  # noqa: E402
import services  # noqa: E402
from device import Device  # noqa: E402
from machine import Results  # noqa: E402
from support.cases import Resources  # noqa: E402
from support.daemon import Daemon  # noqa: E402

AVATAR = os.path.join(os.path.dirname(sys.executable), "avatar")
# The classes for LE; `_lk` wants the keys of BR/EDR, which bled does not use.
WANTED = re.compile(r"(LeHostTest|LeSecurityTest)\.(?!.*_lk'\)$)")
VERDICT = re.compile(r"\[Test\] (\S+) (PASS|FAIL|ERROR|SKIP)\s*$")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LINES = 40  # Of those that a case prints, shown when it failed and ought not to.
SECOND_ATTEMPTS = 3  # How many cases may fail once.
WORDS = {"pass": "ok", "fail": "fails, as listed", "skip": "left out, as listed"}
CONFIGURATION = """
TestBeds:
- Name: bled
  Controllers:
    PandoraDevice:
    - grpc_target: 127.0.0.1:{port}
    BumbleDevice:
    - transport: tcp-client:{address}
MoblyParams:
  LogPath: {folder}/mobly
"""


async def avatar(folder, *arguments):
    """Starts Avatar; its output is one stream."""
    return await asyncio.create_subprocess_exec(
        AVATAR, *arguments, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )


async def choose(folder, text):
    """The names of the wanted cases."""
    process = await avatar(folder, "--list")
    output, _ = await process.communicate()
    if process.returncode != 0:
        sys.exit(f"avatar --list failed:\n{output.decode(errors='replace')}")
    names = [line for line in output.decode().splitlines() if WANTED.match(line)]
    if text == "sample":
        short = expectations.sample()
        if missing := set(short) - set(names):
            sys.exit(f"Avatar has no such cases: {', '.join(sorted(missing))}")
        return short
    chosen = [name for name in names if text in name]
    return chosen or sys.exit(f"Avatar has no case with \"{text}\" in its name")


async def run(adapter, folder, names):
    """Runs the cases, and yields each with its verdict, its seconds, and the last lines that it printed."""
    full = {name.partition(".")[2]: name for name in names}
    async with Resources() as resources:
        air = await resources.open(radio.Air(f"{folder}/rootcanal.log"))
        daemon = Daemon(resources, await getattr(air, adapter)())
        # There it stays when the machine is ended.
        daemon.log = f"{folder}/bled.log"
        await resources.open(daemon)
        device = Device(daemon)
        await device.start()
        server, port = await services.serve(device)
        resources.push_async_callback(server.stop, None)
        with open(f"{folder}/avatar.yml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=port, address=air.address, folder=folder))
        process = await avatar(
            folder, "--config", f"{folder}/avatar.yml", "--log-path", f"{folder}/bumble", "--tests", *names
        )
        started, last = time.monotonic(), deque(maxlen=LINES)
        with open(f"{folder}/avatar.log", "a", encoding="utf-8") as log:
            while octets := await process.stdout.readline():
                line = COLOUR.sub("", octets.decode(errors="replace"))
                log.write(line)
                last.append(line)
                if (match := VERDICT.search(line)) and match[1] in full:
                    verdict = match[2].lower().replace("error", "fail")
                    yield full.pop(match[1]), verdict, time.monotonic() - started, last
                    started, last = time.monotonic(), deque(maxlen=LINES)
        await process.wait()
    for name in full.values():
        yield name, "missing", 0, ()


async def judge(adapter, folder, names, results):
    """Runs cases, prints a line for each and notes what passed. Gives those that did not end as expected."""
    patterns = expectations.expected()
    title = "host" if adapter == "host" else ".".join(os.uname().release.split(".")[:2])
    failed = []
    async for name, verdict, seconds, lines in run(adapter, folder, names):
        wanted = expectations.verdict_of(name, patterns)
        remark = WORDS[verdict] if verdict == wanted else f"FAILED: {verdict}, and {wanted} was expected"
        print(f"{title:<4}  {seconds:5.1f} s  {name}  {remark}", flush=True)
        if verdict != wanted:
            failed.append(name)
        else:
            results.add("passed", name)
        if verdict not in (wanted, "pass"):
            print("".join(f"    | {line}" for line in lines), end="", flush=True)
    return failed


async def main(adapter, folder, text=""):
    folder = os.path.abspath(folder)
    results = Results(folder)
    names = [name for name in await choose(folder, text) if name not in results.verdicts()]
    failed = await judge(adapter, folder, names, results) if names else []
    if 0 < len(failed) <= SECOND_ATTEMPTS:
        print("once more:", flush=True)
        failed = await judge(adapter, folder, failed, results)
    for name in failed:
        results.add("failed", name, "did not end as expected")
    results.add("end")
    if adapter == "host":
        verdicts = [verdict for verdict, *_ in results.verdicts().values()]
        print(f"{verdicts.count('passed')} passed, {len(verdicts) - verdicts.count('passed')} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))

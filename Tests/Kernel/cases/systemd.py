"""Group 6: installed, and started by real systemd through its socket."""

import asyncio
import grp
import json
import os
import pwd
import shutil
import stat
import urllib.request
from dataclasses import dataclass

from bumble.hci import Address
from bumble.transport import open_transport
from support import peripheral as p
from support.air import Air, EmulatedController
from support.cases import expect, expect_equal, stage
from support.client import Client, failure_of
from support.peripheral import Peripheral
from support.tools import ROOT, Program, run

SOCKET = "/run/bled/bled.sock"
BLESHELL = "/usr/local/bin/bleshell"
PYTHON = os.path.join(ROOT, ".build/bleak/bin/python")
BELT = "F0:F1:F2:F3:F4:01"
CAPABILITIES = 1 << 10 | 1 << 12 | 1 << 13  # CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW
UNITS = ("bled.socket", "bled.service", "bled-wake@.path", "bled-metrics.service")


@dataclass
class Given:
    """bled, installed, its socket enabled and listening."""

    hints: str
    peripheral: str = ""  # what was connected


@stage(6, "systemd")
async def installed(resources):
    # The files are the host's, on which bled may have kept something; files removed here stay there.
    shutil.rmtree("/var/lib/bled", ignore_errors=True)
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    peripheral = await Peripheral.make(air, "Bumble belt", BELT)
    await peripheral.advertise()
    hints = await run("make", "-C", ROOT, "install", seconds=120)
    await run("systemctl", "enable", "--now", "bled.socket")
    resources.logs.append(await journal(resources))
    return Given(hints)


async def journal(resources):
    """A file into which the service's messages go while the stage lasts."""
    path = "/tmp/bled.service.log"
    await resources.open(Program("sh", "-c", f"exec journalctl --follow --unit bled.service --output cat >{path}"))
    return path


async def properties(*names):
    """Properties of the service."""
    shown = await run("systemctl", "show", "bled.service", *(f"--property={name}" for name in names))
    return dict(line.split("=", 1) for line in shown.splitlines())


@installed.case("make install placed everything and says how to go on")
async def placed(given):
    units = [f"lib/systemd/system/{name}" for name in UNITS]
    for path in ["bin/bled", "bin/bleshell", *units]:
        expect(os.path.exists(f"/usr/local/{path}"), f"no /usr/local/{path}")
    expect("systemctl enable --now bled.socket" in given.hints, f"the hints: {given.hints}")
    write_configuration(adapters=["hci0"])
    await run("make", "-C", ROOT, "install", seconds=120)
    with open("/etc/bled/bled.json", encoding="utf-8") as configuration:
        expect_equal(configuration.read(), '{"adapters": ["hci0"]}', "the configuration after a second install")


@installed.case("the socket is there before the daemon, for the group bluetooth only")
async def socket_first(_given):
    expect_equal((await properties("ActiveState"))["ActiveState"], "inactive", "the service before the first client")
    status = os.stat(SOCKET)
    expect_equal(stat.S_IMODE(status.st_mode), 0o660, "the socket's mode")
    expect_equal(grp.getgrgid(status.st_gid).gr_name, "bluetooth", "the socket's group")


@installed.case("the first client starts it: ready, not root, two capabilities, and the adapter works")
async def started_by_client(given):
    listed = await as_user("--groups=bluetooth", "adapters", "--json")
    expect('"hci0"' in listed, f"bleshell adapters: {listed}")
    shown = await properties("ActiveState", "MainPID", "Type")
    expect_equal((shown["ActiveState"], shown["Type"]), ("active", "notify"), "the service")
    with open(f"/proc/{shown['MainPID']}/status", encoding="ascii") as status:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in status)
    expect_equal(int(fields["Uid"].split()[1]), pwd.getpwnam("bled").pw_uid, "the daemon's user")
    expect(pwd.getpwnam("bled").pw_uid != 0, "the user bled is root")
    for kind in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        expect_equal(int(fields[kind], 16), CAPABILITIES, kind)

    async with await Client.connect(SOCKET) as client:
        listed = (await client.call("adapter.list"))["adapters"]
        if listed[0]["state"] != "on":
            await client.next("adapter.changed", lambda adapter: adapter["state"] == "on")
        await client.call("scan.start", services=[p.HEART_RATE])
        report = await client.next("scan.report")
        connected = await client.call("peripheral.connect", peripheral=report["peripheral"], timeout=60)
        given.peripheral = connected["peripheral"]
        discovered = await client.call("gatt.discover", peripheral=given.peripheral)
        expect(discovered["services"], "nothing discovered")


@installed.case("the journal's entries have the session, the device and the adapter as fields")
async def journal_fields(given):
    async with await Client.connect(SOCKET) as client:
        await failure_of(  # it is not connected
            client.call("gatt.write", peripheral=given.peripheral, handle=0xFFF0, value="01", response=False))
        number = next(s["session"] for s in (await client.call("session.list"))["sessions"] if s["mine"])
    fields = [f"PERIPHERAL={given.peripheral}", f"SESSION={number}"]
    said = ""
    async with asyncio.timeout(60):
        while not said.strip():  # Journald writes when it likes.
            said = await run("journalctl", "--unit", "bled.service", *fields, "-o", "json")
    entry = json.loads(said.splitlines()[0])
    expect("a write without response" in entry["MESSAGE"], f"the entry: {entry}")
    expect_equal((entry["ADAPTER"], entry["PRIORITY"], entry["SYSLOG_IDENTIFIER"]), ("hci0", "4", "bled"), "its fields")
    expect_equal(entry["PERIPHERAL"], [given.peripheral, BELT], "the device")


@installed.case("who is not in the group is told so")
async def outsider(_given):
    said = await as_user("--clear-groups", "adapters", ok=range(1, 256))
    expect("bluetooth" in said and SOCKET in said, f"bleshell says: {said}")


@installed.case("systemctl reload puts a changed policy into force, and a file with a mistake changes nothing")
async def reloaded(_given):
    await as_user("--groups=bluetooth", "adapters")
    process = await properties("MainPID")
    for policy, refused in (({"scan": []}, True), ({"scan": "nobody"}, True), ({}, False)):
        write_configuration(adapters=["hci0"], policy=policy)
        await run("systemctl", "reload", "bled.service")
        # The signal is sent when systemctl returns; its effect shows a moment later.
        for _ in range(20):
            said = await as_user("--groups=bluetooth", "scan", "--time", "1", ok=range(256))
            if ("policy.scan" in said) == refused:
                break
        expect(("policy.scan" in said) == refused, f"with {policy}: {said}")
    expect_equal(await properties("MainPID"), process, "the process after reloading")


@installed.case("stopped, the socket stays, and the next client starts it again")
async def restarted(_given):
    await run("systemctl", "stop", "bled.service")
    await socket_first(_given)
    await as_user("--groups=bluetooth", "adapters")
    expect_equal((await properties("ActiveState"))["ActiveState"], "active", "the service")


@installed.case("after the restart a device is known by its identifier and connected without a scan (P29)")
async def identifier_lasts(given):
    status = os.stat("/var/lib/bled/peripherals")
    expect_equal((status.st_uid, stat.S_IMODE(status.st_mode)), (pwd.getpwnam("bled").pw_uid, 0o600), "the stored file")
    async with await Client.connect(SOCKET) as client:
        known = (await client.call("peripheral.list"))["peripherals"]
        expect_equal([device["peripheral"] for device in known], [given.peripheral], "the devices known")
        listed = (await client.call("adapter.list"))["adapters"]
        if listed[0]["state"] != "on":
            await client.next("adapter.changed", lambda adapter: adapter["state"] == "on")
        await client.call("peripheral.connect", peripheral=given.peripheral, timeout=60)


@installed.case("bleshell doctor finds nothing wrong, and does not start a daemon that was stopped")
async def doctor(_given):
    async with await Client.connect(SOCKET) as client:
        listed = (await client.call("adapter.list"))["adapters"]
        if listed[0]["state"] != "on":
            await client.next("adapter.changed", lambda adapter: adapter["state"] == "on")
    shown = await as_user("--groups=bluetooth", "doctor")
    wanted = ["adapter   ok       hci0: ", "service   ok ", "group     ok ", "daemon    ok       hci0 is on"]
    for text in [*wanted, "Nothing is wrong."]:
        expect(text in shown, f"no {text!r} in:\n{shown}")
    await run("systemctl", "stop", "bled.service")
    shown = await as_user("--groups=bluetooth", "doctor")
    expect("the first program starts the service" in shown, f"without a daemon:\n{shown}")
    expect_equal((await properties("ActiveState"))["ActiveState"], "inactive", "the service after doctor")
    shown = await as_user("--clear-groups", "doctor", ok=(1,))
    expect("usermod -aG bluetooth nobody" in shown, f"without the group:\n{shown}")
    shown = await run(BLESHELL, "doctor", ok=range(2))
    expect("firmware" in shown and "cannot be read" not in shown, f"as root:\n{shown}")
    await as_user("--groups=bluetooth", "adapters")


@installed.case("the service for Prometheus serves the metrics as a client of the daemon")
async def metrics(_given):
    def scrape():
        with urllib.request.urlopen("http://127.0.0.1:9459/metrics") as answer:
            return answer.read().decode()

    await run("systemctl", "start", "bled-metrics.service")
    try:
        page = ""
        async with asyncio.timeout(60):
            while not page:  # The service may not listen yet.
                try:
                    page = await asyncio.to_thread(scrape)
                except OSError:
                    await asyncio.sleep(0.2)
        expect('\nbled_adapter_on{adapter="hci0"} ' in page, f"the page:\n{page}")
        shown = await run("systemctl", "show", "bled-metrics.service", "--property=UID", "--value")
        expect(int(shown) not in (0, pwd.getpwnam("bled").pw_uid), f"its user: {shown}")
    finally:
        await run("systemctl", "stop", "bled-metrics.service")


@installed.case("its exposure, as systemd-analyze rates it, is 2.0 at most")
async def exposure(_given):
    await run("systemd-analyze", "security", "--threshold=20", "--no-pager", "bled.service")
    await run("systemd-analyze", "security", "--threshold=20", "--no-pager", "bled-metrics.service")


@installed.case("a controller over TCP is refused with the remedy, and works with the drop-in of adapters.md")
async def over_tcp(_given):
    transport = await open_transport("tcp-server:127.0.0.1:6402")
    EmulatedController(
        "over TCP", host_source=transport.source, host_sink=transport.sink, link=Air(),
        public_address=Address("F0:F1:F2:F3:F4:0B"))  # fmt: skip
    drop_in = "/etc/systemd/system/bled.service.d/transport.conf"
    os.makedirs(os.path.dirname(drop_in))
    try:
        write_configuration(adapters=["hci0", "h4:tcp:6402"])
        await run("systemctl", "restart", "bled.service")
        problem = (await adapter_is("h4:tcp:127.0.0.1:6402", "failed"))["problem"]
        expect_equal(problem["kind"], "permission", "the kind of the problem")
        expect("adapters.md" in problem["remedy"], f"the problem: {problem}")
        with open(drop_in, "w", encoding="utf-8") as file:
            file.write("[Service]\nRestrictAddressFamilies=AF_INET AF_INET6\nIPAddressAllow=127.0.0.1\n")
        await run("systemctl", "daemon-reload")
        await run("systemctl", "restart", "bled.service")
        await adapter_is("h4:tcp:127.0.0.1:6402", "on")
    finally:
        shutil.rmtree(os.path.dirname(drop_in))
        write_configuration(adapters=["hci0"])
        await run("systemctl", "daemon-reload")
        await run("systemctl", "restart", "bled.service")
        transport.server.close()


async def adapter_is(name, state):
    """Waits until the adapter has the state; gives its description."""
    async with await Client.connect(SOCKET) as client:
        for adapter in (await client.call("adapter.list"))["adapters"]:
            if (adapter["adapter"], adapter["state"]) == (name, state):
                return adapter
        return await client.next("adapter.changed", lambda each: (each["adapter"], each["state"]) == (name, state))


def write_configuration(**settings):
    """Writes the daemon's configuration."""
    with open("/etc/bled/bled.json", "w", encoding="utf-8") as configuration:
        json.dump(settings, configuration)


@installed.case("after a crash it starts again, with the sessions that programs had")
async def crashed(given):
    await comes_back(given, "SIGSEGV", "signal", "core-dump")


@installed.case("a loop that stands still is ended by the watchdog, and it starts again with its sessions")
async def stalled(given):
    await comes_back(given, "SIGSTOP", "watchdog")


async def comes_back(given, signal, *results):
    """Sends the daemon a signal while a program has a session to preserve, and finds that session in the next one."""
    identifier = f"{signal}-test"
    before = await properties("NRestarts")
    client = await Client.connect(SOCKET)
    async with client:
        await client.call("session.open", restore=identifier)
        await client.call("scan.start", services=[p.HEART_RATE])
        await client.call("peripheral.connect", peripheral=given.peripheral, timeout=60)
        async with asyncio.timeout(30):
            while not stored(identifier, given.peripheral):
                await asyncio.sleep(0.1)
        await run("systemctl", "kill", "--kill-who=main", f"--signal={signal}", "bled.service")
        # Ten seconds for the watchdog, and a machine that is emulated.
        async with asyncio.timeout(90):
            while await properties("NRestarts") == before:
                await asyncio.sleep(0.2)
    said = await run("journalctl", "--unit", "bled.service", "--output", "cat")
    found = any(f"Failed with result '{result}'" in said for result in results)
    expect(found, f"no result {results} in the journal:\n{said[-2000:]}")
    async with await Client.connect(SOCKET) as client:
        restored = (await client.call("session.open", restore=identifier)).get("restored")
        expect(restored, "the session was not restored")
        expect_equal(restored["scan"]["services"], [p.HEART_RATE], "the scan of the restored session")
        [device] = restored["peripherals"]
        expect_equal(device["peripheral"], given.peripheral, "its device")
        if device["state"] != "connected":
            await client.next("peripheral.connected", lambda link: link["peripheral"] == given.peripheral)
        await client.call("session.end")


def stored(identifier, peripheral):
    """Whether the session and its device are in the store."""
    try:
        with open("/var/lib/bled/sessions", encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return False
    return identifier in text and peripheral in text


@installed.case("a path unit starts a program's service when something happens for it (G22)")
async def woken(_given):
    end = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session.end", "params": {"restore": "wake-test"}})
    with open("/etc/systemd/system/wake-test.service", "w", encoding="utf-8") as unit:
        unit.write(f"[Service]\nType=oneshot\nExecStart={BLESHELL} raw '{end}'\n")
        unit.write("ExecStartPost=touch /run/wake-test-ran\n")
    await run("systemctl", "daemon-reload")
    await run("systemctl", "enable", "--now", "bled-wake@wake-test.path")
    client = await Client.connect(SOCKET)
    async with client:
        await client.call("session.open", restore="wake-test")
        await client.call("scan.start", services=[p.HEART_RATE])
    # The program has ended; the belt is received, at a tenth of the time.
    async with asyncio.timeout(60):
        while not os.path.exists("/run/wake-test-ran"):
            await asyncio.sleep(0.1)
    expect(not os.path.exists("/run/bled/wake/wake-test"), "the file is there after the session was ended")


@installed.case("bluetooth.service and it exclude each other")
async def one_owner(_given):
    await run("systemctl", "start", "bluetooth.service")
    expect_equal((await properties("ActiveState"))["ActiveState"], "inactive", "bled.service beside bluetooth.service")
    await as_user("--groups=bluetooth", "adapters")
    bluetooth = await run("systemctl", "is-active", "bluetooth.service", ok=range(256))
    expect_equal(bluetooth.strip(), "inactive", "bluetooth.service after a client came")


@installed.case("bled-bluez: with the commands of bluez.md it takes the place of bluetoothd, and gives it back")
async def changed_over(_given):
    await run("make", "-C", ROOT, "install-bluez", seconds=120)
    await run("systemd-analyze", "security", "--threshold=15", "--no-pager", "bled-bluez.service")
    await run("systemctl", "enable", "--now", "bluetooth")
    await run("systemctl", "disable", "--now", "bluetooth")
    await run("systemctl", "enable", "--now", "bled.socket", "bled-bluez")
    expect_equal(await owner(), "bled-bluez", "the owner of org.bluez")
    shown = await run("systemctl", "show", "bled-bluez.service", "--property=UID", "--value")
    expect_equal(int(shown), pwd.getpwnam("bled-bluez").pw_uid, "its user")
    found = f"bleak.BleakScanner.find_device_by_address({BELT!r}, 60)"
    search = f"import asyncio, bleak; print(asyncio.run({found}))"
    expect(BELT in await run(PYTHON, "-B", "-c", search, seconds=120), "bleak does not find the belt")
    await discovers("--groups=bluetooth")
    refused = await discovers("--clear-groups", ok=(1,))
    expect("Not Authorized" in refused, f"the answer to a user without rights: {refused}")
    await run("systemctl", "disable", "--now", "bled-bluez", "bled.socket", "bled")
    await run("systemctl", "enable", "--now", "bluetooth")
    expect_equal(await owner(), "bluetoothd", "the owner of org.bluez at the end")


async def owner():
    """The name of the program that has org.bluez."""
    shown = await run("busctl", "status", "org.bluez")
    return next(line for line in shown.splitlines() if line.startswith("Comm=")).removeprefix("Comm=")


async def discovers(groups, ok=(0,)):
    """Starts a discovery as the user nobody, with these groups."""
    return await run(
        "setpriv", "--reuid=nobody", "--regid=nogroup", groups,
        "busctl", "call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery", ok=ok)


async def as_user(groups, *arguments, ok=(0,)):
    """Runs the installed bleshell as the user nobody, with these groups."""
    return await run("setpriv", "--reuid=nobody", "--regid=nogroup", groups, BLESHELL, *arguments, ok=ok)

"""A random walk: steps of programs, devices, controllers and other people. After each round what is wanted must be so.

Which steps are taken depends on the seed alone, not on how they end. What the daemon told the program is the model:
`Truth` compares it with the air and the controller.
"""

import asyncio
import os
import random
import signal
import time

from bumble import hci
from bumble.core import UUID
from bumble.device import Peer

from .. import peripheral as p
from .. import published, tree
from ..cases import Failure, expect, expect_equal
from ..client import CallFailed
from ..published import Published
from .truth import Truth

BOUND = 60  # Seconds that a call, and the controller, may take to get there.
DEVICES = 2
TRACE = "/out/walk.trace"
# The possible steps, and their relative frequencies.
STEPS = {
    "scan": 6,
    "unscan": 2,
    "advertise": 8,
    "unadvertise": 2,
    "connect 0": 6,
    "connect 1": 6,
    "leave 0": 2,
    "leave 1": 2,
    "read 0": 3,
    "read 1": 3,
    "write 0": 3,
    "write 1": 3,
    "subscribe 0": 2,
    "subscribe 1": 2,
    "lose 0": 1,
    "lose 1": 1,
    "snap 0": 1,
    "snap 1": 1,
    "silence 1": 1,
    "appear 1": 2,
    "visit": 5,
    "power": 1,
    "refuse 1": 2,
    "refuse 2": 2,
    "refuse 5": 2,
    "slow": 1,
    "prompt": 3,
    "disturb scan_off": 2,
    "disturb advertising_off": 2,
    "disturb cancel_connect": 2,
    "disturb clear_accept_list": 1,
    "kill": 1,
    "hup": 1,
}


class Walk:
    """The wishes of one program, and the steps that it and the others take."""

    def __init__(self, world, seed):
        self.world = world
        self.random = random.Random(seed)
        self.trace = []
        self.truth = Truth(self)
        self._started = time.monotonic()
        self._values = 0
        self._off = False

    # The walk.

    async def go(self, steps, script=None):
        """Takes so many steps, or those of a script: rounds separated by ";", their steps by ","."""
        await self._open()
        rounds = [each.split(",") for each in script.split(";")] if script else self._rounds(steps)
        done = []
        try:
            for each in rounds:
                done.append(",".join(each))
                for step in each:
                    await self._take(step)
                await self._settle()
        except (Failure, TimeoutError) as error:
            lines = "\n".join(self.trace[-60:])
            raise Failure(f"{error}\nZOO_TRACE='{';'.join(done)}'\n{lines}") from error

    def _rounds(self, steps):
        taken = 0
        while taken < steps:
            chosen = self.random.choices(list(STEPS), STEPS.values(), k=self.random.randint(1, 3))
            # A visit is no fair test while others disturb it.
            chosen = ["visit"] if "visit" in chosen else chosen
            taken += len(chosen)
            yield chosen

    def note(self, text):
        """Adds a line to the trace, which is also in a file, for walks that do not end."""
        self.trace.append(f"{time.monotonic() - self._started:8.2f} {text}")
        with open(TRACE, "a", encoding="utf-8") as file:
            file.write(self.trace[-1] + "\n")

    async def _take(self, step):
        self.note(f"> {step}")
        name, *arguments = step.split()
        await getattr(self, f"_{name}")(*arguments)

    async def _open(self):
        """A session that holds nothing."""
        self.scan = False
        self.reports = 0
        self.advertising = False
        self.connecting = {}
        self.connected = {}
        self.subscribed = set()
        self.written = {}
        self._calls = []
        self._ends = [0] * DEVICES
        self._noted = {}
        self.client = await self.world.daemon.client()
        self.client.watch = self._heard
        self.service = await Published.add(self.client)

    async def _settle(self):
        """Every call is answered in time, and the controller does what is wanted."""
        if self._off:
            self._off = False
            self._call("adapter.power", adapter="hci0", on=True)
        self.world.adapter.controller.refuse(0)
        for text, future in self._calls:
            await asyncio.wait([future], timeout=BOUND)
            expect(future.done(), f"no answer to {text} within {BOUND} s")
            await asyncio.gather(future, return_exceptions=True)
        self._calls = []
        await self.truth.wait(BOUND)
        await self._values_arrive()

    async def _values_arrive(self):
        for number in sorted(self.subscribed):
            self._values += 1
            value = self._values.to_bytes(4, "little")
            await self.world.peripherals[number].notify(value)
            await self.client.next("gatt.value", lambda event, value=value: event["value"] == value.hex(), BOUND)
        for number, value in self.written.items():
            expect_equal(self.world.peripherals[number].stored, value, f"what was written to device {number}")
        self.written = {}

    # Messages of the daemon, in order.

    def _heard(self, message):
        if message.get("method") == "scan.report":
            self.reports += 1
            return
        if "method" in message and message["method"] != "peripheral.disconnected":
            return
        called = self._noted.get(message.get("id"), "")
        if "method" in message or called:
            self.note(f"  < {called} {shortened(message)}")
        if called.startswith("scan."):
            self._scan_answered(called, message.get("error"))
        if "method" in message:
            identifier = message["params"]["peripheral"]
            number = next((each for each, known in self.connected.items() if known == identifier), None)
            if number is None:
                return self.truth.fail(f"peripheral.disconnected of {identifier}, which was not connected")
            del self.connected[number]
            self.subscribed.discard(number)
            self._ends[number] += 1
        elif message["id"] in (waiting := {call: number for number, call in self.connecting.items()}):
            number = waiting[message["id"]]
            del self.connecting[number]
            if "result" in message:
                self.connected[number] = message["result"]["peripheral"]

    def _call(self, method, **params):
        """Starts a call that is answered in bounded time."""
        self._calls.append((method, self._start(method, **params)))

    def _start(self, method, **params):
        future = self.client.start(method, **params)
        self._noted[self.client.last_call] = method
        # An answer without a waiting caller is still one.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return future

    def _begin(self, text, coroutine):
        self._calls.append((text, asyncio.create_task(coroutine)))

    # Steps of the program.

    async def _scan(self):
        self._call("scan.start", duplicates=True)

    async def _unscan(self):
        self._call("scan.stop")

    def _scan_answered(self, method, error):
        """A controller without power refuses a scan, which leaves an earlier one as it was."""
        if not error:
            self.scan = method == "scan.start"
        elif error["data"]["name"] != "adapterOff":
            self.truth.fail(f"{method}: {error['message']}")

    async def _advertise(self):
        if not self.advertising:
            self.advertising = True
            # Sent at once: a following step may cancel it.
            self._begin("advertising.start", self._on_air(self.service.begin_advertising("hci0")))

    async def _on_air(self, started):
        """A controller without power, or one that refuses, may fail it."""
        try:
            await started
        except CallFailed as error:
            self.note(f"  < {error}")
            self.advertising = False
            if error.data["name"] not in ("adapterOff", "commandDisallowed", "cancelled"):
                self.truth.fail(str(error))

    async def _unadvertise(self):
        self._call("advertising.stop")
        self.advertising = False

    async def _connect(self, number):
        number = int(number)
        if number in self.connecting or number in self.connected:
            return
        device = self.world.peripherals[number]
        future = self._start("peripheral.connect", address=device.address, addressType="random")
        self.connecting[number] = self.client.last_call
        if device.is_there:
            self._calls.append((f"peripheral.connect of device {number}", future))

    async def _leave(self, number):
        self._call(
            "peripheral.disconnect", address=self.world.peripherals[int(number)].address, addressType="random"
        )

    async def _read(self, number):
        self._use(number, "read", self._read_level)

    async def _write(self, number):
        self._use(number, "write", self._write_value)

    async def _subscribe(self, number):
        self._use(number, "subscribe", self._subscribe_measurement)

    def _use(self, number, name, body):
        number = int(number)
        if number in self.connected:
            self._begin(f"{name} of device {number}", self._on_a_link(number, name, body))

    async def _on_a_link(self, number, name, body):
        """A procedure may fail only if its link ends."""
        ends = self._ends[number]
        identifier = self.connected[number]
        try:
            await body(number, identifier, await self.client.call("gatt.discover", peripheral=identifier))
        except CallFailed as error:
            # The event of the end may be behind the answer.
            await asyncio.sleep(0.2)
            if self._ends[number] == ends:
                self.truth.fail(f"{name} of device {number} failed on a link that lasted: {error}")

    async def _read_level(self, _number, identifier, found):
        handle = tree.characteristic(found, p.BATTERY, p.LEVEL)["handle"]
        read = await self.client.call("gatt.read", peripheral=identifier, handle=handle)
        expect_equal(read["value"], "5a", "the battery level")

    async def _write_value(self, number, identifier, found):
        handle = tree.characteristic(found, p.OURS, p.WRITABLE)["handle"]
        self._values += 1
        value = self._values.to_bytes(4, "little")
        await self.client.call("gatt.write", peripheral=identifier, handle=handle, value=value.hex())
        self.written[number] = value

    async def _subscribe_measurement(self, number, identifier, found):
        handle = tree.characteristic(found, p.HEART_RATE, p.MEASUREMENT)["handle"]
        ends = self._ends[number]
        await self.client.call("gatt.subscribe", peripheral=identifier, handle=handle)
        if self._ends[number] == ends:
            self.subscribed.add(number)

    async def _kill(self):
        client = self.client
        client.watch = None
        client.abort()
        # The calls of the lost session no longer have a caller.
        for _, future in self._calls:
            future.cancel()
        await self._open()

    # Steps of devices.

    async def _lose(self, number):
        for connection in list(self.world.peripherals[int(number)].device.connections.values()):
            # The call fails if the other side was faster.
            self._begin("a device's own disconnect", quietly(connection.disconnect))

    async def _snap(self, number):
        """Both controllers lose the link at once."""
        device = self.world.peripherals[int(number)]
        controllers = (self.world.adapter.controller, device.device.host.controller)
        address = hci.Address(device.address)
        for controller in controllers:
            for connection in list(controller.le_connections.values()):
                if address in (connection.peer_address, connection.self_address):
                    controller.on_le_disconnected(connection, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

    async def _silence(self, number):
        device = self.world.peripherals[int(number)]
        device.is_there = False
        await device.device.stop_advertising()
        # A late connect waits.
        text = f"peripheral.connect of device {number}"
        self._calls = [call for call in self._calls if call[0] != text]

    async def _appear(self, number):
        device = self.world.peripherals[int(number)]
        if not device.is_there:
            device.is_there = True
            if not device.device.connections:
                await device.advertise()

    async def _visit(self):
        """A phone connects and reads."""
        if not self.advertising:
            return
        async with asyncio.timeout(BOUND):
            address = await self.world.ear.hears(published.NAME)
            peer = Peer(await self.world.phone.connect(address))
            await peer.discover_all()
            [fixed] = peer.get_characteristics_by_uuid(UUID(published.FIXED))
            expect_equal(await fixed.read_value(), published.FIXED_VALUE, "what the phone reads")
            await peer.connection.disconnect()

    # Steps of controllers and other people.

    async def _power(self):
        self._off = True
        self._call("adapter.power", adapter="hci0", on=False)

    async def _refuse(self, nth):
        self.world.adapter.controller.refuse(int(nth))

    async def _slow(self):
        self.world.adapter.controller.delay = 0.7

    async def _prompt(self):
        self.world.adapter.controller.delay = 0

    async def _disturb(self, how):
        getattr(self.world.disturber, how)()

    async def _hup(self):
        os.kill(self.world.daemon.process.pid, signal.SIGHUP)


def shortened(message):
    """The essential part of an answer or a notification."""
    if "error" in message:
        return f"{message['error']['data'].get('name')}: {message['error']['message']}"
    return str(message.get("params", message.get("result")))[:120]


async def quietly(body):
    """Waits for what may fail."""
    try:
        await asyncio.wait_for(body(), BOUND)
    except Exception as error:  # Whatever Bumble thinks of it.
        return error

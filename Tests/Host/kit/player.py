"""Plays a row: the steps of bled's side, each a method of `Player`.

    connect                      is done first unless a row begins with another step of this list: connect, scan,
                                 advertise, publish
    read 2A19 = 64               a characteristic by UUID, 2A19/2902 its descriptor, 0x000a an attribute by handle
    read FFE2 = aa*512 truncated
    read 2A19 fails invalidHandle ~ part of the message
    write FFE1 0102 · command FFE1 0102 · subscribe FFE1 · indications FFE1 · value 07
    find FFE0 = FFE0             searches for one service
    discover = 1800 1801         the services; `characteristics` and `descriptors UUID` likewise
    pair · forget · again        a new link: disconnect, wait for the end, connect
    mtu 247 · encrypted · linked
    afresh · received 12.... · never 52  what reaches the peer, in this order; what has not reached it
    sends 1b0a0007 · sends hang-up:13 · sends sig:12…
    ended ~ text                 the link ends, with these words in its reason
    event pairing.keysLost ~ text
    open 0085 · put AA · get AA · received 0040:… · closed
    scan · hears · hears within:20 · reports name = "JSON" · unheard ADDRESS · advertise · publish · dial
    controller event:1000 · state on · in-flight = 2 · logs TEXT

Each step may end with `fails NAME` and `~ TEXT`: the name of the error, or several with `|`, and a part of its
message.
"""

import asyncio
import json
import re
import socket

from support.cases import Failure, expect, expect_equal
from support.client import CallFailed
from support.waiting import until

from .row import octets

LIMIT = 60
BASE = "-0000-1000-8000-00805F9B34FB"
LEVEL = "2A19"
PUBLISHED = "FFD0"
VALUE = "FFD1"
SINK = "FFD2"
FIRST = {"connect", "scan", "advertise", "publish", "open-pairing"}


class Player:
    """Plays one row for a scene, which has `client`, `adapter` (support.air), `daemon` and the row's peer."""

    def __init__(self, scene, peer, row):
        self._scene, self._peer, self._row = scene, peer, row
        self._client = scene.client
        self._id = None
        self._connection = None
        self._stream = None
        self._handle = None
        self._log = scene.log_size()

    async def play(self):
        """Takes the steps; raises Failure."""
        steps = [step.strip() for step in self._row.bled.split(";") if step.strip()]
        if steps[0].split()[0] not in FIRST:
            steps.insert(0, "connect")
        try:
            for step in steps:
                await self._take(step)
        except Failure as failure:
            # The last packets show the reason.
            raise Failure(f"{failure}\n    the peer got {' '.join(self._peer.received[-12:])}") from None
        finally:
            if self._stream:
                self._stream.close()

    async def _take(self, step):
        step, _, text = (part.strip() for part in step.partition("~"))
        step, _, failure = (part.strip() for part in step.partition(" fails "))
        step, equals, wanted = (part.strip() for part in f"{step} ".partition(" = "))
        verb, *words = step.split()
        method = getattr(self, "_" + verb.replace("-", "_"), None)
        if method is None:
            raise ValueError(f"no step: {step}")
        try:
            async with asyncio.timeout(180 if self._row.slow else LIMIT):
                message = await method(*words, **({"wanted": wanted} if equals else {}))
        except TimeoutError:
            raise Failure(f"{step}: no end") from None
        except CallFailed as error:
            if error.data.get("name") not in failure.split("|"):
                raise Failure(f"{step}: {error}") from None
            message = error.error["message"]
        else:
            expect(not failure, f"{step}: it succeeded, and should fail with {failure}")
        if text:
            expect(text in str(message), f"{step}: {text!r} is not in {message!r}")

    async def _call(self, method, **params):
        return await self._client.call(method, **params)

    async def _connect(self, *options):
        await self._peer.advertise()
        named = dict(option.split(":") for option in options)
        params = {"timeout": float(named.get("timeout", 90))}
        answer = await self._call(
            "peripheral.connect", address=self._peer.address, addressType="random", **params)
        self._id, self._mtu_agreed = answer["peripheral"], answer["mtu"]

    async def _again(self):
        await self._disconnect()
        await self._connect()

    async def _disconnect(self):
        ended = len(self._peer.ended)
        await self._call("peripheral.disconnect", peripheral=self._id)
        await until(lambda: len(self._peer.ended) > ended or self._peer.handle is None, 30)
        await self._client.next("peripheral.disconnected", self._is_ours, 30)

    def _is_ours(self, event):
        return event["peripheral"] == self._id

    def _attribute(self, name):
        if name.startswith("0x"):
            return {"handle": int(name, 16)}
        characteristic, _, descriptor = name.partition("/")
        return {"characteristic": characteristic} | ({"descriptor": descriptor} if descriptor else {})

    async def _read(self, name, *options, wanted=""):
        value = await self._call(
            "gatt.read", peripheral=self._id, **self._attribute(name), **{option: True for option in options})
        digits, *flags = wanted.split() or [""]
        expect_equal(value["value"], octets(digits).hex(), name)
        expect_equal(value.get("truncated", False), "truncated" in flags, "truncated")

    async def _write(self, name, digits, *options):
        await self._call(
            "gatt.write", peripheral=self._id, value=octets(digits).hex(), **self._attribute(name),
            **{option: True for option in options})

    async def _command(self, name, digits):
        await self._call(
            "gatt.write", peripheral=self._id, value=octets(digits).hex(), response=False, **self._attribute(name))

    async def _subscribe(self, name):
        await self._call("gatt.subscribe", peripheral=self._id, **self._attribute(name))

    async def _indications(self, name):
        await self._call("gatt.subscribe", peripheral=self._id, indications=True, **self._attribute(name))

    async def _unsubscribe(self, name):
        await self._call("gatt.unsubscribe", peripheral=self._id, **self._attribute(name))

    async def _value(self, digits=""):
        event = await self._client.next("gatt.value", self._is_ours, 30)
        expect_equal(event["value"], octets(digits).hex(), "the value that the peer sent")

    async def _tree(self):
        return (await self._call("gatt.discover", peripheral=self._id))["services"]

    async def _discover(self, wanted=None):
        services = uuids(await self._tree())
        expect(wanted in (None, services), f"the services: expected {wanted!r}, got {services!r}")

    async def _find(self, uuid, wanted=None):
        found = (await self._call("gatt.discoverServices", peripheral=self._id, services=[uuid]))["services"]
        expect(wanted in (None, uuids(found)), f"the services: expected {wanted!r}, got {uuids(found)!r}")

    async def _characteristics(self, wanted=""):
        found = [each for service in await self._tree() for each in service.get("characteristics", [])]
        expect_equal(uuids(found), wanted, "the characteristics")

    async def _descriptors(self, name, wanted=""):
        found = [each for service in await self._tree() for each in service.get("characteristics", [])]
        [named] = [each for each in found if short(each["uuid"]) == name]
        expect_equal(uuids(named.get("descriptors", [])), wanted, "the descriptors")

    async def _pair(self):
        await self._call("peripheral.pair", peripheral=self._id)
        # The peer's host stores its keys when the last of ours has arrived.
        await until(self._peer.device.keystore.get_all, 30)

    async def _open_pairing(self):
        await self._call("pairing.open", seconds=600)

    async def _forget(self):
        await self._call("pairing.forget", peripheral=self._id)

    async def _bonds(self, wanted="0"):
        async def there():
            bonds = (await self._call("pairing.list"))["bonds"]
            return str(sum(bond["address"] == self._peer.address for bond in bonds)) == wanted

        await until(there, 30)

    async def _mtu(self, number):
        told = await self._call("peripheral.parameters", peripheral=self._id)
        expect_equal(str(told["mtu"]), number, "the MTU")

    async def _interval(self, milliseconds):
        async def there():
            told = await self._call("peripheral.parameters", peripheral=self._id)
            return abs(told["interval"] * 1000 - float(milliseconds)) < 0.01

        await until(there, 30)

    async def _encrypted(self):
        told = await self._call("peripheral.parameters", peripheral=self._id)
        expect("security" in told, "the link is not encrypted")

    async def _linked(self):
        await self._call("peripheral.parameters", peripheral=self._id)

    async def _received(self, pattern):
        await self._peer.receives(re.compile(pattern), 60)

    async def _afresh(self):
        self._peer.received.clear()
        self._peer.awaited = 0

    async def _never(self, pattern):
        found = [each for each in self._peer.received if re.match(pattern, each)]
        expect(not found, f"the peer got {found}")

    async def _sends(self, *words):
        self._peer.follow(words)

    async def _ended(self):
        if self._id is None:
            return await until(lambda: self._peer.ended and self._peer.handle is None, 60)
        event = await self._client.next("peripheral.disconnected", self._is_ours, 120)
        self._id = event["peripheral"]
        return event.get("reason", {}).get("message", "")

    async def _event(self, name):
        return await self._client.next(name, seconds=120)

    async def _open(self, psm, mode="leCreditBased"):
        opened = await self._call(
            "l2cap.open", peripheral=self._id, psm=int(psm, 16), mode=mode, token=True)
        self._stream = await fetch(opened)

    async def _put(self, digits):
        await asyncio.get_running_loop().sock_sendall(self._stream, octets(digits))

    async def _get(self, digits):
        wanted = octets(digits)
        got = b""
        while len(got) < len(wanted):
            part = await asyncio.get_running_loop().sock_recv(self._stream, 65536)
            expect(part, f"the channel ended behind {got.hex()}")
            got += part
        expect_equal(got, wanted, "the channel's octets")

    async def _closed(self):
        while await asyncio.get_running_loop().sock_recv(self._stream, 65536):
            pass

    async def _scan(self):
        await self._call("scan.start", duplicates=True)

    async def _hears(self, within="within:150"):
        name = await self._peer.advertise_anew()
        seconds = float(within.removeprefix("within:"))
        await self._client.next("scan.report", lambda report: report.get("name") == name, seconds)

    async def _reports(self, member, wanted="null"):
        await self._peer.advertise()

        def ours(report):
            return report["address"] == self._peer.address

        report = await self._client.next("scan.report", ours, 30)
        expect_equal(report.get(member), json.loads(wanted), member)

    async def _unheard(self, address):
        heard = self._client.count("scan.report", lambda report: report["address"] == address)
        expect_equal(heard, 0, f"reports of {address}")

    async def _parameters(self, milliseconds):
        wanted = {"minimumInterval": float(milliseconds) / 1000, "maximumInterval": float(milliseconds) / 1000}
        await self._call("peripheral.setParameters", peripheral=self._id, parameters=wanted)

    async def _phy(self, name):
        await self._call("peripheral.setPHY", peripheral=self._id, phy=name)

    async def _advertise(self):
        await self._call("advertising.start", name="bled")

    async def _publish(self, *permissions):
        """A service with the value `beef` and one to write to. In packets VALUE, CCCD and SINK are their handles."""
        value = {"uuid": VALUE, "properties": ["read", "notify", "indicate"], "value": "beef"}
        if permissions:
            value["permissions"] = list(permissions)
        sink = {"uuid": SINK, "properties": ["write", "writeWithoutResponse"]}
        self._client.answer("server.write", lambda _: {})
        added = await self._call("service.add", service={"uuid": PUBLISHED, "characteristics": [value, sink]})
        handles = [each["handle"] for each in added["service"]["characteristics"]]
        self._peer.names |= {"VALUE": handles[0], "CCCD": handles[0] + 1, "SINK": handles[1]}
        await self._advertise()

    async def _dial(self):
        """The peer connects to bled."""
        address = self._scene.address
        await asyncio.wait_for(self._peer.device.connect(f"{address}/P"), 60)

    async def _dialled_pair(self):
        [connection] = self._peer.device.connections.values()
        await connection.pair()

    async def _controller(self, *words):
        self._scene.adapter.controller.follow(words)

    async def _state(self, wanted):
        await self._scene.daemon.until_state(self._client, wanted, seconds=150)

    async def _in_flight(self, wanted="0"):
        expect_equal(str(self._scene.adapter.controller.most_in_flight), wanted, "buffers in use at once")

    async def _logs(self, *words):
        await until(lambda: " ".join(words) in self._scene.log_since(self._log), 60)


async def fetch(channel):
    """The stream of a channel, by its token."""
    loop = asyncio.get_running_loop()
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.setblocking(False)
    await loop.sock_connect(stream, channel["socket"])
    await loop.sock_sendall(stream, channel["token"].encode() + b"\n")
    return stream


def short(uuid):
    """A UUID of the Bluetooth base in 16 bits."""
    return uuid[4:8] if uuid.startswith("0000") and uuid.endswith(BASE) else uuid


def uuids(found):
    """The UUIDs of attributes, in their order."""
    return " ".join(short(each["uuid"]) for each in found)

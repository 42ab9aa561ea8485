"""bled as the device under test: a session on its socket, and the links that it sees."""

import asyncio
import contextlib
import itertools

from support.client import CallFailed, Client

# With a display and a keyboard every method of pairing occurs (Core 5.4, Vol 3, Part H, 2.3.5.1).
CAPABILITY = "keyboardDisplay"
PATIENCE = 2  # Seconds.


class Link:
    """A link to the other device, from its beginning to its end."""

    def __init__(self, number, peripheral, is_ours):
        self.number = number
        self.peripheral = peripheral
        # True if we are its central.
        self.is_ours = is_ours
        self.ended = asyncio.get_running_loop().create_future()
        # How the pairing ended: nothing, or the reason why it failed.
        self.paired = asyncio.get_running_loop().create_future()


async def whole(queue):
    """The next report. One without data is held back for its scan response, of which bled makes a report of its own
    when it comes after 30 ms, as it does from controllers as slow as these."""
    report = await queue.get()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not report["data"] and "scanResponse" not in report:
                report = await queue.get()
    return report


class Device:
    """The services of Pandora on bled."""

    def __init__(self, daemon):
        self._daemon = daemon
        self._numbers = itertools.count(1)
        self._links = {}
        # Each has a queue of links that the other device makes, or of advertising reports.
        self._advertisers = []
        self._scanners = []
        # The peripherals that are being connected to.
        self._connecting = 0
        # Receives (link, kind of question, number) and returns the answer.
        self.ask = None
        self.client = None

    async def start(self):
        """Begins a session that answers all questions of pairing."""
        self.client = await Client.connect(self._daemon.socket)
        await self._daemon.until_on(self.client)
        self.client.watch = self._told
        self.client.answer("pairing.confirm", self._confirm)
        self.client.answer("pairing.enterPasskey", self._enter)
        await self.client.call("pairing.register", capability=CAPABILITY)
        await self.client.call("peripheral.watch")

    async def reset(self):
        """Ends all links, also those that the other device made, and forgets all keys."""
        for bond in (await self.client.call("pairing.list"))["bonds"]:
            await self.client.call("pairing.forget", address=bond["address"])
        await self.power_cycle()
        self.client.abort()
        self._end(lambda _: True)
        await self.start()

    async def power_cycle(self):
        """Switches the adapter off and on, which ends all links."""
        await self.client.call("adapter.power", on=False)
        await self.client.call("adapter.power", on=True)

    async def address(self):
        """The public address, in the order in which it is written."""
        [adapter] = (await self.client.call("adapter.list"))["adapters"]
        return bytes.fromhex(adapter["address"].replace(":", ""))

    # Links

    async def connect(self, address, kind):
        """Makes a link."""
        self._connecting += 1
        try:
            text = ":".join(f"{octet:02X}" for octet in address)
            made = await self.client.call("peripheral.connect", address=text, addressType=kind)
            return self._find(made["peripheral"])
        finally:
            self._connecting -= 1

    def link(self, number):
        """The link of this number."""
        return self._links[number]

    async def disconnect(self, link):
        """Ends a link. bled has no call for those that the other device made: there the adapter is switched off."""
        if link.ended.done():
            return
        if link.is_ours:
            await self.client.call("peripheral.disconnect", peripheral=link.peripheral)
        else:
            await self.power_cycle()
        await link.ended

    async def secure(self, link, level):
        """Raises the level of a link; gives None, or the name of the error."""
        try:
            # A link that the other device made is used from here on.
            await self.client.call("peripheral.connect", peripheral=link.peripheral, timeout=10)
            await self.client.call("peripheral.pair", peripheral=link.peripheral, level=level)
        except CallFailed as error:
            return error.data["name"]
        return None

    async def bond(self, link):
        """The level of the bond with the device at the other end; None without one."""
        bonds = (await self.client.call("pairing.list"))["bonds"]
        return next((bond["level"] for bond in bonds if bond.get("peripheral") == link.peripheral), None)

    # Streams

    async def incoming(self, **parameters):
        """Advertises, and yields the links that the other device makes."""
        queue = asyncio.Queue()
        self._advertisers.append(queue)
        client = self.client
        started = await client.call("advertising.start", **parameters)
        try:
            while True:
                yield await queue.get()
        finally:
            self._advertisers.remove(queue)
            client.start("advertising.stop", advertising=started["advertising"])

    async def reports(self, **parameters):
        """Scans, and yields what is heard."""
        queue = asyncio.Queue()
        self._scanners.append(queue)
        client = self.client
        await client.call("scan.start", **parameters)
        try:
            while True:
                yield await whole(queue)
        finally:
            self._scanners.remove(queue)
            client.start("scan.stop")

    # Messages of the daemon

    def _told(self, message):
        params = message.get("params")
        match message.get("method"):
            case "scan.report":
                for queue in self._scanners:
                    queue.put_nowait(params)
            case "peripheral.linkChanged" if params["linked"]:
                link = Link(next(self._numbers), params["peripheral"], self._connecting > 0)
                self._links[link.number] = link
                if not link.is_ours:
                    for queue in self._advertisers:
                        queue.put_nowait(link)
            case "peripheral.linkChanged":
                self._end(lambda link: link.peripheral == params["peripheral"])
            case "pairing.showPasskey" if params["entered"] == 0:
                self.ask(self._find(params["device"]["peripheral"]), "show", int(params["passkey"]))
            case "pairing.ended":
                link = self._find(params["device"]["peripheral"])
                if link and not link.paired.done():
                    link.paired.set_result(params.get("reason"))

    def _confirm(self, params):
        link = self._find(params["device"]["peripheral"])
        number = params.get("number")
        return self.ask(link, "consent" if number is None else "compare", int(number or 0))

    def _enter(self, params):
        return self.ask(self._find(params["device"]["peripheral"]), "enter", 0)

    def _find(self, peripheral):
        there = [link for link in self._links.values() if link.peripheral == peripheral and not link.ended.done()]
        return there[-1] if there else None

    def _end(self, which):
        for link in self._links.values():
            if which(link) and not link.ended.done():
                link.ended.set_result(None)

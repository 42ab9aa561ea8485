"""The other side of a link: a device of Bumble's, whose packets a script replaces. ATT is answered by `server`, all
else by Bumble."""

import asyncio
import functools

from bumble import hci, smp
from bumble.core import AdvertisingData
from bumble.l2cap import L2CAP_PDU
from bumble.pairing import PairingConfig, PairingDelegate
from support.cases import Failure
from support.waiting import until

from .row import choose, octets, packet, script, spelled, unused
from .server import Server

KINDS = PairingDelegate.IoCapability


class People(PairingDelegate):
    """A person that agrees to everything. `keys` are the bits for both sides' keys in the Pairing Response, which are
    otherwise those that were asked for, as the keys themselves are."""

    def __init__(self, keys=None, capability=KINDS.NO_OUTPUT_NO_INPUT):
        super().__init__(capability)
        self.keys = keys
        # The key that was handed out in legacy pairing, by its EDIV and Rand.
        self.handed_out = {}

    async def key_distribution_response(self, theirs, ours):
        mask = 0xFF if self.keys is None else self.keys
        return theirs & mask, ours & mask


class Session(smp.Session):
    """A pairing with such a person."""

    def __init__(self, people, *arguments, **named):
        super().__init__(*arguments, **named)
        self._people = people

    def send_pairing_response_command(self):
        meant = self.initiator_key_distribution, self.responder_key_distribution
        if self._people.keys is not None:
            self.initiator_key_distribution = self.responder_key_distribution = self._people.keys
        super().send_pairing_response_command()
        self.initiator_key_distribution, self.responder_key_distribution = meant

    def distribute_keys(self):
        if not self.sc:
            self._people.handed_out[self.ltk_rand, self.ltk_ediv] = self.ltk
        super().distribute_keys()


class Peer:
    """A device that follows a script, with one link at a time. `received` has the packets that came, as `spelled`."""

    def __init__(self, air, address, row):
        self.address = address
        self._air, self._row = air, row
        self._rules = script(row.peer)
        self._held = []
        self._tasks = set()
        self._names = 0
        self.received = []
        # The number of awaited ones.
        self.awaited = 0
        self.server = Server(row.table)
        self.ended = []
        # Handles by the names that packets have for them.
        self.names = {}

    async def start(self):
        """Puts it on the air, silent."""
        self.device = await self._air.device("clumsy", self.address)
        person = dict(self._row.person)
        sc, mitm = person.pop("sc", True), person.pop("mitm", False)
        people = self._people = People(**person)
        self.device.pairing_config_factory = lambda _: PairingConfig(sc, mitm, True, people)
        self.device.smp_manager.session_proxy = functools.partial(Session, people)
        usual = self.device.host.long_term_key_provider

        async def long_term_key(handle, rand, ediv):
            # Bumble uses the key of the other role.
            return people.handed_out.get((rand, ediv)) or await usual(handle, rand, ediv)

        self.device.host.long_term_key_provider = long_term_key
        self.device.host.on_l2cap_pdu = self._came
        self.device.host.send_l2cap_pdu = self._leaves
        self.device.on("connection", self._linked)
        self.device.advertising_data = octets(self._row.advertises)

    async def advertise(self):
        """Advertises whenever there is no link."""
        await self.device.start_advertising(
            auto_restart=True, advertising_interval_min=30, advertising_interval_max=30)

    async def advertise_anew(self):
        """Advertises under another name, and returns it: what is heard of that was not heard before."""
        self._names += 1
        name = f"clumsy {self._names}"
        self.device.advertising_data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]))
        await self.device.stop_advertising()
        await self.advertise()
        return name

    async def stop(self):
        """Takes it off the air."""
        for task in self._tasks:
            task.cancel()
        controller = self.device.host.controller
        if controller:
            self.hang_up(0x13)
            await until(lambda: not self.device.connections, 10)
        await self.device.stop_advertising()
        self._air.remove_controller(controller)

    @property
    def handle(self):
        """The handle of the link."""
        return next(iter(self.device.connections), None)

    @property
    def is_encrypted(self):
        """Whether the link is encrypted."""
        return any(connection.is_encrypted for connection in self.device.connections.values())

    def hang_up(self, reason):
        """Ends the link, if there is one."""
        if self.handle is not None:
            self.device.host.send_command_sync(hci.HCI_Disconnect_Command(
                connection_handle=self.handle, reason=reason))

    def send(self, word, identifier=0):
        """Sends a packet."""
        if word.startswith("SCID:"):
            word = f"{self.names['SCID']:04x}:{word[5:]}"
        for name, number in self.names.items():
            word = word.replace(name, number.to_bytes(2, "little").hex())
        channel, payload = packet(word, identifier)
        self._write(bytes(L2CAP_PDU(channel, payload)))

    def follow(self, words):
        """Does at once what an answer of a script would."""
        self._follow(words, lambda: None, 0)

    def _write(self, frame):
        if self.handle is not None:
            self.device.host.send_acl_sdu(self.handle, frame)

    def unused(self):
        """The patterns of the script that nothing fitted."""
        return unused(self._rules)

    async def receives(self, pattern, seconds=30):
        """Waits for a packet, behind those that were awaited before."""

        def there():
            for place in range(self.awaited, len(self.received)):
                if pattern.match(self.received[place]):
                    self.awaited = place + 1
                    return True
            return False

        try:
            await until(there, seconds)
        except TimeoutError:
            raise Failure(
                f"{pattern.pattern} did not reach the peer; these did: {self.received[self.awaited:]}") from None

    def _linked(self, connection):
        self.server.mtu = 23
        connection.on(connection.EVENT_DISCONNECTION, self.ended.append)
        connection.on(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, lambda: self._happens("encrypted"))
        self._happens("linked")

    def _happens(self, event):
        self.received.append(event)
        if found := choose(self._rules, event):
            self._follow(found.answers, lambda: None, 0)

    def _came(self, link, channel, payload):
        text = spelled(channel, payload)
        self.received.append(text)
        if text.startswith("sig:14"):
            self.names["SCID"] = int.from_bytes(payload[6:8], "little")

        def polite():
            if channel == 4:
                answer = self.server.answer(payload, self.is_encrypted)
                if answer:
                    self._write(bytes(L2CAP_PDU(4, answer)))
            else:
                self.device.host.emit("l2cap_pdu", link.handle, channel, payload)

        if found := choose(self._rules, text):
            words = [text if word == "echo" else word for word in found.answers]
            self._follow(words, polite, payload[1] if len(payload) > 1 else 0)
        else:
            polite()

    def _leaves(self, handle, channel, payload):
        frame = bytes(L2CAP_PDU(channel, payload))

        def polite():
            self.device.host.send_acl_sdu(handle, frame)

        if found := choose(self._rules, spelled(channel, payload), is_out=True):
            self._follow(found.answers, polite, payload[1] if len(payload) > 1 else 0, frame)
        else:
            polite()

    def _follow(self, words, polite, identifier, frame=b""):
        for place, word in enumerate(words):
            if word.startswith("pause:"):
                rest = words[place + 1 :]
                task = asyncio.create_task(self._later(float(word[6:]), rest, polite, identifier, frame))
                self._tasks.add(task)
                return
            self._do(word, polite, identifier, frame)

    async def _later(self, seconds, words, polite, identifier, frame):
        await asyncio.sleep(seconds)
        self._follow(words, polite, identifier, frame)

    def _do(self, word, polite, identifier, frame):
        match word.split(":"):
            case ["nothing"]:
                pass
            case ["polite"]:
                polite()
            case ["hold"]:
                self._held.append(frame)
            case ["held"]:
                held, self._held = self._held, []
                for each in held:
                    self._write(each)
            case ["hang-up", reason]:
                self.hang_up(int(reason, 16))
            case ["lose-keys"]:
                self._people.handed_out.clear()
                self._tasks.add(asyncio.ensure_future(self.device.keystore.delete_all()))
            case ["unprotect"]:
                for attribute in self.server.attributes.values():
                    attribute.is_protected = False
            case ["raw", digits]:
                self._write(bytes.fromhex(digits))
            case _:
                self.send(word, identifier)

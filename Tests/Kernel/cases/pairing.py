"""Group 8: pairing and bonds, with Bumble at the other side."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from bumble.core import UUID, AdvertisingData, ProtocolError
from bumble.device import Peer
from bumble.gatt import Characteristic, Service
from bumble.hci import HCI_LE_Set_Random_Address_Command
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import SMP_REPEATED_ATTEMPTS_ERROR
from support import own_host
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.client import CallFailed, failure_of
from support.daemon import Daemon
from support.person import Person
from support.waiting import First, until

HUB = "F0:F1:F2:F3:F4:00"
LOCK = "F0:F1:F2:F3:F4:03"
SERVICE = UUID("B1ED0010-0000-4000-8000-00805F9B34FB")
SECRET = UUID("B1ED0011-0000-4000-8000-00805F9B34FB")
SIGNED = UUID("B1ED0013-0000-4000-8000-00805F9B34FB")
AUTHENTICATED = UUID("B1ED0012-0000-4000-8000-00805F9B34FB")
KINDS = PairingDelegate.IoCapability


@dataclass
class Given:
    """bled on hci0, a session, and a device with protected values that advertises."""

    resources: object
    daemon: Daemon
    client: object
    device: object
    person: Person = None
    handles: dict = field(default_factory=dict)

    def sits(self, capability, sc=True, mitm=True, bonding=True, identity=None):
        """Another person sits at the device. `identity` is the type of the address that it reveals as its identity."""
        self.person = Person(capability)
        self.device.pairing_config_factory = lambda _: PairingConfig(sc, mitm, bonding, self.person, identity)

    async def connect(self, **device):
        """Connects, and discovers where the values are; gives the identifier."""
        device = device or {"address": LOCK, "addressType": "random", "timeout": 60}
        identifier = (await self.client.call("peripheral.connect", **device))["peripheral"]
        tree = await self.client.call("gatt.discover", peripheral=identifier)
        for service in tree["services"]:
            for characteristic in service["characteristics"]:
                self.handles[characteristic["uuid"].upper()] = characteristic["handle"]
        return identifier

    async def read(self, identifier, uuid):
        """Reads a value."""
        return (await self.client.call("gatt.read", peripheral=identifier, handle=self.handles[text(uuid)]))["value"]

    async def pair(self, identifier, **parameters):
        """Pairs. bled's own host has a device wait whose last pairing failed (Core 5.4, Vol 3, Part H, 2.3.6)."""

        async def attempt():
            try:
                return await self.client.call("peripheral.pair", peripheral=identifier, **parameters)
            except CallFailed as error:
                if not own_host.IS_USED or "it was tried too often" not in error.error["message"]:
                    raise

        return await until(attempt, 120)

    async def sign(self, identifier, value):
        """Writes a value with a signature."""
        handle = self.handles[text(SIGNED)]
        await self.client.call("gatt.write", peripheral=identifier, handle=handle, value=value.hex(), signed=True)

    async def publish(self):
        """bled has a protected value, and advertises."""
        characteristic = {
            "uuid": text(SECRET),
            "properties": ["read"],
            "permissions": ["readEncryptionRequired"],
            "value": b"secret".hex(),
        }
        await self.client.call("service.add", service={"uuid": text(SERVICE), "characteristics": [characteristic]})
        await self.client.call("advertising.start", name="vault")

    async def let_go(self, identifier):
        """Disconnects, and waits until both sides know."""
        [connection] = self.device.connections.values()
        gone = First(connection, connection.EVENT_DISCONNECTION)
        await self.client.call("peripheral.disconnect", peripheral=identifier)
        await self.client.next("peripheral.disconnected", lambda event: event["peripheral"] == identifier)
        await gone.happens()

    async def alone(self):
        """Waits until the device has no link."""
        await until(lambda: not self.device.connections)

    async def bonds(self):
        """The bonds that bled keeps."""
        return (await self.client.call("pairing.list"))["bonds"]

    async def take_address(self, address):
        """The device uses another random address."""
        await self.device.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
        self.device.random_address = address

    async def start_over(self, identifier):
        """Both sides forget their keys."""
        if self.device.connections:
            await self.let_go(identifier)
        await self.client.call("pairing.forget", peripheral=identifier)
        await self.device.keystore.delete_all()


def text(uuid):
    """A UUID of 128 bits as bled writes it."""
    octets = uuid.to_bytes()[::-1].hex().upper()
    return "-".join((octets[:8], octets[8:12], octets[12:16], octets[16:20], octets[20:]))


async def build(resources, configuration=None, personality=None):
    """A lock whose values are protected."""
    air = Air()
    await resources.open(await air.adapter(HUB, personality))
    properties = Characteristic.Properties.READ
    device = await air.device(
        "Bumble lock",
        LOCK,
        [
            Service(
                SERVICE,
                [
                    Characteristic(SECRET, properties, Characteristic.READ_REQUIRES_ENCRYPTION, b"secret"),
                    Characteristic(
                        AUTHENTICATED, properties, Characteristic.READ_REQUIRES_AUTHENTICATION, b"authenticated"
                    ),
                    Characteristic(
                        SIGNED,
                        Characteristic.Properties.AUTHENTICATED_SIGNED_WRITES,
                        Characteristic.WRITEABLE,
                        b"",
                    ),
                ],
            )
        ],
    )
    device.advertising_data = bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06")]))
    await device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)
    daemon = await resources.open(Daemon(resources, "hci0", configuration=configuration))
    client = await daemon.client()
    await daemon.until_on(client)
    given = Given(resources, daemon, client, device)
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False)
    return given


@stage(8, "a lock with protected values")
async def lock(resources):
    return await build(resources)


@lock.case("a protected read pairs, succeeds, and the bond outlasts link, daemon and power (P19, P22)")
async def protected_read(given):
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    [bond] = await given.bonds()
    expect_equal((bond["address"], bond["level"], bond["keySize"]), (LOCK, "encrypted", 16), "the bond")
    pairings = []
    given.device.on("connection", lambda connection: connection.on(connection.EVENT_PAIRING, pairings.append))
    await given.let_go(identifier)
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value on the next link")
    await given.let_go(identifier)
    # The kernel forgets its keys with the controller's index alone; the daemon loads them again at its start.
    given.client = await given.daemon.restart()
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value after the restart")
    expect(not pairings, "it paired again")
    await given.start_over(identifier)
    expect_equal(await given.bonds(), [], "the bonds after forgetting")


@lock.case("a signed write needs a bond, whose link is encrypted: there it goes without a signature")
async def signed_write(given):
    distribution = PairingDelegate.KeyDistribution
    given.person.local_initiator_key_distribution = (
        distribution.DISTRIBUTE_ENCRYPTION_KEY
        | distribution.DISTRIBUTE_IDENTITY_KEY
        | distribution.DISTRIBUTE_SIGNING_KEY
    )
    identifier = await given.connect()
    refused = await failure_of(given.sign(identifier, b"nobody"))
    expect_equal(refused["name"], "notPermitted", "without a bond")
    await given.client.call("peripheral.pair", peripheral=identifier)
    await until(given.device.keystore.get_all)
    arrived = asyncio.Queue()
    given.device.gatt_server.on_att_write_command = lambda _, pdu: arrived.put_nowait(bytes(pdu))
    for value in (b"first", b"after the restart"):
        await given.let_go(identifier)
        if value == b"after the restart":
            given.client = await given.daemon.restart()
        identifier = await given.connect()
        await given.sign(identifier, value)
        expect_equal((await asyncio.wait_for(arrived.get(), 60))[3:], value, "what was written")
    del given.device.gatt_server.on_att_write_command
    await given.start_over(identifier)


@lock.case("numbers are compared by the session that pairs, and both see the same")
async def comparison(given):
    given.sits(KINDS.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
    asked = []
    await given.client.call("pairing.register", capability="displayYesNo")
    given.client.answer("pairing.confirm", lambda params: asked.append(params) or {"accept": True})
    identifier = await given.connect()
    reached = await given.client.call("peripheral.pair", peripheral=identifier, level="authenticated")
    expect_equal(reached, {"level": "secureConnections", "keySize": 16, "bonded": True}, "what was reached")
    expect_equal([params["number"] for params in asked], [await given.person.shown.get()], "the number here and there")
    expect(asked[0]["device"]["isOurs"], "who began")
    expect_equal(await given.read(identifier, AUTHENTICATED), b"authenticated".hex(), "the authenticated value")
    await given.start_over(identifier)


@lock.case("the passkey that the device shows is entered")
async def entered(given):
    given.sits(KINDS.DISPLAY_OUTPUT_ONLY)

    async def read_display(_):
        return {"passkey": await given.person.shown.get()}

    await given.client.call("pairing.register", capability="keyboard")
    given.client.answer("pairing.enterPasskey", read_display)
    identifier = await given.connect()
    reached = await given.client.call("peripheral.pair", peripheral=identifier, level="authenticated")
    expect_equal(reached["level"], "secureConnections", "the level")
    await given.start_over(identifier)


@lock.case("the passkey that bled shows is typed at the device")
async def shown(given):
    given.sits(KINDS.KEYBOARD_INPUT_ONLY)
    await given.client.call("pairing.register", capability="display")
    identifier = await given.connect()
    pairing = given.client.start("peripheral.pair", peripheral=identifier, level="authenticated")
    event = await given.client.next("pairing.showPasskey")
    given.person.typed.put_nowait(event["passkey"])
    expect_equal((await asyncio.wait_for(pairing, 60))["level"], "secureConnections", "the level")
    await given.start_over(identifier)


@lock.case("keys without a check are replaced on request by keys with one; until then they stay")
async def replaced(given):
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False)
    identifier = await given.connect()
    await given.pair(identifier)
    await given.let_go(identifier)
    given.sits(KINDS.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
    answers = [False, True]
    await given.client.call("pairing.register", capability="displayYesNo")
    given.client.answer("pairing.confirm", lambda params: {"accept": answers.pop(0)})
    identifier = await given.connect()
    error = await failure_of(given.client.call("peripheral.pair", peripheral=identifier, level="authenticated"))
    expect_equal((error["name"], len(answers)), ("pairingFailed", 1), "the error of the pairing, and the answers left")
    expect_equal([bond["level"] for bond in await given.bonds()], ["encrypted"], "the bond that stays")

    # The kernel ends the link, and has the keys again after that.
    with contextlib.suppress(CallFailed):
        await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.alone()
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value with the earlier keys")
    reached = await given.pair(identifier, level="authenticated")
    expect_equal(reached, {"level": "secureConnections", "keySize": 16, "bonded": True}, "what was reached")
    expect_equal(await given.read(identifier, AUTHENTICATED), b"authenticated".hex(), "the authenticated value")
    await given.let_go(identifier)
    identifier = await given.connect()
    expect_equal(await given.read(identifier, AUTHENTICATED), b"authenticated".hex(), "the value on the next link")
    expect_equal([bond["level"] for bond in await given.bonds()], ["secureConnections"], "the bond")
    await given.client.call("pairing.unregister")
    await given.start_over(identifier)


@lock.case("a refusal is an error on both sides, and the read has the device's own")
async def refused(given):
    given.sits(KINDS.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
    await given.client.call("pairing.register", capability="displayYesNo")
    given.client.answer("pairing.confirm", lambda params: {"accept": False})
    identifier = await given.connect()
    [connection] = given.device.connections.values()
    failed = First(connection, connection.EVENT_PAIRING_FAILURE)
    error = await failure_of(given.client.call("peripheral.pair", peripheral=identifier))
    expect_equal(error["name"], "pairingFailed", "the error of the pairing")
    await failed.happens()
    expect_equal(await given.bonds(), [], "the bonds")
    await given.client.call("pairing.unregister")
    await given.let_go(identifier)


@lock.case("legacy pairing works, too")
async def legacy(given):
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, sc=False, mitm=False)
    identifier = await given.connect()
    if own_host.IS_USED:
        await given.pair(identifier)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    await given.let_go(identifier)
    # Bumble keeps the keys by the roles of the pairing, and looks them up by its own.
    for address, keys in await until(given.device.keystore.get_all):
        keys.ltk_central, keys.ltk_peripheral = keys.ltk_peripheral, keys.ltk_central
        await given.device.keystore.update(address, keys)
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value on the next link")
    await given.start_over(identifier)


@lock.case("a device that lost its keys: the error says what to do, and it helps")
async def lost_keys(given):
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False)
    identifier = await given.connect()
    await given.read(identifier, SECRET)
    await given.let_go(identifier)
    await given.device.keystore.delete_all()
    error = await failure_of(given.connect())
    expect_equal(error["name"], "pinOrKeyMissing", "the error")
    await given.client.call("pairing.forget", peripheral=identifier)
    await given.alone()
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value after pairing again")
    await given.start_over(identifier)


async def build_phone(resources, personality=None, configuration=None):
    """A phone, and a protected value of ours."""
    air = Air()
    await resources.open(await air.adapter(HUB, personality))
    device = await air.device("Bumble phone", LOCK)
    daemon = await resources.open(Daemon(resources, "hci0", configuration=configuration))
    client = await daemon.client()
    await daemon.until_on(client)
    given = Given(resources, daemon, client, device)
    await given.publish()
    return given


@stage(8, "a phone that wants a protected value of ours")
async def phone(resources):
    return await build_phone(resources)


async def as_phone(given, hub=f"{HUB}/P"):
    """The phone connects and looks for the value; gives its connection and the characteristic."""
    connection = await asyncio.wait_for(given.device.connect(hub), 60)
    peer = Peer(connection)
    await peer.discover_all()
    [secret] = peer.get_characteristics_by_uuid(SECRET)
    return connection, secret


async def pair(connection):
    """The phone pairs, when bled's own host has it wait no longer."""

    async def attempt():
        try:
            await connection.pair()
            return True
        except ProtocolError as error:
            if not own_host.IS_USED or error.error_code != SMP_REPEATED_ATTEMPTS_ERROR:
                raise

    await until(attempt)


async def leave(connection):
    """The phone disconnects."""
    gone = First(connection, connection.EVENT_DISCONNECTION)
    await connection.disconnect()
    await gone.happens()


@phone.case("a stranger may not pair; with pairing.open it may, and its bond outlasts the daemon (P20, P21)")
async def stranger(given):
    connection, _ = await as_phone(given)
    try:
        await asyncio.wait_for(connection.pair(), 60)
        expect(False, "the stranger paired")
    except ProtocolError as error:
        expect_equal(error.error_namespace, "smp", "who refused")
    await leave(connection)
    await given.client.call("pairing.open", seconds=60)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    [bond] = await given.bonds()
    expect_equal(bond["address"], LOCK, "the bond")
    given.client = await given.daemon.restart()
    [bond] = await given.bonds()
    expect_equal(bond["address"], LOCK, "the bond after the restart")

"""Group 8: devices that attack the pairing, with a Bumble that misbehaves. None gets keys, and an honest one pairs
afterwards."""

import asyncio
import contextlib
import secrets
import time

from bumble import hci, smp
from bumble.core import ProtocolError
from bumble.pairing import PairingConfig, PairingDelegate
from cases.pairing import KINDS, SECRET, as_phone, build, build_phone, leave
from support.cases import expect, expect_equal, stage
from support.client import failure_of

ZERO = bytes(16)


class ShortKey(smp.Session):
    """Agrees on keys of six octets only."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.maximum_encryption_key_size = 6


class OffCurve(smp.Session):
    """Its public key is not a point of the curve."""

    def send_public_key_command(self):
        y = bytearray(self.ecc_key.y[::-1])
        y[0] ^= 1
        self.send_command(
            smp.SMP_Pairing_Public_Key_Command(public_key_x=self.ecc_key.x[::-1], public_key_y=bytes(y))
        )


class WrongCheck(smp.Session):
    """Its DHKey Check is not the one of the shared secret."""

    def send_pairing_dhkey_check_command(self):
        self.send_command(smp.SMP_Pairing_DHKey_Check_Command(dhkey_check=ZERO))


class NoCheck(smp.Session):
    """Encrypts without sending a DHKey Check."""

    def send_pairing_dhkey_check_command(self):
        self.start_encryption(self.ltk)


class ZeroKey(smp.Session):
    """Distributes a long term key of zeros."""

    def distribute_keys(self):
        self.ltk = ZERO
        super().distribute_keys()


class Repeating(smp.Session):
    """Says everything twice."""

    def send_command(self, command):
        super().send_command(command)
        super().send_command(command)


class Early(smp.Session):
    """Sends its random number and its check before it was asked for anything."""

    def send_pairing_response_command(self):
        self.send_command(smp.SMP_Pairing_Random_Command(random_value=ZERO))
        self.send_command(smp.SMP_Pairing_DHKey_Check_Command(dhkey_check=ZERO))
        super().send_pairing_response_command()


class Silent(smp.Session):
    """Never answers."""

    def on_smp_command(self, command):
        pass


def misbehave(given, session, **person):
    """The device pairs in this way from now on."""
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False, **person)
    given.device.smp_manager.session_proxy = session


async def bonds(given):
    """The bonds that bled keeps."""
    return (await given.client.call("pairing.list"))["bonds"]


async def bond_made(given):
    """Waits for the bond: the phone is done when it has sent its keys."""
    async with asyncio.timeout(60):
        while not (kept := await bonds(given)):
            await asyncio.sleep(0.05)
    expect_equal(len(kept), 1, "the number of bonds")
    return kept[0]


async def alone(given):
    """Waits until the device has no link."""
    async with asyncio.timeout(60):
        while given.device.connections:
            await asyncio.sleep(0.05)


async def connect_again(given):
    """Connects, though the last link may be ending."""
    await alone(given)
    return await given.connect()


async def honest(given):
    """The same device pairs as it should."""
    misbehave(given, smp.Session)
    identifier = await connect_again(given)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "what an honest pairing gives")
    await given.start_over(identifier)


async def part(given, identifier):
    """Ends the link, if it is not over already."""
    if given.device.connections:
        with contextlib.suppress(Exception):
            await given.client.call("peripheral.disconnect", peripheral=identifier)
    await alone(given)


async def pairs_not(given, session, **person):
    """A pairing with a device that does this fails: with an error here, and nothing is kept."""
    misbehave(given, session, **person)
    identifier = await connect_again(given)
    error = await failure_of(given.client.call("peripheral.pair", peripheral=identifier))
    expect_equal(error["name"], "pairingFailed", "the error")
    expect_equal(await bonds(given), [], "the bonds")
    await part(given, identifier)
    await honest(given)


@stage(8, "a lock that attacks the pairing")
async def lock(resources):
    return await build(resources)


@lock.case("a key of six octets is refused")
async def short_key(given):
    await pairs_not(given, ShortKey)
    await pairs_not(given, ShortKey, sc=False)


@lock.case("a public key that is not on the curve is refused")
async def off_curve(given):
    await pairs_not(given, OffCurve)


@lock.case("a wrong DHKey Check ends the pairing")
async def wrong_check(given):
    await pairs_not(given, WrongCheck)


@lock.case("a long term key of zeros is not kept, and the link that it came over ends")
async def zero_key(given):
    await pairs_not(given, ZeroKey, sc=False)


@lock.case("messages before their turn are ignored")
async def early(given):
    misbehave(given, Early)
    identifier = await connect_again(given)
    await given.client.call("peripheral.pair", peripheral=identifier)
    [connection] = given.device.connections.values()
    expect(connection.is_encrypted, "the link is not encrypted")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value")
    await given.start_over(identifier)
    await honest(given)


@lock.case("messages that come twice give nobody a second pairing")
async def repeating(given):
    misbehave(given, Repeating)
    identifier = await connect_again(given)
    with contextlib.suppress(Exception):
        await given.client.call("peripheral.pair", peripheral=identifier)
    expect(len(await bonds(given)) <= 1, "more than one bond")
    await part(given, identifier)
    if await bonds(given):
        await given.client.call("pairing.forget", peripheral=identifier)
    await given.device.keystore.delete_all()
    await honest(given)


@lock.case("a pairing that never ends is given up after 30 s")
async def silent(given):
    started = time.monotonic()
    await pairs_not(given, Silent)
    expect(time.monotonic() - started < 120, "it took too long")


@lock.case("a flood of Security Requests pairs with nobody, and holds up nobody")
async def flood(given):
    misbehave(given, smp.Session)
    identifier = await connect_again(given)
    [connection] = given.device.connections.values()
    for number in range(300):
        # Every other one asks for a bond.
        connection.send_l2cap_pdu(smp.SMP_CID, bytes([0x0B, 0x01 if number % 2 else 0x00]))
        if number % 50 == 0:
            await asyncio.wait_for(given.client.call("session.list"), 10)
    await asyncio.wait_for(given.client.call("session.list"), 10)
    expect_equal(await bonds(given), [], "the bonds")
    await part(given, identifier)
    await honest(given)


@lock.case("SMP packets that are too long, empty or unknown do no harm")
async def oversized(given):
    misbehave(given, smp.Session)
    identifier = await connect_again(given)
    [connection] = given.device.connections.values()
    for packet in (b"", b"\x01", b"\x02" + bytes(600), b"\x0c" + bytes(200), b"\x03" + bytes(3), b"\xff" * 70):
        if connection.handle not in given.device.connections:
            break
        connection.send_l2cap_pdu(smp.SMP_CID, packet)
    await asyncio.wait_for(given.client.call("session.list"), 10)
    expect_equal(await bonds(given), [], "the bonds")
    await part(given, identifier)
    await honest(given)


@stage(8, "a phone that attacks the pairing")
async def phone(resources):
    given = await build_phone(resources)
    misbehave(given, smp.Session)
    return given


async def take_address(given, address):
    """The device uses another random address."""
    await given.device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=address))
    given.device.random_address = address


async def reads_nothing(given, connection, secret):
    """The protected value is refused on this link, if it is there still."""
    if connection.handle in given.device.connections:
        try:
            await asyncio.wait_for(secret.read_value(), 60)
            expect(False, "the protected value was given away")
        except ProtocolError as error:
            expect_equal(error.error_namespace, "att", "who refused")
        except asyncio.CancelledError:
            # Bumble cancels what waits on a link that ends.
            if asyncio.current_task().cancelling():
                raise


async def enable_encryption(given, connection, key):
    """Has the controller encrypt with this key; gives whether the link is encrypted then."""
    over = asyncio.get_running_loop().create_future()

    def ended(*_):
        if not over.done():
            over.set_result(None)

    for event in (
        connection.EVENT_CONNECTION_ENCRYPTION_CHANGE,
        connection.EVENT_CONNECTION_ENCRYPTION_FAILURE,
        connection.EVENT_DISCONNECTION,
    ):
        connection.once(event, ended)
    await given.device.host.send_async_command(
        hci.HCI_LE_Enable_Encryption_Command(
            connection_handle=connection.handle, random_number=bytes(8), encrypted_diversifier=0, long_term_key=key
        )
    )
    await asyncio.wait_for(over, 60)
    return connection.is_encrypted


@phone.case("encryption with a key of zeros is refused, before and while it pairs")
async def zero_encryption(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    connection, secret = await as_phone(given)
    expect(not await enable_encryption(given, connection, ZERO), "the link is encrypted with a key of zeros")
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)

    class Hasty(smp.Session):
        """Encrypts with a key of zeros as soon as it has a public key."""

        def on_smp_pairing_public_key_command(self, command):
            self.start_encryption(ZERO)

    misbehave(given, Hasty)
    connection, secret = await as_phone(given)
    pairing = asyncio.ensure_future(connection.pair())
    refused = asyncio.get_running_loop().create_future()
    for event in (connection.EVENT_CONNECTION_ENCRYPTION_FAILURE, connection.EVENT_DISCONNECTION):
        connection.once(event, lambda *_: refused.done() or refused.set_result(None))
    await asyncio.wait_for(refused, 60)
    pairing.cancel()
    expect(not connection.is_encrypted, "the link is encrypted with a key of zeros")
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    expect_equal(await bonds(given), [], "the bonds")
    await given.client.call("pairing.open", seconds=0)


@phone.case("a pairing without a DHKey Check gives no key")
async def no_check(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, NoCheck)
    connection, secret = await as_phone(given)
    pairing = asyncio.ensure_future(connection.pair())
    refused = asyncio.get_running_loop().create_future()
    for event in (connection.EVENT_CONNECTION_ENCRYPTION_FAILURE, connection.EVENT_DISCONNECTION):
        connection.once(event, lambda *_: refused.done() or refused.set_result(None))
    await asyncio.wait_for(refused, 60)
    pairing.cancel()
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    expect_equal(await bonds(given), [], "the bonds")
    await given.client.call("pairing.open", seconds=0)


@phone.case("a key of zeros does not cost the bond that there was, though somebody lets the device pair again")
async def zero_key_again(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    await leave(connection)
    bond = await bond_made(given)
    await given.client.call("pairing.open", seconds=0)
    [(name, keys)] = await given.device.keystore.get_all()
    await given.device.keystore.delete_all()
    asked = []
    agent = await given.daemon.client()
    await agent.call("pairing.register", capability="displayYesNo")
    agent.answer("pairing.confirm", lambda params: asked.append(params) or {"accept": True})
    misbehave(given, ZeroKey, sc=False)
    connection, secret = await as_phone(given)
    gone = asyncio.get_running_loop().create_future()
    connection.once(connection.EVENT_DISCONNECTION, lambda *_: gone.done() or gone.set_result(None))
    with contextlib.suppress(ProtocolError, asyncio.CancelledError):
        await asyncio.wait_for(connection.pair(), 60)
    await asyncio.wait_for(gone, 60)
    expect_equal(len(asked), 1, "how often somebody was asked")
    agent.abort()
    expect_equal(await bonds(given), [bond], "the bonds")
    # The owner's keys are what they were.
    await given.device.keystore.delete_all()
    await given.device.keystore.update(name, keys)
    misbehave(given, smp.Session)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.encrypt(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value for the bonded device")
    await leave(connection)
    await given.client.call("pairing.forget", address=bond["address"])
    await given.device.keystore.delete_all()


@phone.case("keys that come without a pairing are not taken")
async def injected_keys(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    connection, secret = await as_phone(given)
    for packet in (
        b"\x06" + bytes(range(16)),  # Encryption Information
        b"\x07" + bytes(10),  # Central Identification
        b"\x08" + bytes(range(16)),  # Identity Information
        b"\x09\x01" + bytes.fromhex("03f4f3f2f1f0"),  # Identity Address Information
        b"\x0a" + bytes(range(16)),  # Signing Information
        b"\x04" + bytes(16),  # Pairing Random
        b"\x0d" + bytes(16),  # Pairing DHKey Check
    ):
        if given.device.connections:
            connection.send_l2cap_pdu(smp.SMP_CID, packet)
    await reads_nothing(given, connection, secret)
    expect_equal(await bonds(given), [], "the bonds")
    if given.device.connections:
        await leave(connection)
    await given.client.call("pairing.open", seconds=0)


@phone.case("keys for the other transport are not agreed on")
async def cross_transport(given):
    await given.client.call("pairing.open", seconds=120)
    both = PairingDelegate.DEFAULT_KEY_DISTRIBUTION | PairingDelegate.KeyDistribution.DISTRIBUTE_LINK_KEY
    answers = []

    class Crossing(smp.Session):
        """Asks for a link key of BR/EDR."""

        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            self.ct2 = True

        def on_smp_pairing_response_command(self, command):
            answers.append(command)
            super().on_smp_pairing_response_command(command)

    misbehave(given, Crossing)
    delegate = PairingDelegate(KINDS.NO_OUTPUT_NO_INPUT, both, both)
    given.device.pairing_config_factory = lambda _: PairingConfig(True, False, True, delegate)
    connection, _ = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    [answer] = answers
    link_key = smp.KeyDistribution.LINK_KEY
    expect(not answer.initiator_key_distribution & link_key, "it takes a link key")
    expect(not answer.responder_key_distribution & link_key, "it gives a link key")
    bond = await bond_made(given)
    await leave(connection)
    await given.client.call("pairing.forget", address=bond["address"])
    await given.device.keystore.delete_all()
    await given.client.call("pairing.open", seconds=0)


@phone.case("a device that pairs and tells the identity of a bonded one does not take its place")
async def claimed_identity(given):
    device, own = given.device, given.device.random_address
    await given.client.call("pairing.open", seconds=120)
    device.irk = secrets.token_bytes(16)
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False, identity=hci.Address.RANDOM_DEVICE_ADDRESS)
    device.smp_manager.session_proxy = smp.Session
    await take_address(given, hci.Address.generate_private_address(device.irk))
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    await leave(connection)
    bond = await bond_made(given)
    [(name, keys)] = await device.keystore.get_all()
    irk = device.irk
    # Another device, which tells the same identity, from an address that resolves and from one that does not.
    for resolvable in (True, False):
        await device.keystore.delete_all()
        device.irk = secrets.token_bytes(16)
        if resolvable:
            private = hci.Address.generate_private_address(device.irk)
        else:
            octets = bytearray(secrets.token_bytes(6))
            octets[5] &= 0x3F
            private = hci.Address(bytes(octets), hci.Address.RANDOM_DEVICE_ADDRESS)
        await take_address(given, private)
        connection, secret = await as_phone(given)
        gone = asyncio.get_running_loop().create_future()
        connection.once(connection.EVENT_DISCONNECTION, lambda *_: gone.done() or gone.set_result(None))
        with contextlib.suppress(ProtocolError, asyncio.CancelledError):
            await asyncio.wait_for(connection.pair(), 60)
        await asyncio.wait_for(gone, 60)
        expect_equal(await bonds(given), [bond], f"the bond, after a thief whose address resolves: {resolvable}")
    # The bonded one still has its keys.
    await device.keystore.delete_all()
    await device.keystore.update(name, keys)
    device.irk = irk
    await take_address(given, hci.Address.generate_private_address(irk))
    await given.client.call("pairing.open", seconds=0)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.encrypt(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value for the bonded device")
    await leave(connection)
    await given.client.call("pairing.forget", address=bond["address"])
    await device.keystore.delete_all()
    await take_address(given, own)


@phone.case("the keys of a bond are of no use under another address, nor its address without the keys")
async def swapped_address(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    own = given.device.random_address
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    await given.client.call("pairing.open", seconds=0)
    [(name, keys)] = await given.device.keystore.get_all()
    # The bonded device with another address.
    await take_address(given, hci.Address("F0:F1:F2:F3:F4:77"))
    connection, secret = await as_phone(given)
    expect(not await enable_encryption(given, connection, keys.ltk.value), "the keys open the link of another address")
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    # Another device with the address of the bonded one, and no keys.
    await take_address(given, own)
    await given.device.keystore.delete_all()
    connection, secret = await as_phone(given)
    await reads_nothing(given, connection, secret)
    try:
        await asyncio.wait_for(connection.pair(), 60)
        expect(False, "it took over the bond")
    except ProtocolError as error:
        expect_equal(error.error_namespace, "smp", "who refused")
    bond = await bond_made(given)
    if given.device.connections:
        await leave(connection)
    # The keys are what they were.
    await given.device.keystore.update(name, keys)
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.encrypt(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value for the bonded device")
    await leave(connection)
    await given.client.call("pairing.forget", address=bond["address"])
    await given.device.keystore.delete_all()

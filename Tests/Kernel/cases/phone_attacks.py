"""Group 8: phones that attack the pairing, with a Bumble that misbehaves. None gets keys, or costs another's."""

import asyncio
import contextlib
import secrets

from bumble import hci, smp
from bumble.core import ProtocolError
from bumble.pairing import PairingConfig, PairingDelegate
from cases.pairing import KINDS, as_phone, build_phone, leave, pair
from cases.pairing_attacks import ZERO, NoCheck, ZeroKey, bond_made, misbehave
from support.cases import expect, expect_equal, stage
from support.waiting import First, until


@stage(8, "a phone that attacks the pairing")
async def phone(resources):
    given = await build_phone(resources)
    misbehave(given, smp.Session)
    return given


async def reads_nothing(given, connection, secret):
    """The protected value is refused on this link, if it is there still."""
    if connection.handle in given.device.connections:
        try:
            await asyncio.wait_for(secret.read_value(), 60)
            expect(False, "the protected value was given away")
        except ProtocolError as error:
            expect_equal(error.error_namespace, "att", "who refused")
        except asyncio.CancelledError:
            # Bumble cancels pending operations on a link that ends.
            if asyncio.current_task().cancelling():
                raise


async def enable_encryption(given, connection, key):
    """Has the controller encrypt with this key; gives whether the link is encrypted then."""
    over = First(
        connection,
        connection.EVENT_CONNECTION_ENCRYPTION_CHANGE,
        connection.EVENT_CONNECTION_ENCRYPTION_FAILURE,
        connection.EVENT_DISCONNECTION,
    )
    await given.device.host.send_async_command(
        hci.HCI_LE_Enable_Encryption_Command(
            connection_handle=connection.handle, random_number=bytes(8), encrypted_diversifier=0, long_term_key=key
        )
    )
    await over.happens()
    return connection.is_encrypted


async def encryption_refused(connection):
    """The device pairs until it encrypts, which is refused."""
    pairing = asyncio.ensure_future(pair(connection))
    refused = First(connection, connection.EVENT_CONNECTION_ENCRYPTION_FAILURE, connection.EVENT_DISCONNECTION)
    await refused.happens()
    pairing.cancel()


async def pairing_ends_link(connection):
    """The device pairs, and the link ends because of what it sends."""
    gone = First(connection, connection.EVENT_DISCONNECTION)
    with contextlib.suppress(ProtocolError, asyncio.CancelledError):
        await pair(connection)
    await gone.happens()


async def bonded_device_reads(given, bond):
    """The bonded device is what it was, and is forgotten then."""
    connection, secret = await as_phone(given)
    await asyncio.wait_for(connection.encrypt(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value for the bonded device")
    await leave(connection)
    await given.client.call("pairing.forget", address=bond["address"])
    await given.device.keystore.delete_all()


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
    await encryption_refused(connection)
    expect(not connection.is_encrypted, "the link is encrypted with a key of zeros")
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    expect_equal(await given.bonds(), [], "the bonds")
    await given.client.call("pairing.open", seconds=0)


@phone.case("a pairing without a DHKey Check gives no key")
async def no_check(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, NoCheck)
    connection, secret = await as_phone(given)
    await encryption_refused(connection)
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    expect_equal(await given.bonds(), [], "the bonds")
    await given.client.call("pairing.open", seconds=0)


@phone.case("a key of zeros does not cost the bond that there was, though somebody lets the device pair again")
async def zero_key_again(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    connection, secret = await as_phone(given)
    await pair(connection)
    await leave(connection)
    bond = await bond_made(given)
    await given.client.call("pairing.open", seconds=0)
    [(name, keys)] = await until(given.device.keystore.get_all)
    await given.device.keystore.delete_all()
    asked = []
    agent = await given.daemon.client()
    await agent.call("pairing.register", capability="displayYesNo")
    agent.answer("pairing.confirm", lambda params: asked.append(params) or {"accept": True})
    misbehave(given, ZeroKey, sc=False)
    connection, secret = await as_phone(given)
    await pairing_ends_link(connection)
    expect_equal(len(asked), 1, "how often somebody was asked")
    agent.abort()
    expect_equal(await given.bonds(), [bond], "the bonds")
    # The owner's keys are unchanged.
    await given.device.keystore.delete_all()
    await given.device.keystore.update(name, keys)
    misbehave(given, smp.Session)
    await bonded_device_reads(given, bond)


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
    expect_equal(await given.bonds(), [], "the bonds")
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
    await pair(connection)
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
    await given.take_address(hci.Address.generate_private_address(device.irk))
    connection, secret = await as_phone(given)
    await pair(connection)
    await leave(connection)
    bond = await bond_made(given)
    [(name, keys)] = await until(device.keystore.get_all)
    irk = device.irk
    # Another device, which reveals the same identity, from an address that resolves and from one that does not.
    for resolvable in (True, False):
        await device.keystore.delete_all()
        device.irk = secrets.token_bytes(16)
        if resolvable:
            private = hci.Address.generate_private_address(device.irk)
        else:
            octets = bytearray(secrets.token_bytes(6))
            octets[5] &= 0x3F
            private = hci.Address(bytes(octets), hci.Address.RANDOM_DEVICE_ADDRESS)
        await given.take_address(private)
        connection, secret = await as_phone(given)
        await pairing_ends_link(connection)
        expect_equal(await given.bonds(), [bond], f"the bond, after a thief whose address resolves: {resolvable}")
    # The bonded one still has its keys.
    await device.keystore.delete_all()
    await device.keystore.update(name, keys)
    device.irk = irk
    await given.take_address(hci.Address.generate_private_address(irk))
    await given.client.call("pairing.open", seconds=0)
    await bonded_device_reads(given, bond)
    await given.take_address(own)


@phone.case("the keys of a bond are of no use under another address, nor its address without the keys")
async def swapped_address(given):
    await given.client.call("pairing.open", seconds=120)
    misbehave(given, smp.Session)
    own = given.device.random_address
    connection, secret = await as_phone(given)
    await pair(connection)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    await given.client.call("pairing.open", seconds=0)
    [(name, keys)] = await until(given.device.keystore.get_all)
    # The bonded device with another address.
    await given.take_address(hci.Address("F0:F1:F2:F3:F4:77"))
    connection, secret = await as_phone(given)
    expect(not await enable_encryption(given, connection, keys.ltk.value), "the keys open the link of another address")
    await reads_nothing(given, connection, secret)
    if given.device.connections:
        await leave(connection)
    # Another device with the address of the bonded one, and no keys.
    await given.take_address(own)
    await given.device.keystore.delete_all()
    connection, secret = await as_phone(given)
    await reads_nothing(given, connection, secret)
    try:
        await pair(connection)
        expect(False, "it took over the bond")
    except ProtocolError as error:
        expect_equal(error.error_namespace, "smp", "who refused")
    bond = await bond_made(given)
    if given.device.connections:
        await leave(connection)
    # The keys are unchanged.
    await given.device.keystore.update(name, keys)
    await bonded_device_reads(given, bond)

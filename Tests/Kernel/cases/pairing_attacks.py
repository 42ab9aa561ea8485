"""Group 8: locks that attack the pairing, with a Bumble that misbehaves. None gets keys, and an honest one pairs
afterwards."""

import asyncio
import contextlib
import time

from bumble import smp
from cases.pairing import KINDS, SECRET, build
from support import own_host
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.waiting import until

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


async def bond_made(given):
    """Waits for the bond: the phone is done when it has sent its keys."""
    kept = await until(given.bonds)
    expect_equal(len(kept), 1, "the number of bonds")
    return kept[0]


async def connect_again(given):
    """Connects, though the last link may be ending."""
    await given.alone()
    return await given.connect()


async def honest(given):
    """The same device pairs as it should."""
    misbehave(given, smp.Session)
    identifier = await connect_again(given)
    if own_host.IS_USED:
        await given.pair(identifier)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "what an honest pairing gives")
    await given.start_over(identifier)


async def part(given, identifier):
    """Ends the link, if it is not over already."""
    if given.device.connections:
        with contextlib.suppress(Exception):
            await given.client.call("peripheral.disconnect", peripheral=identifier)
    await given.alone()


async def pairs_not(given, session, **person):
    """A pairing with a device that does this fails: with an error here, and nothing is kept."""
    misbehave(given, session, **person)
    identifier = await connect_again(given)
    error = await failure_of(given.pair(identifier))
    expect_equal(error["name"], "pairingFailed", "the error")
    expect_equal(await given.bonds(), [], "the bonds")
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
    if own_host.IS_USED:
        # They end the pairing.
        return await pairs_not(given, Early)
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
        await given.pair(identifier)
    expect(len(await given.bonds()) <= 1, "more than one bond")
    await part(given, identifier)
    if await given.bonds():
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
        # Every other one requests a bond.
        connection.send_l2cap_pdu(smp.SMP_CID, bytes([0x0B, 0x01 if number % 2 else 0x00]))
        if number % 50 == 0:
            await asyncio.wait_for(given.client.call("session.list"), 10)
    await asyncio.wait_for(given.client.call("session.list"), 10)
    expect_equal(await given.bonds(), [], "the bonds")
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
    expect_equal(await given.bonds(), [], "the bonds")
    await part(given, identifier)
    await honest(given)

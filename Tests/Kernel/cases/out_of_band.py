"""Group 8: pairing with data that went another way than the air, with Bumble at the other side."""

import asyncio

from bumble import hci
from bumble.core import ProtocolError
from bumble.pairing import OobContext, OobSharedData, PairingConfig
from cases.pairing import AUTHENTICATED, KINDS, LOCK, SECRET, as_phone, build, build_phone, leave, pair
from support.air import EmulatedController
from support.cases import expect, expect_equal, stage
from support.client import failure_of


class SimplePairing(EmulatedController):
    """As controllers with BR/EDR have it: the kernel gives data of its own on no others."""

    lmp_features = EmulatedController.lmp_features | hci.LmpFeatureMask.SECURE_SIMPLE_PAIRING_CONTROLLER_SUPPORT


def shared(data):
    """The data from bled in Bumble's form."""
    return OobSharedData(c=bytes.fromhex(data["confirmation"]), r=bytes.fromhex(data["random"]))


def uses(given, context, data):
    """The device pairs with its own data and these of ours, or None, from now on."""
    given.sits(KINDS.NO_OUTPUT_NO_INPUT)
    oob = PairingConfig.OobConfig(context, data, None)
    given.device.pairing_config_factory = lambda _: PairingConfig(True, True, True, given.person, None, oob)


async def give(given, context):
    """bled is told the device's data."""
    data = context.share()
    await given.client.call(
        "pairing.setOutOfBand", address=LOCK, addressType="random", confirmation=data.c.hex(), random=data.r.hex()
    )


@stage(8, "a lock that pairs out of band")
async def lock(resources):
    return await build(resources, personality=SimplePairing)


@lock.case("data that went both ways: authenticated without a question, though neither can show or ask anything")
async def both_ways(given):
    context = OobContext()
    uses(given, context, shared(await given.client.call("pairing.readOutOfBand")))
    await give(given, context)
    identifier = await given.connect()
    reached = await given.client.call("peripheral.pair", peripheral=identifier, level="secureConnections")
    expect_equal(reached, {"level": "secureConnections", "keySize": 16, "bonded": True}, "what was reached")
    expect_equal(await given.read(identifier, AUTHENTICATED), b"authenticated".hex(), "the authenticated value")
    await given.start_over(identifier)


@lock.case("data that went one way")
async def one_way(given):
    context = OobContext()
    uses(given, context, None)
    await give(given, context)
    identifier = await given.connect()
    reached = await given.client.call("peripheral.pair", peripheral=identifier, level="secureConnections")
    expect_equal(reached["level"], "secureConnections", "the level")
    await given.start_over(identifier)


@lock.case("data of another device pair with nobody")
async def wrong(given):
    uses(given, OobContext(), None)
    await give(given, OobContext())
    identifier = await given.connect()
    error = await failure_of(given.pair(identifier))
    expect_equal(error["name"], "pairingFailed", "the error")
    expect_equal((await given.client.call("pairing.list"))["bonds"], [], "the bonds")
    await given.client.call("pairing.setOutOfBand", address=LOCK, addressType="random")
    await given.device.keystore.delete_all()


@stage(8, "a phone that pairs out of band")
async def phone(resources):
    return await build_phone(resources, SimplePairing)


@phone.case("who has our data pairs without a question while the session lasts that read them, and others do not")
async def ours(given):
    uses(given, OobContext(), OobContext().share())
    reader = await given.daemon.client()
    data = shared(await reader.call("pairing.readOutOfBand"))
    connection, _ = await as_phone(given)
    try:
        await pair(connection)
        expect(False, "it paired with other data")
    except (ProtocolError, asyncio.CancelledError):
        pass
    if given.device.connections:
        await leave(connection)
    expect_equal((await given.client.call("pairing.list"))["bonds"], [], "the bonds")
    uses(given, OobContext(), data)
    connection, secret = await as_phone(given)
    await pair(connection)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    [bond] = (await given.client.call("pairing.list"))["bonds"]
    expect_equal(bond["level"], "secureConnections", "the level of the bond")
    await given.client.call("pairing.forget", address=bond["address"])
    await given.device.keystore.delete_all()
    reader.abort()
    # The kernel may not have the data yet; the end of the session counts.
    await given.client.call("session.list")
    connection, _ = await as_phone(given)
    try:
        await pair(connection)
        expect(not (await given.client.call("pairing.list"))["bonds"], "a bond was made after the session's end")
    except (ProtocolError, asyncio.CancelledError):
        pass
    if given.device.connections:
        await leave(connection)

"""Group 8: this machine with private addresses of its own, with Bumble at the other side."""

import asyncio

from bumble.hci import Address, LeFeatureMask
from bumble.smp import AddressResolver
from cases.pairing import HUB, KINDS, LOCK, SECRET, as_phone, build, build_phone, leave
from cases.privacy import count_pairings
from support import zoo
from support.air import EmulatedController
from support.cases import expect, expect_equal, stage
from support.waiting import First, until

PRIVACY = {"privacy": {"rotation": 10}}  # Seconds.


class Legacy(EmulatedController):
    """As controllers before 5.0: the kernel makes its addresses in another way."""

    le_features = EmulatedController.le_features & ~LeFeatureMask.LE_EXTENDED_ADVERTISING


async def seen_under(given):
    """The private address that bled reports."""
    [adapter] = (await given.client.call("adapter.list"))["adapters"]
    expect_equal(adapter["address"], HUB, "the address that it keeps")
    return adapter["privateAddress"]


def text(address):
    """An address of Bumble as bled writes it."""
    return address.to_string(with_type_qualifier=False)


async def key(given):
    """The key that the device got for our addresses: it knows us by our identity."""
    [(name, keys)] = await until(given.device.keystore.get_all)
    expect(name.startswith(HUB), f"the device knows us as {name}")
    return keys.irk.value


def expect_resolves(irk, address):
    """Our addresses are made with the key that we gave."""
    resolved = AddressResolver([(irk, Address(HUB, Address.PUBLIC_DEVICE_ADDRESS))]).resolve(Address(address))
    expect(resolved is not None, f"{address} is not resolved by the key that we gave")


def seen_by(device):
    """Gives a list that grows with the address under which we come to the device."""
    addresses = []
    device.on(
        "connection",
        lambda connection: addresses.append(connection.peer_resolvable_address or connection.peer_address),
    )
    return addresses


@stage(8, "a lock, and private addresses of our own")
async def lock(resources):
    return await build_lock(resources)


async def build_lock(resources, personality=None):
    """A lock that reveals its identity."""
    given = await build(resources, PRIVACY, personality)
    given.sits(KINDS.NO_OUTPUT_NO_INPUT, mitm=False, identity=Address.RANDOM_DEVICE_ADDRESS)
    return given


@lock.case("as central: pairs under a private address, and is known under the next one, while it scans")
async def central(given):
    first = await seen_under(given)
    await given.client.call("scan.start", duplicates=True)
    links = seen_by(given.device)
    identifier = await given.connect()
    expect_equal(text(links[-1]), first, "the address that the lock sees")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    irk = await key(given)
    expect_resolves(irk, first)
    pairings = count_pairings(given.device)
    changed = await given.client.next(
        "adapter.changed", lambda event: event.get("privateAddress") not in (None, first), 60
    )
    second = changed["privateAddress"]
    expect_resolves(irk, second)
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value on the link that stayed")
    given.client.forget("scan.report")
    await given.let_go(identifier)
    await given.client.next("scan.report", lambda event: event["peripheral"] == identifier)
    await given.connect()
    expect_equal(text(links[-1]), second, "the address that the lock sees later")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value under the other address")
    expect(not pairings, "it paired again")
    await given.start_over(identifier)


@stage(8, "a phone, and private addresses of our own")
async def phone(resources):
    return await build_phone(resources, configuration=PRIVACY)


@phone.case("as peripheral: advertises and pairs under a private address, and is known under the next one")
async def peripheral(given):
    await given.client.call("pairing.open", seconds=60)
    first = await seen_under(given)
    connection, secret = await as_phone(given, Address(first))
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    irk = await key(given)
    expect_resolves(irk, first)
    await leave(connection)
    given.client = await given.daemon.restart()
    second = await seen_under(given)
    expect(second != first, "the address after the restart is the one before")
    expect_resolves(irk, second)
    await given.publish()
    connection, secret = await as_phone(given, Address(second))
    # Bumble looks its keys up by the address of the link; a phone resolves it first.
    connection.peer_address = Address(HUB, Address.PUBLIC_DEVICE_ADDRESS)
    encrypted = First(connection, connection.EVENT_CONNECTION_ENCRYPTION_CHANGE)
    await asyncio.wait_for(connection.encrypt(), 60)
    await encrypted.happens()
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    [bond] = await given.bonds()
    expect_equal(bond["address"], LOCK, "the bond")
    await leave(connection)
    await given.client.call("pairing.forget", peripheral=bond["peripheral"])
    await given.device.keystore.delete_all()


async def pairs(given, address):
    """The phone pairs under this address and reads the value; they forget each other then."""
    await given.client.call("pairing.open", seconds=60)
    connection, secret = await as_phone(given, address)
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)
    [bond] = await given.bonds()
    await given.client.call("pairing.forget", peripheral=bond["peripheral"])
    await given.device.keystore.delete_all()


@phone.case("as peripheral: pairs beside a beacon that was there first, and under the address after the next")
async def beside_beacon(given):
    await given.client.call("advertising.stop")
    other = await given.daemon.client()
    await other.call("advertising.start", manufacturerData="ffff00", connectable=False)
    await given.client.call("advertising.start", name="vault")
    first = await seen_under(given)
    await pairs(given, Address(first))
    changed = await given.client.next(
        "adapter.changed", lambda event: event.get("privateAddress") not in (None, first), 60
    )
    await pairs(given, Address(changed["privateAddress"]))


@phone.case("as peripheral: without privacy after it, pairs under the address that it keeps")
async def after_privacy(given):
    with open(given.daemon.configuration, "w", encoding="utf-8") as file:
        file.write("{}")
    given.client = await given.daemon.restart()
    await given.publish()
    await pairs(given, Address(HUB, Address.PUBLIC_DEVICE_ADDRESS))


@stage(8, "a phone, and a controller without a public address")
async def addressless_phone(resources):
    return await build_phone(resources, zoo.Addressless)


@addressless_phone.case("as peripheral: pairs under the random static address")
async def addressless(given):
    [adapter] = (await given.client.call("adapter.list"))["adapters"]
    await pairs(given, Address(adapter["address"]))


@stage(8, "a lock, and private addresses of our own on a controller with legacy commands")
async def legacy_lock(resources):
    return await build_lock(resources, Legacy)


@legacy_lock.case("as central: pairs under a private address")
async def legacy_central(given):
    links = seen_by(given.device)
    identifier = await given.connect()
    expect_equal(text(links[-1]), await seen_under(given), "the address that the lock sees")
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the protected value")
    expect_resolves(await key(given), text(links[-1]))
    await given.start_over(identifier)


@stage(8, "a phone, and private addresses of our own on a controller with legacy commands")
async def legacy_phone(resources):
    return await build_phone(resources, Legacy, PRIVACY)


@legacy_phone.case("as peripheral: pairs under a private address")
async def legacy_peripheral(given):
    await given.client.call("pairing.open", seconds=60)
    address = await seen_under(given)
    connection, secret = await as_phone(given, Address(address))
    await asyncio.wait_for(connection.pair(), 60)
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    expect_resolves(await key(given), address)
    await leave(connection)

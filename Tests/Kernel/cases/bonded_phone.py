"""Group 8: what belongs to the bond with a phone that comes and goes."""

import asyncio
from dataclasses import dataclass

from bumble.att import ATT_Error, ErrorCode
from bumble.core import UUID
from bumble.device import Peer
from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon

from cases.pairing import HUB, LOCK, leave, text

SERVICE = UUID("B1ED0020-0000-4000-8000-00805F9B34FB")
VALUE = UUID("B1ED0021-0000-4000-8000-00805F9B34FB")
OTHER = UUID("B1ED0022-0000-4000-8000-00805F9B34FB")
SERVICE_CHANGED = UUID.from_16_bits(0x2A05)
FEATURES = UUID.from_16_bits(0x2B29)


@dataclass
class Given:
    """bled on hci0 with a session that publishes a value, and a phone."""

    daemon: Daemon
    client: object
    device: object
    handle: int = 0

    async def publish(self):
        """Publishes the service and advertises; gives the service."""
        characteristic = {"uuid": text(VALUE), "properties": ["read", "notify"]}
        service = (
            await self.client.call("service.add", service={"uuid": text(SERVICE), "characteristics": [characteristic]})
        )["service"]
        self.handle = service["characteristics"][0]["handle"]
        self.client.answer("server.read", lambda _: {"value": b"read".hex()})
        await self.client.call("advertising.start", name="bonded")
        return service

    async def restart(self):
        """The daemon is started again, and the program with it."""
        self.client = await self.daemon.restart()
        return await self.publish()

    async def comes(self):
        """The phone connects; nothing is encrypted yet."""
        return await asyncio.wait_for(self.device.connect(f"{HUB}/P"), 60)

    async def pairs(self):
        """The phone comes, pairs and discovers; gives its view of bled."""
        await self.client.call("pairing.open", seconds=600)
        connection = await self.comes()
        await asyncio.wait_for(connection.pair(), 60)
        peer = Peer(connection)
        await peer.discover_all()
        return peer

    async def start_over(self, connection):
        """Both sides forget their keys."""
        await leave(connection)
        await self.client.call("pairing.forget", address=LOCK)
        await self.device.keystore.delete_all()

    async def notify(self, value):
        """Sends a value; gives to how many devices."""
        return (await self.client.call("server.notify", handle=self.handle, value=value.hex()))["receivers"]

    async def encrypt(self, connection):
        """The phone encrypts with the keys of the bond."""
        await asyncio.wait_for(connection.encrypt(), 60)


def characteristic(peer, uuid):
    """The one characteristic of this UUID."""
    [found] = peer.get_characteristics_by_uuid(uuid)
    return found


def values(connection, handle):
    """A queue of what comes of a value, without a subscription being written."""
    queue = asyncio.Queue()
    for subscribers in (connection.gatt_client.notification_subscribers, connection.gatt_client.indication_subscribers):
        subscribers[handle] = {lambda value: queue.put_nowait(bytes(value))}
    return queue


async def asks(connection, handle):
    """The phone reads a value: what was sent before has come."""
    return await asyncio.wait_for(connection.gatt_client.read_value(handle), 60)


@stage(8, "a bonded phone that comes and goes")
async def phone(resources):
    air = Air()
    await resources.open(await air.adapter(HUB))
    device = await air.device("Bumble phone", LOCK)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    given = Given(daemon, client, device)
    await given.publish()
    return given


@phone.case("its subscription comes back with the bond's key, on the next link and after a restart (P22)")
async def subscription(given):
    peer = await given.pairs()
    await peer.subscribe(characteristic(peer, VALUE), lambda _: None)
    await given.client.next("server.subscribed", lambda event: event["handle"] == given.handle)
    await leave(peer.connection)
    before = given.handle
    for restarts in (False, True):
        if restarts:
            await given.restart()
            expect_equal(given.handle, before, "the handle after the restart")
        given.client.forget("server.subscribed")
        connection = await given.comes()
        queue = values(connection, given.handle)
        expect_equal(await asks(connection, given.handle), b"read", "what is read")
        expect_equal(await given.notify(b"early"), 0, "the subscribers before the link is encrypted")
        await given.encrypt(connection)
        await given.client.next("server.subscribed", lambda event: event["handle"] == given.handle)
        expect_equal(await given.notify(b"value"), 1, "the subscribers")
        expect_equal(await asyncio.wait_for(queue.get(), 60), b"value", "the value")
        await leave(connection)
    connection = await given.comes()
    await given.start_over(connection)


@phone.case("Service Changed after an absence, on the next link and after a restart, and once each (P13)")
async def service_changed(given):
    peer = await given.pairs()
    changed = characteristic(peer, SERVICE_CHANGED)
    await peer.subscribe(changed, lambda _: None, prefer_notify=False)
    await leave(peer.connection)

    async def visit(is_told):
        connection = await given.comes()
        queue = values(connection, changed.handle)
        await asks(connection, given.handle)
        expect(queue.empty(), "it was told before the link was encrypted")
        await given.encrypt(connection)
        if is_told:
            expect_equal((await asyncio.wait_for(queue.get(), 60)).hex(), "0100ffff", "the handles")
        await asks(connection, given.handle)
        expect(queue.empty(), "it was told of a change that it knew")
        await leave(connection)

    await visit(False)
    await given.client.call("service.add", service={"uuid": text(OTHER), "characteristics": []})
    await visit(True)
    await visit(False)
    # The other service is not published again.
    await given.restart()
    await visit(True)
    await given.restart()
    await visit(False)
    connection = await given.comes()
    await given.start_over(connection)


@phone.case("with robust caching it is told before it uses a handle that it does not know what is there (P13)")
async def robust(given):
    peer = await given.pairs()
    await characteristic(peer, FEATURES).write_value(b"\x01", with_response=True)
    await leave(peer.connection)
    added = await given.client.call("service.add", service={"uuid": text(OTHER), "characteristics": []})
    connection = await given.comes()
    await given.encrypt(connection)
    try:
        await asks(connection, given.handle)
        expect(False, "it was not told")
    except ATT_Error as error:
        expect_equal(error.error_code, ErrorCode.DATABASE_OUT_OF_SYNC, "the error")
    expect_equal(await asks(connection, given.handle), b"read", "what is read then")
    await given.client.call("service.remove", handle=added["service"]["handle"])
    await given.start_over(connection)


@phone.case("a program that wants its services waits until the phone has encrypted the link, our server does not")
async def wanted_as_server(given):
    peer = await given.pairs()
    await leave(peer.connection)
    connection = await given.comes()
    server, early = given.device.gatt_server, []
    receive = server.on_gatt_pdu

    def spy(bearer, pdu):
        if not connection.is_encrypted:
            early.append(pdu)
        receive(bearer, pdu)

    server.on_gatt_pdu = spy
    try:
        call = asyncio.ensure_future(
            given.client.call("peripheral.connect", address=LOCK, addressType="random", timeout=60)
        )
        # Each read is a round trip, in which a request of the program would have arrived.
        for _ in range(5):
            expect_equal(await asks(connection, given.handle), b"read", "the value of our server")
        expect(not call.done() and not early, f"the phone was asked in plain text: {early}")
        await given.encrypt(connection)
        connected = await asyncio.wait_for(call, 60)
        services = await given.client.call("gatt.discover", peripheral=connected["peripheral"])
        expect(services["services"] and not early, "the services of the phone")
    finally:
        server.on_gatt_pdu = receive
    await given.start_over(connection)

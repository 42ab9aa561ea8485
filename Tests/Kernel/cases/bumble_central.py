"""Group 2: bled is peripheral, the central is Bumble."""

import asyncio
import signal
from dataclasses import dataclass

from bumble.att import ATT_Error, ErrorCode
from bumble.core import UUID, AdvertisingData
from bumble.crypto import aes_cmac
from bumble.device import Peer

from support import published as p
from support.air import Adapter, Air
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.published import Published


@dataclass
class Given:
    """bled on hci0 with a service on the air, and a phone."""

    adapter: Adapter
    daemon: Daemon
    client: object
    service: Published
    phone: object


@stage(2, "Bumble as central")
async def peripheral(resources):
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    phone = await air.device("Bumble phone", "F0:F1:F2:F3:F4:02")
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    service = await Published.add(client)
    await service.advertise("hci0")
    return Given(adapter, daemon, client, service, phone)


async def find(phone):
    """Scans until bled's advertisement is heard; gives it."""
    heard = asyncio.get_running_loop().create_future()

    def advertisement(found):
        name = found.data.get(AdvertisingData.COMPLETE_LOCAL_NAME)
        if name == p.NAME and not heard.done():
            heard.set_result(found)

    phone.on(phone.EVENT_ADVERTISEMENT, advertisement)
    await phone.start_scanning()
    found = await asyncio.wait_for(heard, 60)
    await phone.stop_scanning()
    phone.remove_listener(phone.EVENT_ADVERTISEMENT, advertisement)
    return found


async def connect(given):
    """Finds bled and connects; gives Bumble's view of it."""
    found = await find(given.phone)
    return Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))


def characteristic(peer, uuid):
    """The one characteristic of this UUID among those discovered."""
    found = peer.get_characteristics_by_uuid(UUID(uuid))
    expect_equal(len(found), 1, f"characteristics {uuid}")
    return found[0]


async def values(peer, uuid, prefer_notify=True):
    """Subscribes; gives the queue of the values."""
    queue = asyncio.Queue()
    await peer.subscribe(
        characteristic(peer, uuid), lambda value: queue.put_nowait(bytes(value)), prefer_notify=prefer_notify
    )
    return queue


@peripheral.case("finds the advertisement, connects, discovers, reads, writes, subscribes")
async def whole_visit(given):
    service = given.service
    found = await find(given.phone)
    listed = found.data.get(AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS)
    expect_equal(listed, [UUID("180D")], "the advertised services")
    expect(found.is_connectable, "the advertisement ought to be connectable")

    peer = Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))
    expect_equal(await peer.request_mtu(185), 185, "the MTU")
    await peer.discover_all()
    expect(peer.get_services_by_uuid(UUID(p.SERVICE)), f"no {p.SERVICE} in {peer.services}")
    for required in ("1800", "1801"):
        expect(peer.get_services_by_uuid(UUID(required)), f"no {required} in {peer.services}")

    expect_equal(await characteristic(peer, p.FIXED).read_value(), p.FIXED_VALUE, "the fixed value")
    asked = characteristic(peer, p.ASKED)
    expect_equal(await asked.read_value(), p.LONG_VALUE, "the value of 300 octets, read in parts")
    for value, with_response in ((b"request", True), (b"command", False)):
        await asked.write_value(value, with_response)
        expect_equal(await asyncio.wait_for(service.written.get(), 60), value, "what came to the client")
        expect_equal(await asked.read_value(), value, "what is read back")

    notified = await values(peer, p.NOTIFIED)
    subscriber = await service.subscribed(p.NOTIFIED)
    expect_equal(subscriber["maximumLength"], 182, "the room of a notification")
    for value in (b"one", b"two", b"three"):
        sent = await service.notify(p.NOTIFIED, value)
        expect_equal(sent, {"sent": True, "receivers": 1}, "server.notify")
        expect_equal(await asyncio.wait_for(notified.get(), 60), value, "the notified value")

    indicated = await values(peer, p.INDICATED, prefer_notify=False)
    await service.subscribed(p.INDICATED)
    await service.notify(p.INDICATED, b"confirm me")
    expect_equal(await asyncio.wait_for(indicated.get(), 60), b"confirm me", "the indicated value")

    await peer.unsubscribe(characteristic(peer, p.NOTIFIED))
    await given.client.next(
        "server.unsubscribed", lambda event: event["handle"] == service.handles[p.NOTIFIED]
    )
    await peer.connection.disconnect()
    await given.client.next(
        "server.unsubscribed", lambda event: event["handle"] == service.handles[p.INDICATED]
    )


@peripheral.case("after the link's end it is on the air again, and may be visited once more")
async def again(given):
    for _ in range(2):
        peer = await connect(given)
        await peer.discover_all()
        expect_equal(await characteristic(peer, p.FIXED).read_value(), p.FIXED_VALUE, "the fixed value")
        await peer.connection.disconnect()


@peripheral.case("latency requests (G18): settled by the controllers, and not supported where they cannot")
async def latency(given):
    peer = await connect(given)
    await peer.discover_all()
    await values(peer, p.NOTIFIED)
    central = (await given.service.subscribed(p.NOTIFIED))["central"]
    for latency, least, most in (("high", 480, 510), ("low", 15, 30)):
        changed = asyncio.get_running_loop().create_future()
        peer.connection.once(
            peer.connection.EVENT_CONNECTION_PARAMETERS_UPDATE, lambda changed=changed: changed.set_result(None)
        )
        expect_equal(await given.client.call("server.setLatency", central=central, latency=latency), {}, "the answer")
        await asyncio.wait_for(changed, 60)
        interval = peer.connection.parameters.connection_interval
        expect(least <= interval <= most, f"asked for {latency}, the interval is {interval} ms")
    given.adapter.controller.leaves_parameters_to_hosts = True
    error = await failure_of(given.client.call("server.setLatency", central=central, latency="high"))
    expect_equal(error["name"], "notSupported", "the error")
    given.adapter.controller.leaves_parameters_to_hosts = False
    await flood_of_requests(given, peer, central)
    await peer.connection.disconnect()


async def flood_of_requests(given, peer, central):
    """Requests do not wait in a queue: when the last is answered one is being asked for, and then comes the newest."""
    intervals, settled = [], asyncio.Event()

    def updated():
        intervals.append(peer.connection.parameters.connection_interval)
        if 90 <= intervals[-1] <= 120:
            settled.set()

    peer.connection.on(peer.connection.EVENT_CONNECTION_PARAMETERS_UPDATE, updated)
    requested = ["high", "low"] * 50 + ["medium"]
    calls = [given.client.call("server.setLatency", central=central, latency=latency) for latency in requested]
    expect_equal(await asyncio.gather(*calls), [{}] * len(requested), "the answers")
    before = len(intervals)
    await asyncio.wait_for(settled.wait(), 60)
    # Requests left behind would precede the answer to this.
    await peer.discover_services()
    expect(len(intervals) - before <= 2, f"after the answers the intervals became {intervals[before:]} ms")
    expect(90 <= intervals[-1] <= 120, f"the last interval is {intervals[-1]} ms")


@peripheral.case("writes without response to a daemon that stands still are handed over, or counted and told (P16)")
async def writes_lost(given):
    count, client, service = 800, given.client, given.service
    peer = await connect(given)
    await peer.discover_all()
    asked = characteristic(peer, p.ASKED)
    # The first shows whose services the phone uses.
    await asked.write_value((0).to_bytes(2, "little"), False)
    await asyncio.wait_for(service.written.get(), 60)
    given.daemon.process.send_signal(signal.SIGSTOP)
    try:
        for number in range(count):
            await asked.write_value(number.to_bytes(2, "little"), False)
            if number % 64 == 0:
                # The emulated controller has no flow control towards its own host: it must not overrun the kernel's
                # queue.
                await asyncio.sleep(0.02)
    finally:
        given.daemon.process.send_signal(signal.SIGCONT)
    told = (await client.next("server.writesLost"))["packets"]
    await asked.write_value(b"last", True)
    numbers = []
    while (value := await asyncio.wait_for(service.written.get(), 60)) != b"last":
        numbers.append(int.from_bytes(value, "little"))
    expect_equal(numbers, sorted(set(numbers)), "values twice or out of order")
    expect_equal(len(numbers) + told, count, f"{len(numbers)} values that came and {told} that are told as lost")
    await peer.connection.disconnect()


@peripheral.case("a client's end takes its service and its advertisement with it")
async def client_ends(given):
    other = await given.daemon.client()
    await other.call(
        "service.add", service={"uuid": "B1ED2001-0000-4000-8000-00805F9B34FB", "characteristics": []}
    )
    peer = await connect(given)
    await peer.discover_services()
    expect(peer.get_services_by_uuid(UUID("B1ED2001-0000-4000-8000-00805F9B34FB")), "the second client's service")
    await peer.connection.disconnect()
    await other.__aexit__()
    peer = await connect(given)
    await peer.discover_services()
    gone = not peer.get_services_by_uuid(UUID("B1ED2001-0000-4000-8000-00805F9B34FB"))
    expect(gone, "the service outlives its client")
    expect(peer.get_services_by_uuid(UUID(p.SERVICE)), "the first client's service is gone")
    await peer.connection.disconnect()


@peripheral.case("robust caching: the hash follows the services, and who does not know of a change is refused once")
async def robust_caching(given):
    peer = await connect(given)
    await peer.request_mtu(185)
    await peer.discover_all()
    before = await database_hash(peer)
    expect_equal(before, await own_hash(peer), "the database hash, against one of Bumble's making")

    await characteristic(peer, "2B29").write_value(b"\x01", True)
    notified = await values(peer, p.NOTIFIED)
    central = (await given.service.subscribed(p.NOTIFIED))["central"]
    fixed = characteristic(peer, p.FIXED)
    other = await given.daemon.client()
    added = await other.call("service.add", service={"uuid": "180F", "characteristics": []})
    try:
        await fixed.read_value()
        expect(False, "a read behind the back of a change was answered")
    except ATT_Error as error:
        expect_equal(error.error_code, ErrorCode.DATABASE_OUT_OF_SYNC, "the refusal")
    sent = await given.service.notify(p.NOTIFIED, b"held back")
    expect_equal(sent, {"sent": True, "receivers": 0, "outOfSync": [central]}, "server.notify before the next request")
    expect_equal(await fixed.read_value(), p.FIXED_VALUE, "the read after the refusal")
    expect_equal((await given.service.notify(p.NOTIFIED, b"now"))["receivers"], 1, "receivers of the value after it")
    expect_equal(await asyncio.wait_for(notified.get(), 60), b"now", "the value after it")

    changes = await values(peer, "2A05")
    await other.call("service.remove", handle=added["service"]["handle"])
    changed = added["service"]["handle"].to_bytes(2, "little") + added["service"]["end"].to_bytes(2, "little")
    expect_equal(await asyncio.wait_for(changes.get(), 60), changed, "Service Changed")
    expect_equal(await fixed.read_value(), p.FIXED_VALUE, "the read after Service Changed")
    expect_equal(await database_hash(peer), before, "the hash when the services are as they were")
    await other.__aexit__()
    await peer.connection.disconnect()


async def database_hash(peer):
    """The value of the one Database Hash, found as the specification wants it: over all handles."""
    found = await peer.read_characteristics_by_uuid(UUID("2B2A"))
    expect_equal(len(found), 1, "database hashes")
    return found[0]


async def own_hash(peer):
    """The hash of what Bumble reads (Core, Vol 3, Part G, 7.3.1)."""
    message = b""
    for attribute in await peer.discover_attributes():
        number = bytes(attribute.type)
        head = attribute.handle.to_bytes(2, "little") + number
        if number in (b"\x00\x28", b"\x01\x28", b"\x02\x28", b"\x03\x28", b"\x00\x29"):
            message += head + await attribute.read_value()
        elif len(number) == 2 and 0x2901 <= int.from_bytes(number, "little") <= 0x2905:
            message += head
    return aes_cmac(message, bytes(16))[::-1]

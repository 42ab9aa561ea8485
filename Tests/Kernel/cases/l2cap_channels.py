"""Group 13: L2CAP channels in LE credit-based flow control mode, in both roles."""

import asyncio
import errno
import socket
from dataclasses import dataclass, field

from bumble.l2cap import L2CAP_LE_Credit_Based_Connection_Response, LeCreditBasedChannelSpec
from support import waiting
from support.air import Air, EmulatedController
from support.cases import expect, expect_equal, stage
from support.client import failure_of
from support.daemon import Daemon
from support.peripheral import Peripheral
from support.stranger import open_channel

ADDRESS = "F0:F1:F2:F3:F4:01"
PHONE = "F0:F1:F2:F3:F4:02"
PSM = 0x90
# The emulated air carries some 3 KiB/s of them in a virtual machine.
OCTETS = bytes(index * 31 % 251 for index in range(96 << 10))


class Roomy(EmulatedController):
    """A controller whose packets are as long as a real one's."""

    le_acl_data_packet_length = 251


@dataclass
class Given:
    """bled on hci0, a peripheral that listens on PSM, and a phone."""

    adapter: object
    client: object
    peripheral: Peripheral
    phone: object
    accepted: asyncio.Queue = field(default_factory=asyncio.Queue)


async def listening(resources):
    """Makes what is given: a controller with room for long packets, the daemon and the two devices."""
    air = Air()
    adapter = await resources.open(await air.adapter("F0:F1:F2:F3:F4:00", Roomy))
    peripheral = await Peripheral.make(air, "Bumble belt", ADDRESS)
    await peripheral.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    given = Given(adapter, client, peripheral, await air.device("Phone", PHONE))
    spec = LeCreditBasedChannelSpec(psm=PSM, mtu=2048, mps=247, max_credits=64)
    peripheral.device.create_l2cap_server(spec, given.accepted.put_nowait)
    return given


@stage(13, "L2CAP channels")
async def channels(resources):
    return await listening(resources)


async def fetch(channel):
    """The stream of a channel, by its token."""
    loop = asyncio.get_running_loop()
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.setblocking(False)
    await loop.sock_connect(stream, channel["socket"])
    await loop.sock_sendall(stream, channel["token"].encode() + b"\n")
    return stream


async def read(stream, count):
    """So many octets of a stream, or those until its end."""
    octets = bytearray()
    async with asyncio.timeout(120):
        while len(octets) < count:
            part = await asyncio.get_running_loop().sock_recv(stream, min(65536, count - len(octets)))
            if not part:
                break
            octets += part
    return bytes(octets)


def collect(channel):
    """The octets received over a channel of Bumble, and an event for each packet."""
    octets, news = bytearray(), asyncio.Event()

    def received(packet):
        octets.extend(packet)
        news.set()

    channel.sink = received
    return octets, news


async def until(octets, news, count):
    """Waits until so many octets came."""
    async with asyncio.timeout(120):
        while len(octets) < count:
            news.clear()
            await news.wait()


async def connect(given):
    """Connects to the peripheral; gives its identifier."""
    connected = await given.client.call("peripheral.connect", address=ADDRESS, addressType="random", timeout=60)
    return connected["peripheral"]


async def opened(given):
    """A channel to the peripheral: the answer, our stream, and Bumble's channel."""
    identifier = await connect(given)
    answer = await given.client.call("l2cap.open", peripheral=identifier, psm=PSM, token=True)
    return answer, await fetch(answer), await asyncio.wait_for(given.accepted.get(), 60)


async def end(given, identifier):
    """The session lets go, and the link ends."""
    gone = given.peripheral.disconnection()
    await given.client.call("peripheral.disconnect", peripheral=identifier)
    await asyncio.wait_for(gone, 60)


@channels.case("many octets go both ways whole, to a channel that we open")
async def both_ways(given):
    answer, stream, channel = await opened(given)
    expect_equal(answer["sendMTU"], 2048, "what the device takes")
    expect_equal((answer["receiveMPS"], answer["sendMPS"]), (247, 247), "the pieces")
    octets, news = collect(channel)
    await asyncio.gather(
        asyncio.get_running_loop().sock_sendall(stream, OCTETS), until(octets, news, len(OCTETS))
    )
    expect(bytes(octets) == OCTETS, "what the device received differs")
    channel.write(OCTETS)
    expect(await read(stream, len(OCTETS)) == OCTETS, "what we received differs")
    stream.close()
    closed = await given.client.next("l2cap.closed", lambda event: event["channel"] == answer["channel"])
    expect("reason" not in closed, f"a reason was told: {closed}")
    await end(given, answer["peripheral"])


@channels.case("while a program does not read the daemon serves as before, and nothing is lost")
async def slow_reader(given):
    answer, stream, channel = await opened(given)
    channel.write(OCTETS)
    # All has left, or the device has no credits: the rest is in the daemon's tests, where the kernel buffers nothing.
    await waiting.until(lambda: channel.drained.is_set() or not channel.credits)
    for _ in range(20):
        await given.client.call("peripheral.parameters", peripheral=answer["peripheral"])
    expect(await read(stream, len(OCTETS)) == OCTETS, "what we received differs")
    stream.close()
    await end(given, answer["peripheral"])


@channels.case("a device closes a channel, and a link ends: what came before is read, and the reason is told")
async def ends(given):
    answer, stream, channel = await opened(given)
    channel.write(b"the last words")
    await asyncio.wait_for(channel.drain(), 60)
    await asyncio.wait_for(channel.disconnect(), 60)
    expect_equal(await read(stream, 100), b"the last words", "what came before the end")
    closed = await given.client.next("l2cap.closed", lambda event: event["channel"] == answer["channel"])
    expect_equal(closed["reason"]["data"]["name"], "disconnected", "the reason")
    stream.close()
    # Bumble does not accept another channel with the CID of a closed one on the same link.
    await end(given, answer["peripheral"])
    again, stream, _ = await opened(given)
    await end(given, again["peripheral"])
    expect_equal(await read(stream, 1), b"", "the end of the stream")
    closed = await given.client.next("l2cap.closed", lambda event: event["channel"] == again["channel"])
    expect("link" in closed["reason"]["message"], f"the reason: {closed}")
    stream.close()


@channels.case("what a device does not listen on, and a number that is taken, are refused")
async def refusals(given):
    client = given.client
    identifier = await connect(given)
    error = await failure_of(client.call("l2cap.open", peripheral=identifier, psm=0x91, token=True))
    expect_equal(error["name"], "connectionFailed", "the error where nothing listens")
    published = await client.call("l2cap.publish", psm=0xA0)
    expect_equal(published["psm"], 0xA0, "the number")
    error = await failure_of(client.call("l2cap.publish", psm=0xA0))
    expect_equal(error["name"], "alreadyInProgress", "the error for a number that is taken")
    await client.call("l2cap.unpublish", psm=0xA0)
    await client.call("l2cap.publish", psm=0xA0)
    await client.call("l2cap.unpublish", psm=0xA0)
    await end(given, identifier)


def want_security(given, result=0x0008, suffices=lambda connection: connection.is_encrypted):
    """Has the peripheral refuse channels on links without encryption, as a glucose meter does, or for another reason.

    Returns a function that ends it.
    """
    manager = given.peripheral.device.l2cap_channel_manager
    accept = manager.on_l2cap_le_credit_based_connection_request

    def ask(connection, cid, request):
        if suffices(connection):
            return accept(connection, cid, request)
        kind = L2CAP_LE_Credit_Based_Connection_Response
        refusal = kind(
            identifier=request.identifier, destination_cid=0, mtu=512, mps=64, initial_credits=0, result=result
        )
        return manager.send_control_frame(connection, cid, refusal)

    manager.on_l2cap_le_credit_based_connection_request = ask

    def restore():
        manager.on_l2cap_le_credit_based_connection_request = accept

    return restore


@channels.case("a device wants an encrypted link for a channel: nobody is paired with it unasked")
async def wants_security(given):
    want_security(given)
    client = given.client
    identifier = await connect(given)
    error = await failure_of(client.call("l2cap.open", peripheral=identifier, psm=PSM, token=True))
    expect_equal(error["name"], "connectionFailed", "the error")
    # The kernel's own procedure is over when the device answers the next request.
    await client.call("gatt.discover", peripheral=identifier)
    link = given.peripheral.device.connections and next(iter(given.peripheral.device.connections.values()))
    expect(link and not link.is_encrypted, "the link stays, without encryption")
    # Bumble continues the failed pairing if it is paired again on the same link.
    await end(given, identifier)
    identifier = await connect(given)
    await client.call("peripheral.pair", peripheral=identifier)
    answer = await client.call("l2cap.open", peripheral=identifier, psm=PSM, token=True)
    stream = await fetch(answer)
    await asyncio.wait_for(given.accepted.get(), 60)
    stream.close()
    await end(given, identifier)
    # With the keys of the bond the kernel encrypts the link by itself.
    _, stream, _ = await opened(given)
    stream.close()
    await end(given, identifier)


@channels.case("a bond that is too weak for a channel is neither replaced unasked nor lost")
async def weak_bond(given):
    client = given.client
    identifier = await connect(given)
    await client.call("peripheral.pair", peripheral=identifier)
    bonds = await client.call("pairing.list")
    restore = want_security(given, 0x0005, lambda _: False)
    error = await failure_of(client.call("l2cap.open", peripheral=identifier, psm=PSM, token=True))
    expect_equal(error["name"], "connectionFailed", "the error")
    await client.call("gatt.discover", peripheral=identifier)
    link = given.peripheral.device.connections and next(iter(given.peripheral.device.connections.values()))
    expect(link and link.is_encrypted, "the link stays, with its encryption")
    expect_equal(await client.call("pairing.list"), bonds, "the bonds")
    restore()
    await end(given, identifier)
    # The kernel still has the keys of the bond, and encrypts the next link with them.
    _, stream, _ = await opened(given)
    stream.close()
    await end(given, identifier)


@channels.case("what the kernel lets a user without access do on our link (docs/security.md)")
async def stranger(given):
    identifier = await connect(given)
    expect_equal(await open_channel(ADDRESS, psm=PSM), 0, "a channel of his own")
    await asyncio.wait_for(given.accepted.get(), 60)
    expect_equal(await open_channel(ADDRESS, cid=4), errno.EBUSY, "ATT, which is ours")
    await given.client.call("gatt.discover", peripheral=identifier)
    await end(given, identifier)


@channels.case("a phone opens channels to us, octets go both ways; without encryption it is refused where we want it")
async def phone(given):
    client = given.client
    published = (await client.call("l2cap.publish"))["psm"]
    secure = (await client.call("l2cap.publish", security="encrypted"))["psm"]
    advertising = await client.call("advertising.start", name="bled here")
    link = await asyncio.wait_for(given.phone.connect(given.adapter.address + "/P"), 60)
    spec = LeCreditBasedChannelSpec(psm=published, mtu=1000, mps=100, max_credits=100)
    channel = await asyncio.wait_for(link.create_l2cap_channel(spec), 60)
    octets, news = collect(channel)
    offered = await client.next("l2cap.incoming")
    expect_equal((offered["psm"], offered["sendMTU"]), (published, 1000), "what is offered")
    stream = await fetch(await client.call("l2cap.accept", channel=offered["channel"], token=True))
    channel.write(OCTETS)
    expect(await read(stream, len(OCTETS)) == OCTETS, "what we received differs")
    sent = asyncio.get_running_loop().sock_sendall(stream, OCTETS)
    await asyncio.gather(sent, until(octets, news, len(OCTETS)))
    expect(bytes(octets) == OCTETS, "what the phone received differs")
    stream.close()
    try:
        await asyncio.wait_for(link.create_l2cap_channel(LeCreditBasedChannelSpec(psm=secure)), 60)
        expect(False, "a channel without encryption was accepted")
    except TimeoutError:
        raise
    except Exception as error:  # pylint: disable=broad-exception-caught
        expect("ENCRYPTION" in str(error).upper() or "AUTHENTICATION" in str(error).upper(), f"refused with {error}")
    await link.disconnect()
    await client.call("advertising.stop", advertising=advertising["advertising"])

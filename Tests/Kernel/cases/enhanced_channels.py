"""Group 13: L2CAP channels in enhanced credit-based flow control mode, in both roles."""

import asyncio
import contextlib

from bumble import l2cap, smp
from bumble.core import ProtocolError
from bumble.pairing import PairingConfig, PairingDelegate
from cases.l2cap_channels import ADDRESS, PSM, collect, connect, end, fetch, listening, read, until
from support import own_host, waiting
from support.cases import Failure, expect, expect_equal, stage
from support.client import CallFailed, failure_of
from support.person import Person

SWITCH = "/sys/module/bluetooth/parameters/enable_ecred"
OCTETS = bytes(index * 31 % 251 for index in range(4 << 10))
Result = l2cap.L2CAP_Credit_Based_Connection_Response.Result


@contextlib.contextmanager
def switched(value):
    """The kernel's switch for the mode, which is off in Debian 12 and on in later ones; bled's own host has none."""
    if own_host.IS_USED:
        yield
        return
    with open(SWITCH, "r+", encoding="ascii") as switch:
        before = switch.read()
        switch.write(value)
    try:
        yield
    finally:
        with open(SWITCH, "w", encoding="ascii") as switch:
            switch.write(before)


@stage(13, "Enhanced L2CAP channels")
async def enhanced(resources):
    resources.enter_context(switched("Y"))
    return await listening(resources)


@enhanced.case("octets go both ways, to a channel that we open; without \"mode\" it is one in the old mode")
async def both_ways(given):
    identifier = await connect(given)
    answer = await given.client.call("l2cap.open", peripheral=identifier, psm=PSM, mode="enhanced", token=True)
    told = answer["mode"], answer["sendMTU"], answer["receiveMPS"], answer["sendMPS"]
    expect_equal(told, ("enhanced", 2048, 247, 247), "the channel")
    stream, channel = await fetch(answer), await asyncio.wait_for(given.accepted.get(), 60)
    octets, news = collect(channel)
    await asyncio.gather(
        asyncio.get_running_loop().sock_sendall(stream, OCTETS), until(octets, news, len(OCTETS))
    )
    expect(bytes(octets) == OCTETS, "what the device received differs")
    channel.write(OCTETS)
    expect(await read(stream, len(OCTETS)) == OCTETS, "what we received differs")
    stream.close()
    await end(given, identifier)
    identifier = await connect(given)
    old = await given.client.call("l2cap.open", peripheral=identifier, psm=PSM, token=True)
    expect_equal(old["mode"], "leCreditBased", "the mode of the other")
    await asyncio.wait_for(given.accepted.get(), 60)
    await end(given, identifier)


@enhanced.case("what a kernel without them, and what a device answers, becomes an error that says what to do")
async def refusals(given):
    identifier = await connect(given)
    manager = given.peripheral.device.l2cap_channel_manager

    async def failure(psm=PSM):
        try:
            answer = await given.client.call("l2cap.open", peripheral=identifier, psm=psm, mode="enhanced", token=True)
        except CallFailed as error:
            return error.data["name"], error.error["message"]
        raise Failure(f"the channel ought to have been refused: {answer}")

    if not own_host.IS_USED:
        with switched("N"):
            name, message = await failure()
            expect_equal(name, "notSupported", "the error where the kernel's switch is off")
            expect("enable_ecred" in message, f"it says: {message}")
            error = await failure_of(given.client.call("l2cap.publish", mode="enhanced"))
            expect_equal(error["name"], "notSupported", "the error of a listener")
    name, message = await failure(0x91)
    expect_equal(name, "connectionFailed", "the error where nothing listens")
    expect("does not listen on PSM 145" in message, f"it says: {message}")

    def answering(result):
        def answer(connection, cid, request):
            response = l2cap.L2CAP_Credit_Based_Connection_Response(
                identifier=request.identifier, mtu=64, mps=64, initial_credits=0, result=result, destination_cid=[0]
            )
            manager.send_control_frame(connection, cid, response)

        return answer

    def rejecting(connection, cid, request):
        reject = l2cap.L2CAP_Command_Reject(identifier=request.identifier, reason=0, data=b"")
        manager.send_control_frame(connection, cid, reject)

    for answer, wanted, words in [
        (answering(Result.SOME_CONNECTIONS_REFUSED_INSUFFICIENT_RESOURCES_AVAILABLE), "limitReached", "no room"),
        (answering(Result.ALL_CONNECTIONS_REFUSED_UNACCEPTABLE_PARAMETERS), "connectionFailed", "receiveMTU"),
        (answering(Result.ALL_CONNECTIONS_REFUSED_INSUFFICIENT_AUTHORIZATION), "connectionFailed", "allow it"),
        (rejecting, "notSupported", "no enhanced channels"),
    ]:
        manager.on_l2cap_credit_based_connection_request = answer
        name, message = await failure()
        expect_equal(name, wanted, f"the error of \"{message}\"")
        expect(words in message, f"it says: {message}")
    del manager.on_l2cap_credit_based_connection_request
    await end(given, identifier)


@enhanced.case("a phone opens one to us; a number for one mode takes no channel of the other")
async def phone(given):
    client = given.client
    either = (await client.call("l2cap.publish"))["psm"]
    only = (await client.call("l2cap.publish", mode="enhanced"))["psm"]
    old = (await client.call("l2cap.publish", mode="leCreditBased"))["psm"]
    advertising = await client.call("advertising.start", name="bled here")
    link = await asyncio.wait_for(given.phone.connect(given.adapter.address + "/P"), 60)
    manager = given.phone.l2cap_channel_manager

    async def opened(psm):
        spec = l2cap.LeCreditBasedChannelSpec(psm=psm, mtu=1000, mps=100, max_credits=100)
        [channel] = await asyncio.wait_for(manager.create_enhanced_credit_based_channels(link, spec, 1), 60)
        return channel

    for psm in (either, only):
        channel = await opened(psm)
        octets, news = collect(channel)
        offered = await client.next("l2cap.incoming")
        told = offered["psm"], offered["mode"], offered["sendMTU"]
        expect_equal(told, (psm, "enhanced", 1000), "what is offered")
        stream = await fetch(await client.call("l2cap.accept", channel=offered["channel"], token=True))
        channel.write(OCTETS)
        expect(await read(stream, len(OCTETS)) == OCTETS, "what we received differs")
        await asyncio.get_running_loop().sock_sendall(stream, OCTETS)
        await until(octets, news, len(OCTETS))
        expect(bytes(octets) == OCTETS, "what the phone received differs")
    spec = l2cap.LeCreditBasedChannelSpec(psm=only, mtu=1000, mps=100, max_credits=100)
    for opening in (opened(old), asyncio.wait_for(link.create_l2cap_channel(spec), 60)):
        try:
            refused = await opening
        except (l2cap.L2capError, ProtocolError):
            # bled's own host knows the mode of a number at once; the kernel accepts the channel and ends it.
            expect(own_host.IS_USED, "the kernel refused the channel")
            continue
        await waiting.until(lambda refused=refused: refused.state == refused.State.DISCONNECTED)
    await link.disconnect()
    await client.call("advertising.stop", advertising=advertising["advertising"])


class Masking(smp.Session):
    """Its key has as many octets as were agreed on; Bumble always takes all."""

    @property
    def ltk(self):
        return self._ltk

    @ltk.setter
    def ltk(self, key):
        size = self.maximum_encryption_key_size
        self._ltk = key[:size] + bytes(16 - size)


@enhanced.case("a channel of the highest level takes a key of 16 octets, whatever the kernel lets through")
async def key_size(given):
    client, device = given.client, given.peripheral.device
    await client.call("pairing.register", capability="displayYesNo")
    client.answer("pairing.confirm", lambda _: {"accept": True})
    lower, highest = [
        l2cap.LeCreditBasedChannelSpec(psm=(await client.call("l2cap.publish", security=security))["psm"])
        for security in ("authenticated", "secureConnections")
    ]
    advertising = await client.call("advertising.start", name="bled here")
    device.smp_manager.session_proxy = Masking
    for size in (15, 16):
        person = Person(PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
        person.maximum_encryption_key_size = size
        device.pairing_config_factory = lambda _, person=person: PairingConfig(True, True, True, person)
        identifier = await connect(given)
        await client.call("peripheral.pair", peripheral=identifier, level="authenticated")
        await end(given, identifier)
        link = await asyncio.wait_for(device.connect(given.adapter.address + "/P"), 60)
        await asyncio.wait_for(link.encrypt(), 60)
        for is_enhanced in (False, True):
            await opens(client, link, lower, is_enhanced, True)
            await opens(client, link, highest, is_enhanced, size == 16)
        await link.disconnect()
        await client.call("pairing.forget", address=ADDRESS)
        await device.keystore.delete_all()
    device.smp_manager.session_proxy = smp.Session
    await client.call("advertising.stop", advertising=advertising["advertising"])


async def opens(client, link, spec, is_enhanced, is_offered):
    """The device opens a channel, which is offered to our program; else it is refused, or closed at once."""
    try:
        async with asyncio.timeout(60):
            if is_enhanced:
                manager = link.device.l2cap_channel_manager
                [channel] = await manager.create_enhanced_credit_based_channels(link, spec, 1)
            else:
                channel = await link.create_l2cap_channel(spec)
    except ProtocolError as error:
        expect(not is_offered, f"refused with {error}")
        return
    if is_offered:
        offered = await client.next("l2cap.incoming")
        expect_equal(offered["psm"], spec.psm, "what is offered")
        await client.call("l2cap.close", channel=offered["channel"])
    else:
        await waiting.until(lambda: channel.state == l2cap.LeCreditBasedChannel.State.DISCONNECTED)
        expect_equal(client.count("l2cap.incoming"), 0, "what is offered")

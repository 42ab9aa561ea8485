"""Group 12: trains of periodic advertisements, sent to a Bumble device and followed from one, and over links."""

import asyncio
from dataclasses import dataclass

from bumble import hci
from bumble.device import AdvertisingEventProperties, AdvertisingParameters, PeriodicAdvertisingParameters
from support import own_host
from support.air import Air
from support.cases import Failure, expect, expect_equal, stage
from support.client import CallFailed, failure_of
from support.daemon import Daemon
from support.waiting import until
from support.zoo import Listener, Responder, Transfers
from support.zoo.transfers import RECIPIENT, SENDER

PUBLIC = "F0:F1:F2:F3:F4:00"
PHONE = "F0:F1:F2:F3:F4:02"
LABEL = "F0:F1:F2:F3:F4:01"
LONG = bytes([254, 0xFF, 0xFF, 0xFF] + [7] * 251) * 2 + bytes([89, 0xFF, 0xFF, 0xFF] + [8] * 86)


class Sender(Responder, Transfers):
    """Keeps the rules of sets and of trains, transfers them, and lets devices respond to its own."""

    le_features = Responder.le_features | Transfers.le_features


class Label(Listener, Transfers):
    """Follows trains with subevents, also of links, and responds to them."""

    le_features = Listener.le_features | Transfers.le_features


@dataclass
class Given:
    """bled on hci0 of such a controller, and a phone with another."""

    resources: object
    controller: Sender
    daemon: Daemon
    client: object
    phone: object


@stage(12, "periodic advertising")
async def periodic(resources):
    air = Air()
    adapter = await resources.open(await air.adapter(PUBLIC, Sender))
    phone = await air.device("Bumble phone", PHONE, personality=Transfers)
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    return Given(resources, adapter.controller, daemon, client, phone)


@periodic.case("a phone follows bled's train of 600 octets, until it ends")
async def sent(given):
    structures = [{"type": 255, "data": LONG[start + 2 : start + 255].hex()} for start in (0, 255)]
    structures.append({"type": 255, "data": LONG[512:].hex()})
    train = {"interval": 0.1, "structures": structures}
    await given.client.call("advertising.start", extended=True, connectable=False, periodic=train)
    [sent] = given.controller.trains.values()
    expect_equal((sent.interval, sent.enabled, sent.data), (80, True, LONG), "the train in the controller")
    heard = []
    await given.phone.start_scanning()
    address = hci.Address(PUBLIC, hci.Address.PUBLIC_DEVICE_ADDRESS)
    sync = await given.phone.create_periodic_advertising_sync(address, sid=0, sync_timeout=1.0)
    sync.on(sync.EVENT_PERIODIC_ADVERTISEMENT, lambda advertisement: heard.append(advertisement.data_bytes))
    await until(lambda: len(heard) > 2)
    expect_equal(heard[0], LONG, "what was heard")
    expect_equal(sync.periodic_advertising_interval, 100, "the interval")
    await given.client.call("advertising.stop")
    await until(lambda: sync.state == sync.State.LOST)
    await until(lambda: not given.controller.advertising_sets)
    await given.phone.stop_scanning()


@periodic.case("bled follows a phone's train, loses it, finds it again and lets it go")
async def followed(given):
    advertising = await begin_train(given.phone)
    client = given.client
    await client.call("scan.start")
    report = await client.next("scan.report", lambda report: "periodicInterval" in report)
    expect_equal((report["sid"], report["periodicInterval"]), (5, 0.1), "what announces the train")
    await client.call("scan.stop")
    peripheral = report["peripheral"]
    started = await asyncio.wait_for(client.call("periodic.sync", peripheral=peripheral), 60)
    expect_equal((started["sid"], started["interval"]), (5, 0.1), "the train")
    for _ in range(3):
        packet = await client.next("periodic.report")
        expect_equal((packet["peripheral"], packet["data"]), (peripheral, LONG[:240].hex()), "what came")
    failure = await failure_of(client.call("periodic.sync", peripheral=peripheral))
    expect_equal(failure["name"], "alreadyInProgress", "the error")
    await advertising.stop_periodic()
    lost = await client.next("periodic.changed")
    expect_equal(lost["synced"], False, "whether it is followed")
    client.forget("periodic.report")
    await advertising.start_periodic()
    found = await client.next("periodic.changed")
    expect_equal((found["synced"], found["interval"]), (True, 0.1), "whether it is followed")
    await client.next("periodic.report")
    await client.call("periodic.stop", peripheral=peripheral)
    await until(lambda: not given.controller.followed)
    await until(lambda: not given.controller.le_scan_enable)
    await advertising.stop_periodic()
    await advertising.stop()
    await advertising.remove()


async def begin_train(device):
    """A device sends a train, and announces it; gives the set."""
    advertising = await device.create_advertising_set(
        advertising_parameters=AdvertisingParameters(
            advertising_event_properties=AdvertisingEventProperties(is_connectable=False, is_scannable=False),
            primary_advertising_interval_min=50,
            primary_advertising_interval_max=50,
            advertising_sid=5,
        ),
        random_address=hci.Address(PHONE),
        advertising_data=b"\x06\x09phone",
        periodic_advertising_parameters=PeriodicAdvertisingParameters(100, 100),
        periodic_advertising_data=LONG[:240],
    )
    await advertising.start_periodic()
    return advertising


async def connected(given):
    """bled is connected to the phone; gives the identifier of the device and the phone's end."""
    await given.phone.start_advertising(advertising_interval_min=50, advertising_interval_max=50)
    call = given.client.call("peripheral.connect", address=PHONE, addressType="random", timeout=60)
    peripheral = (await call)["peripheral"]
    await until(lambda: given.phone.connections)
    [connection] = given.phone.connections.values()
    return peripheral, connection


@periodic.case("bled gives a phone its own train over a link, and the phone follows it without a scan")
async def given_away(given):
    client, phone = given.client, given.phone
    heard, received = [], asyncio.get_running_loop().create_future()
    phone.once("periodic_advertising_sync_transfer", lambda sync, _: received.set_result(sync))
    peripheral, connection = await connected(given)
    train = {"interval": 0.1, "manufacturerData": "ffff01"}
    started = await client.call("advertising.start", extended=True, connectable=False, periodic=train)
    transfer = {"peripheral": peripheral, "advertising": started["advertising"], "serviceData": 0x1234}
    await client.call("periodic.transfer", **transfer)
    await until(lambda: phone.host.controller.ignored == 1)
    await phone.send_sync_command(
        hci.HCI_LE_Set_Periodic_Advertising_Sync_Transfer_Parameters_Command(connection.handle, 2, 0, 500, 0)
    )
    await client.call("periodic.transfer", **transfer)
    sync = await asyncio.wait_for(received, 60)
    sync.on(sync.EVENT_PERIODIC_ADVERTISEMENT, lambda advertisement: heard.append(advertisement.data_bytes))
    await until(lambda: heard)
    expect_equal(heard[0], b"\x04\xff\xff\xff\x01", "what was heard")
    expect_equal((sync.sid, phone.host.controller.le_scan_enable), (0, False), "the set, and whether the phone scans")
    await client.call("advertising.stop")
    error = await failure_of(client.call("periodic.transfer", **transfer))
    expect_equal(error["name"], "unknownHandle", "the error without a train")
    await until(lambda: sync.state == sync.State.LOST)
    await client.call("peripheral.disconnect", peripheral=peripheral)
    await until(lambda: not phone.connections)


@periodic.case("bled is given a phone's train over a link, follows it without a scan, and gives it on")
async def taken(given):
    client, phone = given.client, given.phone
    peripheral, connection = await connected(given)
    advertising = await begin_train(phone)
    # No program waits for it.
    await advertising.transfer_periodic_info(connection)
    await until(lambda: given.controller.ignored == 1)
    call = asyncio.ensure_future(client.call("periodic.receive", peripheral=peripheral, timeout=60))
    await until(lambda: any(given.controller.takers.values()))
    await advertising.transfer_periodic_info(connection, 7)
    received = await call
    expect_equal((received["sid"], received["interval"], received["serviceData"]), (5, 0.1, 7), "the train")
    packet = await client.next("periodic.report")
    expect_equal((packet["peripheral"], packet["data"]), (received["peripheral"], LONG[:240].hex()), "what came")
    expect_equal(bool(given.controller.le_scan_enable), False, "whether the adapter scans")
    await until(lambda: not any(given.controller.takers.values()))
    # The phone sends the train itself, so it may well know how to follow it.
    await phone.send_sync_command(
        hci.HCI_LE_Set_Periodic_Advertising_Sync_Transfer_Parameters_Command(connection.handle, 2, 0, 500, 0)
    )
    back = asyncio.get_running_loop().create_future()
    phone.once("periodic_advertising_sync_transfer", lambda sync, _: back.set_result(sync))
    train = {"peripheral": received["peripheral"]}
    await client.call("periodic.transfer", peripheral=peripheral, train=train)
    expect_equal((await asyncio.wait_for(back, 60)).sid, 5, "the set of the train that came back")
    # A train that has ended.
    await client.call("periodic.stop", peripheral=received["peripheral"])
    await until(lambda: not given.controller.followed)
    await advertising.stop_periodic()
    call = asyncio.ensure_future(failure_of(client.call("periodic.receive", peripheral=peripheral)))
    await until(lambda: any(given.controller.takers.values()))
    given.phone.host.controller.give_stale(connection.handle, advertising.advertising_handle)
    expect_equal((await call)["domain"], "hci", "the error for a train that is gone")
    call = asyncio.ensure_future(failure_of(client.call("periodic.receive", peripheral=peripheral)))
    await until(lambda: any(given.controller.takers.values()))
    await connection.disconnect()
    expect_equal((await call)["name"], "notConnected", "the error when the link has ended")
    await advertising.stop()
    await advertising.remove()


@periodic.case("who lacks the transfer of trains is in the error")
async def without_transfer(given):
    client, controller = given.client, given.phone.host.controller
    controller.le_features &= ~(SENDER | RECIPIENT)
    train = {"interval": 0.1, "manufacturerData": "ffff01"}
    started = await client.call("advertising.start", extended=True, connectable=False, periodic=train)
    peripheral, _ = await connected(given)
    transfer = {"peripheral": peripheral, "advertising": started["advertising"]}
    for method, params in (("periodic.transfer", transfer), ("periodic.receive", {"peripheral": peripheral})):
        try:
            await client.call(method, **params)
        except CallFailed as error:
            expect_equal(error.data["name"], "notSupported", f"the error of {method}")
            expect(PHONE in error.error["message"], f"{error} does not name the phone")
        else:
            raise Failure(f"{method} ought to have failed")
    await client.call("advertising.stop")
    await client.call("peripheral.disconnect", peripheral=peripheral)
    await until(lambda: not given.phone.connections)
    controller.le_features |= SENDER | RECIPIENT


def label(slot, heard):
    """An electronic label that responds in its slot with the data that it heard."""

    def hear(subevent, slots, data):
        heard.append((slot, subevent, data))
        return (slot, bytes([slot]) + data) if slot in slots else None

    return hear


@periodic.case("labels respond to bled's train, each in its slot, to data that is sent once")
async def responded(given):
    client, heard = given.client, []
    given.controller.tags = [label(slot, heard) for slot in (1, 4)]
    slots = {"subevents": 4, "subeventInterval": 0.025, "slotDelay": 0.005, "slotSpacing": 0.0025, "slots": 6}
    train = {"interval": 0.1, "responses": slots}
    started = await client.call("advertising.start", extended=True, connectable=False, periodic=train)
    for params, answers in (
        ({"subevent": 2, "data": "0102"}, [(1, "010102"), (4, "040102")]),
        ({"subevent": 3, "data": "03", "firstSlot": 2}, [(4, "0403")]),
        ({"subevent": 2, "data": ""}, [(1, "01"), (4, "04")]),
    ):
        await client.call("advertising.send", advertising=started["advertising"], **params)
        report = await client.next("advertising.responses")
        expect_equal((report["subevent"], report["sent"]), (params["subevent"], True), "the subevent")
        had = [(response["slot"], response["data"]) for response in report["responses"]]
        expect_equal(had, answers, f"the responses to {params}")
    subevents = [(subevent, data) for slot, subevent, data in heard if slot == 1]
    expect_equal(subevents, [(2, b"\x01\x02"), (3, b"\x03"), (2, b"")], "what a label heard")
    failure = await failure_of(
        client.call("advertising.send", advertising=started["advertising"], subevent=4, data="")
    )
    expect_equal(failure["name"], "invalidParameter", "the error for a subevent that there is not")
    await client.call("advertising.stop")
    given.controller.tags = []


@periodic.case("what a killed daemon left ends when the next one comes up, and its train is sent")
async def left(given):
    train = {"interval": 0.1, "manufacturerData": "ffff01"}
    await given.client.call("advertising.start", extended=True, connectable=False, periodic=train)
    given.daemon.process.kill()
    await given.daemon.process.wait()
    expect([train.enabled for train in given.controller.trains.values()] == [True], "no train is left to be ended")
    daemon = await given.resources.open(Daemon(given.resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    left = (given.controller.trains, given.controller.advertising_sets)
    expect_equal(left, ({}, {}), "what is left in the controller")
    await client.call("advertising.start", extended=True, connectable=False, periodic=train | {"interval": 0.2})
    [sent] = given.controller.trains.values()
    expect_equal((sent.interval, sent.enabled), (160, True), "the train in the controller")
    await client.call("advertising.stop")


@dataclass
class Pair:
    """bled with a controller that sends trains with responses, and one that follows them."""

    label: Label
    daemon: Daemon
    client: object


@stage(12, "periodic advertising with responses")
async def responses(resources):
    air = Air()
    await resources.open(await air.adapter(PUBLIC, Sender))
    label = await resources.open(await air.adapter(LABEL, Label))
    daemon = await resources.open(Daemon(resources, "hci0", "hci1"))
    client = await daemon.client()
    for adapter in ("hci0", "hci1"):
        await daemon.until_on(client, adapter)
    return Pair(label.controller, daemon, client)


SLOTS = {"subevents": 4, "subeventInterval": 0.025, "slotDelay": 0.005, "slotSpacing": 0.0025, "slots": 6}


async def start_train(client):
    """A train with responses is on the air; gives the number of the advertisement."""
    train = {"interval": 0.1, "responses": SLOTS}
    started = await client.call(
        "advertising.start", adapter="hci0", extended=True, connectable=False, periodic=train
    )
    return started["advertising"]


async def follow(client, **params):
    """Follows the train on the other adapter."""
    call = client.call("periodic.sync", adapter="hci1", peripheral=PUBLIC, addressType="public", sid=0, **params)
    return await asyncio.wait_for(call, 60)


@responses.case("a label receives the subevents that it chose, responds in its slot, and is told when it is too late")
async def responded_by_bled(given):
    client, sender = given.client, await given.daemon.client()
    advertising = await start_train(sender)
    followed = await follow(client, subevents=[1, 3])
    told = {name: SLOTS[name] for name in ("subevents", "subeventInterval", "slotDelay", "slotSpacing")}
    expect_equal((followed["adapter"], followed["responses"]), ("hci1", told), "the train")
    expect_equal(list(given.label.chosen.values()), [{1, 3}], "the subevents in the controller")
    for subevent, data in ((0, "00"), (1, "01"), (3, "03")):
        await sender.call("advertising.send", advertising=advertising, subevent=subevent, data=data)
    heard = [await client.next("periodic.report") for _ in range(2)]
    expect_equal([(report["subevent"], report["data"]) for report in heard], [(1, "01"), (3, "03")], "what came")
    last = heard[1]
    response = {"peripheral": last["peripheral"], "subevent": 3, "slot": 4, "data": "a55a"}
    await client.call("periodic.respond", event=last["event"], **response)
    received = await sender.next("advertising.responses", lambda event: event["responses"])
    expect_equal((received["subevent"], received["sent"]), (3, True), "the subevent")
    expect_equal([(slot["slot"], slot["data"]) for slot in received["responses"]], [(4, "a55a")], "the response")
    # The next packet of the subevent ends the time for the one before.
    await sender.call("advertising.send", advertising=advertising, subevent=3, data="04")
    again = await client.next("periodic.report")
    expect(again["event"] != last["event"], "the number of the event is the same")
    failure = await failure_of(client.call("periodic.respond", event=last["event"], **response))
    expect_equal((failure["domain"], failure["name"]), ("hci", "packetTooLate"), "the error of a late response")
    failure = await failure_of(client.call("periodic.respond", event=again["event"], **response | {"subevent": 4}))
    expect_equal(failure["name"], "invalidParameter", "the error for a subevent that there is not")
    await client.call("periodic.stop")
    await until(lambda: not given.label.followed)
    await sender.call("advertising.stop")


@responses.case("two programs of one train get each their subevents, and a controller without room says so")
async def shared_by_two(given):
    client, other = given.client, await given.daemon.client()
    advertising = await start_train(client)
    await follow(client, subevents=[0])
    await follow(other, subevents=[0, 2])
    expect_equal(list(given.label.chosen.values()), [{0, 2}], "the subevents in the controller")
    for subevent in (2, 0):
        await client.call("advertising.send", advertising=advertising, subevent=subevent, data=f"0{subevent}")
    expect_equal((await client.next("periodic.report"))["data"], "00", "what the first one got")
    heard = [(await other.next("periodic.report"))["data"] for _ in range(2)]
    expect_equal(sorted(heard), ["00", "02"], "what the second one got")
    await other.call("periodic.stop")
    await until(lambda: list(given.label.chosen.values()) == [{0}])
    given.label.room = 1
    failure = await failure_of(follow(other))
    expect_equal(failure["name"], "memoryCapacityExceeded", "the error of too many subevents")
    given.label.room = 128
    await client.call("advertising.send", advertising=advertising, subevent=0, data="01")
    expect_equal((await client.next("periodic.report"))["data"], "01", "what the first one gets all the same")
    # The train ends: it is lost, and its subevents are chosen again when it is back.
    await client.call("advertising.stop")
    await client.next("periodic.changed", lambda change: not change["synced"])
    advertising = await start_train(client)
    await client.next("periodic.changed", lambda change: change["synced"])
    expect_equal(list(given.label.chosen.values()), [{0}], "the subevents in the controller")
    await client.call("periodic.stop")
    await client.call("advertising.stop")


@responses.case("bleshell follows subevents and responds to each packet, and says what came")
async def by_bleshell(given):
    client = given.client
    advertising = await start_train(client)
    shell = asyncio.ensure_future(
        given.daemon.bleshell(
            *("sync", PUBLIC, "--adapter", own_host.adapter("hci1"), "--subevent", "2"),
            *("--respond", "beef", "--slot", "5", "--count", "1"),
        )
    )
    await until(lambda: shell.done() or given.label.chosen)
    if shell.done():
        raise Failure(f"bleshell printed {shell.result()}")
    await client.call("advertising.send", advertising=advertising, subevent=2, data="0102")
    printed = await shell
    received = await client.next("advertising.responses", lambda event: event["responses"])
    [response] = received["responses"]
    expect_equal((response["slot"], response["data"]), (5, "beef"), "the response")
    expect("subevent 2" in printed and "0102" in printed, f"bleshell printed {printed}")
    await client.call("advertising.stop")

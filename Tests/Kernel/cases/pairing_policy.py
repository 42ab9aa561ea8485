"""Group 8: who pairs where nobody is asked, Security Requests, lost keys, and bonds of bluetoothd."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from bumble.hci import HCI_Error
from cases.pairing import AUTHENTICATED, HUB, KINDS, LOCK, SECRET, as_phone, build, build_phone, leave
from support.cases import expect, expect_equal, stage
from support.client import CallFailed, failure_of
from support.waiting import until

PASSKEY = "042177"


@stage(8, "a lock with a passkey on its label")
async def label(resources):
    configuration = {"pairing": {"default": "refuse", "peripherals": {LOCK: PASSKEY}}}
    given = await build(resources, configuration=configuration)
    given.sits(KINDS.DISPLAY_OUTPUT_ONLY)
    # A label does not change.
    given.person.generate_passkey = lambda: asyncio.sleep(0, int(PASSKEY))
    return given


@label.case("the passkey of the configuration is typed where nobody is asked")
async def typed(given):
    identifier = await given.connect()
    reached = await given.client.call("peripheral.pair", peripheral=identifier, level="authenticated")
    expect_equal(reached, {"level": "secureConnections", "keySize": 16, "bonded": True}, "what was reached")
    expect_equal(await given.read(identifier, AUTHENTICATED), b"authenticated".hex(), "the value")
    await given.start_over(identifier)


@label.case("after a failure it is not typed again at once")
async def pause(given):
    given.person.generate_passkey = lambda: asyncio.sleep(0, 1)
    identifier = await given.connect()
    error = await failure_of(given.client.call("peripheral.pair", peripheral=identifier, level="authenticated"))
    expect_equal(error["name"], "pairingFailed", "the wrong passkey")
    given.person.generate_passkey = lambda: asyncio.sleep(0, int(PASSKEY))
    failures = 0
    async with asyncio.timeout(120):
        while True:
            identifier = await given.connect()
            try:
                await given.client.call("peripheral.pair", peripheral=identifier, level="authenticated")
                break
            except CallFailed:
                failures += 1
                if given.device.connections:
                    await given.let_go(identifier)
    expect(failures, "the right passkey was typed at once after a wrong one")
    await given.start_over(identifier)


@stage(8, "a lock that bluetoothd has paired")
async def imported(resources):
    return await build(resources)


@imported.case("keys of bluetoothd are taken over: the device is used without pairing again")
async def take_over(given):
    identifier = await given.connect()
    await given.read(identifier, SECRET)
    await given.let_go(identifier)
    [(_, keys)] = await until(given.device.keystore.get_all)
    await given.client.call("pairing.forget", peripheral=identifier)
    pairings = []
    given.device.on("connection", lambda connection: connection.on(connection.EVENT_PAIRING, pairings.append))
    with TemporaryDirectory() as folder:
        for name, content in (
            (LOCK, f"[LongTermKey]\nKey={keys.ltk.value.hex().upper()}\nAuthenticated=2\nEncSize=16\nEDiv=0\nRand=0\n"),
            ("A0:A1:A2:A3:A4:A5", "[LinkKey]\nKey=00112233445566778899AABBCCDDEEFF\nType=4\nPINLength=0\n"),
        ):
            info = Path(folder) / HUB / name / "info"
            info.parent.mkdir(parents=True)
            info.write_text(f"[General]\nName=Thing\nAddressType=static\n\n{content}")
        output = await given.daemon.bleshell("pairing", "import", "--from", folder)
    expect(f"took over {LOCK} of {HUB}" in output, f"what was taken over: {output}")
    expect("Bluetooth Classic only" in output, f"what was not: {output}")
    identifier = await given.connect()
    expect_equal(await given.read(identifier, SECRET), b"secret".hex(), "the value with bluetoothd's key")
    expect(not pairings, "it paired again")
    await given.start_over(identifier)


@imported.case("a device that lost its keys is told of, once, with what to do")
async def lost_by_the_device(given):
    identifier = await given.connect()
    await given.read(identifier, SECRET)
    await given.let_go(identifier)
    await given.device.keystore.delete_all()
    error = await failure_of(given.connect())
    expect_equal(error["name"], "pinOrKeyMissing", "the error")
    lost = await given.client.next("pairing.keysLost")
    expect_equal((lost["device"]["peripheral"], lost["side"]), (identifier, "device"), "who lost them")
    await given.client.call("pairing.forget", peripheral=identifier)


@stage(8, "a phone that is asked to pair")
async def asked(resources):
    return await build_phone(resources)


@asked.case("peripheral.pair on the link of a phone sends a Security Request, and the phone pairs")
async def security_request(given):
    connection, secret = await as_phone(given)
    pairings = []
    # Phones answer it so; Bumble only reports it.
    connection.on(
        connection.EVENT_SECURITY_REQUEST, lambda _: pairings.append(asyncio.create_task(connection.pair()))
    )
    [known] = (await given.client.call("peripheral.list"))["peripherals"]
    reached = await given.client.call("peripheral.pair", peripheral=known["peripheral"])
    expect_equal((reached["level"], reached["bonded"]), ("encrypted", True), "what was reached")
    expect_equal(len(pairings), 1, "the requests")
    expect_equal(await asyncio.wait_for(secret.read_value(), 60), b"secret", "the value")
    await leave(connection)


@asked.case("keys that we have lost are told of when the phone encrypts with them")
async def lost_by_us(given):
    [bond] = (await given.client.call("pairing.list"))["bonds"]
    await given.client.call("pairing.register", capability="none")
    await given.client.call("pairing.forget", address=bond["address"])
    connection, _ = await as_phone(given)
    try:
        await asyncio.wait_for(connection.encrypt(), 60)
        expect(False, "a link was encrypted without keys")
    except HCI_Error:
        pass
    lost = await given.client.next("pairing.keysLost")
    expect_equal((lost["device"]["address"], lost["side"]), (LOCK, "machine"), "who lost them")

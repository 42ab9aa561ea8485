"""Group 3: bled on two adapters, central on one and peripheral on the other at once."""

from dataclasses import dataclass

from support import published as p
from support import tree
from support.btvirt import Beacon, Emulator
from support.cases import expect_equal, stage
from support.daemon import Daemon
from support.published import Published


@dataclass
class Given:
    """bled on hci0 and hci1, and a beacon on hci2."""

    daemon: Daemon
    client: object
    service: Published
    beacon: Beacon


@stage(3, "two adapters")
async def two_adapters(resources):
    await resources.open(Emulator(3))
    daemon = await resources.open(Daemon(resources, "hci0", "hci1"))
    client = await daemon.client()
    for adapter in ("hci0", "hci1"):
        await daemon.until_on(client, adapter)
    service = await Published.add(client)
    beacon = Beacon("hci2")
    await beacon.start()
    return Given(daemon, client, service, beacon)


async def hear(given, text):
    """Lets the beacon say something and waits until hci0 reports it."""
    await given.beacon.say(text)
    wanted = (b"\xff\xff" + text.encode()).hex()
    await given.client.next(
        "scan.report", lambda report: report["adapter"] == "hci0" and report.get("manufacturerData") == wanted
    )


@two_adapters.case("central on one, peripheral on the other; the scan goes on before, during and after")
async def both_roles(given):
    client = given.client
    await client.call("scan.start", adapter="hci0", duplicates=True)
    await hear(given, "before")
    await given.service.advertise("hci1")
    report = await client.next(
        "scan.report", lambda report: report["adapter"] == "hci0" and report.get("name") == p.NAME
    )
    connecting = client.start("peripheral.connect", peripheral=report["peripheral"], adapter="hci0", timeout=60)
    await hear(given, "during")
    connected = await connecting
    expect_equal(connected["adapter"], "hci0", "the adapter that holds the link")
    await hear(given, "after")

    peripheral = connected["peripheral"]
    discovered = await client.call("gatt.discover", peripheral=peripheral)
    asked = tree.characteristic(discovered, p.SERVICE, p.ASKED)["handle"]
    value = await client.call("gatt.read", peripheral=peripheral, handle=asked)
    expect_equal(bytes.fromhex(value["value"]), given.service.value, "the value, asked of this very client")
    await client.call("gatt.write", peripheral=peripheral, handle=asked, value="beef")
    expect_equal(given.service.value, b"\xbe\xef", "the value written")

    notified = tree.characteristic(discovered, p.SERVICE, p.NOTIFIED)["handle"]
    await client.call("gatt.subscribe", peripheral=peripheral, handle=notified)
    await given.service.subscribed(p.NOTIFIED)
    await given.service.notify(p.NOTIFIED, b"round trip")
    event = await client.next("gatt.value", lambda event: event["handle"] == notified)
    expect_equal(bytes.fromhex(event["value"]), b"round trip", "the notified value")

    await client.call("peripheral.disconnect", peripheral=peripheral)
    await client.next("peripheral.disconnected")
    await hear(given, "at the end")

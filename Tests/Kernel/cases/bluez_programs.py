"""Group 5: programs that are written for BlueZ, on bled-bluez and a real kernel."""

import asyncio
import os
from dataclasses import dataclass

from bumble.att import ATT_Error
from bumble.core import UUID, AdvertisingData
from bumble.device import Peer
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from support.air import Air
from support.cases import expect_equal, stage
from support.daemon import Daemon
from support.main_things import ADDRESS, PHONE, hears, hub_and_belt
from support.peripheral import Peripheral
from support.tools import DIST, ROOT, Program, run
from support.waiting import until

from cases.bluetoothd import start_bus

PYTHON = os.path.join(ROOT, ".build/bleak/bin/python")
ODD, UNHEARD = "F0:F1:F2:F3:F4:07", "F0:F1:F2:F3:F4:08"
SERVED = UUID("12345678-1234-5678-1234-56789ABCDEF1")


@dataclass
class Given:
    """bled-bluez on the system bus, a peripheral and a phone."""

    resources: object
    air: Air
    daemon: Daemon
    facade: Program
    peripheral: Peripheral
    phone: object

    async def python(self, program, *arguments):
        """Starts a program of Tests/BlueZ with bleak."""
        path = os.path.join(ROOT, "Tests/BlueZ/programs", program)
        return await self.resources.open(Program(PYTHON, "-B", "-u", path, *arguments))


@stage(5, "programs for BlueZ")
async def programs(resources):
    await start_bus(resources)
    air, peripheral, daemon = await hub_and_belt(resources)
    facade = await resources.open(Program(os.path.join(DIST, "bled-bluez"), "--socket", daemon.socket))
    await facade.wait_for("org.bluez is served by bled")
    return Given(resources, air, daemon, facade, peripheral, await air.device("Bumble phone", PHONE))


@programs.case("bleak: passive and active scan, services, values both ways, pairing, the end of the link")
async def central(given):
    program = await given.python("real_central.py", ADDRESS)
    await program.wait_for("^heard")
    await program.wait_for("subscribed")
    await given.peripheral.notify(b"\x00\x55")
    await given.peripheral.indicate(b"\x01")
    await program.wait_for("disconnected")
    await program.wait_for("paired")
    await program.wait_for("done")
    expect_equal(given.peripheral.written.get_nowait(), b"with a response", "the first value that was written")
    expect_equal(given.peripheral.written.get_nowait(), b"without", "the second")


def odd_service(device):
    """Attributes that refuse with a code each, one that is written, and one that notifies too early."""
    kinds, both = Characteristic.Properties, Characteristic.READABLE | Characteristic.WRITEABLE

    def refusing(code):
        def refuse(*_):
            raise ATT_Error(code)

        return Characteristic(
            f"B1ED11{code:02X}-0000-4000-8000-00805F9B34FB", kinds.READ | kinds.WRITE, both,
            CharacteristicValue(read=refuse, write=refuse))

    async def subscribed(_, value):
        if value[0]:
            await device().notify_subscribers(eager, b"early", force=True)

    eager = Characteristic(
        "B1ED1001-0000-4000-8000-00805F9B34FB", kinds.NOTIFY, Characteristic.READABLE, b"",
        [Descriptor("2902", both, CharacteristicValue(read=lambda _: b"\0\0", write=subscribed))])
    stored = Characteristic(
        "B1ED1002-0000-4000-8000-00805F9B34FB", kinds.READ, Characteristic.READABLE, b"stored",
        [Descriptor("2901", both, b"text")])
    return Service(
        "B1ED1000-0000-4000-8000-00805F9B34FB", [eager, stored, *map(refusing, (0x0E, 0x11, 0x80, 0xFC))])


@programs.case("bleak: refusals of attributes, all of an advertisement, an early value, a device that is away")
async def refusals(given):
    device = await given.air.device("Odd", ODD, [odd_service(lambda: device)])
    device.advertising_data = bytes(
        AdvertisingData(
            [
                (AdvertisingData.FLAGS, b"\x06"),
                (AdvertisingData.COMPLETE_LOCAL_NAME, b"Odd"),
                (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, b"\x34\x12MFG"),
                (AdvertisingData.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID("180F"))),
                (AdvertisingData.TX_POWER_LEVEL, b"\x0c"),
                (AdvertisingData.SERVICE_DATA_16_BIT_UUID, bytes(UUID("180F")) + b"SER"),
            ]
        )
    )
    await device.start_advertising(auto_restart=True, advertising_interval_min=200, advertising_interval_max=200)
    program = await given.python("real_refusals.py", ODD)
    await program.wait_for("alone", 120)
    await device.stop_advertising()
    [connection] = device.connections.values()
    gone = asyncio.get_running_loop().create_future()
    connection.once(connection.EVENT_DISCONNECTION, gone.set_result)
    program.type("go on")
    await asyncio.wait_for(gone, 60)
    await program.wait_for("done")


@programs.case("ConnectDevice: a device that no scan has heard, until the program leaves")
async def unheard(given):
    device = await given.air.device("Unheard", UNHEARD)
    gone = asyncio.get_running_loop().create_future()
    device.once(
        device.EVENT_CONNECTION, lambda connection: connection.once(connection.EVENT_DISCONNECTION, gone.set_result))
    await device.start_advertising(advertising_interval_min=200, advertising_interval_max=200)
    options = ("a{sv}", "2", "Address", "s", UNHEARD, "AddressType", "s", "random")
    shown = await run(
        "busctl", "call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "ConnectDevice", *options)
    expect_equal(shown.strip(), 'o "/org/bluez/hci0/dev_' + UNHEARD.replace(":", "_") + '"', "its object")
    await asyncio.wait_for(gone, 60)


@programs.case("bluetoothctl: a device, its link and its values")
async def control(given):
    # Ended with the case: its scan would continue.
    async with Program("bluetoothctl") as program:
        program.type("scan on")
        await program.wait_for(f"Device {ADDRESS}")
        program.type(f"connect {ADDRESS}")
        await program.wait_for("Connection successful")
        await program.wait_for("ServicesResolved: yes")
        program.type("menu gatt")
        program.type("select-attribute 00002a19-0000-1000-8000-00805f9b34fb")
        program.type("read")
        await program.wait_for("  5a ")
        gone = given.peripheral.disconnection()
        program.type("back")
        program.type(f"disconnect {ADDRESS}")
        await program.wait_for("Successful disconnected")
        await asyncio.wait_for(gone, 60)


@programs.case("bluez-peripheral: a phone finds, reads, writes and is notified")
async def served(given):
    program = await given.python("served_bluez_peripheral.py")
    await program.wait_for("advertising")
    found = await hears(given.phone, "Served")
    peer = Peer(await asyncio.wait_for(given.phone.connect(found.address), 60))
    await asyncio.wait_for(peer.discover_all(), 60)
    [value] = peer.get_characteristics_by_uuid(SERVED)
    expect_equal(bytes(await value.read_value()), b"\x01", "what the phone reads")
    await value.write_value(b"hello", with_response=True)
    await program.wait_for("written b'hello'")
    values = asyncio.Queue()
    await peer.subscribe(value, values.put_nowait)
    numbers = [int.from_bytes(await asyncio.wait_for(values.get(), 60), "little") for _ in range(5)]
    expect_equal(numbers, list(range(numbers[0], numbers[0] + 5)), "the values that the phone gets")
    await peer.connection.disconnect()


@programs.case("a program that dies leaves neither a link nor a scan")
async def nothing_left(given):
    program = await given.python("holder.py", ADDRESS)
    await program.wait_for("connected")
    gone = given.peripheral.disconnection()
    await program.end(9)
    await asyncio.wait_for(gone, 60)

    async def is_silent():
        shown = await run(
            "busctl", "get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Discovering")
        return "false" in shown

    await until(is_silent)

"""A HID over GATT device of Bumble, and the input devices of the kernel, read as programs do (linux/input.h)."""

import asyncio
import fcntl
import glob
import os
import struct

from bumble.core import UUID, AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service
from bumble.pairing import PairingConfig, PairingDelegate

from .person import Person
from .waiting import until

NAME = "Bumble desk"
ADDRESS = "F0:F1:F2:F3:F4:05"
VENDOR, PRODUCT, VERSION = 0x1209, 0xB1ED, 0x0102
# A keyboard with lights (report 1), and a feature report of two octets (report 3).
KEYBOARD_MAP = bytes.fromhex(
    "05010906a1018501050719e029e715002501750195088102750895018101050819012905750195059102750395019101050719002965"
    "2565750895068100c00600ff0901a10185030902150026ff0075089502b102c0"
)
# A mouse, without numbers of reports.
MOUSE_MAP = bytes.fromhex(
    "05010902a1010901a100050919012903150025019503750181029501750581010501093009311581257f750895028106c0c0"
)
INPUT, OUTPUT, FEATURE = 1, 2, 3


class Desk:
    """A keyboard and a mouse in one device: two HID services, which need an encrypted link."""

    @classmethod
    async def make(cls, air):
        """Puts it on the air; it does not advertise yet."""
        self = cls()
        self.lights = asyncio.Queue()
        self.feature = b"\x12\x34"
        kinds = Characteristic.Properties
        protected = Characteristic.READ_REQUIRES_ENCRYPTION
        written = protected | Characteristic.WRITE_REQUIRES_ENCRYPTION

        def report(kind, number, properties, value, permissions=protected):
            reference = Descriptor("2908", protected, bytes((number, kind)))
            return Characteristic("2A4D", properties, permissions, value, [reference])

        def fixed(uuid, value):
            return Characteristic(uuid, kinds.READ, protected, value)

        self.keys = report(INPUT, 1, kinds.READ | kinds.NOTIFY, bytes(8))
        self.moves = report(INPUT, 0, kinds.READ | kinds.NOTIFY, bytes(3))
        led = report(
            OUTPUT,
            1,
            kinds.READ | kinds.WRITE | kinds.WRITE_WITHOUT_RESPONSE,
            CharacteristicValue(read=lambda _: b"\0", write=lambda _, value: self.lights.put_nowait(bytes(value))),
            written,
        )
        setting = report(
            FEATURE,
            3,
            kinds.READ | kinds.WRITE,
            CharacteristicValue(read=lambda _: self.feature, write=self._set_feature),
            written,
        )
        information = bytes.fromhex("11010003")
        identity = struct.pack("<BHHH", 2, VENDOR, PRODUCT, VERSION)
        self.device = await air.device(
            NAME,
            ADDRESS,
            [
                Service("180A", [fixed("2A50", identity)]),
                Service("1812", [fixed("2A4A", information), fixed("2A4B", KEYBOARD_MAP), self.keys, led, setting]),
                Service("1812", [fixed("2A4A", information), fixed("2A4B", MOUSE_MAP), self.moves]),
            ],
        )
        self.device.gatt_server.max_mtu = 247
        self.device.advertising_data = bytes(
            AdvertisingData(
                [
                    (AdvertisingData.FLAGS, b"\x06"),
                    (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode()),
                    (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID("1812"))),
                ]
            )
        )
        person = Person(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT)
        self.device.pairing_config_factory = lambda _: PairingConfig(True, False, True, person)
        return self

    async def advertise(self):
        """Advertises whenever it is not connected."""
        await self.device.start_advertising(
            auto_restart=True, advertising_interval_min=200, advertising_interval_max=200
        )

    async def press(self, *usages):
        """The keys that are down now."""
        await self.device.notify_subscribers(self.keys, bytes((0, 0, *usages)).ljust(8, b"\0"))

    async def press_early(self, connection, *usages):
        """The same for a central that has not subscribed on this link, but on an earlier one."""
        value = bytes((0, 0, *usages)).ljust(8, b"\0")
        await self.device.notify_subscriber(connection, self.keys, value, force=True)

    async def move(self, across, down):
        """The mouse moves."""
        await self.device.notify_subscribers(self.moves, struct.pack("<Bbb", 0, across, down))

    def _set_feature(self, _connection, value):
        self.feature = bytes(value)


class EventDevice:
    """An input device, /dev/input/event*, by a part of its name."""

    EVENT = struct.Struct("llHHi")
    KEY, RELATIVE, LED = 1, 2, 0x11

    def __init__(self, path):
        self.path = path
        self.events = asyncio.Queue()
        # The kernel's time of the newest event, in seconds since the epoch.
        self.time = None
        self._file = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        asyncio.get_running_loop().add_reader(self._file, self._read)

    @classmethod
    async def named(cls, name):
        """Opens the device once it is there."""
        return cls(await until(lambda: path_of(name)))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        """Ends reading."""
        if self._file is not None:
            asyncio.get_running_loop().remove_reader(self._file)
            os.close(self._file)
        self._file = None

    def _read(self):
        try:
            octets = os.read(self._file, self.EVENT.size * 64)
        except OSError:
            # The device is gone.
            self.events.put_nowait(None)
            asyncio.get_running_loop().remove_reader(self._file)
            return
        for seconds, microseconds, kind, code, value in self.EVENT.iter_unpack(octets):
            if kind in (self.KEY, self.RELATIVE):
                self.time = seconds + microseconds / 1e6
                self.events.put_nowait((kind, code, value))

    async def next(self):
        """The next key or movement: its kind, code and value; None when the device is gone."""
        return await asyncio.wait_for(self.events.get(), 60)

    def light(self, code, is_on):
        """Switches a light on or off."""
        os.write(self._file, self.EVENT.pack(0, 0, self.LED, code, is_on) + self.EVENT.pack(0, 0, 0, 0, 0))


def names():
    """The paths of the input devices with their names."""
    found = {}
    for folder in glob.glob("/sys/class/input/event*"):
        try:
            with open(f"{folder}/device/name", encoding="utf-8") as file:
                found[f"/dev/input/{os.path.basename(folder)}"] = file.read().strip()
        except OSError:
            continue
    return found


def path_of(name):
    """The path of the input device with this in its name, or None."""
    return next((path for path, each in sorted(names().items()) if name in each), None)


def identity(path):
    """Bus, vendor, product and version of an input device."""
    folder = f"/sys/class/input/{os.path.basename(path)}/device/id"
    numbers = []
    for member in ("bustype", "vendor", "product", "version"):
        with open(f"{folder}/{member}", encoding="ascii") as file:
            numbers.append(int(file.read(), 16))
    return tuple(numbers)


async def feature(path, octets, is_set):
    """Reads or writes a feature report, its number first, by the raw device that belongs to an input device."""
    [raw] = glob.glob(f"/sys/class/input/{os.path.basename(path)}/device/device/hidraw/*")
    buffer = bytearray(octets)

    def call():
        descriptor = os.open(f"/dev/{os.path.basename(raw)}", os.O_RDWR)
        try:
            # HIDIOCSFEATURE and HIDIOCGFEATURE (linux/hidraw.h).
            fcntl.ioctl(descriptor, 3 << 30 | len(buffer) << 16 | ord("H") << 8 | (6 if is_set else 7), buffer)
        finally:
            os.close(descriptor)

    await asyncio.to_thread(call)
    return bytes(buffer)

"""A MIDI device of Bumble, and clients of ALSA's sequencer: a program's own, and what programs of alsa-utils say."""

import asyncio
import fcntl
import os
import struct
import time

from bumble.core import UUID, AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.pairing import PairingConfig, PairingDelegate

from .person import Person
from .waiting import until

NAME = "Bumble piano"
ADDRESS = "F0:F1:F2:F3:F4:07"
SERVICE = "03B80E5A-EDE8-4B33-A751-6CE34EC4C700"
MIDI_IO = "7772E5DB-3868-4112-A1A9-F2669D106BF3"
# Note on, note off, clock, system exclusive (sound/asequencer.h).
NOTE_ON, NOTE_OFF, CLOCK, EXCLUSIVE = 6, 7, 36, 130


class Piano:
    """A device with MIDI, which needs an encrypted link."""

    @classmethod
    async def make(cls, air):
        """Puts it on the air; it does not advertise yet."""
        self = cls()
        self.packets = asyncio.Queue()
        self.reads = 0
        kinds = Characteristic.Properties
        self.data = Characteristic(
            MIDI_IO,
            kinds.READ | kinds.NOTIFY | kinds.WRITE_WITHOUT_RESPONSE,
            Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION,
            CharacteristicValue(read=self._read, write=lambda _, value: self.packets.put_nowait(bytes(value))),
        )
        self.device = await air.device(NAME, ADDRESS, [Service(SERVICE, [self.data])])
        self.device.gatt_server.max_mtu = 64
        self.device.advertising_data = bytes(
            AdvertisingData(
                [
                    (AdvertisingData.FLAGS, b"\x06"),
                    (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(SERVICE))),
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

    async def subscribed(self):
        """Waits until the device is connected and subscribed to."""
        server = self.device.gatt_server
        await until(
            lambda: self.device.connections
            and any(self.data.handle in handles for handles in server.subscribers.values())
        )

    async def send(self, *octets):
        """One packet."""
        await self.device.notify_subscribers(self.data, bytes(octets))

    async def packet(self):
        """The next packet that was written."""
        return await asyncio.wait_for(self.packets.get(), 60)

    def _read(self, _connection):
        self.reads += 1
        return b""


class Sequencer:
    """A client of ALSA's sequencer with one port, which reads what a device plays."""

    EVENT = struct.Struct("<BBBB8sBBBB12s")

    def __init__(self):
        self.events = asyncio.Queue()
        self._file = os.open("/dev/snd/seq", os.O_RDWR | os.O_NONBLOCK)
        number = bytearray(4)
        self._call(0x80045301, number)
        self.client = number[0]
        # Readable, writable, and to be connected by others; MIDI.
        port = bytearray(struct.pack("<BB64sHII", self.client, 0, b"test", 0, 0x63, 2).ljust(168, b"\0"))
        self._call(0xC0A85320, port)
        asyncio.get_running_loop().add_reader(self._file, self._read)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        asyncio.get_running_loop().remove_reader(self._file)
        os.close(self._file)

    def listen(self, client):
        """Connects the port of a client to this one (SNDRV_SEQ_IOCTL_SUBSCRIBE_PORT)."""
        self._call(0x40505330, bytearray(struct.pack("<BBBB", client, 0, self.client, 0).ljust(80, b"\0")))

    async def next(self):
        """The next event: its type and data, and the time at which it was read, in seconds."""
        return await asyncio.wait_for(self.events.get(), 60)

    def _call(self, number, octets):
        fcntl.ioctl(self._file, number, octets)

    def _read(self):
        octets = os.read(self._file, 65536)
        now = time.monotonic()
        while octets:
            kind, flags, *_, data = self.EVENT.unpack(octets[:28])
            octets = octets[28:]
            if flags & 12 == 4:
                count = struct.unpack("<I", data[:4])[0] & 0x3FFFFFFF
                data, octets = octets[:count], octets[(count + 27) // 28 * 28 :]
            self.events.put_nowait((kind, data, now))


def client_of(name):
    """The number of the sequencer's client of a name, or None."""
    with open("/proc/asound/seq/clients", encoding="utf-8", errors="replace") as file:
        for line in file:
            # Client 128 : "Bumble piano" [User Legacy]
            if line.startswith("Client ") and f'"{name}"' in line:
                return int(line.split()[1])
    return None


def midi_file(*messages):
    """A MIDI file that plays messages one after the other, a tick between them, with 480 ticks to a beat."""
    track = b"".join(b"\x01" + message for message in messages) + b"\x00\xff\x2f\x00"
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, 480) + b"MTrk" + struct.pack(">I", len(track)) + track

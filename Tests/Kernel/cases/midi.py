"""Group 18, too: bled-midi, with a MIDI device of Bumble, and the events that programs get from ALSA's sequencer."""

import os
import statistics
import tempfile
import time
from dataclasses import dataclass

from support.air import Air
from support.cases import expect, expect_equal, stage
from support.daemon import Daemon
from support.midi import ADDRESS, CLOCK, EXCLUSIVE, NAME, NOTE_OFF, NOTE_ON, Piano, Sequencer, client_of, midi_file
from support.tools import DIST, Program, run
from support.waiting import until


@dataclass
class Given:
    """bled, bled-midi, and a device that is paired."""

    resources: object
    daemon: Daemon
    gateway: Program
    piano: Piano
    client: object
    peripheral: str

    async def listening(self):
        """A client of the sequencer that listens to the device, which is subscribed to."""
        client = await until(lambda: client_of(NAME))
        await self.piano.subscribed()
        sequencer = Sequencer()
        sequencer.listen(client)
        return sequencer


@stage(18, "midi")
async def midi(resources):
    await run("modprobe", "-a", "snd-seq")
    await until(lambda: os.path.exists("/dev/snd/seq"))
    air = Air()
    await resources.open(await air.adapter("F0:F1:F2:F3:F4:00"))
    piano = await Piano.make(air)
    await piano.advertise()
    daemon = await resources.open(Daemon(resources, "hci0"))
    client = await daemon.client()
    await daemon.until_on(client)
    gateway = Program(
        os.path.join(DIST, "bled-midi"), "--socket", daemon.socket, "--state-directory", tempfile.mkdtemp())
    await resources.open(gateway)
    await gateway.wait_for("0 of 0 MIDI devices")
    peripheral = (await client.call("peripheral.connect", address=ADDRESS, addressType="random", timeout=60))[
        "peripheral"]
    await client.call("peripheral.pair", peripheral=peripheral)
    await client.call("peripheral.disconnect", peripheral=peripheral)
    return Given(resources, daemon, gateway, piano, client, peripheral)


@midi.case("programs of alsa-utils see the port of a MIDI device, and its notes")
async def lists(given):
    client = await until(lambda: client_of(NAME))
    expect(f"client {client}: '{NAME}'" in await run("aconnect", "-l"), "aconnect lists the device")
    await given.piano.subscribed()
    async with Program("stdbuf", "-oL", "aseqdump", "-p", f"{client}:0") as dump:
        await dump.wait_for("Source")
        await given.piano.send(0x80, 0x81, 0x90, 60, 100, 0x83, 0xE0, 0, 0x60)
        await dump.wait_for(r"Note on +0, note 60, velocity 100")
        await dump.wait_for(r"Pitch bend +0, value 4096")
        await given.piano.send(0x80, 0x84, 0x80, 60, 0)
        await dump.wait_for(r"Note off +0, note 60")
    expect(given.piano.reads > 0, "the device was read")


@midi.case("running status, real-time messages and system exclusive ones in pieces arrive")
async def receives(given):
    async with await given.listening() as sequencer:
        await given.piano.send(0x80, 0x81, 0x91, 60, 100, 64, 90, 0x82, 67, 80)
        for note, velocity in ((60, 100), (64, 90), (67, 80)):
            kind, data, _ = await sequencer.next()
            expect_equal((kind, *data[:3]), (NOTE_ON, 1, note, velocity), "a note")
        await given.piano.send(0x80, 0x83, 0xF0, 0x7E, *range(10))
        await given.piano.send(0x80, *range(10, 20), 0x84, 0xF8, 20)
        await given.piano.send(0x80, 21, 0x85, 0xF7)
        octets, clocks = b"", 0
        while not octets.endswith(b"\xf7"):
            kind, data, _ = await sequencer.next()
            expect(kind in (EXCLUSIVE, CLOCK), f"an event of type {kind}")
            octets += data if kind == EXCLUSIVE else b""
            clocks += kind == CLOCK
        whole = bytes((0xF0, 0x7E, *range(22), 0xF7))
        expect_equal((octets, clocks), (whole, 1), "the message and the clock within it")
        await given.piano.send(0x80, 0x86, 0x91, 60, 0, 64, 0, 67, 0)
        expect_equal([(await sequencer.next())[1][1] for _ in range(3)], [60, 64, 67], "the notes that end")


@midi.case("a MIDI file that aplaymidi plays arrives at the device")
async def plays(given):
    client = await until(lambda: client_of(NAME))
    await given.piano.subscribed()
    while not given.piano.packets.empty():
        given.piano.packets.get_nowait()
    long = bytes(index & 0x7F for index in range(300))
    size = len(long) + 1
    with tempfile.NamedTemporaryFile(suffix=".mid") as file:
        file.write(
            midi_file(
                b"\x90\x3c\x64", b"\x40\x64", b"\xf0" + bytes((0x80 | size >> 7, size & 0x7F)) + long + b"\xf7",
                b"\x80\x3c\x00"))
        file.flush()
        await run("aplaymidi", "--delay=0", "--port", f"{client}:0", file.name)
    packets = [await given.piano.packet()]
    while packets[-1][-3:] != b"\x80\x3c\x00":
        packets.append(await given.piano.packet())
    expect(all(packet[0] & 0xC0 == 0x80 and len(packet) <= 61 for packet in packets), f"the packets: {packets}")
    # Without headers and timestamps: octets above 7F before a status, and the first of each packet.
    octets = bytearray()
    for packet in packets:
        rest = packet[1:]
        while rest:
            if rest[0] >= 0x80:
                rest = rest[1:]
                octets.append(rest[0])
                rest = rest[1:]
            else:
                octets.append(rest[0])
                rest = rest[1:]
    expect(bytes(octets) in (
        b"\x90\x3c\x64\x90\x40\x64\xf0" + long + b"\xf7\x80\x3c\x00",
        b"\x90\x3c\x64\x40\x64\xf0" + long + b"\xf7\x80\x3c\x00",
    ), f"the octets: {octets.hex()}")


@midi.case("notes that arrive in groups are passed on, and the distances that they keep are printed")
async def jitter(given):
    async with await given.listening() as sequencer:
        distances = []
        for _ in range(25):
            last = int(time.monotonic() * 1000)
            stamps = [last - 9, last - 6, last - 3, last]
            packet = [0x80 | stamps[0] >> 7 & 0x3F]
            for stamp in stamps:
                packet += [0x80 | stamp & 0x7F, 0x90, 60, 100]
            await given.piano.send(*packet)
            times = [(await sequencer.next())[2] for _ in range(4)]
            distances += [1000 * (later - sooner) for sooner, later in zip(times, times[1:], strict=False)]
        # The first packet is passed on together: the link is not known yet.
        distances = sorted(distances[3:])
        middle, most = statistics.median(distances), distances[int(len(distances) * 0.9)]
        print(f"midi: notes 3 ms apart, in one packet: median {middle:.2f} ms, 90 % below {most:.2f} ms", flush=True)
        # No more is expected: a machine that is late passes them on together. MIDIGatewayTests hold the clock.
        expect(distances[0] >= 0, f"the distances in ms: {distances}")


@midi.case("a device that goes away releases its notes, and comes back at the same port")
async def comes_back(given):
    async with await given.listening() as sequencer:
        client = client_of(NAME)
        await given.piano.send(0x80, 0x81, 0x90, 60, 100)
        kind, data, _ = await sequencer.next()
        expect_equal((kind, data[1]), (NOTE_ON, 60), "the note")
        [connection] = given.piano.device.connections.values()
        await connection.disconnect()
        kind, data, _ = await sequencer.next()
        expect_equal((kind, data[1]), (NOTE_OFF, 60), "the note that is released")
        await until(lambda: given.piano.device.connections)
        await given.piano.subscribed()
        expect_equal(client_of(NAME), client, "the client")
        await given.piano.send(0x80, 0x81, 0x90, 62, 100)
        kind, data, _ = await sequencer.next()
        expect_equal((kind, data[1]), (NOTE_ON, 62), "the note after it")


@midi.case("a device that is forgotten has no port")
async def forgotten(given):
    await given.client.call("pairing.forget", peripheral=given.peripheral)
    await until(lambda: client_of(NAME) is None)
    await given.gateway.wait_for("0 of 0 MIDI devices")

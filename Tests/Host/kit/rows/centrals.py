"""Centrals that connect to bled's services: malformed requests, floods, and answers to nothing."""

from ..row import READS_AS_END, Row

SETUP = "publish; dial; "
WORKS = "sends 0aVALUE; received 0bbeef"
INVALID_PDU, INVALID_HANDLE = "04", "01"
OURS = "the kernel's Security Manager pairs"


def asked(situation, packet, answer, times=1, **named):
    """A central sends a packet, or several; bled answers each, or does not, and goes on."""
    awaits = f"received {answer}; " * times if answer else ""
    return Row(situation, "", f"{SETUP}sends {packet}; {awaits}{WORKS}", **named)


def command(opcode):
    """Whether a packet has no answer."""
    return int(opcode, 16) & 0x40


ROWS = [
    *(
        asked(f"A request is cut off: {packet}", packet, f"01{packet[:2]}....04")
        for packet in ("02", "0202", "04", "040100ff", "06", "060100ffff00", "08", "080100ffff", "080100ffff0028aa",
                       "0a", "0a01", "0c", "0c0100", "0c010000", "0e", "0e0100", "10", "100100ffff", "12", "1201",
                       "16", "160100", "16010000", "18", "20", "200100")
    ),
    *(
        asked(f"An unknown request: {packet}", packet, f"01{packet}000006") for packet in ("3e", "3f", "24", "00", "14")
    ),
    *(asked(f"A command is dropped: {packet}", packet, "") for packet in ("52", "5201", "7e", "7f01", "d2",
        "d2010000")),
    *(
        asked(f"An answer to nothing: {packet}", packet, "")
        for packet in ("01", "010a010001", "03", "03f700", "05", "07", "09", "0b01", "0d", "0f", "11", "13", "17", "19",
                       "1b010000", "1e", "21", "23")
    ),
    asked("An empty packet", "att:", "", kernel=READS_AS_END),
    asked("An indication to bled", "1d010007", "1e"),
    asked("Handle 0 in a search", "0400000100", "010400000 1".replace(" ", "")),
    asked("A search ends before it begins", "0402000100", "0104020001"),
    asked("A search by a UUID of three octets", "080100ffff002800", "0108....04"),
    asked("A read of handle 0", "0a0000", "010a000001"),
    asked("A read of handle 65535", "0affff", "010affff01"),
    asked("A read behind the end of a value", "0cVALUEff00", "010c....07"),
    asked("A write to a declaration", "12010000", "011201000[36]"),
    asked("A group of another type", "100100ffff0328", "0110010010"),
    asked("Another MTU, for less", "02f700 021700", "03.*"),
    asked("The MTU 0", "020000", "03"),
    asked("The MTU 65535", "02ffff", "03"),
    asked("Two requests at once", "0a0100 0a0100", "0b0018", times=2),
    asked("A hundred requests at once", "0a0100 " * 100, "0b0018", times=100),
    asked("A Client Characteristic Configuration with both", "12CCCD0300", "(13|0112)"),
    asked("A Client Characteristic Configuration of reserved bits", "12CCCDffff", "0112....(13|fd|80|0d)"),
    asked("A Client Characteristic Configuration of one octet", "12CCCD01", "0112....0d"),
    asked("A Client Characteristic Configuration of three octets", "12CCCD010000", "0112....0d"),
    asked("Execute Write without anything prepared", "1801", "19"),
    asked("Execute Write with unknown flags", "1802", "01180000(04|13|0e|..)".replace("(04|13|0e|..)", "..")),
    asked("A prepared write at an offset of 65535", "16SINKffff01", "1[67]|0116"),
    asked("Prepared writes without end", "16SINK0000aa " * 300, "0116....09"),
    asked("A signed write without a bond", "d2SINK0100000000" + "aa*8", ""),
    Row("A central leaves with prepared writes", "",
        f"{SETUP}sends 16SINK0000aa; received 17; sends hang-up:13; ended; "
        f"advertise; dial; {WORKS}; sends 1801; received 19; {WORKS}"),
    Row("A central hangs up at once, three times", "", "publish; " + "dial; sends hang-up:13; ended; advertise; " * 3
        + f"dial; {WORKS}"),
    Row("A central pairs where nobody agreed", "", f"{SETUP}sends smp:01030001100303; received smp:0505; {WORKS}",
        kernel=OURS),
    Row("A central sends half a Pairing Request", "", f"{SETUP}sends smp:0103; received smp:05; {WORKS}", kernel=OURS),
    Row("A central sends keys out of nowhere", "", f"{SETUP}sends smp:0611*16 smp:07000011*8; {WORKS}", kernel=OURS),
    Row("A central sends its part of a pairing out of order", "",
        f"{SETUP}sends smp:0411*16 smp:0311*16 smp:0d11*16 smp:0c11*64; {WORKS}", kernel=OURS),
    Row("A central says that a pairing failed that was none", "", f"{SETUP}sends smp:0508; {WORKS}", kernel=OURS),
    Row("A central reads a protected value", "", "publish readEncryptionRequired; dial; sends 0aVALUE; "
        "received 010a....(05|0f)"),
    Row("A central pairs, and pairs again", "", "open-pairing; publish readEncryptionRequired; dial; dialled-pair; "
        "sends 0aVALUE; received 0bbeef; bonds = 1"),
]

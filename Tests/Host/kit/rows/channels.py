"""L2CAP: signalling that is malformed, unknown or endless, and channels that break their rules."""

from ..row import READS_AS_END, Row

OURS = "the kernel answers L2CAP signalling"
WORKS = "read 2A19 = 64"


def asks(minimum, maximum, latency, timeout, identifier=1):
    """A Connection Parameter Update Request (Core 5.4, Vol 3, Part A, 4.20)."""
    values = (minimum, maximum, latency, timeout)
    return f"sig:12{identifier:02x}0800" + "".join(value.to_bytes(2, "little").hex() for value in values)


def channel(answer, credits="0a00"):
    """Answers an LE Credit Based Connection Request: CID 0x0040, MTU 100, MPS 50."""
    return f"sig:14 > sig:15ID0a00400064003200{credits}0000; {answer}".rstrip("; ")


ROWS = [
    Row("The device asks for 15 ms", f"linked > {asks(12, 12, 0, 200)}", "received sig:130102000000; interval 15"),
    *(
        Row(f"The device asks for {name}", f"linked > {asks(*values)}", f"received sig:130102000100; {WORKS}",
            kernel=OURS)
        for name, values in {
            "an interval below 7.5 ms": (5, 5, 0, 200), "a minimum above the maximum": (24, 12, 0, 200),
            "an interval above 4 s": (3201, 3201, 0, 3200), "a latency of 500": (12, 12, 500, 3200),
            "a timeout that its latency exceeds": (12, 12, 99, 10), "a timeout above 32 s": (12, 12, 0, 3201),
        }.items()
    ),
    Row("The device asks for 4 s", f"linked > {asks(3200, 3200, 0, 3200)}", f"received sig:130102000100; {WORKS}",
        "stack 12", kernel=OURS),
    Row("The device asks for parameters 500 times", "linked > " + " ".join(
        asks(12 + number % 20, 12 + number % 20, 0, 200, number % 255 + 1) for number in range(500)), WORKS,
            "stack 12"),
    Row("A parameter request is cut off", "linked > sig:12010800" + "0c00", f"received sig:0101; {WORKS}", kernel=OURS),
    *(
        Row(f"{name}", f"linked > {packet}", f"received {answer}; {WORKS}" if answer else WORKS, kernel=OURS)
        for name, packet, answer in [
            ("An unknown signalling command", "sig:40010000", "sig:010102000000"),
            ("A Connection Request of BR/EDR", "sig:0201040001004000", "sig:0101"),
            ("An Information Request of BR/EDR", "sig:0a0102000200", "sig:0101"),
            ("An Echo Request of BR/EDR", "sig:08010000", "sig:0101"),
            ("A signalling packet without octets", "sig:", ""),
            ("A signalling packet with a head only", "sig:12", ""),
            ("A signalling length that lies", "sig:1201ff00" + "00", ""),
            ("Two signalling commands in one packet", "sig:40010000" + "40020000", "sig:0101"),
            ("A signalling command with identifier 0", "sig:40000000", ""),
            ("A Command Reject that nothing awaits", "sig:010902000000", ""),
            ("A parameter response that nothing awaits", "sig:130902000000", ""),
            ("A channel response that nothing awaits", "sig:15090a00400064003200" + "0a000000", ""),
            ("Credits for an unknown channel", "sig:1601040040000a00", ""),
            ("A Disconnection Request for an unknown channel", "sig:060104004000" + "4100", "sig:0101"),
            ("A request for a channel that nobody publishes", "sig:14010a0085004000640032000a00", "sig:1501.*0200$"),
            ("A request for a channel with MTU 22", "sig:14010a0085004000160016000a00", "sig:(15|01)01"),
            ("A request for a channel with CID 0", "sig:14010a0085000000640032000a00", "sig:(15|01)01"),
            ("A request for a channel that is cut off", "sig:14010400" + "85004000", "sig:(15|01)01"),
            ("A request for enhanced channels without any", "sig:17010800" + "8500640064000a00", "sig:(18|01)01"),
            ("A request for six enhanced channels", "sig:17011400850064006400" + "0a00400041004200430044004500",
                "sig:(18|01)01"),
        ]
    ),
    *(
        Row(f"Data on channel 0x{cid}", f"linked > {cid}:0102030405", WORKS)
        for cid in ("0000", "0001", "0002", "0003", "0007", "0020", "0040", "ffff")
    ),
    Row("An L2CAP frame is cut off", "linked > raw:ff0004000a0100", WORKS, "stack 17"),
    Row("An L2CAP frame is longer than its length", "0a0a00 > raw:0200040001020304 polite", WORKS),
    Row("An L2CAP frame has no length", "0a0a00 > raw:00000400 polite", WORKS, kernel=READS_AS_END),
    Row("An L2CAP frame has half a head", "0a0a00 > raw:0200 polite", WORKS),
    # Channels that bled opens.
    Row("A channel works", channel(""), "open 0085; put 0102; received 0040:02000102; "
        "sends SCID:02000304; get 0304", kernel="the kernel has the channel"),
    *(
        Row(f"A channel is refused with 0x{code}", f"sig:14 > sig:15ID0a00{'00*8'}_{code}00",
            f"open 0085 fails {name}; {WORKS}", kernel=OURS)
        for code, name in {
            "02": "connectionFailed", "04": "limitReached", "05": "connectionFailed", "06": "connectionFailed",
            "07": "connectionFailed", "08": "connectionFailed", "09": "connectionFailed", "0a": "connectionFailed",
                "0b": "connectionFailed", "ff": "connectionFailed",
        }.items()
    ),
    Row("A channel is rejected as unknown", "sig:14 > sig:01ID02000000", f"open 0085 fails notSupported; {WORKS}",
        kernel=OURS),
    *(
        Row(f"A channel is accepted with {name}", f"sig:14 > sig:15ID0a00{values}0000",
            f"open 0085 fails connectionFailed; {WORKS}",
            kernel=OURS)
        for name, values in {
            "MTU 22": "4000160016000a00", "MPS 0": "4000640000000a00", "MPS 22": "4000640016000a00",
            "CID 0": "0000640032000a00", "CID 0x003f": "3f00640032000a00",
        }.items()
    ),
    Row("A channel is accepted without credits", channel("", "0000"),
        "open 0085; put 0102; sends sig:1601040040000100; "
        "received 0040:02000102", kernel=OURS),
    Row("A channel is answered twice", "sig:14 > sig:15ID0a004000640032000a000000 sig:15ID0a004100640032000a000000",
        "open 0085; put 0102; received 0040:02000102", kernel=OURS),
    Row("A channel is not answered", "sig:14 > nothing", f"open 0085 fails timeout; {WORKS}", slow=True, kernel=OURS),
    Row("A device gives more than 65535 credits", channel(""), "open 0085; sends sig:16010400" + "4000ffff; closed; "
        f"received sig:06; {WORKS}", kernel=OURS),
    Row("A device gives no credits", channel(""), "open 0085; sends sig:16010400" + f"40000000; {WORKS}", kernel=OURS),
    Row("An SDU is longer than its length", channel(""), f"open 0085; sends SCID:0100aabb; closed; {WORKS}",
        kernel=OURS),
    Row("An SDU is longer than the MTU", channel(""), f"open 0085; sends SCID:ffff01; closed; {WORKS}", kernel=OURS),
    Row("An SDU has half a length", channel(""), f"open 0085; sends SCID:01; closed; {WORKS}", kernel=OURS),
    Row("The device closes a channel", channel(""), "open 0085; sends sig:060104004000SCID; closed; "
        f"received sig:07; {WORKS}", kernel=OURS),
    Row("The device hangs up while a channel is open", channel(""), "open 0085; sends hang-up:13; closed; ended; "
        f"connect; {WORKS}", kernel=OURS),
]

"""Exchange MTU, and answers that are unexpected, late, doubled, absent or malformed."""

from ..row import READS_AS_END, Row

WORKS = "read 2A19 = 64"

ROWS = [
    Row("Exchange MTU is answered twice", "02 > 03f700 03f700", f"mtu 247; {WORKS}; logs which nothing awaits",
        "bluez#2486"),
    Row("Exchange MTU is answered twice, then with less", "02 > 03f700 031700", f"mtu 247; {WORKS}", "bluez#2486"),
    Row("Exchange MTU is answered again later", "02 > 03f700; 0a > 03f700 polite", f"mtu 247; {WORKS}", "bluez#2486"),
    Row("Exchange MTU is refused behind its answer", "02 > 03f700 0102000006", f"mtu 247; {WORKS}", "bluez#2486"),
    *(
        Row(f"Exchange MTU is refused with 0x{code}", f"02 > 01020000{code}", "mtu 23; read FFE2 = aa*100")
        for code in ("01", "04", "05", "06", "0e", "80", "ff")
    ),
    Row("The MTU is 0", "02 > 030000", f"mtu 23; {WORKS}"),
    Row("The MTU is 22", "02 > 031600", f"mtu 23; {WORKS}"),
    Row("The MTU is 65535", "02 > 03ffff", f"mtu 517; {WORKS}"),
    Row("The answer to Exchange MTU is cut off", "02 > 03f7", f"mtu 23; {WORKS}"),
    Row("The answer to Exchange MTU is too long", "02 > 03f70000", WORKS),
    Row("The answer to Exchange MTU is late", "02 > pause:0.5 polite", f"mtu 247; {WORKS}"),
    Row("The device asks for the MTU first", "linked > 02f700", f"received 03; mtu 247; {WORKS}"),
    Row("The device asks for the MTU instead of answering", "02 > 02f700 pause:0.1 polite", f"received 03; {WORKS}"),
    Row("The device asks for the MTU again, for less", "0a > 021700 polite", f"{WORKS}; read FFE2 = aa*100",
        "stack 23"),
    Row("The device hangs up at Exchange MTU", "02 > hang-up:13", f"mtu 23; {WORKS}", "micropython-lib#456"),
    Row("The device hangs up soon after Exchange MTU", "02 > pause:0.4 hang-up:13", f"mtu 23; {WORKS}",
        "micropython-lib#456"),
    Row("The device hangs up at the first Exchange MTU", "1x 02 > hang-up:13", WORKS, "micropython-lib#456"),
    Row("The device hangs up with Power Off at Exchange MTU", "02 > hang-up:15", f"mtu 23; {WORKS}",
        "micropython-lib#456"),
    Row("The link is lost at Exchange MTU", "02 > hang-up:08", f"mtu 23; {WORKS}", "micropython-lib#456"),
    Row("Exchange MTU has no answer", "02 > nothing", f"mtu 23; {WORKS}", "micropython-lib#456", slow=True),
    Row("The device that hangs up at Exchange MTU is remembered", "02 > hang-up:13",
        f"connect; afresh; again; never 02; {WORKS}", "micropython-lib#456"),
    # Answers that nothing awaits.
    *(
        Row(f"{name} comes before the answer", f"0a0a00 > {packet} polite", WORKS, "bluez#2486",
            kernel=READS_AS_END if packet == "att:" else "")
        for name, packet in {
            "A Write Response": "13", "A Confirmation": "1e", "A Read Blob Response": "0d07",
            "An Execute Write Response": "19", "A Find Information Response": "05010100002a",
            "A Read By Type Response": "09030a0001", "A Read By Group Type Response": "11060100050000018",
            "An error of another request": "010c0a0001", "An error of no request": "0100000001",
            "An error of a command": "0152000003", "An unknown response": "7f", "An unknown request": "3f",
            "An unknown command": "7e0102", "An empty packet": "att:", "A notification that is cut off": "1b0a",
            "A notification without a handle": "1b", "A notification of handle 0": "1b000001",
            "A notification of an unknown handle": "1bffff01", "A notification longer than the MTU": "1b0a00aa*300",
            "Two values in one notification": "230a00010007", "Two values, cut off": "230a000900070e00",
        }.items()
        if len(packet.replace("att:", "").split("*")[0]) % 2 == 0
    ),
    Row("The answer comes twice", "0a0a00 > 0b64 0b64", f"{WORKS}; read FFE1 = 01"),
    Row("The refusal is cut off", "1x 0a0a00 > 010a", f"read 2A19 fails protocolViolation; {WORKS}"),
    Row("The refusal has error code 0", "1x 0a0a00 > 010a0a0000", f"read 2A19 fails reserved; {WORKS}"),
    Row("The refusal names another handle", "1x 0a0a00 > 010aff0003", f"read 2A19 fails writeNotPermitted; {WORKS}"),
    Row("The answer is late", "0a0a00 > pause:1 polite", WORKS),
    Row("The device asks bled in between", "0a0a00 > 0a0100 polite", f"{WORKS}; received 0b0018"),
    Row("The device asks bled for everything in between", "0a0a00 > 100100ffff0028 polite", f"{WORKS}; received 11"),
    Row("The device indicates in between", "0a0a00 > 1d0e0007 polite", f"{WORKS}; received 1e"),
    Row("An indication of handle 0", "0a0a00 > 1d000007 polite", f"{WORKS}; received 1e"),
    Row("Three indications at once", "0a0a00 > 1d0e0007 1d0e0008 1d0e0009 polite",
        f"{WORKS}; received 1e; received 1e; received 1e"),
    Row("A hundred notifications come before the answer", "0a0a00 > " + "1b0e0007 " * 100 + "polite", WORKS),
    Row("The device never answers a read", "0a0a00 > nothing",
        "read 2A19 fails timeout ~ 30 s; ended ~ did not answer; connect; read FFE1 = 01", "stack 26", slow=True),
    Row("The device hangs up at a read", "1x 0a0a00 > hang-up:13",
        f"read 2A19 fails disconnected; ended; connect; {WORKS}"),
    Row("The answer and the end come together", "1x 0a0a00 > polite hang-up:13", f"{WORKS}; ended; connect; {WORKS}"),
]

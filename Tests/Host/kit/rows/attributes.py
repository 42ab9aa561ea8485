"""Services, characteristics and descriptors that are refused, malformed, or never end."""

from ..row import Row

ALL = "1800 1801 180F FFE0"
SERVICES = f"discover = {ALL}"
VALUES = "2A00 2A05 2A19 FFE1 FFE2 FFE3 FFE4"
BASE = "fb349b5f8000008000100000"

ROWS = [
    *(
        Row(f"Find Information is refused with 0x{code}", f"04 > 01040f00{code}",
            f"{SERVICES}; characteristics = {VALUES}; read 2A19 = 64", "NimBLE-Arduino#170")
        for code in ("01", "02", "04", "06", "0a", "0e", "80")
    ),
    Row("One search of descriptors is refused", "040f00 > 01040f0001",
        f"{SERVICES}; descriptors 2A19 = 2902; descriptors FFE1 =", "NimBLE-Arduino#170"),
    Row("The services are refused from the second part on",
        "100100 > 1106010003000018040007000118; 100800 > 0110080001",
        "discover = 1800 1801", "NimBLE-Arduino#170"),
    *(
        Row(f"All services are refused with 0x{code}", f"10 > 01100100{code}",
            f"{'discover =' if code == '0a' else 'discover fails ' + name}; linked")
        for code, name in {"0a": "", "06": "requestNotSupported", "10": "unsupportedGroupType",
            "0e": "unlikelyError"}.items()
    ),
    *(
        Row(f"Find By Type Value is refused with 0x{code}", f"06 > 01060100{code}", "find FFE0 = FFE0; read FFE1 = 01")
        for code in ("06", "0e", "01", "10")
    ),
    *(
        Row(f"Included services are refused with 0x{code}", f"08........0228 > 01080100{code}", SERVICES)
        for code in ("06", "02", "0a", "0e", "80")
    ),
    *(
        Row(f"Characteristics of a service are refused with 0x{code}", f"08....18000328 > 01080100{code}",
            f"{SERVICES}; linked")
        for code in ("01", "06", "0e", "80")
    ),
    *(
        Row(f"The Database Hash is refused with 0x{code}", f"080100ffff2a2b > 01080100{code}",
            f"{SERVICES}; read 2A19 = 64")
        for code in ("01", "06", "0e", "80", "ff")
    ),
    Row("The Database Hash is too short", "080100ffff2a2b > 0906070011223344", f"{SERVICES}; read 2A19 = 64"),
    Row("The Database Hash is empty", "080100ffff2a2b > 09020700", f"{SERVICES}; read 2A19 = 64"),
    Row("The Database Hash is malformed", "080100ffff2a2b > 0900", f"{SERVICES}; read 2A19 = 64"),
    # UUIDs in both lengths.
    Row("A short UUID is declared with 16 octets, and searched for", "", "find FFE0 = FFE0; read FFE1 = 01",
        "SwiftyTeeth#63",
        table=f"000c 2800 {BASE}e0ff0000"),
    Row("A short UUID is declared with 16 octets, and discovered", "", SERVICES, "SwiftyTeeth#63",
        table=f"000c 2800 {BASE}e0ff0000"),
    Row("A characteristic is declared with 16 octets", "", f"read FFE1 = 01; characteristics = {VALUES}",
        "SwiftyTeeth#63",
        table=f"000d 2803 1e0e00{BASE}e1ff0000"),
    Row("A value is subscribed to whose CCCD has 16 octets", "", "subscribe FFE1; sends 1b0e0007; value 07",
        "SwiftyTeeth#63",
        table="000f 0000290200001000800000805f9b34fb 0000"),
    # Lists that do not end, or lie.
    Row("Services come again and again", "10 > 1106010005000018", "discover = 1800"),
    Row("Characteristics come again and again", "08........0328 > 0907020002030000" + "2a", SERVICES),
    Row("Descriptors come again and again", "04 > 05010f000229", SERVICES),
    Row("A list of services has entries of no length", "10 > 1100", "discover fails protocolViolation; linked"),
    Row("A list of services has entries of length 5", "10 > 110501000300" + "18",
        "discover fails protocolViolation; linked"),
    Row("A list of services ends in the middle", "10 > 1106010003000018040007",
        "discover fails protocolViolation; linked"),
    Row("A list of services is empty", "10 > 1106", "discover fails protocolViolation; linked"),
    Row("A service ends before it begins", "100100 > 1106050003000018", "discover =; read 0x000a = 64"),
    Row("A service has handle 0", "100100 > 1106000003000018", "discover =; read 0x000a = 64"),
    Row("The last service ends at 65535", "100100 > 110601000300001804000700011808000b000f180c00ffffe0ff",
        f"{SERVICES}; read FFE1 = 01"),
    Row("The first service ends at 65535", "100100 > 11060100ffff0018", "discover = 1800"),
    Row("Two services have one UUID", "", "discover = 1800 1801 FFE0 FFE0; read FFE1 = 01", table="0008 2800 e0ff"),
    Row("Two services overlap", "100100 > 1106010007000018040018000118", "discover = 1800"),
    Row("A value's handle is outside its service", "", SERVICES, table="000d 2803 1eff00e1ff"),
    Row("A value's handle is 0", "", f"{SERVICES}; read 2A19 = 64", table="000d 2803 1e0000e1ff"),
    Row("A value's handle is that of its declaration", "", f"{SERVICES}; read 2A19 = 64", table="000d 2803 1e0d00e1ff"),
    Row("A declaration is cut off", "", "linked; read 0x000a = 64", table="000d 2803 1e0e00e1"),
    Row("A list of descriptors has an unknown format", "04 > 05030f000229", f"{SERVICES}; read 2A19 = 64"),
    Row("A list of descriptors ends in the middle", "040f00 > 05010f0002", f"{SERVICES}; read 2A19 = 64"),
    Row("A list of descriptors has handles out of range", "040f00 > 0501ff000229", f"{SERVICES}; read 2A19 = 64"),
    Row("A search answers with services of other handles", "06 > 0701000300", "find FFE0 = FFE0; linked"),
    Row("A search answers with an empty list", "06 > 07", "find FFE0 = FFE0; linked"),
    Row("Services change during the discovery", "1x 08........0328 > 1d06000100ffff polite",
        f"{SERVICES}; received 1e"),
    Row("The device hangs up during the discovery", "1x 08........0328 > hang-up:13",
        f"discover fails disconnected; ended; connect; {SERVICES}"),
    Row("The device never answers the discovery", "10 > nothing", "discover fails timeout; ended; connect; linked",
        slow=True),
]

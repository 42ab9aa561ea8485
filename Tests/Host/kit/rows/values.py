"""Values: long ones, subscriptions, writes, and devices that declare them wrongly."""

from ..row import Row

FULL = "aa*246"
NAMES = {
    "01": "invalidHandle", "02": "readNotPermitted", "03": "writeNotPermitted", "04": "invalidPDU",
    "07": "invalidOffset", "0a": "attributeNotFound", "0d": "invalidAttributeValueLength", "0e": "unlikelyError",
    "11": "insufficientResources", "13": "valueNotAllowed",
}

ROWS = [
    # Long values.
    Row("A value is as long as the first part", "", f"read FFE2 = {FULL}", "mynewt-core#75", table=f"0012 ffe2 {FULL}"),
    *(
        Row(f"Read Blob is refused with 0x{code} at the end of a value", f"0c > 010c1200{code}", f"read FFE2 = {FULL}",
            "mynewt-core#75", table=f"0012 ffe2 {FULL}")
        for code in ("07", "0a", "0b")
    ),
    Row("Read Blob is not known", "0c > 010c120006", f"read FFE2 = {FULL} truncated", "mynewt-core#75",
        table="0012 ffe2 aa*300"),
    Row("Read Blob fails", "0c > 010c12000e", "read FFE2 fails unlikelyError; linked", "mynewt-core#75",
        table="0012 ffe2 aa*300"),
    Row("A value has 512 octets", "", "read FFE2 = aa*512", "esp32-nimble#132", table="0012 ffe2 aa*512"),
    Row("A value has 513 octets", "", "read FFE2 = aa*512 truncated", "esp32-nimble#132", table="0012 ffe2 aa*513"),
    Row("A value has 2000 octets", "", "read FFE2 = aa*512 truncated", "esp32-nimble#132", table="0012 ffe2 aa*2000"),
    Row("Read Blob ignores the offset", f"0c > 0d{FULL}", "read FFE2 = aa*512 truncated", "esp32-nimble#132",
        table="0012 ffe2 aa*300"),
    Row("Read Blob gives nothing", "0c > 0d", f"read FFE2 = {FULL}", table="0012 ffe2 aa*300"),
    Row("Read Blob gives one octet at a time", "0c1200f600 > 0dbb", f"read FFE2 = {FULL}bb",
        table="0012 ffe2 aa*300"),
    Row("The MTU rises while a long value is read",
        "02 > 0102000006; 0a1200 > 02f700 pause:0.05 0baa*22; 0c12001600 > 0daa*78",
        "read FFE2 = aa*100", "stack 8"),
    Row("A value is empty", "", "read FFE2 =", table="0012 ffe2"),
    Row("A value is longer than the MTU", "0a0e00 > 0baa*300", "read FFE1 = aa*300; read 2A19 = 64"),
    # Subscriptions.
    Row("Notify without CCCD", "", "subscribe FFE1; sends 1b0e0007; value 07; unsubscribe FFE1", "simpleble#492",
        table="000f 2902 -"),
    Row("Indicate without CCCD", "", "subscribe FFE3; sends 1d140007; value 07; received 1e", "simpleble#492",
        table="0015 2902 -"),
    Row("Notify without any descriptor", "", "subscribe FFE1; sends 1b0e0007; value 07", "simpleble#492",
        table="000f 2902 -\n0010 2901 -"),
    Row("A value comes before the subscription is confirmed", "120f00 > 1b0e0007 polite", "subscribe FFE1; value 07"),
    Row("A value comes although nobody has subscribed", "linked > 1b0e0007",
        "read FFE1 = 01; subscribe FFE1; sends 1b0e0008; value 08"),
    Row("Values go on after the subscription ended", "",
        "subscribe FFE1; unsubscribe FFE1; sends 1b0e0007; read FFE1 = 01"),
    Row("An indication comes where notifications were subscribed to", "",
        "subscribe FFE1; sends 1d0e0007; value 07; received 1e"),
    Row("A notification comes where indications were subscribed to", "", "indications FFE3; sends 1b140007; value 07"),
    Row("A value without octets", "", "subscribe FFE1; sends 1b0e00; value"),
    Row("Two values in one notification", "", "subscribe FFE1; sends 230e000100070e0002000809; value 07"),
    *(
        Row(f"A subscription is refused with 0x{code}", f"120f00 > 01120f00{code}",
            f"subscribe FFE1 fails {name}; read FFE1 = 01")
        for code, name in {"01": "invalidHandle", "03": "writeNotPermitted", "06": "requestNotSupported",
                           "0e": "unlikelyError", "11": "insufficientResources", "fc": "writeRequestRejected",
                           "fd": "clientConfigurationImproperlyConfigured", "fe": "procedureAlreadyInProgress"}.items()
    ),
    Row("The device hangs up at a subscription", "1x 120f00 > hang-up:13",
        "subscribe FFE1 fails disconnected; ended; connect; subscribe FFE1; sends 1b0e0007; value 07"),
    Row("A subscription has no answer", "120f00 > nothing",
        "subscribe FFE1 fails timeout; ended ~ did not answer; connect; read FFE1 = 01", slow=True),
    # Writes.
    *(
        Row(f"A write is refused with 0x{code}", f"120e00 > 01120e00{code}",
            f"write FFE1 07 fails {NAMES[code]}; read FFE1 = 01")
        for code in ("01", "03", "04", "0d", "0e", "11", "13")
    ),
    Row("A write is refused with an error of the application", "120e00 > 01120e0085",
        "write FFE1 07 fails applicationError; read FFE1 = 01"),
    Row("A write is answered by a Read Response first", "120e00 > 0b01 polite", "write FFE1 07; read FFE1 = 07"),
    Row("A write is answered with octets", "120e00 > 13ff", "write FFE1 07 fails protocolViolation; read 2A19 = 64"),
    Row("A write without response is refused", "520e00 > 01520e0003", "command FFE1 07; read FFE1 = 01"),
    Row("A long write", "", "write FFE2 bb*512; read FFE2 = bb*512"),
    Row("A long write at the MTU 23", "02 > 0102000006", "write FFE2 bb*100; read FFE2 = bb*100"),
    Row("Prepare Write is not known", "16 > 0116120006",
        "write FFE2 bb*300 fails requestNotSupported; linked; read 2A19 = 64"),
    Row("The queue of prepared writes is full", "2x 16 > polite; 16 > 0116120009",
        "write FFE2 bb*512 fails prepareQueueFull; received 1800; read FFE2 = aa*100", table="0012 ffe2 aa*100"),
    Row("Prepare Write is echoed cut off", "16 > 17120000" + "00bb", "write FFE2 bb*300; read 2A19 = 64"),
    Row("Execute Write is refused", "18 > 011812000d",
        "write FFE2 bb*300 fails invalidAttributeValueLength; linked; read 2A19 = 64"),
    # Declarations that are wrong.
    Row("A readable value is declared without Read", "", "read FFE3 fails notAllowedByProperties; read FFE3 force = 00",
        "simpleble#492"),
    Row("A writable value is declared without Write", "",
        "write FFE3 07 fails notAllowedByProperties; write FFE3 07 force; read FFE3 force = 07",
        "simpleble#492"),
    Row("A value declared with Read cannot be read", "0a0e00 > 010a0e0002", "read FFE1 fails readNotPermitted; linked"),
]

"""Pairing and encryption: the order of keys, refusals at every step, lost keys, and devices that only look alike."""

from ..row import Row

OURS = "the kernel's Security Manager pairs"
LEGACY = {"sc": False}
KEYS = "out smp:06 > hold; out smp:07 > hold; "
BONDED = "pair; bonds = 1; again; encrypted; read FFE4 = 736563726574"
REASONS = {
    "01": "Passkey Entry Failed", "02": "OOB Not Available", "03": "Authentication Requirements",
    "04": "Confirm Value Failed", "05": "Pairing Not Supported", "06": "Encryption Key Size",
    "07": "Command Not Supported", "08": "Unspecified Reason", "09": "Repeated Attempts", "0a": "Invalid Parameters",
    "0b": "DHKey Check Failed", "0c": "Numeric Comparison Failed", "0d": "BR/EDR Pairing In Progress",
    "0e": "Generation Not Allowed", "0f": "Key Rejected", "10": "a reason of the future", "00": "reason 0",
}
REFUSED = "pair fails pairingFailed; bonds = 0; read 2A19 = 64"
# The kernel reports the pairing alone.
ENDED = "remoteUserTerminatedConnection|pairingFailed"
LOST = "connect fails pinOrKeyMissing ~ do not share keys any more"

ROWS = [
    Row("A protected value is read: the device pairs", "", "read FFE4 = 736563726574; encrypted; bonds = 1"),
    Row("A protected value is subscribed to", "", "subscribe FFE4; encrypted; sends 1b170007; value 07"),
    Row("The bond encrypts the next link before ATT", "",
        f"{BONDED}; afresh; again; received encrypted; received 0", "bluez#634"),
    Row("Writes without response of a bonded device arrive", "",
        "pair; again; command FFE4 07; received 521700" + "07; read FFE4 = 07", "stack 1"),
    # Keys.
    Row("The identity comes before the long term key", KEYS + "out smp:09 > polite held", BONDED, "stack 6",
        person=LEGACY, kernel=OURS),
    Row("EDIV and Rand come before the long term key", "out smp:06 > hold; out smp:07 > polite held", BONDED, "stack 6",
        person=LEGACY, kernel=OURS),
    Row("The identity's address comes before its key", "out smp:08 > hold; out smp:09 > polite held", BONDED, "stack 6",
        kernel=OURS),
    *(
        Row(f"The key distribution is 0x{keys:02x}, {kind}", "", BONDED, "stack 6",
            person={"keys": keys, "sc": sc}, kernel=OURS)
        for keys in (0x0F, 0xFF, 0x07, 0x03)
        for kind, sc in (("legacy", False), ("Secure Connections", True))
    ),
    Row("A key comes twice", "out smp:08 > polite polite", "pair; read 2A19 = 64", person=LEGACY, kernel=OURS),
    Row("A key comes that was not promised", "out smp:09 > polite smp:0a11*16", "pair; read 2A19 = 64", kernel=OURS),
    Row("A promised key does not come", "out smp:09 > nothing", "pair fails pairingFailed; bonds = 0", slow=True,
        kernel=OURS),
    # They may be in plain text, from any device nearby.
    Row("Keys come long before Encryption Change", "", "pair fails pairingFailed; bonds = 0", "stack 13", person=LEGACY,
        controller="out 0800 > pause:0.5 polite", kernel=OURS),
    # Refusals, and malformed packets.
    *(
        Row(f"Pairing is refused: {name}", f"smp:01 > smp:05{code}", REFUSED, kernel=OURS)
        for code, name in REASONS.items()
    ),
    *(
        Row(f"Pairing fails {place}", f"{rule} > smp:05{code}", REFUSED, person={"sc": sc}, kernel=OURS)
        for place, rule, code, sc in [
            ("at the public key", "smp:0c", "08", True), ("at the random number", "smp:04", "04", True),
            ("at the DHKey Check", "smp:0d", "0b", True), ("at the confirm value", "smp:03", "04", False),
            ("at the random number, legacy", "smp:04", "04", False),
        ]
    ),
    *(
        Row(f"The Pairing Response {name}", f"smp:01 > smp:{packet}", REFUSED, kernel=OURS)
        for name, packet in {
            "is cut off": "0203000110", "is empty": "02", "asks for a key of 6 octets": "02030001060303",
            "asks for a key of 17 octets": "02030001110303", "has an unknown capability": "02ff0001100303",
        }.items()
    ),
    Row("The Pairing Response is a Pairing Request", "smp:01 > smp:01030001100303",
        "pair fails pairingFailed; bonds = 0", kernel=OURS),
    Row("The Pairing Response is long", "out smp:02 > smp:0203000910030300", REFUSED, kernel=OURS),
    Row("An unknown SMP command comes in between", "out smp:02 > smp:ff01 polite", BONDED, kernel=OURS),
    Row("A keypress comes in between", "out smp:02 > polite smp:0e00", "pair; bonds = 1", kernel=OURS),
    Row("bled's public key comes back", "smp:0c > echo", REFUSED, kernel=OURS),
    Row("The public key is zero", "out smp:0c > smp:0c00*64", REFUSED, kernel=OURS),
    Row("The confirm value is zero", "out smp:03 > smp:0300*16", REFUSED, person=LEGACY, kernel=OURS),
    Row("The DHKey Check is zero", "out smp:0d > smp:0d00*16", REFUSED, kernel=OURS),
    Row("The device hangs up at the Pairing Request", "1x smp:01 > hang-up:13",
        f"pair fails {ENDED}; bonds = 0; ended; connect; read 2A19 = 64"),
    Row("The device hangs up at the DHKey Check", "1x smp:0d > hang-up:13",
        f"pair fails {ENDED}; bonds = 0; ended; connect; read 2A19 = 64"),
    Row("The device never answers the Pairing Request", "smp:01 > nothing", "pair fails pairingFailed; bonds = 0",
        slow=True, kernel=OURS),
    Row("The device stops in the middle of a pairing", "smp:0d > nothing", "pair fails pairingFailed; bonds = 0",
        slow=True, kernel=OURS),
    # Security Requests.
    Row("A Security Request without a bond", "linked > smp:0b01", "received smp:05; read 2A19 = 64", "stack 26",
        kernel=OURS),
    Row("Ten Security Requests without a bond", "linked > " + "smp:0b01 " * 10, "read 2A19 = 64", kernel=OURS),
    Row("A Security Request that is cut off", "linked > smp:0b", "read 2A19 = 64", kernel=OURS),
    Row("A Security Request with a bond", "smp:05 > nothing; linked > smp:0b01",
        "pair; again; encrypted; read FFE4 = 736563726574",
        kernel=OURS),
    # Keys that are lost.
    Row("The device has lost its keys", "",
        f"pair; sends lose-keys; disconnect; afresh; {LOST}; event pairing.keysLost; "
        "never 0; forget; connect; read FFE4 = 736563726574", "stack 1"),
    Row("A device looks like a bonded one, and protects nothing", "",
        f"pair; sends lose-keys; sends unprotect; disconnect; "
        f"afresh; {LOST}; {LOST}; never [015]", "stack 1, BLESA"),
    Row("A device looks like a bonded one, and hangs up", "smp:01 > polite",
        f"pair; sends lose-keys; disconnect; afresh; {LOST}; never smp", "stack 1, BLESA"),
    Row("Encryption has no answer", "", "pair; disconnect; afresh; connect fails timeout ~ within 30 s; never 0",
        "stack 5",
        controller="1x 1920 > polite; 1920 > pending", slow=True, kernel="the kernel waits for it"),
    Row("Encryption Change says that it is off", "", "pair; disconnect; afresh; connect fails pinOrKeyMissing; never 0",
        "stack 16", controller="1x 1920 > polite; 1920 > pending event:0800LINK00", kernel="the kernel reads it"),
    *(
        Row(f"Encryption collides: 0x{code}", "", BONDED, "radio F5",
            controller=f"1x 1920 > polite; 1x 1920 > pending event:08{code}LINK00", kernel="the kernel asks for it")
        for code in ("23", "2a", "3a")
    ),
]

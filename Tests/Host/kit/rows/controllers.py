"""Controllers that refuse, forget, lie, are silent or have little room. Opcodes are as on the wire: the low octet is
first."""

from ..row import Row

KERNELS = "the kernel sends these commands"
WORKS = "connect; read 2A19 = 64"
LINKED = "read 2A19 = 64"
ZERO = "3e0d01000000" + "00*6_" + "0100ff7fd6" + "0000" + "00*7_" + "00"
OPTIONAL = {
    "LE Read Supported States": "1c20", "LE Read Maximum Data Length": "2f20", "LE Read Resolving List Size": "2a20",
    "LE Read Number of Supported Advertising Sets": "3b20", "LE Read Maximum Advertising Data Length": "3a20",
    "LE Read Filter Accept List Size": "0f20",
}

ROWS = [
    # Combinations.
    *(
        Row(f"{name} is refused with 0x0c: {state}", "", steps, "stack 3",
            controller=f"{opcode} while {state} > status:0c")
        for name, opcode, state, steps in [
            ("Create Connection", "4320", "scanning", f"scan; {WORKS}; hears"),
            ("Create Connection", "4320", "advertising", f"publish; {WORKS}"),
            ("A scan", "422001", "linked", f"{WORKS}; scan; linked"),
        ]
    ),
    *(
        Row(f"{name} is refused once with 0x{code}", "", steps, "stack 3", controller=f"1x {opcode} > status:{code}")
        for name, opcode, codes, steps in [
            ("Create Connection", "4320", ("07", "09", "0c", "0d", "11", "12", "1f"), WORKS),
            ("A scan", "422001", ("07", "0c", "11", "12", "1f"), "scan; hears"),
            ("An advertisement", "392001", ("0c",), "publish; dial; sends 0aVALUE; received 0bbeef"),
            ("The filter accept list", "1120", ("07", "0c", "12", "1f"), WORKS),
        ]
        for code in codes
    ),
    # A controller that restarts.
    Row("NOP in the middle", "", f"{WORKS}; controller nop; read 2A19 = 64", "stack 2", kernel=KERNELS,
        alone=True),
    Row("NOP during a scan", "", "scan; hears; controller nop; hears", "stack 2", alone=True),
    Row("Hardware Error in the middle", "", f"{WORKS}; controller event:1042; ended; state on; {WORKS}", "stack 2",
        alone=True, kernel=KERNELS),
    Row("Hardware Error during a scan", "", "scan; hears; controller event:1042; hears", "stack 2",
        alone=True, kernel=KERNELS),
    Row("The controller forgets a scan, and says NOP", "", "scan; hears; controller forgets nop; hears within:20",
        "stack 2", alone=True, kernel=KERNELS),
    Row("The controller forgets a scan, says NOP, and connects", "", "scan; hears; controller forgets nop; "
        f"hears within:20; {WORKS}", "stack 2", alone=True, kernel=KERNELS),
    Row("The controller forgets an advertisement, and says NOP", "", "publish; controller forgets pause:1.5 nop; dial; "
        "sends 0aVALUE; received 0bbeef", "stack 2", alone=True, kernel=KERNELS),
    Row("The controller forgets a connect, and says NOP", "", WORKS, "stack 2",
        controller="1x 4320 > pending forgets pause:1.5 nop", kernel=KERNELS),
    Row("The controller forgets a link, and says Hardware Error", "", f"{WORKS}; controller forgets event:1000; ended; "
        f"state on; {WORKS}", "stack 2", alone=True, kernel=KERNELS),
    Row("The controller stops a scan, and says nothing", "", "scan; hears; controller stops-scanning; hears", "stack 2",
        slow=True),
    Row("An extended scan hears nothing", "", "scan; hears within:75", "stack 4",
        controller="out 3e0d while scanning-extended > nothing", slow=True,
        kernel="the zoo has it, with what the kernel hears"),
    Row("Reports of nobody", "", "scan; hears; unheard 00:00:00:00:00:00", "radio F8",
        controller=f"out 3e0d > event:{ZERO} polite"),
    # Answers of set-up.
    *(
        Row(f"{name} {what}", "", f"scan; hears; {WORKS}", "stack 15", controller=f"{opcode} > {answer}",
            kernel="the kernel asks first, and does not use the controller then")
        for name, opcode in OPTIONAL.items()
        for what, answer in (("is answered cut off", "return:00"), ("is refused", "return:01"), ("is disallowed",
            "return:0c"))
    ),
    # Links.
    Row("A link fails to be established", "1x linked > hang-up:3e", WORKS, "radio F6", alone=True),
    Row("A link fails to be established four times", "4x linked > hang-up:3e", WORKS, "radio F6",
        alone=True),
    *(
        Row(f"Create Connection ends with 0x{code}", "", WORKS, "radio F6",
            controller=f"1x 4320 > pending event:3e0a{code}" + "00*29") for code in ("3e", "0c", "0d", "1f")
    ),
    Row("LE Read Remote Features has no answer", "", WORKS, "stack 14", controller="1620 > pending", kernel=KERNELS),
    Row("LE Read Remote Features is refused", "", WORKS, "stack 14", controller="1620 > status:1a", kernel=KERNELS),
    Row("LE Read Remote Features ends with 0x3e", "", WORKS, "stack 14",
        controller="1620 > pending event:3e043eLINK" + "00*8", kernel=KERNELS),
    *(
        Row(f"LE Set PHY collides: 0x{code}", "", f"{WORKS}; phy 2M", "radio F5",
            controller=f"1x 3220 > pending event:3e0c{code}LINK0101", kernel=KERNELS)
        for code in ("23", "2a", "3a")
    ),
    *(
        Row(f"LE Connection Update collides: 0x{code}", "", f"{WORKS}; parameters 50; interval 50", "radio F5",
            controller=f"1x 1320 > pending event:3e03{code}LINK" + "000000000000", kernel=KERNELS)
        for code in ("23", "2a", "3a")
    ),
    # Events that say nothing true.
    *(
        Row(f"{name}", "", f"{WORKS}; controller event:{event}; {LINKED}", kernel=KERNELS, alone=True)
        for name, event in {
            "Completed packets of an unknown link": "1301ff0e0500",
                "More completed packets than were sent": "1301LINKffff",
            "Completed packets, cut off": "1302LINK", "The end of an unknown link": "0500ff0e13",
            "The end of a link, cut off": "0500", "Encryption of an unknown link": "0800ff0e01",
            "An unknown LE event": "3efe0102", "An LE event without octets": "3e", "A vendor's event": "ff010203",
            "An unknown event": "7d01", "An advertising report, cut off": "3e0d0200", "A report of nothing": "3e0d00",
            "A key request of an unknown link": "3e05ff0e" + "00*10",
                "A status of a command that nobody sent": "0f00010420",
            "An answer to a command that nobody sent": "0e01042000", "Data Buffer Overflow": "1a01",
            "A parameter request of an unknown link": "3e06ff0e0c000c000000c800",
        }.items()
    ),
    # Credits of commands.
    Row("A command is answered without credit, which comes later", "", f"scan; hears; {WORKS}",
        controller="out 0e014120 > event:0e00412000 pause:0.3 nop", kernel="the kernel waits for credit by itself"),
    # Room.
    *(
        Row(f"The controller has {count} buffer{'s' * (count > 1)}", "",
            f"connect; write FFE2 bb*512; read FFE2 = bb*512; in-flight = {count}", "stack 7",
            traits={"buffers": count, "le_acl_data_packet_length": 27}, kernel="the kernel uses the buffers")
        for count in (1, 2, 3, 4, 8)
    ),
]

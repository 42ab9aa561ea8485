"""The grammar of a row.

A script is a list of rules, separated by `;`. A rule is `PATTERN > ANSWER …`: what happens, and what the peer does then
instead of what a polite one would do. The first rule that fits counts.

    02 > 03f700 03f700        an ATT packet that begins so is answered with these two; a dot is any digit
    1x 0a > nothing           only the first time; without an answer
    smp:01 > smp:0508         packets of other channels: smp, sig (L2CAP signalling), or the number of one, 0040:…
    out smp:08 > hold         a packet of the peer's own host is about to leave: it is kept …
    out smp:09 > polite held  … and leaves after this one
    linked > sig:1201…        the link is up; `encrypted`: it is encrypted
    12 > hang-up:13           the link ends with this reason
    0a > pause:0.2 polite     the answer is late, by so many seconds
    sig:14 > sig:15IDffff     ID is the second octet of what was received

A controller's patterns are opcodes and then parameters, as on the wire, `out` events with their code and parameters:

    0d20 while scanning > status:0c
    0e20 > event:1000 polite  an event: its code and parameters; `polite` does the command
    1c20 > return:00ffff      a Command Complete with these return parameters
    out 3e02 > nothing        an event that never comes
    0d20 > forgets            the controller starts anew and says nothing

`aa*100` in any packet is that octet a hundred times; `_` ends the number.
"""

import re
from dataclasses import dataclass, field

# Rows with packets without octets say so.
READS_AS_END = "it reads as the end of the kernel's socket"
CHANNELS = {"att": 4, "sig": 5, "smp": 6}


@dataclass(frozen=True)
class Row:
    """A situation, the peer's script, and bled's steps (`player`), also separated by `;`."""

    situation: str
    peer: str
    bled: str
    # The source of the report: a row or a fault of a review, or an issue of another project.
    source: str = ""
    # Lines that replace the polite peer's attributes (`server`).
    table: str = ""
    # The advertising data of the peer, in hex.
    advertises: str = ""
    # The script of bled's controller, and members that it has.
    controller: str = ""
    traits: dict = field(default_factory=dict)
    # The person at the peer, by the names of `peer.People`.
    person: dict = field(default_factory=dict)
    # bled's configuration.
    settings: dict = field(default_factory=dict)
    # True if it affects the controller, which no other row may then use.
    alone: bool = False
    # True if it waits for a time limit of the specification or of bled.
    slow: bool = False
    # The part of it that the kernel does, so that bled is not asked.
    kernel: str = ""
    # The reason why it is known to fail on the own host.
    fails: str = ""

    @property
    def is_alone(self):
        """Whether it needs a controller or a daemon for itself."""
        return bool(self.controller or self.traits or self.settings or self.alone or self.slow)


@dataclass
class Rule:
    """One rule of a script, and how often it may still apply."""

    pattern: re.Pattern
    answers: list
    is_out: bool = False
    state: str = ""
    left: int | None = None
    has_applied: bool = False


def script(text):
    """The rules of a script."""
    return [rule(line.strip()) for line in text.split(";") if line.strip()]


def rule(text):
    """One rule of a script."""
    happens, separator, answers = text.partition(">")
    if not separator:
        raise ValueError(f"a rule has no >: {text}")
    words = happens.split()
    left = int(words.pop(0)[:-1]) if re.fullmatch(r"\d+x", words[0]) else None
    is_out = words[0] == "out"
    del words[:is_out]
    state = words[words.index("while") + 1] if "while" in words else ""
    return Rule(re.compile(re.escape(words[0]).replace(r"\.", ".")), answers.split(), is_out, state, left)


def unused(rules):
    """The patterns of rules that never applied."""
    return [each.pattern.pattern for each in rules if not each.has_applied]


def choose(rules, happens, is_out=False, state=lambda _: True):
    """The first rule for what happens, or none; it has applied once more then."""
    for each in rules:
        fits = each.is_out == is_out and each.left != 0 and each.pattern.match(happens)
        if fits and (not each.state or state(each.state)):
            each.left = each.left and each.left - 1
            each.has_applied = True
            return each
    return None


def octets(text, identifier=0):
    """The octets of hex digits, in which `aa*3` is repeated and ID stands for an octet."""
    text = text.replace("ID", f"{identifier:02x}")
    return bytes.fromhex(re.sub(r"(..)\*(\d+)_?", lambda found: found[1] * int(found[2]), text))


def packet(word, identifier=0):
    """The channel and the octets of a packet."""
    channel, _, digits = word.rpartition(":")
    return CHANNELS.get(channel or "att") or int(channel, 16), octets(digits, identifier)


def spelled(channel, payload):
    """A packet as patterns match it."""
    names = {number: name for name, number in CHANNELS.items()}
    name = names.get(channel, f"{channel:04x}")
    return payload.hex() if name == "att" else f"{name}:{payload.hex()}"

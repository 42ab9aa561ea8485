"""Numbers that change with time, and their encoding in a value (docs/simulator.md, rule)."""

import math
import random
import time

RANGES = {
    "uint8": (0, 255),
    "uint16": (0, 65535),
    "uint32": (0, 2**32 - 1),
    "sint16": (-32768, 32767),
    "medfloat32": (-838_860, 838_860),
}
SIZES = {"uint8": 1, "uint16": 2, "uint32": 4, "sint16": 2, "medfloat32": 4}
# IEEE 11073: the exponent -1, above 24 bits of mantissa.
TENTHS = 0xFF000000


class Number:
    """A number of a rule; its time begins when it is made."""

    def __init__(self, rule):
        self._rule = rule
        self._format = rule.get("as", "uint8")
        self._start = time.monotonic()
        self._walk = None

    def within(self, template):
        """The value with the number of this moment in it."""
        place, size = self._rule.get("at", 0), SIZES[self._format]
        value = bytearray(template.ljust(place + size, b"\0"))
        value[place : place + size] = self._encoded(self._now() * self._rule.get("scale", 1))
        return bytes(value)

    def _encoded(self, number):
        low, high = RANGES[self._format]
        number = min(max(number, low), high)
        bits = round(number * 10) & 0xFFFFFF | TENTHS if self._format == "medfloat32" else round(number)
        size = SIZES[self._format]
        return (bits % (1 << size * 8)).to_bytes(size, "little")

    def _now(self):
        rule, age = self._rule, time.monotonic() - self._start
        match rule["kind"]:
            case "counter":
                start, step = rule.get("from", 0), rule.get("step", 1)
                end = rule.get("to", RANGES[self._format][1] / max(rule.get("scale", 1), 1))
                steps = int((end - start) / step) + 1
                return start + int(age / rule.get("every", 1)) % steps * step
            case "ramp":
                return rule["from"] + (rule["to"] - rule["from"]) * (age / rule["over"] % 1)
            case "sine":
                return rule["mean"] + rule["amplitude"] * math.sin(2 * math.pi * age / rule["period"])
            case "randomWalk":
                return self._walked(int(age / rule.get("every", 1)))

    def _walked(self, steps):
        rule = self._rule
        if self._walk is None:
            self._walk = (0, rule.get("from", (rule["minimum"] + rule["maximum"]) / 2))
        done, number = self._walk
        for _ in range(steps - done):
            number += random.uniform(-1, 1) * rule.get("step", 1)
            number = min(max(number, rule["minimum"]), rule["maximum"])
        self._walk = (steps, number)
        return number

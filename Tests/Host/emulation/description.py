"""The text of a scenario: JSON5 as the tests write it, and what its members mean."""

import json
import random
import re

_STRING = r"""(?P<string>"(?:\\.|[^"\\])*"|'[^']*')"""
# Strings stay; comments go, names get quotes, and then commas before a bracket go.
_COMMENTS = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/|(?P<name>[A-Za-z_]\w*)(?=\s*:)", re.DOTALL)
_COMMAS = re.compile(_STRING + r"|,(?=\s*[\]}])")


class NotEmulated(Exception):
    """A member of the scenario or a command that Bumble's devices cannot play: a test with it is one for
    left_out_swift."""


def parse(text):
    """A scenario from its text."""

    def strict(match):
        found = match.groupdict()
        if string := found["string"]:
            return json.dumps(string[1:-1]) if string.startswith("'") else string
        return f'"{found["name"]}"' if found.get("name") else ""

    return json.loads(_COMMAS.sub(strict, _COMMENTS.sub(strict, text)))


def check(description, *known):
    """Refuses members that nothing here plays."""
    if unknown := set(description) - set(known):
        raise NotEmulated(f"{description.get('name', 'the adapter')}: {', '.join(sorted(unknown))}")


def octets(description):
    """The value of a characteristic or descriptor: hex or text, repeated up to a length."""
    value = description["text"].encode() if "text" in description else bytes.fromhex(description.get("value", ""))
    length = description.get("length", len(value))
    return ((value or b"\0") * length)[:length]


def span(value, default):
    """One time of a span, in seconds."""
    if value is None:
        return default
    return random.uniform(*value) if isinstance(value, list) else value


def signal(description):
    """A received signal strength, in dBm."""
    level = description.get("rssi", {})
    if isinstance(level, int | float):
        return round(level)
    noise = level.get("noise", 2)
    return round(level.get("base", -60) + random.uniform(-noise, noise))

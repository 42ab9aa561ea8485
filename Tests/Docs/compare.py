"""Compares what a page shows with what came. `…` in the page stands for whatever is there."""

import json
import re

ELISION = "…"
# Members with values that differ from run to run: only their types are compared.
VARYING_MEMBERS = {
    "time", "since", "sinceReport", "lastHeard", "rssi", "session", "process", "user", "program", "requests",
    "scanTime", "linkTime", "reports", "reportsCoalesced", "values", "queueOctets", "token", "attempts",
}  # fmt: skip
# Text that differs from run to run on a console.
VARYING_TEXT = [
    (re.compile(r"\d\d:\d\d:\d\d\.\d{3}"), "TIME"),
    (re.compile(r"(?<![\w.-])[-−]\d{2,3}(?![\w.-])"), "RSSI"),
    (re.compile(r"\b[0-9A-F]{8}\b(?!-)"), "IDENTIFIER"),
    (re.compile(r"\d+ bpm, contact +[0-9a-f]{4}"), "BPM"),
    (re.compile(r" +"), " "),
]
IDENTIFIER = re.compile(r"[0-9A-F]{4}…")


def json_pattern(text):
    """A message as a page shows it: JSON in which `…` may be a value, a member or an element."""
    parts, stack = [], []
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[^"]', text):
        if token in "{[":
            stack.append(token)
        elif token in "}]" and stack:
            stack.pop()
        if token == ELISION:
            member = stack and stack[-1] == "{" and not "".join(parts).rstrip().endswith(":")
            token = '"…":0' if member else '"…"'
        parts.append(token)
    return json.loads("".join(parts))


def difference(pattern, value, names, varying=frozenset(), path="", key=None):
    """Nothing if the value is as the page shows it, else a sentence with the first difference. `names` says what the
    page's identifiers, such as 7D49…, stand for; those seen for the first time are added."""
    if pattern == ELISION:
        return None
    if key in varying or key in VARYING_MEMBERS:
        kinds = (int, float) if isinstance(pattern, (int, float)) else type(pattern)
        return None if isinstance(value, kinds) else f"{path} is {_short(value)}, not like {_short(pattern)}"
    if isinstance(pattern, dict) and isinstance(value, dict):
        for name, expected in pattern.items():
            if name == ELISION:
                continue
            if name not in value:
                return f"{path}.{name} is missing in {_short(value)}"
            found = difference(expected, value[name], names, varying, f"{path}.{name}", name)
            if found:
                return found
        more = [name for name in value if name not in pattern]
        if more and ELISION not in pattern:
            return f"{path} also has {', '.join(f'{name}: {_short(value[name])}' for name in more)}"
        return None
    if isinstance(pattern, list) and isinstance(value, list):
        return _list_difference(pattern, value, names, varying, path)
    if isinstance(pattern, str) and isinstance(value, str):
        if IDENTIFIER.fullmatch(pattern):
            known = names.setdefault(pattern, value)
            return None if known == value else f"{path} is {value}, and {pattern} stands for {known}"
        return None if text_regex(pattern).fullmatch(value) else f"{path} is {_short(value)}, not {_short(pattern)}"
    if type(pattern) is type(value) or {type(pattern), type(value)} == {int, float}:
        if pattern == value:
            return None
    return f"{path} is {_short(value)}, not {_short(pattern)}"


def _list_difference(pattern, value, names, varying, path):
    if ELISION not in pattern:
        if len(pattern) != len(value):
            return f"{path} has {len(value)} elements, not {len(pattern)}: {_short(value)}"
        for at, (expected, element) in enumerate(zip(pattern, value)):
            found = difference(expected, element, names, varying, f"{path}[{at}]")
            if found:
                return found
        return None
    # Elements between two elisions must follow one another somewhere.
    if not pattern:
        return None if not value else f"{path} has more: {_short(value)}"
    if pattern[0] == ELISION:
        tries = [value[at:] for at in range(len(value) + 1)]
        if any(_list_difference(pattern[1:], rest, names, varying, path) is None for rest in tries) or not pattern[1:]:
            return None
        return f"{path} has no {_short(pattern[1])}: {_short(value)}"
    if not value:
        return f"{path} has no {_short(pattern[0])}"
    known = dict(names)
    found = difference(pattern[0], value[0], known, varying, f"{path}[0]")
    if not found:
        found = _list_difference(pattern[1:], value[1:], known, varying, path)
    if not found:
        names.update(known)
    return found


def text_regex(text):
    """The regular expression of a text in which `…` is any text."""
    return re.compile(".*".join(re.escape(part) for part in text.split(ELISION)), re.DOTALL)


def lines_differ(shown, printed, ordered=True):
    """Nothing if these lines were printed, else what differs. A line `…` stands for any number of lines."""
    expected = [line.strip() if line.strip() == ELISION else text_regex(_plain(line)) for line in shown]
    if (_lines_match if ordered else _lines_present)(expected, [_plain(line) for line in printed]):
        return None
    return "\n".join(["shown:", *(f"    {l}" for l in shown), "printed:", *(f"    {l}" for l in printed)])


def _lines_match(expected, printed):
    if not expected:
        return not printed
    if expected[0] == ELISION:
        return any(_lines_match(expected[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and bool(expected[0].fullmatch(printed[0])) and _lines_match(expected[1:], printed[1:])


def _lines_present(expected, printed):
    left = list(printed)
    for pattern in expected:
        if pattern != ELISION:
            found = next((line for line in left if pattern.fullmatch(line)), None)
            if found is None:
                return False
            left.remove(found)
    return not left or ELISION in expected


def _plain(line):
    for pattern, word in VARYING_TEXT:
        line = pattern.sub(word, line)
    return line.strip()


def _short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else text[:200] + "…"

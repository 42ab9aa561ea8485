#!/usr/bin/env python3
"""Makes src/bled/protocol.py and src/bled/calls.py from docs/openrpc.json, and src/bled/units.py from Swift's table.

python/generate.py            writes them
python/generate.py --check    fails if they are not up to date
"""

import json
import keyword
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs/openrpc.json"
FOLDER = HERE / "src/bled"
NAMES = HERE.parent / "Sources/Formats/Bluetooth/AssignedNumbers/AssignedNames+Table.swift"
HEADER = '"""{title}\n\nGenerated from docs/openrpc.json by python/generate.py; not to be edited."""\n\n'
WIDTH = 120
# The methods with an answer that passes a descriptor.
PASSING = {"gatt.acquire", "server.acquire", "l2cap.open", "l2cap.accept", "capture.start"}
# The methods with parameters that hand-written functions pass on.
PASSED_ON = ("scan.start", "peripheral.connect", "advertising.start", "l2cap.open", "l2cap.publish")
SCALARS = {
    "string": ("str", "codec.text"),
    "integer": ("int", "codec.integer"),
    "number": ("float", "codec.number"),
    "boolean": ("bool", "codec.boolean"),
}
# Schemas that have a Python type of their own.
OWN = {
    "HexBytes": ("bytes", "codec.octets"),
    "UUID": ("str", "codec.text"),
    "RPCError": ("BledError", "codec.failure"),
}
SKIPPED = {*OWN, "RPCError.Details"}


def snake(name):
    """`addressType` and `receiveMTU` as Python names them: address_type, receive_mtu."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return words + "_" if keyword.iskeyword(words) else words


def camel(name):
    """The class of a schema or message: "ScanStart.Filter" and "scan.report" are ScanStartFilter and ScanReport."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("."))


def docstring(text, indent, more=""):
    """A docstring of wrapped paragraphs."""
    space = " " * indent
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    lines = textwrap.wrap(text, WIDTH - indent - 6, break_long_words=False, break_on_hyphens=False) or [""]
    body = ("\n" + space).join(lines) + ("\n\n" + textwrap.indent(more, space) if more else "")
    if '"' in body[-1:]:
        body += " "
    return f'{space}"""{body}\n{space}"""\n' if more else f'{space}"""{body}"""\n'


def entry(name, text):
    """The part of a docstring that describes an attribute or a parameter."""
    text = f"{name}: {text}".replace("\\", "\\\\")
    filled = textwrap.wrap(text, WIDTH - 16, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join(filled) if filled else f"{name}:"


def folded(line):
    """A line with a list of words, one word a line if it is too long."""
    if len(line) <= WIDTH:
        return line
    space = " " * (len(line) - len(line.lstrip()))
    return re.sub(
        r"Literal\[(.*?)\]",
        lambda found: f"Literal[\n{space}    " + found[1].replace(", ", f",\n{space}    ") + f",\n{space}]",
        line,
    )


class Maker:
    def __init__(self, document):
        self.document = document
        self.schemas = document["components"]["schemas"]
        self.records = {}
        self.order = []

    def scalar(self, schema):
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(word) for word in schema['enum'])}]", SCALARS[kinds[0]][1]
        if len(kinds) == 1:
            return SCALARS[kinds[0]]
        return " | ".join(SCALARS[kind][0] for kind in kinds), "codec.scalar"

    def kind(self, schema):
        """The annotation and the codec of a schema."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name in OWN:
                return OWN[name]
            target = self.schemas[name]
            if target.get("type") != "object" or "properties" not in target or "additionalProperties" in target:
                # A word, or an object with values of any name.
                annotation, codec = self.kind(target)
                return (camel(name), codec) if "enum" in target else (annotation, codec)
            return camel(name), f"codec.record(lambda: {camel(name)})"
        if schema.get("type") == "array":
            annotation, codec = self.kind(schema["items"])
            return f"Sequence[{annotation}]", f"codec.many({codec})"
        if schema.get("type") == "object" and "additionalProperties" in schema:
            annotation, codec = self.kind(schema["additionalProperties"])
            return f"Mapping[str, {annotation}]", f"codec.mapping({codec})"
        if "type" not in schema:
            return "object", "codec.anything"
        return self.scalar(schema)

    def record(self, name, schema, base, summary, extra=""):
        """A class with the members of an object."""
        required = schema.get("required", [])
        lines, table, entries = [], [], []
        for member, value in schema.get("properties", {}).items():
            annotation, codec = self.kind(value)
            needed = member in required
            attribute = snake(member)
            lines.append(folded(f"    {attribute}: {annotation if needed else annotation + ' | None = None'}\n"))
            row = f'        Member("{member}", "{attribute}", {codec}, {needed}),\n'
            if len(row) > WIDTH:
                row = f'        Member(\n            "{member}",\n            "{attribute}",\n'
                row += f"            {codec},\n            {needed},\n        ),\n"
            table.append(row)
            entries.append(entry(attribute, value.get("description", "")))
        result = f"\n\n@dataclass(frozen=True, slots=True, kw_only=True, repr=False)\nclass {name}({base}):\n"
        result += docstring(summary, 4, "\n".join(entries)) + "\n"
        result += extra + "".join(lines)
        result += "\n    _members: ClassVar[tuple[Member, ...]] = (\n" + "".join(table) + "    )\n" if table else ""
        if not table and not extra:
            result += "    _members: ClassVar[tuple[Member, ...]] = ()\n"
        return result

    def object_of(self, method):
        """The parameters of a message as the schema of an object."""
        properties = {
            p["name"]: {**p["schema"], "description": p.get("description", p["schema"].get("description", ""))}
            for p in method["params"]
        }
        return {"properties": properties, "required": [p["name"] for p in method["params"] if p.get("required")]}

    def result_of(self, method):
        """The class of a result; None if there is nothing in it, "object" for anything."""
        schema = method["result"]["schema"]
        if "$ref" in schema:
            return camel(schema["$ref"].rpartition("/")[2])
        if not schema:
            return "object"
        if not schema.get("properties"):
            return None
        shape = json.dumps(schema["properties"], sort_keys=True)
        for name, other in self.schemas.items():
            if json.dumps(other.get("properties"), sort_keys=True) == shape:
                return camel(name)
        if shape not in self.records:
            self.records[shape] = camel(method["name"]) + "Result"
            self.order.append((self.records[shape], schema, f"The result of {method['name']}."))
        return self.records[shape]

    def types(self):
        """The text of protocol.py."""
        text = HEADER.format(title="The types of the socket's messages.")
        text += (
            "from __future__ import annotations\n\n"
            "from collections.abc import Mapping, Sequence\nfrom dataclasses import dataclass\n"
            "from typing import ClassVar, Literal\n\n"
            "from bled import codec\nfrom bled.codec import Event, Member, Record\n"
            "from bled.errors import BledError\n"
        )
        for name, schema in self.schemas.items():
            if "enum" in schema:
                text += "\n" + folded(f"{camel(name)} = {self.scalar(schema)[0]}\n")
        for name, schema in self.schemas.items():
            if name in SKIPPED or "properties" not in schema or "additionalProperties" in schema:
                continue
            text += self.record(camel(name), schema, "Record", schema.get("description", f"{name} of the protocol."))
        for method in self.document["methods"]:
            if method["x-sender"] == "client":
                self.result_of(method)
        for name, schema, summary in self.order:
            text += self.record(name, schema, "Record", summary)
        events = []
        for method in self.document["methods"]:
            if method["x-sender"] == "daemon":
                extra = f'    method: ClassVar[str] = "{method["name"]}"\n'
                text += self.record(
                    camel(method["name"]), self.object_of(method), "Event", method.get("summary", ""), extra
                )
                events.append((camel(method["name"]), "result" in method))
        text += "\n\nEVENTS: Mapping[str, type[Event]] = {\n    event.method: event\n    for event in (\n"
        text += "".join(f"        {name},\n" for name, answered in events if not answered) + "    )\n}\n"
        names = sorted(set(re.findall(r"^(?:class )?([A-Z]\w+)(?: =|\(|:)", text, re.MULTILINE)) - {"EVENTS"})
        return text + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"

    def call(self, method):
        """The function that calls a method."""
        name = snake(method["name"].replace(".", "_"))
        result = self.result_of(method)
        passing = method["name"] in PASSING
        returned = f"tuple[{result}, int | None]" if passing else (result or "None")
        required = [p for p in method["params"] if p.get("required")]
        optional = [p for p in method["params"] if not p.get("required")]
        signature, entries, members = [], [], []
        for parameter in required + optional:
            annotation, codec = self.kind(parameter["schema"])
            attribute = snake(parameter["name"])
            default = "" if parameter.get("required") else " | None = None"
            signature.append(folded(f"        {attribute}: {annotation}{default},\n"))
            about = parameter.get("description", parameter["schema"].get("description", ""))
            entries.append(entry(attribute, about))
            members.append(f'            Member("{parameter["name"]}", "{attribute}", {codec}, False),\n')
        more = "\n".join(entries)
        if "x-permission" in method:
            more += ("\n\n" if more else "") + f'Needs the permission "{method["x-permission"]}".'
        if passing:
            more += "\n\nThe descriptor is the caller's, to be closed."
        text = f"    async def {name}(\n        self,\n" + ("        *,\n" if signature else "")
        text += "".join(signature) + f"    ) -> {returned}:\n"
        text += docstring(method.get("summary", ""), 8, more.strip())
        given = "".join(f"            {snake(p['name'])}={snake(p['name'])},\n" for p in required + optional)
        text += f"        request = {name.upper()}.request(\n{given}        )\n" if given else ""
        parameters = "request" if given else "{}"
        decode = f"{result}.from_json" if result not in (None, "object") else ("_anything" if result else "_nothing")
        function = "_call_passing" if passing else "_call"
        text += f'        return await self.{function}("{method["name"]}", {parameters}, {decode})\n'
        table = f"{name.upper()} = Parameters(\n    (\n" + "".join(members).replace(" " * 12, " " * 8) + "    )\n)\n"
        return text, table if given else ""

    def options(self, method):
        """The parameters of a method as keyword arguments to pass on."""
        text = f"\n\nclass {camel(method['name'])}Options(TypedDict, total=False):\n"
        text += docstring(f"The parameters of {method['name']} that may be missing.", 4) + "\n"
        for parameter in method["params"]:
            if parameter.get("required"):
                continue
            text += folded(f"    {snake(parameter['name'])}: {self.kind(parameter['schema'])[0]} | None\n")
        return text

    def calls(self):
        """The text of calls.py."""
        functions, tables = [], []
        for method in self.document["methods"]:
            if method["x-sender"] == "client":
                function, table = self.call(method)
                functions.append(function)
                tables.append(table)
        methods = {method["name"]: method for method in self.document["methods"]}
        options = "".join(self.options(methods[name]) for name in PASSED_ON)
        body = "".join(tables) + "".join(functions) + options
        names = sorted(
            {n for n in re.findall(r"\b[A-Z]\w+\b", re.sub(r'"""(?s:.*?)"""', "", body))} & self.names(), key=str.lower
        )
        text = HEADER.format(title="A function for each method of the socket.")
        text += "from __future__ import annotations\n\n"
        text += "from abc import ABC, abstractmethod\nfrom collections.abc import Callable, Mapping, Sequence\n"
        text += "from typing import Literal, TypedDict, TypeVar\n\n"
        text += "from bled import codec\nfrom bled.codec import Member, Parameters\n"
        text += "from bled.protocol import (\n" + "".join(f"    {name},\n" for name in names) + ")\n\n"
        text += '_Result = TypeVar("_Result")\n\n\n'
        text += "def _nothing(value: object) -> None:\n    return None\n\n\n"
        text += "def _anything(value: object) -> object:\n    return value\n\n\n"
        text += "".join(tables) + options
        text += "\n\nclass Calls(ABC):\n" + docstring("The methods of the daemon, as docs/reference.md has them.", 4)
        text += textwrap.indent(
            "\n@abstractmethod\nasync def _call(\n"
            "    self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]\n"
            ") -> _Result: ...\n\n"
            "@abstractmethod\nasync def _call_passing(\n"
            "    self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]\n"
            ") -> tuple[_Result, int | None]: ...\n\n", "    ",
        )  # fmt: skip
        return text + "\n".join(functions)

    def names(self):
        """The names of all classes of protocol.py."""
        return {camel(name) for name in self.schemas if name not in SKIPPED} | {name for name, _, _ in self.order}


def units():
    """The signs of units by their UUIDs; a number without a unit has none."""
    rows = re.findall(r"^ *unit ([0-9A-F]{4}) (.+)$", NAMES.read_text(), re.MULTILINE)
    lines = [f'    0x{uuid}: "{"" if sign == "1" else sign}",\n' for uuid, sign in rows]
    return (
        '"""The signs of units by their UUIDs (Assigned Numbers, 3.5).\n\n'
        'Generated from AssignedNames+Table.swift by python/generate.py; not to be edited."""\n\n'
        "SIGNS: dict[int, str] = {\n" + "".join(lines) + "}\n"
    )


def main():
    maker = Maker(json.loads(DOCUMENT.read_text()))
    files = {"protocol.py": maker.types(), "calls.py": maker.calls(), "units.py": units()}
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit(__doc__)
    stale = [name for name, text in files.items() if not same(FOLDER / name, text)]
    if sys.argv[1:]:
        if stale:
            raise SystemExit(f"generate.py: {', '.join(stale)} not up to date: run python/generate.py")
        return
    for name in stale:
        (FOLDER / name).write_text(files[name])


def same(path, text):
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    main()

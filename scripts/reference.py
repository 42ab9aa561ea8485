#!/usr/bin/env python3
"""Makes docs/reference.md from docs/openrpc.json. With --check it only fails if the page is not current."""

import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference.md"
# The nouns in the order in which a program meets them.
NOUNS = {
    "session": "Sessions", "rpc": "The protocol", "adapter": "Adapters", "scan": "Scanning",
    "peripheral": "Devices and links", "gatt": "Attributes of devices", "service": "Publishing services",
    "server": "Serving devices", "advertising": "Advertising", "l2cap": "L2CAP channels", "pairing": "Pairing",
    "periodic": "Periodic advertising", "capture": "Recordings", "metrics": "Metrics", "simulation": "Simulation",
}
UNITS = {"s": "seconds", "ms": "milliseconds", "%": "percent"}
INTRODUCTION = """\
All methods, events and types of [the socket](protocol.md), made by `make reference` from
[openrpc.json](openrpc.json), which is what `rpc.discover` returns. How they are used together, with conversations to
try, is in [protocol.md](protocol.md).

A member that is not *needed* may be missing, and is never null. Params with members that are not listed are refused,
unless their names begin with `x-`. Members can be added to results and events ([versions.md](versions.md)): ignore what
you do not know. The values of a word list are texts."""


class Reference:
    def __init__(self, document):
        self.document = document
        self.methods = document["methods"]
        self.schemas = document["components"]["schemas"]
        self.errors = document["components"]["errors"]
        self.names = {method["name"] for method in self.methods}
        self.words = re.compile(r"`?\b(%s)\b`?" % "|".join(sorted(map(re.escape, self.names), key=len, reverse=True)))

    def page(self):
        nouns = list(NOUNS) + sorted({self.noun(m) for m in self.methods} - set(NOUNS))
        parts = ["# Reference of the socket", INTRODUCTION, self.contents(nouns)]
        for noun in nouns:
            members = [method for method in self.methods if self.noun(method) == noun]
            if members:
                parts.append(f"## {NOUNS.get(noun, noun)}")
            for method in members:
                parts += self.method(method)
        parts.append("## Types")
        for name in sorted(self.schemas, key=str.lower):
            parts += self.type(name)
        parts += self.permissions() + self.failures()
        headings = [re.sub(r"[^a-z0-9-]", "", p[3:].strip().lower().replace(" ", "-"))
                    for p in parts if re.match(r"###? [^\n]+$", p)]
        twice = {heading for heading in headings if headings.count(heading) > 1}
        if twice:
            sys.exit(f"reference: several headings have the same anchor: {', '.join(sorted(twice))}")
        return "\n\n".join(part for part in parts if part) + "\n"

    # Parts

    @staticmethod
    def noun(method):
        return method["name"].split(".")[0]

    @staticmethod
    def kind(method):
        if "result" not in method:
            return "event"
        return "method" if method["x-sender"] == "client" else "call of the daemon"

    def contents(self, nouns):
        lines = ["| | Methods | Calls of the daemon | Events |", "|---|---|---|---|"]
        for noun in nouns:
            cells = {"method": [], "call of the daemon": [], "event": []}
            for method in self.methods:
                if self.noun(method) == noun:
                    cells[self.kind(method)].append(self.link(method["name"], method["name"].split(".")[1]))
            if any(cells.values()):
                title = NOUNS.get(noun, noun)
                lists = " | ".join(", ".join(cell) for cell in cells.values())
                lines.append(f"| [{title}](#{self.anchor(title)}) | {lists} |")
        last = "[Types](#types) · [Permissions](#permissions) · [Errors](#errors)"
        return "\n".join(lines) + "\n\n" + last

    def method(self, method):
        parts = [f"### {method['name']}"]
        facts = [{"event": "An event", "method": "A method"}.get(self.kind(method), "A call that the daemon makes")]
        if "x-permission" in method:
            facts.append(f"needs the permission `{method['x-permission']}`")
        elif self.kind(method) == "method":
            facts.append("everybody may call it")
        if "x-longestLine" in method:
            facts.append(f"a line may have {method['x-longestLine'] >> 10} KiB")
        parts.append(f"*{'; '.join(facts)}.*")
        parts.append(self.paragraph(method["summary"], but=method["name"]))
        params = [(p["name"], p["schema"], p["required"], p.get("description", "")) for p in method["params"]]
        parts.append(self.type_or_table("Params" if "result" in method else "Members", params))
        if "result" in method:
            schema = method["result"]["schema"]
            parts.append(self.type_or_table("Result", self.members(schema)) if schema else "Result: any value.")
        if method.get("errors"):
            names = [error["$ref"].rsplit("/", 1)[1] for error in method["errors"]]
            parts.append(self.paragraph("Errors: " + ", ".join(f"[{name}](#errors)" for name in names) + "."))
        return parts

    def type(self, name):
        schema = self.schemas[name]
        parts = [f"### {name}", self.paragraph(schema.get("description", ""))]
        if "properties" in schema:
            members = self.members(schema)
            others = schema.get("additionalProperties")
            if others:
                members.append(("…", others, False, others.get("description", "")))
            parts.append(self.table("Members", members))
        else:
            parts.append(f"A text that matches `{schema['pattern']}`." if "pattern" in schema else "")
        return parts

    def permissions(self):
        rows = [f"| `{name}` | {words} |" for name, words in self.document["info"]["x-permissions"].items()]
        return ["## Permissions", "\n".join(["| Permission | What it permits |", "|---|---|"] + rows)]

    def failures(self):
        rows = []
        for name, error in self.errors.items():
            data = error.get("data", {"domain": "", "code": ""})
            cells = (f"`{name}`", error["code"], data["domain"], data["code"], error["message"])
            order = (data["domain"], data["code"] or -error["code"])
            rows.append((order, f"| {' | '.join(map(str, cells))} |"))
        introduction = """\
            What fails because of the device has the domain `att` or `hci` and the code of the specification (Core 5.4,
            Vol 3, Part F, 3.4.1.1 and Vol 1, Part F). Every method can also fail with `limitReached` and
            `shuttingDown`, what needs a link with `disconnected`; the lists above name what follows from a method's
            params. `message` says what happened and what to do."""
        table = ["| Name | `code` | `data.domain` | `data.code` | When |", "|---|---|---|---|---|"]
        rows = [row for _, row in sorted(rows)]
        return ["## Errors", self.paragraph(textwrap.dedent(introduction)), "\n".join(table + rows)]

    # Tables

    @staticmethod
    def members(schema):
        needed = schema.get("required", [])
        members = [(name, part, name in needed, part.get("description", ""))
                   for name, part in schema.get("properties", {}).items()]
        return sorted(members, key=lambda member: (not member[2], member[0].lower()))

    def type_or_table(self, title, members):
        """A link if they are those of a type that is described below."""
        for name, schema in self.schemas.items():
            if members and sorted(map(str, self.bare(members))) == sorted(map(str, self.bare(self.members(schema)))):
                return f"{title}: {self.link(name, name)}."
        return self.table(title, members)

    @staticmethod
    def bare(members):
        return [(name, {part: schema[part] for part in sorted(schema) if part != "description"}, needed, words)
                for name, schema, needed, words in members]

    def table(self, title, members):
        if not members:
            return f"{title}: none."
        lines = [f"| {title} | Type | Needed | |", "|---|---|---|---|"]
        for name, schema, needed, words in members:
            words = self.linked(words).replace("|", "\\|")
            label = name if name == "…" else f"`{name}`"
            lines.append(f"| {label} | {self.spell(schema)} | {'yes' if needed else ''} | {words} |")
        return "\n".join(lines)

    def spell(self, schema):
        """A type with its range and unit, or its words."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return self.link(name, name)
        kind = schema.get("type")
        if kind == "array":
            return "list of " + self.spell(schema["items"])
        if isinstance(kind, list):
            return " or ".join({"string": "text"}.get(one, one) for one in kind)
        if kind == "object":
            return "object of " + self.spell(schema["additionalProperties"])
        if "enum" in schema:
            return ", ".join(f"`{word}`" for word in schema["enum"])
        if kind in ("integer", "number"):
            return kind + self.range(schema)
        return {"string": "text", None: "any value"}.get(kind, kind)

    @staticmethod
    def range(schema):
        unit = schema.get("x-unit", "")
        unit = f" {UNITS.get(unit, unit)}" if unit else ""
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is None:
            return f",{unit}" if unit else ""
        return f", {low} to {high}{unit}".replace("-", "−") if high is not None else f", {low} or more{unit}"

    # Texts

    @staticmethod
    def anchor(heading):
        return re.sub(r"[^a-z0-9-]", "", heading.lower().replace(" ", "-"))

    def link(self, heading, text):
        return f"[{text}](#{self.anchor(heading)})"

    def linked(self, words, but=None):
        """The words with a link at each name of a method, but those of their own."""
        words = re.sub(r"\bdocs/(\w+\.md)", r"[\1](\1)", words)
        return self.words.sub(
            lambda found: f"`{found[1]}`" if found[1] == but else self.link(found[1], f"`{found[1]}`"), words)

    def paragraph(self, words, but=None):
        return "\n".join(textwrap.wrap(self.linked(words, but), 120, break_long_words=False, break_on_hyphens=False))


def main():
    page = Reference(json.loads((ROOT / "docs" / "openrpc.json").read_text())).page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page:
            sys.exit("reference: docs/reference.md is not what docs/openrpc.json says: run make reference")
    else:
        PAGE.write_text(page)


main()

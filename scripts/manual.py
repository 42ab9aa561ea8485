#!/usr/bin/env python3
"""Makes the commands in docs/man/bleshell.1 from the output of `bleshell --experimental-dump-help`, its input."""

import json
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/man/bleshell.1"
START, END = ".SH COMMANDS\n", ".SH OPTIONS\n"
COMMON = {"json", "socket", "help", "version"}


def text(words):
    """A text of the commands as roff."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + escaped if escaped.startswith(".") else escaped


def name_of(argument):
    names = argument.get("names") or []
    long = next((n["name"] for n in names if n["kind"] == "long"), None)
    return "--" + long if long else argument.get("valueName", "")


def synopsis(path, command):
    parts = [f"\\fB{text(path)}\\fR"]
    for argument in shown(command):
        if argument["kind"] == "positional":
            word = f"\\fI{text(argument['valueName'])}\\fR"
            repeated = "..." if argument.get("isRepeating") else ""
            parts.append(f"[{word}]{repeated}" if argument.get("isOptional") else word + repeated)
    return " ".join(parts)


def shown(command):
    return [a for a in command.get("arguments") or []
            if a.get("shouldDisplay", True) and name_of(a).removeprefix("--") not in COMMON]


def describe(path, command):
    """The lines of a command and of those below it."""
    subcommands = [c for c in command.get("subcommands") or [] if c["commandName"] != "help"]
    if subcommands:
        lines = []
        for subcommand in subcommands:
            lines += describe(f"{path} {subcommand['commandName']}", subcommand)
        return lines
    lines = [".TP", synopsis(path, command), text(command.get("abstract") or "")]
    aliases = command.get("aliases") or []
    if aliases:
        lines.append(f"Also {', '.join(text(alias) for alias in aliases)}.")
    if command.get("discussion"):
        for paragraph in command["discussion"].split("\n"):
            lines.append(text(paragraph))
    arguments = shown(command)
    if arguments:
        lines.append(".RS")
        for argument in arguments:
            value = f" \\fI{text(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
            style = "I" if argument["kind"] == "positional" else "B"
            help_text = argument.get("abstract") or ""
            if argument.get("defaultValue") and argument["kind"] == "option":
                help_text += f" (default: {argument['defaultValue']})"
            lines += [".TP", f"\\f{style}{text(name_of(argument))}\\fR{value}", text(help_text)]
        lines.append(".RE")
    return lines


def main():
    root = json.load(sys.stdin)["command"]
    lines = []
    for command in root["subcommands"]:
        if command["commandName"] != "help":
            lines += describe(command["commandName"], command)
    page = PAGE.read_text()
    start, end = page.index(START) + len(START), page.index(END)
    note = '.\\" Made by "make reference" from the commands themselves.\n'
    PAGE.write_text(page[:start] + note + "\n".join(lines) + "\n.PP\n" + """\
A
.I device
is a name or its beginning, an address (followed by /public or /random if necessary), or an identifier or its first
digits.
A
.I characteristic
is a UUID or its first four or more digits, an assigned name or its beginning, any of them optionally after those of a
service, a characteristic or both, with slashes, or a handle such as 0x0012.
""" + page[end:])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws docs/session.svg and docs/log.svg: a terminal with what bleshell prints on the simulated adapter. `make
docs-pictures` calls it; `make docs-test` runs the commands in the first one again and compares."""

import html
import pathlib
import re
import tempfile

from blocks import Block
from desk import Desk, copy_programs

SOURCES = pathlib.Path(__file__).resolve().parents[2]
SESSION = SOURCES / "docs/session.svg"
COMMANDS = [
    "bled --adapter simulated --log-level warning &",
    "bleshell scan --time 3",
    'bleshell services "Heart Belt"',
    'bleshell subscribe "Heart Belt" 2A37 --count 3',
]
LOG = SOURCES / "docs/log.svg"
# The log's lines about the program and its read: discovery takes twenty more.
LOG_COMMANDS = [
    "bled --adapter simulated --log-level warning &",
    "bleshell log --time 4 >packets.log & sleep 1",
    'bleshell read "Heart Belt" "Body Sensor Location"',
    "wait $!; grep -E 'peripheral.connect|gatt|connected|Read Re' packets.log",
]
# The size of a character and of a line, in pixels of the picture.
WIDTH, HEIGHT, COLUMNS = 7.8, 18, 110
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" role="img"
  width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>{title}</title>
<style>
  text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }}
  .typed {{ fill: #a3be8c; font-weight: bold }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#1f2430"/>
"""


def draw(title, lines):
    """The picture of a terminal with these lines."""
    width, height = round(max(map(len, lines)) * WIDTH) + 32, HEIGHT * len(lines) + 32
    parts = [HEAD.format(title=title, width=width, height=height)]
    for number, line in enumerate(lines):
        typed = ' class="typed"' if line.startswith("$ ") else ""
        # Everywhere as wide as here, whatever font there is.
        length = f' textLength="{len(line) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"' if line else ""
        place = f'x="16" y="{HEIGHT * number + 29}"'
        parts.append(f'<text {place}{length}{typed} xml:space="preserve">{html.escape(line, quote=False)}</text>\n')
    return "".join(parts) + "</svg>\n"


def blocks_of(picture):
    """The console in a picture, as docs_test.py runs it."""
    lines = [html.unescape(line) for line in re.findall(r"<text [^>]*>(.*)</text>", picture)]
    return [Block("varies", "order", [], 1), Block("console", "", lines, 1)]


def printed_by(commands):
    """The commands, each with the lines that it printed."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="bled-docs-") as folder:
        scratch = pathlib.Path(folder)
        scratch.chmod(0o755)
        desk = Desk(scratch / "desk", copy_programs(SOURCES, scratch), SOURCES)
        try:
            for command in commands:
                status, printed = desk.run(command)
                if status != 0:
                    raise SystemExit("\n".join([f"docs-pictures: {command}: {status}", *printed]))
                lines += [f"$ {command}", *(line.rstrip() for line in printed), ""]
        finally:
            desk.close()
    longest = max(map(len, lines))
    if longest > COLUMNS:
        raise SystemExit(f"docs-pictures: a line has {longest} columns, there is room for {COLUMNS}")
    return lines[:-1]


def main():
    SESSION.write_text(draw("A session with bleshell on the simulated adapter", printed_by(COMMANDS)))
    LOG.write_text(draw("The log of a read, with the program that asked for it", printed_by(LOG_COMMANDS)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws docs/session.svg: a terminal with what bleshell prints on the simulated adapter. `make docs-pictures` calls it;
`make docs-test` runs the commands in the picture again and compares."""

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
# Of a character and of a line, in pixels of the picture.
WIDTH, HEIGHT, COLUMNS = 7.8, 18, 97
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" role="img"
  width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>A session with bleshell on the simulated adapter</title>
<style>
  text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }}
  .typed {{ fill: #a3be8c; font-weight: bold }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#1f2430"/>
"""


def draw(lines):
    """The picture of a terminal with these lines."""
    width, height = round(COLUMNS * WIDTH) + 32, HEIGHT * len(lines) + 32
    parts = [HEAD.format(width=width, height=height)]
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


def main():
    lines = []
    with tempfile.TemporaryDirectory(prefix="bled-docs-") as folder:
        scratch = pathlib.Path(folder)
        scratch.chmod(0o755)
        desk = Desk(scratch / "desk", copy_programs(SOURCES, scratch), SOURCES)
        try:
            for command in COMMANDS:
                status, printed = desk.run(command)
                if status != 0:
                    raise SystemExit("\n".join([f"docs-pictures: {command}: {status}", *printed]))
                lines += [f"$ {command}", *(line.rstrip() for line in printed), ""]
        finally:
            desk.close()
    longest = max(map(len, lines))
    if longest > COLUMNS:
        raise SystemExit(f"docs-pictures: a line has {longest} columns, there is room for {COLUMNS}")
    SESSION.write_text(draw(lines[:-1]))


if __name__ == "__main__":
    main()

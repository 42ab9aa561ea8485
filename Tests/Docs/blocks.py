"""Reads the blocks of a page: what is indented by four, or fenced, and the comments that say how it is run.

    <!-- docs-test: WORD … -->     before a block says what it is, see KINDS; alone in the page it is a directive
    <!-- docs-test: hidden         a block that the reader of the page does not see
        $ bleshell …
    -->

In a hidden block a comment is a line of its own without the arrows, `docs-test: file NAME`.
"""

import dataclasses
import re

# The kinds of blocks without a comment: by the first characters, and by the word behind the fence.
BY_BEGINNING = {"$ ": "console", "> ": "conversation", "< ": "conversation"}
BY_FENCE = {"console": "console", "swift": "swift", "python": "python"}
# Words of comments: the kind of the next block.
KINDS = {
    "commands": "lines for a shell without `$ `; each must succeed",
    "file": "a file for the blocks after it; its name follows",
    "program": "a Swift program in one file, built before the page; its name follows",
    "manifest": "a whole Package.swift",
    "text": "nothing to run: a drawing, a format",
    "not": "`not run, REASON`: what cannot be run here",
}
# Words of comments that are not blocks: a daemon with these arguments from here on; a new connection; members with
# varying values in the following blocks.
DIRECTIVES = {"daemon", "session", "varies"}

MARKER = re.compile(r"(<!-- )?docs-test: (?P<word>\w+)(?P<rest>[^>]*?)( -->)?$")


class PageError(Exception):
    """A block of which nobody can say how it is run, or a comment that says nothing that is known."""


@dataclasses.dataclass
class Block:
    """`kind` is one of BY_BEGINNING, BY_FENCE, KINDS and DIRECTIVES, `argument` what follows it in the comment;
    `first` is the number of the first of the lines in the page."""

    kind: str
    argument: str
    lines: list
    first: int
    hidden: bool = False


def read(lines, first=1, hidden=False):
    """The blocks and directives of a page, in order."""
    blocks, marker, at = [], None, 0
    while at < len(lines):
        line, number = lines[at], first + at
        content = None
        if line == "<!-- docs-test: hidden":
            end = _find(lines, at, lambda l: l == "-->", "the hidden block does not end", number)
            blocks += read(lines[at + 1 : end], number + 1, hidden=True)
            at = end
        elif line.startswith("<!-- docs-test" if not hidden else "docs-test"):
            match = MARKER.match(line)
            if not match or match["word"] not in KINDS.keys() | DIRECTIVES:
                raise PageError(f"{number}: no such comment: {line}")
            word, rest = match["word"], match["rest"].strip()
            if word in DIRECTIVES:
                blocks.append(Block(word, rest, [], number, hidden))
            else:
                marker = (word, rest)
        elif line.startswith("```"):
            end = _find(lines, at, lambda l: l == "```", "the fence is not closed", number)
            content, start = lines[at + 1 : end], at + 1
            kind = BY_FENCE.get(line[3:].strip())
            at = end
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip() or "docs-test: " in lines[at - 1]):
            start = at
            while at + 1 < len(lines) and (lines[at + 1].startswith("    ") or not lines[at + 1].strip()):
                at += 1
            while not lines[at].strip():
                at -= 1
            content = [l[4:] for l in lines[start : at + 1]]
            kind = BY_BEGINNING.get(content[0][:2])
        elif line.strip() and marker:
            raise PageError(f"{number}: a block should follow the comment above")
        if content is not None:
            if marker:
                kind = marker[0]
            if kind is None:
                raise PageError(f"{first + start}: say before this block what it is, in a comment: {', '.join(KINDS)}")
            blocks.append(Block(kind, marker[1] if marker else "", content, first + start, hidden))
            marker = None
        at += 1
    return blocks


def _find(lines, start, is_end, message, number):
    for at in range(start + 1, len(lines)):
        if is_end(lines[at]):
            return at
    raise PageError(f"{number}: {message}")


def commands(block):
    """The commands of a console: the text, the lines shown below it, the number of its line. A command goes on over
    a here-document, and where its line ends with a backslash."""
    found = []
    lines = iter(enumerate(block.lines, block.first))
    for number, line in lines:
        if not line.startswith("$ "):
            if not found:
                raise PageError(f"{number}: a console begins with a command")
            found[-1][1].append(line)
            continue
        text = line[2:]
        here = re.search(r"<<'?(\w+)'?$", text)
        while text.endswith("\\") or (here and text.rsplit("\n", 1)[-1] != here[1]):
            _, more = next(lines, (0, None))
            if more is None:
                raise PageError(f"{number}: the command does not end")
            text += "\n" + more
        found.append((text, [], number))
    for _, shown, _ in found:
        while shown and not shown[-1].strip():
            shown.pop()
    return found


def with_more_time(command):
    """A command with ten times the seconds of its `--time`; nothing if it has none."""
    longer, count = re.subn(r"(--time )(\d+)\b", lambda time: time[1] + str(10 * int(time[2])), command)
    return longer if count else None


def messages(block):
    """The messages of a conversation: ">" or "<", the text with its folded lines joined, the number of its line."""
    found = []
    for number, line in enumerate(block.lines, block.first):
        if line[:2] in ("> ", "< "):
            found.append([line[0], line[2:], number])
        elif line.startswith("   ") and found:
            found[-1][1] += " " + line.strip()
        elif line.strip() != "…":
            raise PageError(f"{number}: not a line of a conversation: {line}")
    return found

#!/usr/bin/env python3
"""Runs what README.md and the pages in docs/ show, and compares it (docs/testing.md says how a page is written).

    docs_test.py [--programs FOLDER] [PAGE…]      a page by the beginning of its name, as `pairing`
"""

import argparse
import concurrent.futures
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import blocks
import compare
import pictures
from conversation import Conversation, Difference
from desk import Desk, copy_programs
from snippets import Snippets

SOURCES = pathlib.Path(__file__).resolve().parents[2]


class Page:
    def __init__(self, path):
        self.path, self.name = path, str(path.relative_to(SOURCES))
        self.failures, self.not_run, self.count = [], [], 0
        self.blocks = []
        try:
            text = path.read_text()
            self.blocks = pictures.blocks_of(text) if path.suffix == ".svg" else blocks.read(text.splitlines())
        except blocks.PageError as error:
            self.failures.append(str(error))

    def run(self, folder, programs):
        """Runs all blocks in order, and goes on after one that fails."""
        self.desk = Desk(folder, programs, SOURCES)
        self._names, self._varying, self._conversation = {}, set(), None
        try:
            for block in self.blocks:
                try:
                    self._runner(block.kind)(block)
                except (Difference, blocks.PageError, RuntimeError, OSError, ValueError) as error:
                    self.failures.append(f"{block.first}: {type(error).__name__}: {error}")
                self.count += bool(block.lines) and not block.hidden and block.kind not in ("text", "not")
        finally:
            self._end_conversation()
            self.desk.close()

    def _runner(self, kind):
        runners = {
            "console": self._console, "commands": self._commands, "conversation": self._talk, "python": self._python,
            "file": self._file, "not": self._not, "daemon": self._daemon, "session": self._session,
            "varies": self._varies,
        }  # fmt: skip
        # Swift is checked for all pages at once, and text is only read.
        return runners.get(kind, lambda _: None)

    def _not(self, block):
        if not block.argument.startswith("run, "):
            raise blocks.PageError("write `not run, REASON`")
        self.not_run.append((block.first, block.argument.removeprefix("run, ")))

    def _file(self, block):
        self.desk.write(block.argument, "\n".join(block.lines) + "\n")

    def _daemon(self, block):
        self._end_conversation()
        self._names = {}
        self.desk.set_daemon(shlex.split(block.argument))

    def _session(self, _):
        self._end_conversation()

    def _varies(self, block):
        self._varying |= set(block.argument.split())

    def _end_conversation(self):
        if self._conversation:
            self._conversation.close()
            self._conversation = None

    def _conversation_with(self):
        if self._conversation is None:
            self.desk.need_daemon()
            self._conversation = Conversation(self.desk, self._names, self._varying)
        return self._conversation

    def _python(self, block):
        self.desk.write("snippet.py", "\n".join(block.lines) + "\n")
        self._must_succeed("python3 snippet.py", block.first)

    def _commands(self, block):
        for number, line in enumerate(block.lines, block.first):
            if line.strip() and not line.startswith("#"):
                self._must_succeed(line, number)

    def _must_succeed(self, text, number):
        status, lines = self.desk.run(text)
        if status != 0:
            self.failures.append(f"{number}: {text}\nexit status {status}\n" + "\n".join(lines[-20:]))

    def _console(self, block):
        for text, shown, number in blocks.commands(block):
            if not shown:
                self._must_succeed(text, number)
                continue
            until = None
            if "^C" in shown:
                shown = [line for line in shown if line != "^C"]
                before = shown[: block.lines.index("^C")] if "^C" in block.lines else shown

                def until(lines, before=before):
                    return compare.lines_differ([*before, "…"], lines) is None

            def differ(command):
                _, printed = self.desk.run(command, until)
                return compare.lines_differ(shown, printed, ordered="order" not in self._varying)

            found = differ(text)
            # A busy machine hears less in the time of the example.
            if found and blocks.with_more_time(text):
                found = differ(blocks.with_more_time(text))
            if found:
                self.failures.append(f"{number}: $ {text}\n{found}")

    def _talk(self, block):
        conversation = self._conversation_with()
        for direction, text, number in blocks.messages(block):
            try:
                (conversation.send if direction == ">" else conversation.expect)(text)
            except Difference as error:
                self.failures.append(f"{number}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", help="the beginnings of their names")
    wanted = parser.parse_args().pages
    began = time.monotonic()
    paths = [SOURCES / "README.md", *sorted((SOURCES / "docs").glob("*.md")), pictures.SESSION]
    if wanted:
        paths = [path for path in paths if path.name.lower().startswith(tuple(name.lower() for name in wanted))]
        if not paths:
            sys.exit(f"docs-test: there is no page {' '.join(wanted)}")
    pages = [Page(path) for path in paths]
    built = next((SOURCES / name for name in (".build/debug", ".build/release")
                  if (SOURCES / name / "Modules/CoreBluetooth.swiftmodule").exists()), None)  # fmt: skip
    if built is None:
        sys.exit("docs-test: the modules are not built; run make docs-test")
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="bled-docs-"))
    scratch.chmod(0o755)
    try:
        failed = run(pages, scratch, built)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for page in pages:
        for number, reason in page.not_run:
            print(f"not run  {page.name}:{number}: {reason}")
    count = sum(page.count for page in pages)
    print(f"{count} blocks run, {sum(len(page.not_run) for page in pages)} not run, {failed} failures, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if failed else 0


def run(pages, scratch, built):
    """Runs the pages, and prints a line for each and what fails; returns how many failures there are."""
    programs = copy_programs(SOURCES, scratch)
    snippets = Snippets(SOURCES, built, scratch / "swift")
    for page in pages:
        snippets.add(page.name, page.blocks)
    failed = 0

    def one(page):
        began = time.monotonic()
        for block in page.blocks:
            if block.kind == "program":
                found = snippets.build(block.argument, block, page.name, programs)
                if found:
                    page.failures.append(found)
        page.run(scratch / page.path.stem, programs)
        return page, time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check = pool.submit(snippets.check)
        for done in concurrent.futures.as_completed([pool.submit(one, page) for page in pages]):
            page, seconds = done.result()
            failed += len(page.failures)
            word = "FAIL" if page.failures else "ok"
            counts = f"{page.count:3} blocks, {len(page.not_run)} not run"
            print(f"{word:4} {page.name:32} {counts} {seconds:6.1f} s", flush=True)
            for failure in page.failures:
                print("     " + f"{page.name}:{failure}".replace("\n", "\n       "), flush=True)
        found = check.result()
        if any(page.blocks for page in pages):
            print(f"{'FAIL' if found else 'ok':4} Swift in all pages", flush=True)
        if found:
            print(found)
            failed += found.count(": error: ") or 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

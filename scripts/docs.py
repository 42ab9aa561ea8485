#!/usr/bin/env python3
"""Makes the documentation of the Swift modules in the folder `docs` below that of a debug build, which `make docs`
has built. Fails if a public symbol is not documented, a snippet of an article does not compile, or docc warns."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# BledClient exports the last two.
MODULES = ("CoreBluetooth", "BledClient", "BledRPC", "Bluetooth")
# The parts of each message, which the comments of the message and of the parts' members describe.
MESSAGE_PARTS = {"method", "message", "Params", "Result"}
ARTICLES = [next(ROOT.glob(f"Sources/*/{module}/{module}.docc/{module}.md")) for module in MODULES[:2]]
BUILD = ROOT / ".build"
FOLDER = BUILD / "docs"
IMPORTS = ["-I", str(BUILD / "debug" / "Modules")]


def target():
    information = subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout
    return json.loads(information)["target"]["triple"]


def graphs(folder):
    """Extracts what is public; fails if something has no doc comment."""
    missing = []
    for module in MODULES:
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, *IMPORTS, "-target", target(),
             "-minimum-access-level", "public", "-output-dir", str(folder)], check=True)
        for symbol in json.loads((folder / f"{module}.symbols.json").read_text())["symbols"]:
            name = symbol["pathComponents"][-1]
            if module == "BledRPC" and (name in MESSAGE_PARTS or name.startswith("init(")):
                continue
            if "::SYNTHESIZED::" not in symbol["identifier"]["precise"] and not symbol.get("docComment"):
                missing.append(f"{module}: {'.'.join(symbol['pathComponents'])}")
    if missing:
        sys.exit("\n".join(missing) + "\ndocs: the symbols above have no doc comment")


def snippets(folder):
    """Compiles the snippets of each article in their order, as one function."""
    for article in ARTICLES:
        blocks = re.findall(r"^```swift\n(.*?)^```$", article.read_text(), re.DOTALL | re.MULTILINE)
        lines = "".join(blocks).splitlines()
        imports = [line for line in lines if line.startswith("import ")]
        code = [f"  {line}" for line in lines if not line.startswith("import ")]
        file = folder / f"{article.stem}Snippets.swift"
        file.write_text("\n".join([*imports, "func snippets() async throws {", *code, "}"]) + "\n")
        # Values that a snippet makes need not be used.
        flags = ["-swift-version", "6", "-parse-as-library", "-suppress-warnings"]
        if subprocess.run(["swiftc", "-typecheck", *flags, *IMPORTS, str(file)]).returncode:
            sys.exit(f"docs: a snippet of {article.relative_to(ROOT)} does not compile")


def convert(work):
    catalog = work / "bled.docc"
    catalog.mkdir()
    for article in ARTICLES:
        shutil.copy(article, catalog)
    subprocess.run(
        ["docc", "convert", str(catalog), "--additional-symbol-graph-dir", str(work / "graphs"), "--output-dir",
         str(FOLDER), "--fallback-display-name", "bled", "--fallback-bundle-identifier", "bled",
         "--warnings-as-errors"], check=True)


def main():
    work = BUILD / "docs.work"
    for folder in (work, FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    (work / "graphs").mkdir(parents=True)
    try:
        graphs(work / "graphs")
        snippets(work)
        convert(work)
    except subprocess.CalledProcessError as error:
        sys.exit(f"docs: {error.cmd[0]} {error.cmd[1]} failed")
    shutil.rmtree(work)
    print(f"{FOLDER.relative_to(ROOT)}: python3 -m http.server --directory .build/docs, then "
          "http://localhost:8000/documentation/corebluetooth")


main()

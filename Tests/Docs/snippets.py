"""Swift in pages: what is shown is type-checked against the modules that were built, programs are built.

The snippets of a page are one function, each in a scope within that of the one before it, so that a page can go on with
what it has declared, or begin anew."""

import pathlib
import re
import subprocess

MODULES = ("Bluetooth", "BledRPC", "BledConnection", "BledClient", "Beacons", "FrameworkSupport", "CoreBluetooth")


class Snippets:
    def __init__(self, sources, built, scratch):
        self._sources, self._built, self._scratch = sources, pathlib.Path(built), pathlib.Path(scratch)
        self._files, self._manifests = [], []
        self._scratch.mkdir()

    def add(self, page, blocks):
        """Takes the Swift of a page; returns how many programs it has."""
        imports, body, depth = set(), [], 0
        for block in blocks:
            place = f'#sourceLocation(file: "{page}", line: {block.first})'
            if block.kind == "swift":
                code = []
                for line in block.lines:
                    is_import = re.match(r"(@\w+ )?import ", line)
                    if is_import:
                        imports.add(line)
                    code.append("" if is_import else line)
                body += ["do {", place, *code, "#sourceLocation()"]
                depth += 1
            elif block.kind == "manifest":
                self._manifests.append((page, block))
        if body:
            path = self._scratch / (re.sub(r"\W", "_", page) + ".swift")
            begin = ["import BledClient", *sorted(imports), f"func {path.stem}() async throws {{"]
            path.write_text("\n".join([*begin, *body, "}" * (depth + 1), ""]))
            self._files.append(path)

    def check(self):
        """Type-checks what was taken; returns what the compiler found."""
        found = ""
        if self._files:
            found += self._compile(["-typecheck", "-swift-version", "6", *self._files, *self._paths()])
        for number, (page, block) in enumerate(self._manifests):
            path = self._scratch / f"Package{number}.swift"
            path.write_text(
                f'#sourceLocation(file: "{page}", line: {block.first})\n' + "\n".join(block.lines) + "\n")
            interface = ["-I", _manifest_interface(), "-package-description-version", "6.0"]
            found += self._compile(["-typecheck", path, *interface])
        return found

    def build(self, name, block, page, folder):
        """Builds a program from the page's text, with the objects that are there; returns what the compiler found."""
        source = self._scratch / f"{name}.swift"
        source.write_text(f'#sourceLocation(file: "{page}", line: {block.first})\n' + "\n".join(block.lines) + "\n")
        objects = [path for module in MODULES for path in self._objects(module)]
        module = re.sub(r"\W", "_", name)
        return self._compile([source, *objects, *self._paths(), "-module-name", module, "-o", folder / name])

    def _objects(self, module):
        # Not every object in the folder: objects of deleted source files are still there.
        folder = self._built / f"{module}.build"
        for line in (folder / "sources").read_text().splitlines():
            yield folder / (pathlib.Path(line.strip("'")).name + ".o")

    def _paths(self):
        parts = ("CoreBluetooth", "CoreLocation", "MultipeerConnectivity")
        names = [*(f"Frameworks/{part}Headers/include" for part in parts), "Formats/CNettle"]
        headers = [self._sources / "Sources" / name for name in names]
        folders = [self._built / "Modules", *headers]
        options = [option for folder in folders for option in ("-I", folder)]
        return [*options, "-module-cache-path", self._scratch / "cache"]

    def _compile(self, arguments):
        result = subprocess.run(["swiftc", *map(str, arguments)], capture_output=True, text=True, check=False)
        if result.returncode == 0:
            return ""
        lines = [line for line in result.stderr.splitlines() if ": error: " in line or ": note: " in line]
        return "\n".join(lines or [result.stderr]) + "\n"


def _manifest_interface():
    target = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    resources = re.search(r'"runtimeResourcePath" *: *"([^"]*)"', target)[1].replace("\\/", "/")
    return pathlib.Path(resources) / "pm/ManifestAPI"

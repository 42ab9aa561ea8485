"""The surroundings of a page while its blocks are run: a folder, an ordinary user, a shell, and a daemon."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NOBODY = 65534
# The time in seconds without visible activity after which a program counts as hung. No result depends on it.
PATIENCE = int(os.environ.get("BLED_TEST_PATIENCE", 120))


def ordinary_user():
    """The arguments with which subprocess starts a program of an ordinary user, also for root."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def copy_programs(sources, scratch):
    """The daemon and bleshell where an ordinary user may run them: of the debug build, else of the release build."""
    for folder in (os.environ.get("BLED_PROGRAMS"), ".build/debug", ".build/dist"):
        if folder and all((sources / folder / name).exists() for name in ("bled", "bleshell")):
            programs = scratch / "programs"
            programs.mkdir()
            for name in ("bled", "bleshell"):
                shutil.copy(sources / folder / name, programs)
            return programs
    raise SystemExit("docs-test: bled and bleshell are not built; run make docs-test")


class Desk:
    def __init__(self, folder, programs, sources):
        self.folder = pathlib.Path(folder)
        self._work, self._own = self.folder / "work", self.folder / "own"
        runtime = self.folder / "run"
        for path in (self.folder, self._work, self._own, runtime, self.folder / "home/.local/state"):
            path.mkdir(parents=True)
        self.socket = runtime / "bled/bled.sock"
        for name in ("Examples", "Makefile", "python/src"):
            source = sources / name
            if source.is_dir():
                shutil.copytree(source, self._work / name, ignore=shutil.ignore_patterns(".build", "__pycache__"))
            else:
                shutil.copy(source, self._work)
        (self._work / ".build").mkdir()
        (self._work / ".build/dist").symlink_to(programs)
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        # Nothing from the environment of the user, so that it prints the same everywhere.
        self._environment = {
            "PATH": f"{programs}:{sources / 'Tests/Docs/bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.folder / "home"), "USER": "ann", "LANG": "C.UTF-8", "TERM": "dumb",
            "XDG_RUNTIME_DIR": str(runtime), "BLED_SOCKET": str(self.socket),
            "PYTHONPATH": str(self._work / "python/src"), "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "DOCS_PROGRAMS": str(programs),
        }  # fmt: skip
        self._arguments = ["--adapter", "simulated"]
        self._daemon = None
        self._shell = self._start(["bash", "--norc", "--noprofile", "-O", "expand_aliases"], stdin=subprocess.PIPE)
        self._count = 0

    def _start(self, command, **options):
        with open(self._own / "log", "ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options}
            return subprocess.Popen(
                command, cwd=self._work, env=self._environment, start_new_session=True, **ordinary_user(), **options
            )

    def write(self, name, text):
        """A file of the page, in the folder in which its commands run."""
        path = self._work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def set_daemon(self, arguments):
        """The daemon that the next block needs has these arguments."""
        self.end_daemon()
        self._arguments = arguments

    def need_daemon(self):
        if self._daemon is None:
            self._daemon = self._start(["bled", *self._arguments, "--log-level", "warning"])
            self._wait_for_adapters()

    def end_daemon(self):
        if self._daemon is not None:
            self._daemon.terminate()
            self._daemon.wait(PATIENCE)
            self._daemon = None

    def _wait_for_adapters(self):
        """Pages show a daemon that has come up: there is a socket, and no adapter is starting."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as attempt, attempt.makefile("rb") as lines:
                    attempt.connect(str(self.socket))
                    attempt.sendall(b'{"jsonrpc":"2.0","id":1,"method":"adapter.list"}\n')
                    if b'"starting"' not in lines.readline():
                        return
                    problem = "an adapter is starting"
            except OSError as error:
                problem = f"bled made no socket: {error}"
            if time.monotonic() > deadline:
                raise RuntimeError(f"{problem}\n{self.log()}")
            time.sleep(0.02)

    def log(self):
        return (self._own / "log").read_text(errors="replace")

    def run(self, text, interrupt_when=None):
        """Runs a command in the page's shell; returns its exit status and the lines that it printed. A command with
        `interrupt_when` is interrupted (Ctrl-C) as soon as that says so of its lines. One that prints nothing new for
        too long is killed, and so is one that prints without end."""
        own_daemon = text.rstrip().endswith("&") and "bled " in text
        if own_daemon:
            self.end_daemon()
        elif "bleshell" in text or "python3" in text or "socat" in text or "swift run" in text:
            if not self.socket.exists():
                self.need_daemon()
        self._count += 1
        script, output, status = (self._own / f"{self._count}.{end}" for end in ("sh", "out", "status"))
        script.write_text(self.here(text) + "\n")
        self._shell.stdin.write(f". {script} >{output} 2>&1 </dev/null; echo $? >{status}.new; "
                                f"mv {status}.new {status}\n".encode())  # fmt: skip
        self._shell.stdin.flush()
        began = progress = time.monotonic()
        before = []
        while not status.exists():
            lines = output.read_text(errors="replace").splitlines() if output.exists() else []
            now = time.monotonic()
            if lines != before:
                progress, before = now, lines
            late = now > progress + PATIENCE or now > began + 4 * PATIENCE
            if late or (interrupt_when and interrupt_when(lines)):
                self._interrupt(signal.SIGKILL if late else signal.SIGINT)
                interrupt_when = None
                if late:
                    return f"no end after {now - began:.0f} s", lines
            time.sleep(0.02)
        if own_daemon:
            self._wait_for_adapters()
        return int(status.read_text()), self.there(output.read_text(errors="replace")).splitlines()

    def here(self, text):
        """The text of a page with this page's own places instead of the system's."""
        return text.replace("/run/bled/", f"{self.socket.parent}/")

    def there(self, text):
        """The other way round."""
        return text.replace(f"{self.socket.parent}/", "/run/bled/")

    def _interrupt(self, number):
        """Sends a signal to what runs in the foreground: the youngest child of the shell, and its children."""
        children = pathlib.Path(f"/proc/{self._shell.pid}/task/{self._shell.pid}/children").read_text().split()
        if children:
            below = pathlib.Path(f"/proc/{children[-1]}/task/{children[-1]}/children").read_text().split()
            for process in (children[-1], *below):
                os.kill(int(process), number)

    def close(self):
        self.end_daemon()
        self._shell.stdin.close()
        # Programs that the page has left running in the background belong to the shell's group.
        try:
            os.killpg(self._shell.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self._shell.wait(PATIENCE)

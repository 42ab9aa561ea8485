"""A virtual machine with the cases of some groups, booted until each case has a result.

The machine appends to the file `results` in its folder, a line for each: `begins`, `passed`, `failed once` or `failed`,
the case, and why it failed, separated by tabs; at the end the line `end`. A machine that ends without that is booted
again for the cases that have no result. A case during which two machines ended has failed.
"""

import collections
import os
import subprocess

INTERRUPTIONS = 2  # How many machines may end during one case until it has failed.
IDLE_BOOTS = 3  # How many machines in a row may end before a case began.
INTERRUPTED, UNREACHED = "the machine ended during it", "the machine ended before a case began"
SIGNS = ("Kernel panic", "BUG:", "kernel BUG", "Oops")


class Results:
    """The file in which the machine notes what became of its cases."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "results")

    def lines(self):
        """Its lines, as lists of words; a line that was cut off is left out."""
        try:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n").split("\t") for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def add(self, *words):
        """Adds a line, which the host can read at once."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.write("\t".join(word.replace("\t", " ").replace("\n", " ") for word in words) + "\n")

    def verdicts(self):
        """The verdict and the reason of each case that has one, by its name."""
        return {words[1]: (words[0], *words[2:]) for words in self.lines() if len(words) > 1 and words[0] != "begins"}

    def running(self):
        """The case that began last and has no verdict, or None."""
        begun = [words[1] for words in self.lines() if words[0] == "begins"]
        return begun[-1] if begun and begun[-1] not in self.verdicts() else None

    def is_complete(self):
        """Returns true if all cases have ended."""
        return ["end"] in self.lines()


class Machine:
    """Boots `command`, whose machine has this folder on /out, and prints its lines through `say`."""

    def __init__(self, title, folder, command, say=print):
        self._title, self._folder, self._command, self._say = title, folder, command, say
        self._interrupted = collections.Counter()
        self._reasons = {}

    def run(self):
        """Runs all cases. Gives how many passed, how many failed, and a line for each that failed or did so once."""
        results = Results(self._folder)
        idle = 0
        while not results.is_complete():
            before = len(results.lines())
            reason = self._boot()
            if results.is_complete():
                break
            if len(results.lines()) > before:
                idle = 0
                self._interrupt(results, reason)
            else:
                idle += 1
                self._say(f"{self._title}: {UNREACHED} ({reason})")
                if idle == IDLE_BOOTS:
                    results.add("failed", f"{self._title}: the cases left", f"{UNREACHED}: {reason}")
                    break
            self._keep_traffic()
        return self._summary(results.verdicts())

    def _boot(self):
        """Runs the machine once; returns the reason for its end, as far as its last lines show it."""
        last = collections.deque(maxlen=200)
        with subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace",
        ) as process:
            try:
                for line in process.stdout:
                    last.append(line.rstrip())
                    self._say(line.rstrip())
            except BaseException:
                process.terminate()
                raise
        signs = [line for line in last if any(sign in line for sign in SIGNS)]
        return (signs or [line for line in last if line.startswith("vm:")] or [f"status {process.returncode}"])[-1]

    def _interrupt(self, results, reason):
        """Notes the case during which the machine ended."""
        case = results.running()
        if case is None:
            self._say(f"{self._title}: the machine ended between cases ({reason}); it is booted again")
            return
        self._interrupted[case] += 1
        self._reasons[case] = f"{INTERRUPTED}: {reason}"
        if self._interrupted[case] < INTERRUPTIONS:
            self._say(f"{self._title}: the machine ended during {case!r} ({reason}); it is booted again from there")
        else:
            results.add("failed", case, f"{INTERRUPTED}, twice: {reason}")
            self._say(f"{self._title}: the machine ended twice during {case!r}; the cases behind it go on")

    def _keep_traffic(self):
        """Keeps the recording of the machine that ended, since the next one begins its own."""
        path = os.path.join(self._folder, "btsnoop.log")
        number = 1
        while os.path.exists(f"{path}.{number}"):
            number += 1
        if os.path.exists(path):
            os.rename(path, f"{path}.{number}")

    def _summary(self, verdicts):
        failures = []
        for case, (verdict, *reason) in verdicts.items():
            if verdict == "passed" and case in self._reasons:
                failures.append(f"failed once  {self._title}  {case}: {self._reasons[case]}")
            elif verdict != "passed":
                failures.append(f"{verdict}  {self._title}  {case}: {' '.join(reason)}")
        failed = sum(verdict == "failed" for verdict, *_ in verdicts.values())
        return len(verdicts) - failed, failed, failures

"""Tests of machine.py with scripts in place of machines: `make test-kernel` runs them first."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from machine import Machine  # noqa: E402

# A machine with the cases a, b and c. `troubles` are what happens during a case, one at each attempt.
GUEST = """
import os, signal, sys
sys.path.insert(0, {here!r})
from machine import Results
results = Results({folder!r})
with open({folder!r} + "/boots", "a") as boots:
    boots.write("x")
boots = os.path.getsize({folder!r} + "/boots")
if boots in {dead!r}:
    sys.exit(124)
for case in "abc":
    if case in results.verdicts():
        continue
    results.add("begins", case)
    tried = sum(words == ["begins", case] for words in results.lines())
    trouble = {troubles!r}.get(case, [])[tried - 1 : tried]
    if trouble == ["panic"]:
        print("Kernel panic - not syncing: Fatal exception", flush=True)
        sys.exit(124)
    if trouble == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    results.add("failed" if trouble == ["fail"] else "passed", case, *["a reason"] * (trouble == ["fail"]))
    print(case, flush=True)
results.add("end")
"""


class MachineTests(unittest.TestCase):
    def run_machine(self, dead=(), **troubles):
        """Runs the cases; gives the summary and how often the machine was booted."""
        with tempfile.TemporaryDirectory() as folder:
            here = os.path.dirname(os.path.abspath(__file__))
            script = GUEST.format(here=here, folder=folder, dead=dead, troubles=troubles)
            self.lines = []
            summary = Machine("6.12", folder, [sys.executable, "-c", script], self.lines.append).run()
            return summary, os.path.getsize(f"{folder}/boots")

    def test_all_pass(self):
        self.assertEqual(self.run_machine(), ((3, 0, []), 1))

    def test_what_fails_fails_alone(self):
        self.assertEqual(self.run_machine(b=["fail"]), ((2, 1, ["failed  6.12  b: a reason"]), 1))

    def test_a_panic_is_forgiven_once(self):
        (passed, failed, failures), boots = self.run_machine(b=["panic"])
        self.assertEqual((passed, failed, boots), (3, 0, 2))
        [line] = failures
        self.assertIn("failed once", line)
        self.assertIn("Kernel panic - not syncing", line)
        self.assertEqual(self.lines.count("a"), 1, "a finished case ran again")

    def test_a_killed_machine_is_booted_again(self):
        (passed, failed, _), boots = self.run_machine(a=["kill"], c=["kill"])
        self.assertEqual((passed, failed, boots), (3, 0, 3))

    def test_a_case_that_ends_two_machines_fails_and_the_others_run(self):
        (passed, failed, failures), boots = self.run_machine(b=["panic", "kill"])
        self.assertEqual((passed, failed, boots), (2, 1, 3))
        self.assertIn("failed  6.12  b: the machine ended during it, twice", failures[0])
        self.assertIn("c", self.lines)

    def test_machines_that_do_not_start(self):
        self.assertEqual(self.run_machine(dead=(1, 2))[0][:2], (3, 0))
        (passed, failed, failures), boots = self.run_machine(dead=(1, 2, 3))
        self.assertEqual((passed, failed, boots), (0, 1, 3))
        self.assertIn("before a case began", failures[0])

    def test_a_machine_that_does_not_start_is_not_the_fault_of_a_case(self):
        (passed, failed, _), boots = self.run_machine(dead=(2, 3), b=["panic"])
        self.assertEqual((passed, failed, boots), (3, 0, 4))


if __name__ == "__main__":
    unittest.main()

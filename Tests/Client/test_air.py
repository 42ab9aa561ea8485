"""The adapters of a test's daemon, and the devices of a scenario around them: simulated by the daemon, or with
BLED_OWN_HOST=1 played by Bumble around controllers that bled's own host drives (Tests/Host/emulated_air.py). With
BLED_VIRTUAL=1 the daemon's adapters are virtual ones."""

import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
IS_ON_OWN_HOST = bool(os.environ.get("BLED_OWN_HOST"))
# The name of the first adapter that the daemon simulates, and the beginning of those of the others.
SIMULATED = "virtual" if os.environ.get("BLED_VIRTUAL") else "simulated"


class TestAir:
    """`adapters` are their names for bled's option --adapter, `names` those in its answers."""

    # Otherwise pytest collects it as tests.
    __test__ = False

    def __init__(self, folder: pathlib.Path, *scenarios: pathlib.Path) -> None:
        """An adapter for each file. On the own host the devices are those of the first, and the folder has sockets."""
        self._process: subprocess.Popen[bytes] | None = None
        if not IS_ON_OWN_HOST:
            self.adapters = [f"{SIMULATED}:{scenario}" for scenario in scenarios]
            self.names = [f"{SIMULATED}{number or ''}" for number in range(len(scenarios))]
            return
        self.adapters = self.names = [f"h4:unix:{folder}/hci{number}" for number in range(len(scenarios))]
        python, program = ROOT / ".build/venv/bin/python", ROOT / "Tests/Host/emulated_air.py"
        self._process = subprocess.Popen([python, "-B", program, scenarios[0], folder, str(len(scenarios))])
        while not (folder / "control").exists():
            if self._process.poll() is not None:
                raise RuntimeError("emulated_air.py ended; its error is above")
            time.sleep(0.01)

    def close(self) -> None:
        """Takes the devices away."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

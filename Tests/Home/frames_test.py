"""Known frames of sensors, decoded by bled and by the library of Theengs: the table in frames.md."""

import itertools
import json
import pathlib
import subprocess
import tempfile
import unittest

from home import HERE, PROGRAMS, Home

FRAMES = json.loads((HERE / "frames.json").read_text())
PAGE = HERE / "frames.md"
# The names of one value: bled's, Theengs's, and what one of Theengs's units is in bled's.
NAMES = (
    ("temperature", "tempc", 1), ("humidity", "hum", 1), ("battery", "batt", 1), ("pressure", "pres", 1),
    ("voltage", "volt", 1), ("accelerationX", "accx", 1 / 9.80665), ("accelerationY", "accy", 1 / 9.80665),
    ("accelerationZ", "accz", 1 / 9.80665), ("txPower", "tx", 1), ("movements", "mov", 1), ("sequence", "seq", 1),
)  # fmt: skip


def address(number):
    return f"C0:DE:00:00:03:{number:02X}"


def device(number, frame):
    advertising = {}
    if "manufacturerdata" in frame:
        advertising["manufacturerData"] = frame["manufacturerdata"]
    else:
        advertising["serviceData"] = {frame["servicedatauuid"].upper(): frame["servicedata"]}
    if "services" in frame:
        advertising["services"] = frame["services"]
    response = {"name": frame["name"]} if "name" in frame else {}
    return {
        "name": frame.get("name", f"Sensor {number}"), "address": address(number), "addressType": "random",
        "connectable": False, "interval": 0.1, "advertising": advertising, "scanResponse": response,
    }  # fmt: skip


def row(frame, ours, theirs):
    """A row of the table, from the values of both; None: not decoded."""
    if ours is None or theirs is None:
        words = ["decoded" if ours is not None else "unknown", "decoded" if theirs is not None else "unknown", "-", "-"]
        return f"| {frame['title']} | " + " | ".join(words) + " |"
    equal, different = [], []
    for name, other, scale in NAMES:
        if name in ours and other in theirs:
            value = theirs[other] * scale
            if abs(ours[name] - value) < 1e-6:
                equal.append(name)
            else:
                different.append(f"{name} {ours[name]:g}, {value:g}")
        elif name in ours or other in theirs:
            different.append(f"{name} only by {'bled' if name in ours else 'Theengs'}")
    cells = ["decoded", "decoded", ", ".join(equal) or "-", "; ".join(different) or "-"]
    return f"| {frame['title']} | " + " | ".join(cells) + " |"


def table(page):
    """The rows of the page's table, without its heading."""
    lines = page.splitlines()
    first = lines.index("| Frame | bled | Theengs | Equal | Different |") + 2
    return list(itertools.takewhile(lambda line: line.startswith("|"), lines[first:]))


class Frames(unittest.TestCase):
    def test_frames(self):
        from TheengsDecoder import decodeBLE

        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "frames.json"
            scenario.write_text(json.dumps({"devices": [device(*pair) for pair in enumerate(FRAMES)]}))
            home = Home(scenario)
            self.addCleanup(home.close)
            heard = {}
            for seconds in (2, 8, 32, 128):
                run = subprocess.run(
                    [PROGRAMS / "bleshell", "scan", "--json", "--duplicates", "--time", str(seconds)],
                    env=home.environment | {"BLED_SOCKET": home.socket}, stdout=subprocess.PIPE, text=True, check=True,
                )  # fmt: skip
                for line in run.stdout.splitlines():
                    report = json.loads(line)
                    if "address" in report:
                        heard.setdefault(report["address"], {}).update(
                            {key: value for key, value in report.items() if key in ("decoded", "name")}
                        )
                if all(address(number) in heard for number in range(len(FRAMES))):
                    break
        rows = []
        for number, frame in enumerate(FRAMES):
            ours = heard[address(number)].get("decoded")
            packet = {key: value for key, value in frame.items() if key not in ("title", "services")}
            theirs = decodeBLE(json.dumps({"id": address(number), "rssi": -60, **packet}))
            rows.append(row(frame, ours[0] if ours else None, json.loads(theirs) if theirs else None))
        self.assertEqual(table(PAGE.read_text()), rows, "frames.md is to have these rows:\n" + "\n".join(rows))

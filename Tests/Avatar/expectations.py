"""The verdict on each case: it passes, unless the list `expected` says otherwise."""

import os
from fnmatch import fnmatchcase

FOLDER = os.path.dirname(os.path.abspath(__file__))
PASS = "pass"


def expected():
    """The lines of the list as (pattern, verdict), in order. A line is a verdict and a pattern; a comment says why."""
    with open(os.path.join(FOLDER, "expected"), encoding="utf-8") as lines:
        fields = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [(pattern, verdict) for verdict, pattern in fields]


def verdict_of(case, patterns):
    """The verdict that is expected of a case. Brackets in its name are no pattern."""
    fits = (verdict for pattern, verdict in patterns if fnmatchcase(case, pattern.replace("[", "[[]")))
    return next(fits, PASS)


def sample():
    """The cases of a short run."""
    with open(os.path.join(FOLDER, "sample"), encoding="utf-8") as lines:
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]

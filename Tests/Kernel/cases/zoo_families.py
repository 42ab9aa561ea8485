"""Group 7: controllers that say that they have no extended scans and connects."""

from support import zoo

from .zoo_personalities import personality

personality("no commands for extended scans and connects", zoo.LegacyScanAndCreate)

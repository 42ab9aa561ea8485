"""Group 7: controllers whose extended scans or connects do not work, as ATS2851 and Apple's bcm4377."""

from support import zoo

from .zoo_personalities import personality

personality("no commands for extended scans and connects", zoo.LegacyScanAndCreate)
personality("extended scans report nothing", zoo.SilentExtendedScan)

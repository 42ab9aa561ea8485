"""The zoo: personalities of controllers that people own and that Bumble's polite one lacks.

Each is a class for `Air.adapter`. They may be combined: a class that inherits from several has all their manners.
"""

from .addressless import Addressless
from .coding_selection import CodingSelection
from .connection_events import ConnectionEvents
from .disturber import Disturber
from .extended_advertiser import ExtendedAdvertiser
from .extended_commands import LegacyScanAndCreate, SilentExtendedScan, Strict
from .listener import Listener
from .lost_events import LostEnds, LostEvents
from .monitors import Monitors
from .refusals import Refusals
from .responder import Responder
from .slow import Slow
from .supported_states import Dongle40, SupportedStates
from .transfers import Transfers
from .truncated import Truncated

__all__ = [
    "Addressless",
    "CodingSelection",
    "ConnectionEvents",
    "Disturber",
    "Dongle40",
    "ExtendedAdvertiser",
    "LegacyScanAndCreate",
    "Listener",
    "LostEnds",
    "LostEvents",
    "Monitors",
    "Refusals",
    "Responder",
    "SilentExtendedScan",
    "Slow",
    "Strict",
    "SupportedStates",
    "Transfers",
    "Truncated",
]

"""bled as the backend of programs that choose none."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bled.bleak.adapter import Adapter
from bled.bleak.client import Client
from bled.bleak.scanner import Scanner

# The value of `backend_id`.
_NAME = "bled"


def install() -> None:
    """Replaces, in this process, the functions by which bleak chooses a backend for the platform. Call it before other
    modules import names from bleak's own."""
    chosen: dict[str, Callable[[], tuple[type, str]]] = {
        "get_platform_scanner_backend_type": lambda: (Scanner, _NAME),
        "get_platform_client_backend_type": lambda: (Client, _NAME),
        "get_platform_adapter_backend_type": lambda: (Adapter, _NAME),
    }
    modules = [sys.modules.get(name) for name in ("bleak", "bleak.backends.client", "bleak.backends.scanner")]
    for module in (*modules, sys.modules.get("bleak.backends.adapter")):
        for name, function in chosen.items():
            if module is not None and hasattr(module, name):
                setattr(module, name, function)

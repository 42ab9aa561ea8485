"""A backend for bleak 3: programs for bleak on bled, without D-Bus.

    BleakScanner(backend=bled.bleak.Scanner)
    BleakClient(device, backend=bled.bleak.Client)

For programs that are not to be changed, `install()` makes it the backend of all scanners and clients, and so does
`python -m bled.bleak PROGRAM`. The handle of a characteristic is that of its value, as everywhere in bled.
"""

from bled.bleak.adapter import Adapter
from bled.bleak.client import Client
from bled.bleak.patch import install
from bled.bleak.scanner import Scanner

__all__ = ["Adapter", "Client", "Scanner", "install"]

"""A backend for bless: programs that publish services with it, on bled and without D-Bus.

    from bled.bless import Server as BlessServer

For programs that are not to be changed, `install()` puts it in the place of bless's own, and so does
`python -m bled.bless PROGRAM`.
"""

import bless

from bled.bless.attributes import Characteristic, Descriptor, Service
from bled.bless.server import Server

__all__ = ["Characteristic", "Descriptor", "Server", "Service", "install"]


def install() -> None:
    """Replaces, in this process, the classes that bless has chosen for the platform. Call it before other modules
    import them from bless."""
    for name, chosen in (
        ("BlessServer", Server),
        ("BlessGATTService", Service),
        ("BlessGATTCharacteristic", Characteristic),
        ("BlessGATTDescriptor", Descriptor),
    ):
        setattr(bless, name, chosen)

"""Publishes a lamp: a program for bless that knows nothing of bled."""

import asyncio
import sys
from typing import Any

from bless import (  # type: ignore[attr-defined]
    BlessServer,
    GATTAttributePermissions,
    GATTCharacteristicProperties,
    GATTDescriptorProperties,
)

SERVICE = "6F3C0001-5B1E-4A0D-9B6A-0D1E6B7F2A10"
SWITCH = "6F3C0002-5B1E-4A0D-9B6A-0D1E6B7F2A10"
SECRET = "6F3C0003-5B1E-4A0D-9B6A-0D1E6B7F2A10"
NAME = "00002901-0000-1000-8000-00805f9b34fb"


def read(characteristic: Any, **kwargs: Any) -> Any:
    if characteristic.value == b"broken":
        raise ValueError("a program's fault stops nothing")
    return characteristic.value


async def main() -> None:
    server: Any = BlessServer(name="Lamp")
    written: asyncio.Queue[bytes] = asyncio.Queue()

    def write(characteristic: Any, value: Any, **kwargs: Any) -> None:
        characteristic.value = value
        written.put_nowait(bytes(value))

    server.read_request_func = read
    server.write_request_func = write
    kinds, rights = GATTCharacteristicProperties, GATTAttributePermissions
    tree = {
        SERVICE: {
            SWITCH: {
                "Properties": kinds.read | kinds.write | kinds.notify,
                "Permissions": rights.readable | rights.writeable,
                "Value": bytearray(b"off"),
                "Descriptors": {
                    NAME: {
                        "Properties": GATTDescriptorProperties.read,
                        "Permissions": rights.readable,
                        "Value": bytearray(b"switch"),
                    }
                },
            },
            SECRET: {"Properties": kinds.read, "Permissions": rights.read_encryption_required, "Value": None},
        }
    }
    await server.add_gatt(tree)
    for _ in range(int(sys.argv[1])):
        await server.start()
        print("advertising", await server.is_advertising(), await server.is_connected(), flush=True)
        while (value := await written.get()) != b"end":
            print("written", value, await server.is_connected(), flush=True)
            assert server.update_value(SERVICE, SWITCH)
        await server.stop()
    print("stopped", await server.is_advertising(), flush=True)


asyncio.run(main())

"""served_bless.py: a characteristic published with bless."""

import asyncio

from bless import BlessServer, GATTAttributePermissions, GATTCharacteristicProperties

SERVICE = "12345678-1234-5678-1234-56789abcdef0"
VALUE = "12345678-1234-5678-1234-56789abcdef1"


def written(characteristic, value, **_):
    print(f"written {bytes(value)!r}")
    characteristic.value = value


async def main():
    server = BlessServer(name="Served")
    server.read_request_func = lambda characteristic, **_: characteristic.value
    server.write_request_func = written
    await server.add_new_service(SERVICE)
    kinds = GATTCharacteristicProperties
    rights = GATTAttributePermissions
    await server.add_new_characteristic(
        SERVICE, VALUE, kinds.read | kinds.write | kinds.notify, bytearray(b"\x01"), rights.readable | rights.writeable)
    await server.start()
    print("advertising")
    for number in range(1 << 20):
        await asyncio.sleep(0.1)
        if await server.is_connected():
            server.get_characteristic(VALUE).value = bytearray(number.to_bytes(4, "little"))
            server.update_value(SERVICE, VALUE)


asyncio.run(main())

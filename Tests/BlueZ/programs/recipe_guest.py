"""recipe_guest.py mesh|game ADAPTER ADDRESS: uses the peripherals of docs/bluez.md from another adapter."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner

RX, TX = (f"6e40000{number}-b5a3-f393-e0a9-e50e24dcca9e" for number in (2, 3))
BUZZER, SCORE = (f"9a3e000{number}-7c15-4f0b-9c7e-5c1d4e2b8a60" for number in (2, 3))
LINE = b"a line that is longer than one packet of the default size, and than a notification: " + b"x" * 400


async def find(adapter, address, is_whole):
    """The advertisement, once it has all its parts."""
    found = asyncio.get_running_loop().create_future()

    def heard(device, advertisement):
        if device.address == address and is_whole(advertisement) and not found.done():
            found.set_result((device, advertisement))

    async with BleakScanner(heard, bluez={"adapter": adapter}):
        return await asyncio.wait_for(found, 60)


async def mesh(adapter, address):
    device, advertisement = await find(adapter, address, lambda heard: heard.local_name == "Mesh node")
    assert advertisement.service_uuids == ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"], advertisement
    async with BleakClient(device, bluez={"adapter": adapter}) as client:
        said = asyncio.Queue()
        await client.start_notify(TX, lambda _, value: said.put_nowait(bytes(value)))
        text = b""
        await client.write_gatt_char(RX, LINE + b"\n", response=True)
        # Commands arrive in their order, and none is lost.
        for number in range(50):
            await client.write_gatt_char(RX, b"line %d\n" % number, response=False)
        expected = b"".join(b"over the mesh: " + line + b"\n" for line in [LINE] + [b"line %d" % n for n in range(50)])
        while len(text) < len(expected):
            text += await asyncio.wait_for(said.get(), 60)
        assert text == expected, text


async def game(adapter, address):
    device, advertisement = await find(adapter, address, lambda heard: heard.local_name == "Quiz")
    assert advertisement.manufacturer_data == {0xFFFF: b"round 1"}, advertisement
    async with BleakClient(device, bluez={"adapter": adapter}) as client:
        assert bytes(await client.read_gatt_char(SCORE)) == b"\0\0\0"
        scores = asyncio.Queue()
        await client.start_notify(SCORE, lambda _, value: scores.put_nowait(bytes(value)))
        for number in range(1, 21):
            await client.write_gatt_char(BUZZER, b"\1", response=False)
            assert await asyncio.wait_for(scores.get(), 60) == number.to_bytes(2, "little") + b"\1"
        assert bytes(await client.read_gatt_char(SCORE)) == b"\x14\0\1"


async def main():
    kind, adapter, address = sys.argv[1:]
    await {"mesh": mesh, "game": game}[kind](adapter, address)
    print("done")


asyncio.run(main())

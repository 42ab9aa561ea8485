"""served_bluez_peripheral.py: a characteristic published with bluez-peripheral."""

import asyncio

from bluez_peripheral.advert import Advertisement
from bluez_peripheral.gatt.characteristic import CharacteristicFlags, characteristic
from bluez_peripheral.gatt.descriptor import DescriptorFlags
from bluez_peripheral.gatt.service import Service
from bluez_peripheral.util import Adapter, get_message_bus


class Served(Service):
    def __init__(self):
        self._value = b"\x01"
        super().__init__("12345678-1234-5678-1234-56789abcdef0", True)

    @characteristic(
        "12345678-1234-5678-1234-56789abcdef1",
        CharacteristicFlags.READ | CharacteristicFlags.WRITE | CharacteristicFlags.NOTIFY)
    def value(self, options):
        print(f"read by {options.device} with {options.mtu}")
        return self._value

    @value.setter
    def value(self, value, options):
        print(f"written {bytes(value)!r} by {options.type}")
        self._value = bytes(value)

    @value.descriptor("2901", DescriptorFlags.READ)
    def description(self, options):
        return b"A value"


async def main():
    bus = await get_message_bus()
    served = Served()
    await served.register(bus)
    adapter = await Adapter.get_first(bus)
    await Advertisement("Served", ["180D"], 0x0340, 0).register(bus, adapter)
    print("advertising")
    for number in range(1 << 20):
        await asyncio.sleep(0.1)
        served.value.changed(number.to_bytes(4, "little"))


asyncio.run(main())

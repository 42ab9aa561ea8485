"""battery.py DEVICE PERCENT: provides the battery level of a connected device; each line that comes is the next one."""

import asyncio
import sys

from dbus_fast import BusType, Message, PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property

ROOT = "/levels"


class Provider(ServiceInterface):
    def __init__(self, device, level):
        super().__init__("org.bluez.BatteryProvider1")
        self.device, self.level = device, level

    @dbus_property(PropertyAccess.READ)
    def Device(self) -> "o":
        return self.device

    @dbus_property(PropertyAccess.READ)
    def Percentage(self) -> "y":
        return self.level

    @dbus_property(PropertyAccess.READ)
    def Source(self) -> "s":
        return "protocol of the maker"


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    provider = Provider(sys.argv[1], int(sys.argv[2]))
    bus.export(f"{ROOT}/one", provider)
    answer = await bus.call(Message(
        destination="org.bluez", path="/org/bluez/hci0", interface="org.bluez.BatteryProviderManager1",
        member="RegisterBatteryProvider", signature="o", body=[ROOT]))
    print("registered", answer.error_name or "")
    while line := await asyncio.to_thread(sys.stdin.readline):
        provider.level = int(line)
        provider.emit_properties_changed({"Percentage": provider.level})


asyncio.run(main())

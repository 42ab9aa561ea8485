"""profile.py UUID: registers a profile for devices with this service, and says when a device is connected or not. It
connects to none itself."""

import asyncio
import sys

from dbus_fast import BusType, Message, PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property, method

ROOT = "/profile"


class Profile(ServiceInterface):
    def __init__(self, uuid):
        super().__init__("org.bluez.GattProfile1")
        self.uuid = uuid

    @dbus_property(PropertyAccess.READ)
    def UUIDs(self) -> "as":
        return [self.uuid]

    @method()
    def Release(self):
        print("released")


def said(message):
    if message.member == "PropertiesChanged" and message.body[0] == "org.bluez.Device1":
        if connected := message.body[1].get("Connected"):
            print("connected" if connected.value else "disconnected", message.path)


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    bus.add_message_handler(said)
    await bus.call(Message(
        destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
        member="AddMatch", signature="s", body=["type='signal',sender='org.bluez',member='PropertiesChanged'"]))
    bus.export(f"{ROOT}/one", Profile(sys.argv[1]))
    answer = await bus.call(Message(
        destination="org.bluez", path="/org/bluez/hci0", interface="org.bluez.GattManager1",
        member="RegisterApplication", signature="oa{sv}", body=[ROOT, {}]))
    print("registered", answer.error_name or "")
    await asyncio.to_thread(sys.stdin.readline)
    answer = await bus.call(Message(
        destination="org.bluez", path="/org/bluez/hci0", interface="org.bluez.GattManager1",
        member="UnregisterApplication", signature="o", body=[ROOT]))
    print("unregistered", answer.error_name or "")
    await asyncio.Event().wait()


asyncio.run(main())

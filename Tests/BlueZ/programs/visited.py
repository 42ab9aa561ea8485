"""visited.py: tells of each device that connects to this machine's first adapter, and reads its name; it connects to
none itself."""

import asyncio

from bleak.backends.bluezdbus.defs import DEVICE_INTERFACE, GATT_CHARACTERISTIC_INTERFACE
from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus

PLACE = "/org/bluez/hci0/dev_"
NAME = "00002a00-0000-1000-8000-00805f9b34fb"


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    changes = asyncio.Queue()

    def said(message):
        if message.member == "PropertiesChanged" and message.body[0] == DEVICE_INTERFACE:
            changes.put_nowait((message.path, {name: value.value for name, value in message.body[1].items()}))

    async def call(path, interface, member, signature="", *body):
        answer = await bus.call(Message(
            destination="org.bluez", path=path, interface=interface, member=member, signature=signature,
            body=list(body)))
        assert not answer.error_name, (member, answer.error_name, answer.body)
        return answer.body

    bus.add_message_handler(said)
    await bus.call(Message(
        destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
        member="AddMatch", signature="s", body=["type='signal',sender='org.bluez'"]))
    print("watching")
    while True:
        path, changed = await changes.get()
        if not path.startswith(PLACE):
            continue
        if "Connected" in changed:
            print("connected" if changed["Connected"] else "disconnected", path)
        if changed.get("ServicesResolved"):
            [objects] = await call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
            device = objects[path][DEVICE_INTERFACE]
            print("resolved", path, len(device["UUIDs"].value), "services")
            place = next(
                name for name, interfaces in objects.items() if name.startswith(path + "/")
                and interfaces.get(GATT_CHARACTERISTIC_INTERFACE, {"UUID": None})["UUID"]
                and interfaces[GATT_CHARACTERISTIC_INTERFACE]["UUID"].value == NAME)
            [value] = await call(place, GATT_CHARACTERISTIC_INTERFACE, "ReadValue", "a{sv}", {})
            print("read", bytes(value))


asyncio.run(main())

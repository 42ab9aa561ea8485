"""crowd.py COUNT: discovers until so many devices have objects, follows 3,000 of their signals, and tells how many
objects came and went meanwhile, and the octets of GetManagedObjects."""

import asyncio
import collections
import sys

from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus

OBJECTS = "org.freedesktop.DBus.ObjectManager"


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    count = int(sys.argv[1])
    signals = asyncio.Queue()

    def said(message):
        if message.member in ("InterfacesAdded", "InterfacesRemoved", "PropertiesChanged"):
            signals.put_nowait(message.member)

    async def call(destination, path, interface, member, signature="", *body):
        answer = await bus.call(Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature,
            body=list(body)))
        assert not answer.error_name, (member, answer.error_name, answer.body)
        return answer

    bus.add_message_handler(said)
    await call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s",
               "type='signal',sender='org.bluez'")
    await call("org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery")
    found = 0
    while found < count:
        found += {"InterfacesAdded": 1, "InterfacesRemoved": -1}.get(await signals.get(), 0)
    print("found", found)
    seen = collections.Counter([await signals.get() for _ in range(3000)])
    answer = await call("org.bluez", "/", OBJECTS, "GetManagedObjects")
    octets = len(bytes(Message(
        destination="org.bluez", path="/", interface=OBJECTS, member="M", signature=answer.signature,
        body=answer.body, serial=1)._marshall(False)))
    devices = sum("org.bluez.Device1" in interfaces for interfaces in answer.body[0].values())
    print(f"{devices} devices, {seen['InterfacesAdded']} added, {seen['InterfacesRemoved']} removed, {octets} octets")


asyncio.run(main())

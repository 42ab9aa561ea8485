"""served_sockets.py: a characteristic whose values go over sockets, by AcquireWrite and AcquireNotify."""

import asyncio
import socket

from dbus_fast import BusType, PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property, method

ROOT, SERVICE, VALUE = "/served", "/served/service0", "/served/service0/value0"


class Service(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattService1")

    @dbus_property(PropertyAccess.READ)
    def UUID(self) -> "s":
        return "12345678-1234-5678-1234-56789abcdef0"

    @dbus_property(PropertyAccess.READ)
    def Primary(self) -> "b":
        return True


class Characteristic(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattCharacteristic1")
        self.value = b"\x01"

    @dbus_property(PropertyAccess.READ)
    def UUID(self) -> "s":
        return "12345678-1234-5678-1234-56789abcdef1"

    @dbus_property(PropertyAccess.READ)
    def Service(self) -> "o":
        return SERVICE

    @dbus_property(PropertyAccess.READ)
    def Flags(self) -> "as":
        return ["read", "write", "notify"]

    @dbus_property(PropertyAccess.READ)
    def WriteAcquired(self) -> "b":
        return False

    @dbus_property(PropertyAccess.READ)
    def NotifyAcquired(self) -> "b":
        return False

    def pair(self, options):
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own.setblocking(False)
        return own, [theirs.detach(), options["mtu"].value]

    @method()
    def ReadValue(self, options: "a{sv}") -> "ay":
        return self.value

    @method()
    def AcquireWrite(self, options: "a{sv}") -> "hq":
        own, answer = self.pair(options)

        def written():
            value = own.recv(512)
            if not value:
                return asyncio.get_running_loop().remove_reader(own)
            self.value = value
            print(f"written {self.value!r}")

        asyncio.get_running_loop().add_reader(own, written)
        return answer

    @method()
    def AcquireNotify(self, options: "a{sv}") -> "hq":
        own, answer = self.pair(options)
        self.notifying = asyncio.ensure_future(self.notify(own))
        return answer

    async def notify(self, own):
        for number in range(1 << 20):
            await asyncio.sleep(0.1)
            try:
                own.send(number.to_bytes(4, "little"))
            except BrokenPipeError:
                return print("nobody listens")


class Advertisement(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.LEAdvertisement1")

    @dbus_property(PropertyAccess.READ)
    def Type(self) -> "s":
        return "peripheral"

    @dbus_property(PropertyAccess.READ)
    def LocalName(self) -> "s":
        return "Served"

    @method()
    def Release(self):
        pass


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect()
    bus.export(SERVICE, Service())
    bus.export(VALUE, Characteristic())
    bus.export("/served/advertisement0", Advertisement())
    adapter = bus.get_proxy_object("org.bluez", "/org/bluez/hci0", await bus.introspect("org.bluez", "/org/bluez/hci0"))
    await adapter.get_interface("org.bluez.GattManager1").call_register_application(ROOT, {})
    await adapter.get_interface("org.bluez.LEAdvertisingManager1").call_register_advertisement(
        "/served/advertisement0", {})
    print("advertising")
    await asyncio.get_running_loop().create_future()


asyncio.run(main())

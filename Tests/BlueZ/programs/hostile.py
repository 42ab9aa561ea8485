"""A program that does on the bus whatever it can that is wrong. Each call is to be answered; none is to be fatal."""

import asyncio
import contextlib

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER, DEVICE = "/org/bluez/hci0", "/org/bluez/hci0/dev_C0_DE_00_00_00_04"
PROPERTIES = "org.freedesktop.DBus.Properties"


async def call(bus, path, interface, member, signature="", body=()):
    return await asyncio.wait_for(
        bus.call(
            Message(
                destination="org.bluez", path=path, interface=interface, member=member, signature=signature,
                body=list(body))),
        60)


async def refused(bus, *arguments):
    reply = await call(bus, *arguments)
    assert reply.message_type is MessageType.ERROR, (arguments, reply.body)
    return reply.error_name


async def nonsense(bus):
    nested = Variant("v", Variant("v", Variant("as", ["x"] * 100)))
    for arguments in [
        ("/", "org.bluez.Adapter1", "StartDiscovery"),
        ("/org/bluez/hci7", "org.bluez.Adapter1", "StartDiscovery"),
        (ADAPTER, "org.bluez.Adapter1", "NoSuchMember"),
        (ADAPTER, "org.bluez.Adapter9", "StartDiscovery"),
        (ADAPTER, "org.bluez.Adapter1", "StartDiscovery", "s", ["x"]),
        (ADAPTER, "org.bluez.Adapter1", "StopDiscovery"),
        (ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", [{"UUIDs": Variant("as", ["no uuid"])}]),
        (ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", [{"RSSI": Variant("s", "strong")}]),
        (ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", [{"Transport": Variant("s", "bredr")}]),
        (ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", [{"Unknown": nested}]),
        (ADAPTER, "org.bluez.Adapter1", "RemoveDevice", "o", ["/org/bluez/hci0/dev_00_00_00_00_00_00"]),
        (ADAPTER, "org.bluez.Adapter1", "RemoveDevice", "o", ["/"]),
        (ADAPTER, PROPERTIES, "Get", "ss", ["org.bluez.Adapter1", "Nothing"]),
        (ADAPTER, PROPERTIES, "Get", "ss", ["org.bluez.Nothing1", "Address"]),
        (ADAPTER, PROPERTIES, "Get", "ss", ["\u212aelvin", "\U0001f4a3"]),
        (ADAPTER, PROPERTIES, "Set", "ssv", ["org.bluez.Adapter1", "Address", Variant("s", "x")]),
        (ADAPTER, PROPERTIES, "Set", "ssv", ["org.bluez.Adapter1", "Powered", Variant("s", "yes")]),
        (DEVICE, "org.bluez.Device1", "CancelPairing"),
        (DEVICE, "org.bluez.Device1", "ConnectProfile", "s", ["not a uuid"]),
        (ADAPTER, "org.bluez.GattManager1", "UnregisterApplication", "o", ["/"]),
        (ADAPTER, "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement", "o", ["/"]),
        (ADAPTER, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement", "oa{sv}", ["/nothing", {}]),
        (ADAPTER, "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", ["/nothing", {}]),
        (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "UnregisterMonitor", "o", ["/"]),
        ("/org/bluez", "org.bluez.AgentManager1", "RegisterAgent", "os", ["/agent", "Telepathy"]),
        ("/org/bluez", "org.bluez.AgentManager1", "UnregisterAgent", "o", ["/agent"]),
        ("/org/bluez", "org.bluez.ProfileManager1", "RegisterProfile", "osa{sv}", ["/p", "x", {}]),
    ]:
        name = await refused(bus, *arguments)
        print(arguments[2], name)


async def spoof(bus):
    """Says to bled-bluez alone that each program has left the bus."""
    for name in await names(bus):
        await bus.send(
            Message(
                message_type=MessageType.SIGNAL, destination="org.bluez", path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus", member="NameOwnerChanged", signature="sss", body=[name, name, ""]))


async def names(bus):
    """The unique names of all programs."""
    reply = await bus.call(
        Message(
            destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
            member="ListNames"))
    return [name for name in reply.body[0] if name.startswith(":")]


async def many(bus):
    """As many calls at once as the bus allows, and some larger than any program's."""
    calls = [call(bus, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") for _ in range(100)]
    for reply in await asyncio.gather(*calls):
        assert reply.message_type is MessageType.METHOD_RETURN, reply.body
    filters = {"UUIDs": Variant("as", ["180d"] * 70000)}
    name = await refused(bus, ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", [filters])
    assert name == "org.freedesktop.DBus.Error.LimitsExceeded", name
    for number in range(200):
        await call(
            bus, ADAPTER, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor", "o", [f"/monitor{number}"])


async def leave(number):
    """Ends in the middle of something."""
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    for arguments in [
        (ADAPTER, "org.bluez.Adapter1", "StartDiscovery"),
        (DEVICE, "org.bluez.Device1", "Connect"),
        (DEVICE, "org.bluez.Device1", "Pair"),
        (ADAPTER, "org.bluez.GattManager1", "RegisterApplication", "oa{sv}", ["/app", {}]),
        (ADAPTER, "org.bluez.AdvertisementMonitorManager1", "RegisterMonitor", "o", ["/"]),
        (DEVICE, "org.bluez.Device1", "Disconnect"),
    ][: number % 7]:
        path, interface, member, *rest = arguments
        signature, body = rest or ("", [])
        await bus.send(
            Message(
                destination="org.bluez", path=path, interface=interface, member=member, signature=signature,
                body=body))
    bus.disconnect()
    await bus.wait_for_disconnect()


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    await nonsense(bus)
    await spoof(bus)
    while True:
        # dbus-fast gives a bus up if its socket accepts nothing for a moment.
        with contextlib.suppress(BlockingIOError):
            await many(bus)
            break
        bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    for number in range(40):
        await leave(number)
    print("done")


asyncio.run(main())

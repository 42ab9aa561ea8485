"""Programs that send calls with descriptors, wait for no answer, and leave the bus."""

import asyncio
import os

from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus


async def main():
    descriptor = os.open("/dev/null", os.O_RDONLY)
    for _ in range(20):
        bus = await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect()
        for _ in range(100):
            sent = bus.send(
                Message(
                    destination="org.bluez", path="/org/bluez/hci0", interface="org.bluez.Adapter1",
                    member="ConnectDevice", signature="h", body=[0], unix_fds=[descriptor]))
        await sent
        bus.disconnect()
        await bus.wait_for_disconnect()
    print("done", flush=True)


asyncio.run(main())

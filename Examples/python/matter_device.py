#!/usr/bin/env python3
"""A Matter device that controllers find and commission over Bluetooth LE. CircuitMatter is the device, and takes BTP
over bled for its network: pip install circuitmatter

bled --adapter simulated &
python3 Examples/python/matter_device.py simulated device.json
"""

import argparse
import asyncio
import contextlib
import struct
import sys
from typing import Any

import circuitmatter  # type: ignore[import-not-found, unused-ignore]
from btp import BTP, BTPError
from circuitmatter.exchange import Exchange  # type: ignore[import-not-found, unused-ignore]

import bled

SERVICE = "FFF6"
WRITTEN = "18EE2EF5-263D-4559-959F-4F9C429F9D11"
INDICATED = "18EE2EF5-263D-4559-959F-4F9C429F9D12"
# Numbers that Matter reserves for tests.
VENDOR, PRODUCT = 0xFFF4, 0x1234
# A controller closes the connection when it has waited 15 s for an acknowledgement.
ACKNOWLEDGEMENT_DELAY = 2.5
UNLIKELY_ERROR = 0x0E


class Device(circuitmatter.CircuitMatter):  # type: ignore[misc, unused-ignore]
    """The device, on a network that is BTP connections."""

    def start_commissioning(self) -> None:
        print(f"Discriminator {self.nonvolatile['discriminator']}, passcode {self.nonvolatile['passcode']}", flush=True)


class Network:
    """The sockets and the name service that CircuitMatter asks for."""

    AF_INET6 = SOCK_DGRAM = 0

    def socket(self, *_: object) -> "Network":
        return self

    def bind(self, _: object) -> None: ...

    def setblocking(self, _: bool) -> None: ...

    def advertise_service(self, *_: object, **__: object) -> None: ...

    def sendto(self, message: memoryview, controller: "Controller") -> None:
        controller.send(bytes(message))


class Controller:
    """A connected controller. `serve` runs from the subscription until the controller leaves."""

    def __init__(self, client: bled.Client, identifier: str, indicated: int, btp: BTP, device: Device) -> None:
        self.writes: asyncio.Queue[bled.WriteRequest] = asyncio.Queue()
        self._client, self._identifier, self._indicated = client, identifier, indicated
        self._btp, self._device = btp, device

    def send(self, message: bytes) -> None:
        self._btp.send(message)

    async def serve(self) -> None:
        await self._indicate(self._btp.handshake)
        print(f"A controller: segments of {self._btp.segment_length} octets", flush=True)
        while True:
            try:
                write = await asyncio.wait_for(self.writes.get(), ACKNOWLEDGEMENT_DELAY)
            except TimeoutError:
                await self._indicate(self._btp.acknowledgement())
            else:
                self._receive(write)
            while segment := self._btp.segment():
                await self._indicate(segment)

    def _receive(self, write: bled.WriteRequest) -> None:
        try:
            message = self._btp.receive(write.value)
        except BTPError:
            write.refuse(UNLIKELY_ERROR)
            raise
        write.respond()
        if message is not None:
            print(f"A message of {len(message)} octets", flush=True)
            # CircuitMatter prints each attribute that is read.
            with contextlib.redirect_stdout(None):
                self._device.process_packet(self, memoryview(message))

    async def _indicate(self, segment: bytes | None) -> None:
        if segment is not None:
            await self._client.indicate(self._indicated, segment, centrals=[self._identifier])


class Server:
    """The service and its controllers."""

    def __init__(self, client: bled.Client, device: Device, published: bled.Published) -> None:
        self._client, self._device = client, device
        self._indicated = published.handle(INDICATED)
        self._controllers: dict[str, Controller] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        async for event in self._client.server_events:
            match event:
                case bled.WriteRequest():
                    self._write(event)
                case bled.ServerSubscribed():
                    self._subscribed(event.central)
                case bled.ServerUnsubscribed():
                    self._forget(event.central)

    def _write(self, write: bled.WriteRequest) -> None:
        if write.central in self._tasks:
            self._controllers[write.central].writes.put_nowait(write)
            return
        try:
            btp = BTP(write.value, write.mtu or 23)
        except BTPError:
            write.refuse(UNLIKELY_ERROR)
        else:
            self._controllers[write.central] = Controller(
                self._client, write.central, self._indicated, btp, self._device
            )
            write.respond()

    def _subscribed(self, central: str) -> None:
        if central not in self._tasks and (controller := self._controllers.get(central)):
            self._tasks[central] = asyncio.create_task(self._serve(central, controller))

    async def _serve(self, central: str, controller: Controller) -> None:
        try:
            await controller.serve()
        except Exception as error:  # Errors of CircuitMatter, too, end the service of this controller alone.
            print(f"The connection of a controller failed: {error!r}", flush=True)
            self._forget(central)

    def _forget(self, central: str) -> None:
        self._controllers.pop(central, None)
        if task := self._tasks.pop(central, None):
            task.cancel()
            print("A controller has left", flush=True)


async def main(adapter: str, state: str) -> None:
    network: Any = Network()
    device = Device(network, network, state_filename=state, vendor_id=VENDOR, product_id=PRODUCT)
    service = bled.ServiceToPublish(
        adapter=adapter,
        uuid=SERVICE,
        characteristics=[
            bled.ServiceToPublishCharacteristic(uuid=WRITTEN, properties=["write"]),
            bled.ServiceToPublishCharacteristic(uuid=INDICATED, properties=["indicate"]),
        ],
    )
    # Commissionable, the version of the advertisement (four bits) and the discriminator, vendor, product, no more data.
    data = struct.pack("<BHHHB", 0, device.nonvolatile["discriminator"], VENDOR, PRODUCT, 0)
    async for client in bled.connect():
        try:
            async with (
                client.publish(service) as published,
                client.advertise(adapter=adapter, service_data={SERVICE: data}),
            ):
                print("Advertised", flush=True)
                await Server(client, device, published).run()
        except bled.DaemonUnreachable:
            print("The daemon has ended", flush=True)


if __name__ == "__main__":
    # BTP loses nothing, so that messages are not sent again.
    send = Exchange.send
    Exchange.send = lambda self, *arguments, **options: send(self, *arguments, **{**options, "reliable": False})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("adapter", help="the name of the adapter that advertises")
    parser.add_argument("state", help="a file for the state of the device, which is written if it is not there")
    options = parser.parse_args()
    try:
        asyncio.run(main(options.adapter, options.state))
    except bled.BledError as error:
        sys.exit(f"matter_device.py: {error}")

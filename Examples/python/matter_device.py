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
from btp_server import Controller, Server
from circuitmatter.exchange import Exchange  # type: ignore[import-not-found, unused-ignore]

import bled

SERVICE = "FFF6"
WRITTEN = "18EE2EF5-263D-4559-959F-4F9C429F9D11"
INDICATED = "18EE2EF5-263D-4559-959F-4F9C429F9D12"
# Numbers that Matter reserves for tests.
VENDOR, PRODUCT = 0xFFF4, 0x1234


class Device(circuitmatter.CircuitMatter):  # type: ignore[misc, unused-ignore]
    """The device, on a network that is BTP connections."""

    def start_commissioning(self) -> None:
        print(f"Discriminator {self.nonvolatile['discriminator']}, passcode {self.nonvolatile['passcode']}", flush=True)

    def received(self, controller: Controller, message: bytes) -> None:
        # CircuitMatter prints each attribute that is read.
        with contextlib.redirect_stdout(None):
            self.process_packet(controller, memoryview(message))


class Network:
    """The sockets and the name service that CircuitMatter asks for."""

    AF_INET6 = SOCK_DGRAM = 0

    def socket(self, *_: object) -> "Network":
        return self

    def bind(self, _: object) -> None: ...

    def setblocking(self, _: bool) -> None: ...

    def advertise_service(self, *_: object, **__: object) -> None: ...

    def sendto(self, message: memoryview, controller: Controller) -> None:
        controller.send(bytes(message))


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
                await Server(client, published.handle(INDICATED), device.received).run()
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

#!/usr/bin/env python3
"""Publishes a stream of samples, and passes the phone that subscribes many of them over a descriptor.

bled --adapter simulated &
python3 Examples/python/stream.py
"""

import asyncio
import sys

import bled

SERVICE = "B1ED0010-5EED-4B1E-8D00-000000000000"
SAMPLES = "B1ED0011-5EED-4B1E-8D00-000000000000"
COUNT = 200


async def main() -> None:
    characteristic = bled.ServiceToPublishCharacteristic(uuid=SAMPLES, properties=["notify"])
    service = bled.ServiceToPublish(uuid=SERVICE, characteristics=[characteristic])
    async with bled.connect() as client:
        async with client.publish(service), client.advertise(name="Samples", services=[SERVICE]):
            phone = await anext(client.server_events)
            assert isinstance(phone, bled.ServerSubscribed)
            async with client.acquire(phone.central, phone.handle) as pipe:
                length = pipe.maximum_length // 2 * 2
                # A packet is a value. `send` waits while the link has no room.
                for number in range(COUNT):
                    await pipe.send(number.to_bytes(2, "little") * (length // 2))
                # The end comes back when all of them are sent, or the phone has left.
                pipe.end_sending()
                await pipe.receive()
                if pipe.unsent:
                    print(f"The phone has left; {pipe.unsent} of {COUNT} values were not sent.")
                else:
                    print(f"{COUNT} values of {length} octets went to the phone.")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except bled.BledError as error:
        sys.exit(f"stream.py: {error}")

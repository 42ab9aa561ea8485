"""A peripheral that is not ours: a GATT server of Bumble with a value of every kind that the cases need."""

import asyncio

from bumble.core import UUID, AdvertisingData
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service

HEART_RATE = "180D"
MEASUREMENT = "2A37"
LOCATION = "2A38"
BATTERY = "180F"
LEVEL = "2A19"
OURS = "B1ED0001-0000-4000-8000-00805F9B34FB"
LONG = "B1ED0002-0000-4000-8000-00805F9B34FB"
WRITABLE = "B1ED0003-0000-4000-8000-00805F9B34FB"
INDICATED = "B1ED0004-0000-4000-8000-00805F9B34FB"
USER_DESCRIPTION = "2901"
LONG_VALUE = bytes(index * 7 % 256 for index in range(512))


class Peripheral:
    """The device, its characteristics, and what was written to it."""

    @classmethod
    async def make(cls, air, name, address):
        """Puts a device on the air; it does not advertise yet."""
        self = cls()
        self.address = address
        self.is_there = False
        self.written = asyncio.Queue()
        kinds = Characteristic.Properties
        readable, writeable = Characteristic.READABLE, Characteristic.WRITEABLE
        self.measurement = Characteristic(MEASUREMENT, kinds.NOTIFY, readable, b"\0\x48")
        location = Characteristic(LOCATION, kinds.READ, readable, b"\x01")
        level = Characteristic(LEVEL, kinds.READ, readable, b"\x5a")
        long = Characteristic(LONG, kinds.READ, readable, LONG_VALUE)
        self.stored = b""
        self.writable = Characteristic(
            WRITABLE,
            kinds.READ | kinds.WRITE | kinds.WRITE_WITHOUT_RESPONSE,
            readable | writeable,
            CharacteristicValue(read=lambda _: self.stored, write=self._store),
            [Descriptor(USER_DESCRIPTION, Descriptor.READABLE, b"store")],
        )
        self.indicated = Characteristic(INDICATED, kinds.INDICATE, readable, b"\0")
        battery = Service(BATTERY, [level])
        self.device = await air.device(
            name,
            address,
            [
                battery,
                Service(HEART_RATE, [self.measurement, location]),
                Service(OURS, [long, self.writable, self.indicated], included_services=[battery]),
            ],
        )
        self.device.advertising_data = bytes(
            AdvertisingData(
                [
                    (AdvertisingData.FLAGS, b"\x06"),
                    (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode()),
                    (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(HEART_RATE))),
                ]
            )
        )
        return self

    async def advertise(self):
        """Advertises whenever no central is connected."""
        self.is_there = True
        await self.device.start_advertising(
            auto_restart=True, advertising_interval_min=200, advertising_interval_max=200
        )

    def subscription(self, characteristic):
        """The future of the next change of a subscription: (notify, indicate)."""
        future = asyncio.get_running_loop().create_future()

        def changed(_bearer, notify, indicate):
            if not future.done():
                future.set_result((notify, indicate))

        characteristic.once(Characteristic.EVENT_SUBSCRIPTION, changed)
        return future

    async def notify(self, value):
        """Notifies the heart rate measurement to those who subscribed."""
        await self.device.notify_subscribers(self.measurement, value)

    async def indicate(self, value):
        """Indicates to those who subscribed, and returns when they confirmed."""
        await self.device.indicate_subscribers(self.indicated, value)

    def disconnection(self):
        """The future of the end of the one link there is."""
        future = asyncio.get_running_loop().create_future()
        [connection] = self.device.connections.values()
        connection.once(connection.EVENT_DISCONNECTION, future.set_result)
        return future

    def _store(self, _connection, value):
        self.stored = bytes(value)
        self.written.put_nowait(self.stored)

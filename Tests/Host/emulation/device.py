"""A device of a scenario: a host of Bumble on a radio of its own."""

import asyncio

from bumble.device import AdvertisingType, Device, DeviceConfiguration
from bumble.hci import Address, HCI_Error, HCI_LE_Set_Random_Address_Command, OwnAddressType
from bumble.host import Host

from . import advertising
from .channels import Echo, spec
from .description import check, signal, span
from .people import Key, seat
from .radio import Radio
from .values import generic_attribute, services


def host(air, description, radio=Radio):
    """A host of Bumble with the name and the address of a device or phone, and its controller."""
    kind = (
        Address.RANDOM_DEVICE_ADDRESS
        if description.get("addressType") == "random"
        else Address.PUBLIC_DEVICE_ADDRESS
    )
    address = Address(description["address"], kind)
    controller = radio(description["name"], link=air, public_address=address)
    controller.signal = lambda: signal(description)
    pipe = Host()
    pipe.controller = controller
    # A central with a public address has a random one that is never used.
    static = address if kind == Address.RANDOM_DEVICE_ADDRESS else Address(f"C1{description['address'][2:]}")
    configuration = DeviceConfiguration(
        name=description["name"], address=static, irk=bytes(static) * 2 + bytes(4), gatt_service_enabled=False)
    device = Device(name=description["name"], address=static, config=configuration, host=pipe)
    return device, controller, OwnAddressType.RANDOM if address.is_random else OwnAddressType.PUBLIC


class EmulatedDevice:
    """Advertises, serves its values, pairs and echoes channels."""

    def __init__(self, air, description):
        check(
            description, "name", "address", "addressType", "interval", "advertising", "scanResponse", "rssi", "mtu",
            "responseDelay", "connectDelay", "losses", "pairing", "services", "echoPSM", "connectable",
            "disconnectAfter", "privateAddress", "databaseHash")
        losses = description.get("losses", {})
        check(losses, "connect", "link")
        self._description = description
        self._device, self._radio, self._own_address_type = host(air, description)
        self._radio.loses_connect = losses.get("connect", 0)
        self._radio.falls_silent = span(losses.get("link"), None)
        self.server = self._device.gatt_server
        self.server.max_mtu = description.get("mtu", 247)
        self._prepare = self.server.on_att_prepare_write_request
        self.server.on_att_prepare_write_request = self._prepared
        if (delay := span(description.get("responseDelay"), 0)) > 0:
            self._delay(delay)
        self._pairing = description.get("pairing", {})
        seat(self._device, description)
        self._keys = {}
        self._device.add_service(generic_attribute(description.get("databaseHash", False)))
        found, self._values = services(description.get("services", []), self)
        for service in found:
            self._device.add_service(service)
        if "echoPSM" in description:
            self._device.create_l2cap_server(spec(description["echoPSM"]), Echo)
        self._device.on("connection", self._connected)

    async def start(self):
        """Is on the air."""
        await self._device.power_on()
        await self._advertise()
        if (rotation := self._description.get("privateAddress")) is not None:
            self._rotation = asyncio.ensure_future(self._rotate(rotation))

    async def _rotate(self, seconds):
        """Takes another private address at times; not on a link."""
        while True:
            await asyncio.sleep(seconds)
            if not self._device.connections:
                await self._advertise()

    async def _advertise(self):
        if "privateAddress" in self._description:
            await self._device.stop_advertising()
            address = Address.generate_private_address(self._device.irk)
            await self._device.send_sync_command(HCI_LE_Set_Random_Address_Command(random_address=address))
            self._device.random_address = address
        data, response = advertising.encode(
            self._description.get("advertising", {}), self._description.get("scanResponse"))
        kinds = AdvertisingType
        interval = self._description.get("interval", 0.1) * 1000
        await self._device.start_advertising(
            advertising_type=kinds.UNDIRECTED_CONNECTABLE_SCANNABLE
            if self._description.get("connectable", True)
            else kinds.UNDIRECTED_SCANNABLE,
            own_address_type=self._own_address_type,
            auto_restart=True,
            advertising_data=data,
            scan_response_data=response,
            advertising_interval_min=interval,
            advertising_interval_max=interval,
        )

    def _delay(self, delay):
        """Answers late, and not at all when the link has ended."""
        answer = self.server.on_gatt_pdu

        def receive(bearer, pdu):
            asyncio.get_running_loop().call_later(
                delay, lambda: bearer in self._device.connections.values() and answer(bearer, pdu))

        self.server.on_gatt_pdu = receive

    def _prepared(self, bearer, request):
        """Bumble refuses parts behind the first octet: what stays before them goes before them."""
        queue = self.server.prepared_writes.setdefault(bearer, [])
        for value in self._values:
            if value.characteristic.handle == request.attribute_handle and all(
                handle != request.attribute_handle for handle, _, _ in queue
            ):
                queue.append((request.attribute_handle, 0, value.until(request.value_offset)))
        self._prepare(bearer, request)

    def key(self, connection):
        """The key that it shares with the central; None if there is none."""
        if connection.is_encrypted:
            return self._keys.get(str(connection.peer_address), Key(False, False, self._pairing.get("keySize", 16)))
        return self._keys.get(str(connection.peer_address))

    async def disconnect(self):
        """Ends its link."""
        (connection,) = self._device.connections.values()
        await connection.disconnect()

    def vanish(self):
        """Goes out of range, with its link."""
        self._radio.vanish()
        for value in self._values:
            value.end()

    def come_back(self):
        """Is in range again."""
        self._radio.is_away = False

    def _connected(self, connection):
        for value in self._values:
            value.begin()
        connection.on("disconnection", self._disconnected)
        connection.on("pairing", lambda keys: self._paired(connection, keys))
        if self._pairing.get("securityRequest"):
            connection.request_pairing()
        if (time := span(self._description.get("disconnectAfter"), None)) is not None:
            asyncio.get_running_loop().call_later(time, lambda: asyncio.ensure_future(self._leave(connection)))

    async def _leave(self, connection):
        try:
            await connection.disconnect()
        except HCI_Error:
            pass  # It is over already.

    def _paired(self, connection, keys):
        key = keys.ltk or keys.ltk_central
        size = self._pairing.get("keySize", 16)
        self._keys[str(connection.peer_address)] = Key(key.authenticated, keys.ltk is not None, size)

    def _disconnected(self, _reason):
        for value in self._values:
            value.end()
        if self._pairing.get("losesKeys"):
            self._keys.clear()
            asyncio.ensure_future(self._device.keystore.delete_all())

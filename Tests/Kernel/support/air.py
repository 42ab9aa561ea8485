"""Emulated radio: controllers and hosts of Bumble that hear each other, and controllers that the kernel drives.

Bumble's controller leaves out what a central with several pending connects needs, and takes every LE packet to come
from a random address. Both are mended here.
"""

from bumble import hci
from bumble.controller import Controller
from bumble.core import PhysicalTransport
from bumble.device import Device
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport

SUCCESS = hci.HCI_ErrorCode.SUCCESS


class Air(LocalLink):
    """The medium. LE data goes out under the address that the connection was made with."""

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        if transport == PhysicalTransport.LE:
            connection = sender_controller.le_connections.get(destination_address)
            if connection is not None and connection.self_address != sender_controller.random_address:
                usual = sender_controller.random_address
                sender_controller.random_address = connection.self_address
                super().send_acl_data(sender_controller, destination_address, transport, data)
                sender_controller.random_address = usual
                return
        super().send_acl_data(sender_controller, destination_address, transport, data)

    async def adapter(self, address, personality=None):
        """Gives the kernel a controller with this public address, and this class of the zoo or none."""
        return await Adapter.open(self, address, personality or EmulatedController)

    async def device(self, name, address, services=()):
        """A device with a host of its own, powered on and silent, with this static random address."""
        controller = EmulatedController(name, link=self, public_address=hci.Address(address))
        host = Host()
        host.controller = controller
        device = Device(name=name, address=hci.Address(address), host=host)
        device.gatt_server.max_mtu = 100
        for service in services:
            device.add_service(service)
        await device.power_on()
        return device


class EmulatedController(Controller):
    """A controller with a filter accept list and cancellable connects (Core 5.4, Vol 4, Part E, 7.8.12–17)."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.accept_list = set()
        # As controllers before 4.1: only the central's may change the parameters of a link.
        self.leaves_parameters_to_hosts = False

    def on_hci_le_clear_filter_accept_list_command(self, _command):
        self.accept_list.clear()
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_add_device_to_filter_accept_list_command(self, command):
        if len(self.accept_list) >= self.filter_accept_list_size:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.MEMORY_CAPACITY_EXCEEDED_ERROR)
        self.accept_list.add(entry(command))
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_remove_device_from_filter_accept_list_command(self, command):
        self.accept_list.discard(entry(command))
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_create_connection_cancel_command(self, _command):
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.send_hci_packet(
            hci.HCI_LE_Connection_Complete_Event(
                status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
                connection_handle=0,
                role=hci.Role.CENTRAL,
                peer_address_type=0,
                peer_address=hci.Address.ANY,
                connection_interval=0,
                peripheral_latency=0,
                supervision_timeout=0,
                central_clock_accuracy=0,
            )
        )
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_connection_update_command(self, command):
        connection = self.find_le_connection_by_handle(command.connection_handle)
        if self.leaves_parameters_to_hosts and connection and connection.role == hci.Role.PERIPHERAL:
            refusal = hci.HCI_ErrorCode.UNSUPPORTED_REMOTE_FEATURE_ERROR
            return self._send_hci_command_status(refusal, command.op_code)
        return super().on_hci_le_connection_update_command(command)

    def on_advertising_pdu(self, pdu):
        pending = self.pending_le_connection
        if pending is not None and pending.initiator_filter_policy == 1:
            heard = pdu.advertiser_address
            known = (int(not heard.is_public), bytes(heard)) in self.accept_list
            pending.peer_address = heard if known else hci.Address.ANY
        super().on_advertising_pdu(pdu)


def entry(command):
    """A device of the filter accept list: the type of its address, and its address."""
    return command.address_type & 1, bytes(command.address)


class Adapter:
    """A controller on /dev/vhci, which the kernel drives as hci0, hci1 …, in the order in which they are made."""

    @classmethod
    async def open(cls, air, address, personality):
        self = cls()
        self.address = address
        self._transport = await open_transport("vhci")
        self.controller = personality(
            "kernel",
            host_source=self._transport.source,
            host_sink=self._transport.sink,
            link=air,
            public_address=hci.Address(address, hci.Address.PUBLIC_DEVICE_ADDRESS),
        )
        return self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        # A case may have pulled the adapter already.
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self.controller.link.remove_controller(self.controller)
        for advertising_set in self.controller.advertising_sets.values():
            advertising_set.stop()
        self.controller.le_legacy_advertiser.stop()
        self.controller.host = None
        await transport.close()

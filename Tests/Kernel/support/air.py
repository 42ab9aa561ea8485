"""Emulated radio: controllers and hosts of Bumble that hear each other, and controllers that the kernel drives.

Bumble's controller leaves out what a central with several pending connects needs, and takes every LE packet to come
from a random address. Both are mended here; what it lacks on links, in `link_procedures`.
"""

from dataclasses import dataclass, field

from bumble import hci, ll
from bumble.core import PhysicalTransport
from bumble.device import Device
from bumble.host import Host
from bumble.link import LocalLink

from . import link_procedures, own_host
from .serial_controller import open_serial
from .vhci import has_vhci, open_vhci

SUCCESS = hci.HCI_ErrorCode.SUCCESS
EXTENDED_ADVERTISING = {
    hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND,
    hci.HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH_COMMAND,
    hci.HCI_LE_READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS_COMMAND,
    hci.HCI_LE_REMOVE_ADVERTISING_SET_COMMAND,
    hci.HCI_LE_CLEAR_ADVERTISING_SETS_COMMAND,
}
EXTENDED_SCAN = {hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND, hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND}
EXTENDED_CREATE = {hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND}
ALL_STATES = (1 << 42) - 1  # Core 5.4, Vol 4, Part E, 7.8.27.


@hci.HCI_SyncCommand.sync_command(hci.HCI_StatusReturnParameters)
@dataclass
class RemoveDeviceFromResolvingList(hci.HCI_SyncCommand[hci.HCI_StatusReturnParameters]):
    """The command, which Bumble does not know, and so does not answer (Core 5.4, Vol 4, Part E, 7.8.39)."""

    op_code = hci.HCI_LE_REMOVE_DEVICE_FROM_RESOLVING_LIST_COMMAND
    name = "HCI_LE_REMOVE_DEVICE_FROM_RESOLVING_LIST_COMMAND"

    peer_identity_address_type: int = field(metadata=hci.metadata(hci.Address.ADDRESS_TYPE_SPEC))
    peer_identity_address: hci.Address = field(metadata=hci.metadata(hci.Address.parse_address_preceded_by_type))


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

    async def device(self, name, address, services=(), personality=None, configuration=None):
        """A device with a host of its own, powered on and silent, with this static random address."""
        controller = (personality or EmulatedController)(name, link=self, public_address=hci.Address(address))
        host = Host()
        host.controller = controller
        device = Device(name=name, address=hci.Address(address), config=configuration, host=host)
        device.gatt_server.max_mtu = 100
        for service in services:
            device.add_service(service)
        await device.power_on()
        return device


def connects(advertising_set):
    """Whether an advertising set is connectable."""
    return bool(advertising_set.parameters and advertising_set.parameters.advertising_event_properties & 1)


class EmulatedController(link_procedures.LinkProcedures):
    """A controller with a filter accept list and cancellable connects (Core 5.4, Vol 4, Part E, 7.8.12–17)."""

    # Opcodes that a personality does not know.
    absent = frozenset()
    # The states, as a mask, that it can be in and combine.
    states = ALL_STATES

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        extended = EXTENDED_ADVERTISING | EXTENDED_SCAN | EXTENDED_CREATE | link_procedures.COMMANDS
        self.supported_commands = (self.supported_commands | extended) - self.absent
        self.le_states = self.states.to_bytes(8, "little")
        self.accept_list = set()
        self._scans_extended = True
        # Like controllers before 4.1: only the central's may change the parameters of a link.
        self.leaves_parameters_to_hosts = False

    def on_hci_command_packet(self, command):
        if command.op_code in self.absent:
            return self.refuse_command(command, hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR)
        super().on_hci_command_packet(command)

    def refuse_command(self, command, status):
        """Answers a command with an error, in the event that belongs to it."""
        if not isinstance(command, hci.HCI_SyncCommand):
            return self._send_hci_command_status(status, command.op_code)
        self.send_hci_packet(
            hci.HCI_Command_Complete_Event(
                num_hci_command_packets=1,
                command_opcode=command.op_code,
                return_parameters=hci.HCI_StatusReturnParameters(status),
            )
        )

    def on_le_connect_ind(self, packet):
        # Bumble's takes the first set with the address, connectable or not.
        self.advertising_sets = dict(sorted(self.advertising_sets.items(), key=lambda each: not connects(each[1])))
        # Bumble's forgets the handle of a link to the same peer, whose packets then get lost without an end. Here each
        # of the two has sent a request before it heard the other's: that of the lower address is answered.
        own = {self.public_address, self.random_address, *(each.address for each in self.advertising_sets.values())}
        crossing = self.le_connections.get(packet.initiator_address)
        if crossing and packet.advertiser_address in own:
            if bytes(crossing.self_address) < bytes(crossing.peer_address):
                return
            self.on_le_disconnected(crossing, hci.HCI_ErrorCode.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR)
        super().on_le_connect_ind(packet)

    def on_hci_reset_command(self, command):
        # Bumble's continues its activities.
        for connection in list(self.le_connections.values()):
            connection.send_ll_control_pdu(ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR))
        self.le_connections.clear()
        self.pending_le_connection = None
        self.le_scan_enable = False
        self.le_legacy_advertiser.stop()
        for advertising_set in self.advertising_sets.values():
            advertising_set.stop()
        self.advertising_sets.clear()
        self.accept_list.clear()
        return super().on_hci_reset_command(command)

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
            pending.peer_address = heard if self.accepts(heard) else hci.Address.ANY
        super().on_advertising_pdu(pdu)

    def accepts(self, address):
        """Whether a device is in the filter accept list."""
        return (int(not address.is_public), bytes(address)) in self.accept_list

    def on_hci_le_remove_device_from_resolving_list_command(self, _command):
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_set_scan_enable_command(self, command):
        self._scans_extended = False
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_set_extended_scan_enable_command(self, command):
        self._scans_extended = True
        return super().on_hci_le_set_extended_scan_enable_command(command)

    def send_hci_packet(self, packet):
        # Bumble chooses by the features; a scan that was started with legacy commands has legacy reports.
        if isinstance(packet, hci.HCI_LE_Extended_Advertising_Report_Event) and not self._scans_extended:
            packet = hci.HCI_LE_Advertising_Report_Event([legacy(report) for report in packet.reports])
        super().send_hci_packet(packet)


def legacy(report):
    """An extended advertising report as a legacy one."""
    kinds = hci.HCI_LE_Advertising_Report_Event.EventType
    is_response = report.event_type & hci.HCI_LE_Extended_Advertising_Report_Event.EventType.SCAN_RESPONSE
    return hci.HCI_LE_Advertising_Report_Event.Report(
        event_type=kinds.SCAN_RSP if is_response else kinds.ADV_IND,
        address_type=report.address_type,
        address=report.address,
        data=report.data[:31],
        rssi=report.rssi,
    )


def entry(command):
    """A device of the filter accept list: the type of its address, and its address."""
    return command.address_type & 1, bytes(command.address)


class Adapter:
    """A controller on /dev/vhci, or on a serial line if the kernel has none, which it drives as hci0, hci1 …, in the
    order in which they are made; or one for bled's own host, under such a name."""

    @classmethod
    async def open(cls, air, address, personality, options=0):
        """Makes the controller; `options` are those of hci_vhci for a new device."""
        self = cls()
        self.address = address
        if own_host.IS_USED:
            self._transport = await own_host.offer()
        else:
            self._transport = await (open_vhci(options) if has_vhci() else open_serial())
        # For the own host; the kernel numbers them.
        self.name = getattr(self._transport, "name", None)
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

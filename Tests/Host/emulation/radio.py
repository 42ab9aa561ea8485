"""A controller of Bumble's with what its own lacks on the air: scan responses, advertisements that cannot be connected
to, signal strengths, and connections that fail or end because nothing is received.

A connection that the peripheral does not answer ends with Connection Failed to be Established (Core 5.4, Vol 6, Part B,
4.5.2), one on which nothing arrives with Connection Timeout.
"""

import asyncio
import random
import struct
from dataclasses import dataclass

from bumble import controller, hci, ll
from support.zoo.extended_advertiser import CONNECTABLE, DIRECTED, LEGACY, SCANNABLE, ExtendedAdvertiser

ERRORS = hci.HCI_ErrorCode
KINDS = hci.HCI_LE_Extended_Advertising_Report_Event.EventType
ATT_CHANNEL = 4
MTU_EXCHANGE = (2, 3)
# The time for which a central waits for the first packet: six connection events, and the delay of a busy machine.
ANSWER = 0.3


@dataclass
class Advertisement(ll.AdvExtInd):
    """An advertisement, with the answer to a scan request."""

    properties: int = 0
    scan_response: bytes = b""
    rssi: int = 0

    @property
    def kind(self):
        """The type in a report."""
        return KINDS(self.properties & (CONNECTABLE | SCANNABLE | DIRECTED | LEGACY))


class AdvertisingSet(controller.AdvertisingSet):
    """Sends all that a set has."""

    def start(self):
        self.stop()
        self.enabled = True
        self.timer_handle = asyncio.get_running_loop().call_soon(self._on_extended_advertising_timer_fired)

    def send_extended_advertising_data(self):
        properties = int(self.parameters.advertising_event_properties)
        self.controller.send_advertising_pdu(
            Advertisement(
                self.address,
                bytes(self.data),
                target_address=self.parameters.peer_address if properties & DIRECTED else None,
                sid=self.parameters.advertising_sid,
                periodic_advertising_data=bytes(self.periodic_advertising_data) or None,
                properties=properties,
                scan_response=bytes(self.scan_response_data),
                rssi=self.controller.signal(),
            )
        )


class Radio(ExtendedAdvertiser):
    """`links` it can hold; `signal` gives the strength of its next packet, in dBm; `loses_connect` is the probability
    that it does not answer a connection, and after `falls_silent` seconds nothing of a link arrives any more. One that
    `is_away` is not heard and hears nothing. `mtu` is the largest ATT MTU that arrives, for hosts that have no limit of
    their own."""

    length = 31
    links = 64
    mtu = 517
    loses_connect = 0
    falls_silent = None
    is_away = False
    # The same seed gives the same failures.
    seed = 1

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        # Is called with each advertisement.
        self.on_heard = None
        self.silent = set()
        self._chance = random.Random(f"{self.seed} {self.name}")
        self._scans_actively = False
        # Timeouts of links, by the peer's address, in seconds.
        self._timeouts = {}

    def signal(self):
        return -60

    def on_hci_read_rssi_command(self, command):
        connection = self.find_le_connection_by_handle(command.handle)
        peer = connection and self.link.find_le_controller(connection.peer_address)
        return hci.HCI_Read_RSSI_ReturnParameters(
            status=ERRORS.SUCCESS if peer else ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            handle=command.handle,
            rssi=peer.signal() if peer else 127,
        )

    def on_ll_control_pdu(self, sender_address, packet):
        # Bumble complains about packets of an unknown link: one that was not answered.
        if sender_address in self.le_connections:
            super().on_ll_control_pdu(sender_address, packet)

    # Advertising and scanning.

    def on_hci_le_set_extended_advertising_parameters_command(self, command):
        handle = command.advertising_handle
        if handle not in self.advertising_sets:
            if len(self.advertising_sets) >= self.sets:
                status = ERRORS.MEMORY_CAPACITY_EXCEEDED_ERROR
                return hci.HCI_LE_Set_Extended_Advertising_Parameters_ReturnParameters(status, 0)
            self.advertising_sets[handle] = AdvertisingSet(controller=self, handle=handle)
        return super().on_hci_le_set_extended_advertising_parameters_command(command)

    def on_hci_le_set_extended_scan_parameters_command(self, command):
        self._scans_actively = 1 in command.scan_types
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def send_advertising_pdu(self, pdu):
        if not self.is_away:
            super().send_advertising_pdu(pdu)

    def on_advertising_pdu(self, pdu):
        if self.on_heard:
            self.on_heard(pdu)
        if pdu.target_address and pdu.target_address not in (self.public_address, self.random_address):
            return
        if self.le_scan_enable:
            self._report(pdu, pdu.kind, pdu.data)
            if self._scans_actively and pdu.properties & SCANNABLE:
                self._report(pdu, pdu.kind | KINDS.SCAN_RESPONSE, pdu.scan_response)
        # The rest connects.
        scans, self.le_scan_enable = self.le_scan_enable, False
        if pdu.properties & CONNECTABLE:
            super().on_advertising_pdu(pdu)
        self.le_scan_enable = scans

    def _report(self, pdu, kind, data):
        report = hci.HCI_LE_Extended_Advertising_Report_Event.Report(
            event_type=kind,
            address_type=pdu.advertiser_address.address_type,
            address=pdu.advertiser_address,
            primary_phy=hci.Phy.LE_1M,
            secondary_phy=0 if kind & LEGACY else hci.Phy.LE_1M,
            advertising_sid=0xFF if kind & LEGACY else pdu.sid,
            tx_power=127,
            rssi=pdu.rssi,
            periodic_advertising_interval=0,
            direct_address_type=pdu.target_address.address_type if pdu.target_address else 0,
            direct_address=pdu.target_address or hci.Address.ANY,
            data=data,
        )
        self.send_hci_packet(hci.HCI_LE_Extended_Advertising_Report_Event([report]))

    # Links.

    def on_hci_le_extended_create_connection_command(self, command):
        if len(self.le_connections) >= self.links:
            return self._send_hci_command_status(ERRORS.CONNECTION_LIMIT_EXCEEDED_ERROR, command.op_code)
        return super().on_hci_le_extended_create_connection_command(command)

    def create_le_connection(self, peer_address):
        super().create_le_connection(peer_address)
        if connection := self.le_connections.get(peer_address):
            asyncio.get_running_loop().call_later(ANSWER, self._check, connection)

    def _check(self, connection):
        """The other side has the link, too."""
        if self.le_connections.get(connection.peer_address) is not connection:
            return
        ends = [other.le_connections.get(connection.self_address) for other in self.link.controllers - {self}]
        if not any(end and end.role != connection.role for end in ends):
            self.on_le_disconnected(connection, ERRORS.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR)

    def on_le_connect_ind(self, packet):
        if self.is_away or self._chance.random() < self.loses_connect:
            return
        super().on_le_connect_ind(packet)
        if connection := self.le_connections.get(packet.initiator_address):
            self._timeouts[connection.peer_address] = packet.timeout * 0.01
            if self.falls_silent is not None:
                asyncio.get_running_loop().call_later(self.falls_silent, self._fall_silent, connection)

    def vanish(self):
        """Is away, and its links end."""
        self.is_away = True
        for connection in self.le_connections.values():
            self._fall_silent(connection)

    def _fall_silent(self, connection):
        if self.le_connections.get(connection.peer_address) is not connection:
            return
        self.silent.add(connection.peer_address)
        timeout = self._timeouts[connection.peer_address]
        asyncio.get_running_loop().call_later(timeout, self._time_out, connection)

    def _time_out(self, connection):
        if self.le_connections.get(connection.peer_address) is connection:
            connection.send_ll_control_pdu(ll.TerminateInd(ERRORS.CONNECTION_TIMEOUT_ERROR))
            self.on_le_disconnected(connection, ERRORS.CONNECTION_TIMEOUT_ERROR)

    def on_le_disconnected(self, connection, reason):
        # The next link of this device is received.
        self.silent.discard(connection.peer_address)
        super().on_le_disconnected(connection, reason)

    def on_link_acl_data(self, sender_address, transport, data):
        if sender_address not in self.silent:
            super().on_link_acl_data(sender_address, transport, self._limited(data))

    def _limited(self, packet):
        """Lowers the ATT MTU in its exchange (Core 5.4, Vol 3, Part F, 3.4.2), if this is a packet of that."""
        _, channel = struct.unpack_from("<HH", packet)
        if channel != ATT_CHANNEL or packet[4] not in MTU_EXCHANGE:
            return packet
        (mtu,) = struct.unpack_from("<H", packet, 5)
        return packet[:5] + struct.pack("<H", min(mtu, self.mtu)) + packet[7:]

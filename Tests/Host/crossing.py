"""Two emulated controllers that connect to each other at the same moment, as two do in Swift tests with an own host."""

import unittest

from bumble import hci
from emulation.radio import Radio

from support.air import Air
from support.waiting import until

SUCCESS = hci.HCI_ErrorCode.SUCCESS
FAILED = hci.HCI_ErrorCode.CONNECTION_FAILED_TO_BE_ESTABLISHED_ERROR
ADDRESSES = ["02:B1:ED:00:00:00/P", "02:B1:ED:00:00:01/P"]


class Sink:
    """A host that accepts a link, connects, and keeps its links by their handles."""

    def __init__(self, air, address):
        self.links, self.ended, self.data = {}, [], []
        self.radio = Radio(address, link=air, public_address=address)
        self.radio.send_hci_packet = self.received

    def received(self, packet):
        match packet:
            case hci.HCI_LE_Connection_Complete_Event() | hci.HCI_LE_Enhanced_Connection_Complete_Event():
                self.links[packet.connection_handle] = packet.role
            case hci.HCI_Disconnection_Complete_Event():
                del self.links[packet.connection_handle]
                self.ended.append(packet.reason)
            case hci.HCI_AclDataPacket():
                self.data.append((packet.connection_handle, packet.data))

    def begin(self, peer):
        """Is open to links, and wants one to the peer."""
        self.radio.le_legacy_advertiser.enabled = True
        self.radio.on_hci_le_create_connection_command(
            hci.HCI_LE_Create_Connection_Command(
                le_scan_interval=16, le_scan_window=16, initiator_filter_policy=0,
                peer_address_type=peer.address_type, peer_address=peer, own_address_type=0, connection_interval_min=10,
                connection_interval_max=10, max_latency=0, supervision_timeout=100, min_ce_length=0, max_ce_length=0))


class CrossingTest(unittest.IsolatedAsyncioTestCase):
    async def test_two_that_connect_to_each_other_at_once_have_one_link(self):
        air = Air()
        sinks = [Sink(air, address) for address in ADDRESSES]
        for sink, peer in zip(sinks, reversed(ADDRESSES)):
            sink.begin(hci.Address(peer))
        # Each has received the other, and sent its request.
        for sink, peer in zip(sinks, reversed(ADDRESSES)):
            sink.radio.create_le_connection(hci.Address(peer))
        await until(lambda: any(FAILED in sink.ended for sink in sinks))
        self.assertEqual([list(sink.links.values()) for sink in sinks], [[hci.Role.CENTRAL], [hci.Role.PERIPHERAL]])
        for sink, other in zip(sinks, reversed(sinks)):
            (handle,) = sink.links
            packet = hci.HCI_AclDataPacket(handle, 0, 0, 5, b"\x01\x00\x04\x00\x0a")
            sink.radio.on_hci_acl_data_packet(packet)
            await until(lambda: other.data)
            self.assertEqual([each[0] for each in other.data], list(other.links))

    async def test_a_request_to_another_device_ends_no_link(self):
        air = Air()
        sink, first, second = (Sink(air, address) for address in [*ADDRESSES, "02:B1:ED:00:00:02/P"])
        for other in (first, second):
            other.radio.le_legacy_advertiser.enabled = True
            sink.begin(other.radio.public_address)
            sink.radio.create_le_connection(other.radio.public_address)
            await until(lambda other=other: other.links)
        self.assertEqual((len(sink.links), first.ended, second.ended), (2, [], []))

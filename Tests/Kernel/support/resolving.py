"""A controller that resolves private addresses: Bumble's takes the list and does nothing with it.

It reports listed devices, and connects to them, under their identity (Core 5.4, Vol 6, Part B, 6.1 to 6.4), refuses
changes of the list where the specification does (Vol 4, Part E, 7.8.38), and does not hear a device under its identity
address in network privacy mode.
"""


from bumble import hci
from bumble.smp import AddressResolver

from .air import EmulatedController

ERRORS = hci.HCI_ErrorCode


class Resolving(EmulatedController):
    """`identities` has the keys of the listed devices, `modes` their privacy modes, by the octets of their identity."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.identities = {}
        self.modes = {}
        # The devices to which it connected under their identity.
        self.connected = []

    def on_hci_reset_command(self, command):
        self.identities, self.modes, self.le_address_resolution = {}, {}, False
        return super().on_hci_reset_command(command)

    @property
    def _is_active(self):
        advertisers = (self.le_legacy_advertiser, *self.advertising_sets.values())
        return self.le_scan_enable or self.pending_le_connection or any(each.enabled for each in advertisers)

    def _changed(self, change):
        """Answers a change of the list."""
        if self.le_address_resolution and self._is_active:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        return hci.HCI_StatusReturnParameters(change())

    def on_hci_le_add_device_to_resolving_list_command(self, command):
        def add():
            device = bytes(command.peer_identity_address)
            if device in self.identities:
                return ERRORS.INVALID_COMMAND_PARAMETERS_ERROR
            self.identities[device] = (command.peer_irk, command.peer_identity_address)
            self.modes[device] = hci.HCI_LE_Set_Privacy_Mode_Command.PrivacyMode.NETWORK_PRIVACY_MODE
            return ERRORS.SUCCESS

        return self._changed(add)

    def on_hci_le_remove_device_from_resolving_list_command(self, command):
        def remove():
            known = self.identities.pop(bytes(command.peer_identity_address), None)
            return ERRORS.SUCCESS if known else ERRORS.UNKNOWN_CONNECTION_IDENTIFIER_ERROR

        return self._changed(remove)

    def on_hci_le_set_privacy_mode_command(self, command):
        def change():
            self.modes[bytes(command.peer_identity_address)] = command.privacy_mode
            return ERRORS.SUCCESS

        return self._changed(change)

    def on_hci_le_set_address_resolution_enable_command(self, command):
        if self._is_active:
            return hci.HCI_StatusReturnParameters(ERRORS.COMMAND_DISALLOWED_ERROR)
        return super().on_hci_le_set_address_resolution_enable_command(command)

    def resolved(self, address):
        """The identity behind a private address; None if there is none."""
        if not self.le_address_resolution or not address.is_resolvable:
            return None
        return AddressResolver(list(self.identities.values())).resolve(address)

    def accepts(self, address):
        return super().accepts(self.resolved(address) or address)

    def on_advertising_pdu(self, pdu):
        mode = self.modes.get(bytes(pdu.advertiser_address)) if self.le_address_resolution else None
        if mode != hci.HCI_LE_Set_Privacy_Mode_Command.PrivacyMode.NETWORK_PRIVACY_MODE:
            super().on_advertising_pdu(pdu)

    def send_hci_packet(self, packet):
        match packet:
            case hci.HCI_LE_Extended_Advertising_Report_Event() | hci.HCI_LE_Advertising_Report_Event():
                for report in packet.reports:
                    if identity := self.resolved(report.address):
                        report.address, report.address_type = identity, identity.address_type
            case hci.HCI_LE_Connection_Complete_Event(status=ERRORS.SUCCESS, peer_address=peer):
                if identity := self.resolved(peer):
                    self.connected.append(identity.to_string(with_type_qualifier=False))
                    packet = enhanced(packet, identity)
        super().send_hci_packet(packet)


def enhanced(event, identity):
    """The event of a connection to a device that was resolved."""
    return hci.HCI_LE_Enhanced_Connection_Complete_Event(
        status=event.status,
        connection_handle=event.connection_handle,
        role=event.role,
        peer_address_type=identity.address_type,
        peer_address=identity,
        local_resolvable_private_address=hci.Address("00:00:00:00:00:00"),
        peer_resolvable_private_address=event.peer_address,
        connection_interval=event.connection_interval,
        peripheral_latency=event.peripheral_latency,
        supervision_timeout=event.supervision_timeout,
        central_clock_accuracy=0,
    )

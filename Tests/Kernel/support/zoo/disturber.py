"""Another program on the same machine that sends HCI commands of its own, as hcitool and old libraries do."""

import socket
import struct

from bumble import hci

COMMAND = 0x01


class Disturber:
    """A raw HCI socket on an adapter. The kernel passes its commands on, and their answers to every such socket."""

    def __init__(self, index=0, extended=True):
        """Uses legacy commands where `extended` is false."""
        self._extended = extended
        self._socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI)
        self._socket.bind((index,))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self._socket.close()

    def scan_off(self):
        """Switches everybody's scan off."""
        if self._extended:
            self._send(hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND, struct.pack("<BBHH", 0, 0, 0, 0))
        else:
            self._send(hci.HCI_LE_SET_SCAN_ENABLE_COMMAND, bytes(2))

    def advertising_off(self):
        """Switches all advertising off."""
        if self._extended:
            self._send(hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND, bytes(2))
        else:
            self._send(hci.HCI_LE_SET_ADVERTISING_ENABLE_COMMAND, bytes(1))

    def cancel_connect(self):
        """Cancels the create connection that waits."""
        self._send(hci.HCI_LE_CREATE_CONNECTION_CANCEL_COMMAND)

    def clear_accept_list(self):
        """Clears the filter accept list; refused while it is in use."""
        self._send(hci.HCI_LE_CLEAR_FILTER_ACCEPT_LIST_COMMAND)

    def _send(self, opcode, parameters=b""):
        self._socket.send(struct.pack("<BHB", COMMAND, opcode, len(parameters)) + parameters)

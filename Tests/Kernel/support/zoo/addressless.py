"""A controller without a public address, as some on serial lines and in system-on-chips."""

from bumble import hci

from ..air import EmulatedController


class Addressless(EmulatedController):
    """Its BD_ADDR is 00:00:00:00:00:00: the kernel does not power it on before it has a static random address."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.public_address = hci.Address("00:00:00:00:00:00", hci.Address.PUBLIC_DEVICE_ADDRESS)

    def on_le_connect_ind(self, packet):
        # An address that is not one cannot be meant.
        if packet.advertiser_address != self.public_address:
            super().on_le_connect_ind(packet)

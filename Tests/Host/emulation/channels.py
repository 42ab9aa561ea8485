"""An L2CAP channel whose data comes back."""

from bumble.l2cap import L2CAP_LE_Flow_Control_Credit, LeCreditBasedChannelSpec

MOST_QUEUED = 16


def spec(psm):
    """The channels of an echoing device."""
    return LeCreditBasedChannelSpec(psm=psm, mtu=1024, mps=247, max_credits=16)


class Echo:
    """Sends back what comes, and gives credits for more as that is taken: Bumble's channels queue without a limit."""

    def __init__(self, channel):
        self._channel = channel
        self._receive, self._take_credits = channel.on_pdu, channel.on_credits
        channel.peer_credits_threshold = -1
        channel.sink = channel.write
        channel.on_pdu = self._on_pdu
        channel.on_credits = self._on_credits
        # Bumble keeps the number of the other end in use.
        numbers = channel.manager.le_coc_channels[channel.connection.handle]
        channel.on("close", lambda: numbers.pop(channel.destination_cid, None))

    def _on_pdu(self, pdu):
        self._receive(pdu)
        self._give_credits()

    def _on_credits(self, count):
        self._take_credits(count)
        self._give_credits()

    def _give_credits(self):
        channel = self._channel
        missing = channel.peer_max_credits - channel.peer_credits
        is_open = channel.state == channel.State.CONNECTED
        if is_open and len(channel.out_queue) < MOST_QUEUED and missing > channel.peer_max_credits // 2:
            channel.peer_credits += missing
            channel.send_control_frame(
                L2CAP_LE_Flow_Control_Credit(
                    identifier=channel.manager.next_identifier(channel.connection),
                    cid=channel.source_cid,
                    credits=missing,
                )
            )

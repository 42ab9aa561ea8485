"""The device's side of BTP, with the segments of a controller: python3 -m pytest Examples/python"""

import pytest
from btp import BTP, BTPError

# Version 4, an MTU of 247, a window of 4.
REQUEST = bytes.fromhex("656c 04000000 f700 04")


def connected(mtu: int = 23) -> BTP:
    return BTP(REQUEST, mtu)


def test_handshake() -> None:
    assert connected(247).handshake == bytes.fromhex("656c 04 f400 04")
    assert connected().handshake == bytes.fromhex("656c 04 1400 04")
    # Other versions before it, a larger window, a link with a larger MTU.
    assert BTP(bytes.fromhex("656c 65040000 0000 ff"), 517).handshake == bytes.fromhex("656c 04 f400 06")


@pytest.mark.parametrize("octets", ["", "656c04000000f700", "656d04000000f70004", "656c05000000f70004"])
def test_a_handshake_that_is_none(octets: str) -> None:
    with pytest.raises(BTPError):
        BTP(bytes.fromhex(octets), 23)


def test_a_message_each_way() -> None:
    btp = connected()
    assert btp.receive(bytes.fromhex("0d 00 00 0500") + b"hello") == b"hello"
    btp.send(b"world")
    assert btp.segment() == bytes.fromhex("0d 00 01 0500") + b"world"
    assert btp.segment() is None


def test_a_message_in_segments() -> None:
    btp = connected()
    assert btp.receive(bytes.fromhex("09 00 00 0600") + b"hel") is None
    assert btp.receive(bytes.fromhex("02 01") + b"l") is None
    assert btp.receive(bytes.fromhex("06 02") + b"o!") == b"hello!"
    # Three of four segments want it.
    assert btp.segment() == bytes.fromhex("08 02 01")


def test_the_window_of_the_controller() -> None:
    btp = connected()
    btp.send(bytes(100))
    # The answer to the handshake is one of four, and the last is for an acknowledgement.
    assert btp.segment() == bytes.fromhex("01 01 6400") + bytes(16)
    assert btp.segment() == bytes.fromhex("02 02") + bytes(18)
    assert btp.segment() is None and btp.acknowledgement() is None
    assert btp.receive(bytes.fromhex("08 02 00")) is None
    assert btp.segment() == bytes.fromhex("0a 00 03") + bytes(17)
    assert [btp.segment() for _ in range(3)] == [
        bytes.fromhex("02 04") + bytes(18), bytes.fromhex("02 05") + bytes(18), None]  # fmt: skip
    btp.receive(bytes.fromhex("08 05 01"))
    assert btp.segment() == bytes.fromhex("0e 01 06") + bytes(13)


def test_numbers_that_begin_again() -> None:
    btp = connected()
    for number in range(600):
        octets = bytes([0x0D, number & 0xFF, number & 0xFF, 1, 0, 7])
        assert btp.receive(octets) == b"\x07"
        assert btp.acknowledgement() == bytes([0x08, number & 0xFF, number + 1 & 0xFF])


@pytest.mark.parametrize(
    "segments",
    [
        ["0d"],
        ["0d00"],
        ["0d000005"],
        # An acknowledgement of what was not sent, a number that was left out, another length, no beginning, two.
        ["0d0100050068656c6c6f"],
        ["0d0001050068656c6c6f"],
        ["0d0000060068656c6c6f"],
        ["0d0000040068656c6c6f"],
        ["060068"],
        ["01000a0068", "01010a0068"],
        ["0400", "0401", "0402", "0403", "0404"],
    ],
)
def test_segments_that_break_the_protocol(segments: list[str]) -> None:
    btp = connected()
    with pytest.raises(BTPError):
        for segment in segments:
            btp.receive(bytes.fromhex(segment))

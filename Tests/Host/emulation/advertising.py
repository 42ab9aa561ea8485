"""Advertising data (Core 5.4, Vol 3, Part C, 11, and the Core Specification Supplement, Part A)."""

from bumble.core import UUID, AdvertisingData

from .description import check

CAPACITY = 31
FLAGS = (AdvertisingData.FLAGS, b"\x06")


def encode(advertising, response):
    """The advertising and the scan response data; without a response its part is what does not fit."""
    if response is not None:
        return _join([FLAGS, *_fields(advertising)], advertising), _join(_fields(response), response)
    if "raw" in advertising:
        return bytes.fromhex(advertising["raw"]), b""
    first, second = [], []
    for field in [FLAGS, *_fields(advertising)]:
        (first if _length(first) + _length([field]) <= CAPACITY else second).append(field)
    return _join(first), _join(second)


def _join(fields, description=None):
    if description and "raw" in description:
        return bytes.fromhex(description["raw"])
    data = bytes(AdvertisingData(fields))
    assert len(data) <= CAPACITY, fields
    return data


def _length(fields):
    return sum(2 + len(value) for _, value in fields)


def _fields(description):
    check(
        description, "name", "services", "solicitedServices", "serviceData", "manufacturerData", "appearance",
        "txPower", "raw")
    fields = [
        *_lists(description.get("services", []), 0x03, 0x07),
        *_lists(description.get("solicitedServices", []), 0x14, 0x15),
    ]
    for uuid, value in description.get("serviceData", {}).items():
        octets = UUID(uuid).to_bytes()
        fields.append((0x16 if len(octets) == 2 else 0x21, octets + bytes.fromhex(value)))
    if "manufacturerData" in description:
        fields.append((0xFF, bytes.fromhex(description["manufacturerData"])))
    if "appearance" in description:
        fields.append((0x19, description["appearance"].to_bytes(2, "little")))
    if "txPower" in description:
        fields.append((0x0A, description["txPower"].to_bytes(1, "little", signed=True)))
    if "name" in description:
        fields.append((0x09, description["name"].encode()))
    return fields


def _lists(uuids, short, long):
    """Service UUIDs by their size."""
    octets = [UUID(uuid).to_bytes() for uuid in uuids]
    for kind, size in [(short, 2), (long, 16)]:
        if of_this_size := [each for each in octets if len(each) == size]:
            yield kind, b"".join(of_this_size)

"""The types of the socket's messages.

Generated from docs/openrpc.json by python/generate.py; not to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from bled import codec
from bled.codec import Event, Member, Record
from bled.errors import BledError


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdapterDescription(Record):
    """An adapter as clients see it.

    adapter: Its name in calls: "hci0".
    address: Its address; missing while it is not known.
    address_type: The type of the address, "public" or "random"; missing while it is not known.
    advertising: The number of advertisements that it sends at the moment.
    advertising_sets: The number of advertisements that its controller sends at once; further ones take
        turns on the last place. Missing while it is not on.
    company: The company identifier of its controller's maker, 0 to 65535 (Assigned Numbers, 7.1). Missing
        if unknown.
    device_name: The Device Name of the Generic Access service, under which devices see this machine; see
        adapter.setName.
    features: The names of its controller's features (Core 6.2, Vol 6, Part B, 4.6): "LE 2M PHY", or
        "unknown feature bit 75" for one of a later specification. Those beyond the first 64 are read only where
        the controller has commands of theirs that the daemon uses. Missing while it is not on, and of simulated
        adapters.
    held_back: The activities, of "connecting", "advertising" and "scanning", that its controller cannot run
        beside its links; they wait until links have ended. Missing for none.
    kind: The kind of the adapter: "kernel", "host" or "simulated".
    links: The number of its links.
    longest_advertisement: The longest data of an advertisement in octets, 31 to 1650: 31 with legacy PDUs.
        Missing while it is not on.
    longest_packet: The longest payload of a packet on a link, in octets, 27 to 251 (the maximum data
        length). Missing while it is not on.
    name: The system's name for it.
    phys: The PHYs that its controller has: "1M", "2M", "coded". Missing while it is not on.
    private_address: The private address under which devices see it at present, six octets in hex with
        colons. Missing where they see `address`.
    problem: Why it is "failed" or, if that is known, "absent", and the remedy.
    quirks: The known or learned faults of its make of controller. Missing if there are none.
    scanning: True if it scans at the moment.
    since_event: The time since its controller sent anything, reports included, in seconds, 0 or more.
        Missing likewise.
    since_report: The time since its controller received an advertisement or a scan response, in seconds, 0
        or more. Missing if it received none since it was brought into use, and while it is not on.
    state: "absent" (unplugged), "off", "starting", "on", "suspended" (the system sleeps) or "failed" (see
        `problem`).
    taking_turns: The activities, of "connecting", "advertising" and "scanning", that its controller cannot
        run at once and therefore runs in turns at the moment; missing if all wanted ones run together.
    version: The version of its controller's Core Specification, as HCI numbers them, 0 to 255; 13 is 5.4
        (Assigned Numbers, 2.1). Missing if unknown.
    """

    adapter: str
    address: str | None = None
    address_type: Literal["public", "random"] | None = None
    advertising: int
    advertising_sets: int | None = None
    company: int | None = None
    device_name: str | None = None
    features: Sequence[str] | None = None
    held_back: Sequence[Literal["connecting", "advertising", "scanning"]] | None = None
    kind: Literal["kernel", "host", "simulated"]
    links: int
    longest_advertisement: int | None = None
    longest_packet: int | None = None
    name: str
    phys: Sequence[Literal["1M", "2M", "coded"]] | None = None
    private_address: str | None = None
    problem: AdapterDescriptionProblem | None = None
    quirks: Sequence[AdapterDescriptionQuirk] | None = None
    scanning: bool
    since_event: float | None = None
    since_report: float | None = None
    state: Literal["absent", "off", "starting", "on", "suspended", "failed"]
    taking_turns: Sequence[Literal["connecting", "advertising", "scanning"]] | None = None
    version: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("advertising", "advertising", codec.integer, True),
        Member("advertisingSets", "advertising_sets", codec.integer, False),
        Member("company", "company", codec.integer, False),
        Member("deviceName", "device_name", codec.text, False),
        Member("features", "features", codec.many(codec.text), False),
        Member("heldBack", "held_back", codec.many(codec.text), False),
        Member("kind", "kind", codec.text, True),
        Member("links", "links", codec.integer, True),
        Member("longestAdvertisement", "longest_advertisement", codec.integer, False),
        Member("longestPacket", "longest_packet", codec.integer, False),
        Member("name", "name", codec.text, True),
        Member("phys", "phys", codec.many(codec.text), False),
        Member("privateAddress", "private_address", codec.text, False),
        Member("problem", "problem", codec.record(lambda: AdapterDescriptionProblem), False),
        Member("quirks", "quirks", codec.many(codec.record(lambda: AdapterDescriptionQuirk)), False),
        Member("scanning", "scanning", codec.boolean, True),
        Member("sinceEvent", "since_event", codec.number, False),
        Member("sinceReport", "since_report", codec.number, False),
        Member("state", "state", codec.text, True),
        Member("takingTurns", "taking_turns", codec.many(codec.text), False),
        Member("version", "version", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdapterDescriptionProblem(Record):
    """A problem of an adapter.

    kind: "permission" (the daemon may not use it), "inUse" (another program has it), "blocked" (by rfkill),
        "unsupported" (it lacks a needed feature) or "hardware" (it does not answer, or wrongly).
    message: The problem, in words.
    remedy: The remedy, in words.
    """

    kind: Literal["permission", "inUse", "blocked", "unsupported", "hardware"]
    message: str
    remedy: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("kind", "kind", codec.text, True),
        Member("message", "message", codec.text, True),
        Member("remedy", "remedy", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdapterDescriptionQuirk(Record):
    """A fault of a make of controller.

    learned: When the daemon learned it from such a controller, in seconds since the epoch. Missing for a
        known one.
    quirk: Its name: "extendedScanning", or of two activities "connecting beside scanning".
    reason: The fault and its consequence, in words.
    """

    learned: float | None = None
    quirk: str
    reason: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("learned", "learned", codec.number, False),
        Member("quirk", "quirk", codec.text, True),
        Member("reason", "reason", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingResponsesResponse(Record):
    """The response of one device.

    data: The data.
    rssi: Signal strength in dBm, if known.
    slot: The slot of the response, 0 to 254.
    truncated: True if the controller lost the end of the data.
    tx_power: The transmit power in dBm, if the header contains it.
    """

    data: bytes
    rssi: int | None = None
    slot: int
    truncated: bool | None = None
    tx_power: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("data", "data", codec.octets, True),
        Member("rssi", "rssi", codec.integer, False),
        Member("slot", "slot", codec.integer, True),
        Member("truncated", "truncated", codec.boolean, False),
        Member("txPower", "tx_power", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingStartParams(Record):
    """The parameters of advertising.start: the data to advertise, and the kind of advertisement.

    adapter: The adapter; the first if missing.
    anonymous: With `extended`: without our address; neither connectable nor scannable.
    appearance: The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    channels: The primary channels, 37 to 39, each at most once; all if missing.
    connectable: False: not connectable. True if missing.
    count: The number of its advertising events, 1 to 255; unlimited if missing.
    directed_to: The only device that may connect: the daemon's identifier of it, or its address. The
        advertisement ends when it has connected. With legacy PDUs there is no data then. A paired device with
        private addresses needs an adapter that addresses it by them, and must have reported on a link that its
        controller resolves them, else "notSupported".
    directed_to_type: For an address in `directedTo`, "public" or "random"; if missing: as last received,
        else random if the two top bits are set, else public.
    duration: The time after it was first on the air at which it ends, in seconds, 0.01 to 86400; never if
        missing.
    extended: True: extended PDUs, which only scanners of Bluetooth 5.0 and later receive. False if missing:
        legacy PDUs.
    high_duty: With `directedTo`: the device is addressed as often as possible, at least every 3.75 ms, for
        1.28 s at the most.
    include_tx_power: With `extended`: the header contains the transmit power.
    interval: The advertising interval in seconds, 0.02 to 10.24; 0.1 if missing.
    manufacturer_data: Manufacturer-specific data; the first two octets are the company identifier, low
        octet first.
    name: The local name.
    own_address: A static random address to advertise with (its two top bits are set); the adapter's own if
        missing.
    periodic: With `extended`, neither connectable, scannable nor anonymous: data that is sent at fixed
        times to synchronised devices (periodic.sync). It starts and ends with the advertisement, which
        announces it.
    primary_phy: The PHY on which the advertisement begins, "1M" or with `extended` "coded", "codedS2" (500
        kb/s) or "codedS8" (125 kb/s); "1M" if missing. The last two need a controller with a choice of coding.
    scannable: True if scan requests are answered. If missing: with legacy PDUs true for a connectable
        advertisement or a scan response with data; with extended PDUs false.
    secondary_phy: With `extended`: the PHY on which it continues, "1M", "2M", "coded", "codedS2" or
        "codedS8"; if missing, as `primaryPHY`.
    service_data: Service data: an object whose members are named by the UUIDs of services, as `{"180F":
        "64"}`.
    services: The services to list.
    solicited_services: The services to solicit.
    structures: Further AD structures, sent unchanged; flags (type 1) replace the daemon's.
    tx_power: The transmit power that is aimed for, in dBm, -127 to 20; the controller's choice if missing.
    uri: A URI.
    """

    adapter: str | None = None
    anonymous: bool | None = None
    appearance: int | None = None
    channels: Sequence[int] | None = None
    connectable: bool | None = None
    count: int | None = None
    directed_to: str | None = None
    directed_to_type: Literal["public", "random"] | None = None
    duration: float | None = None
    extended: bool | None = None
    high_duty: bool | None = None
    include_tx_power: bool | None = None
    interval: float | None = None
    manufacturer_data: bytes | None = None
    name: str | None = None
    own_address: str | None = None
    periodic: AdvertisingStartPeriodic | None = None
    primary_phy: Literal["1M", "coded", "codedS2", "codedS8"] | None = None
    scannable: bool | None = None
    secondary_phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"] | None = None
    service_data: Mapping[str, bytes] | None = None
    services: Sequence[str] | None = None
    solicited_services: Sequence[str] | None = None
    structures: Sequence[AdvertisingStartStructure] | None = None
    tx_power: int | None = None
    uri: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, False),
        Member("anonymous", "anonymous", codec.boolean, False),
        Member("appearance", "appearance", codec.integer, False),
        Member("channels", "channels", codec.many(codec.integer), False),
        Member("connectable", "connectable", codec.boolean, False),
        Member("count", "count", codec.integer, False),
        Member("directedTo", "directed_to", codec.text, False),
        Member("directedToType", "directed_to_type", codec.text, False),
        Member("duration", "duration", codec.number, False),
        Member("extended", "extended", codec.boolean, False),
        Member("highDuty", "high_duty", codec.boolean, False),
        Member("includeTxPower", "include_tx_power", codec.boolean, False),
        Member("interval", "interval", codec.number, False),
        Member("manufacturerData", "manufacturer_data", codec.octets, False),
        Member("name", "name", codec.text, False),
        Member("ownAddress", "own_address", codec.text, False),
        Member("periodic", "periodic", codec.record(lambda: AdvertisingStartPeriodic), False),
        Member("primaryPHY", "primary_phy", codec.text, False),
        Member("scannable", "scannable", codec.boolean, False),
        Member("secondaryPHY", "secondary_phy", codec.text, False),
        Member("serviceData", "service_data", codec.mapping(codec.octets), False),
        Member("services", "services", codec.many(codec.text), False),
        Member("solicitedServices", "solicited_services", codec.many(codec.text), False),
        Member("structures", "structures", codec.many(codec.record(lambda: AdvertisingStartStructure)), False),
        Member("txPower", "tx_power", codec.integer, False),
        Member("uri", "uri", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingStartPeriodic(Record):
    """A train of periodic advertisements (Core 5.4, Vol 6, Part B, 4.4.2.12).

    include_tx_power: True: the header contains the transmit power.
    interval: The time between two of its packets in seconds, 0.0075 to 81.91875; 0.1 if missing.
    manufacturer_data: Manufacturer-specific data; the first two octets are the company identifier, low
        octet first.
    responses: Subevents, in which devices respond: then the data is sent by advertising.send, and none is
        given here.
    service_data: Service data, by UUID.
    services: The services to list.
    structures: Further AD structures, sent as they are.
    """

    include_tx_power: bool | None = None
    interval: float | None = None
    manufacturer_data: bytes | None = None
    responses: AdvertisingStartResponseSlots | None = None
    service_data: Mapping[str, bytes] | None = None
    services: Sequence[str] | None = None
    structures: Sequence[AdvertisingStartStructure] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("includeTxPower", "include_tx_power", codec.boolean, False),
        Member("interval", "interval", codec.number, False),
        Member("manufacturerData", "manufacturer_data", codec.octets, False),
        Member("responses", "responses", codec.record(lambda: AdvertisingStartResponseSlots), False),
        Member("serviceData", "service_data", codec.mapping(codec.octets), False),
        Member("services", "services", codec.many(codec.text), False),
        Member("structures", "structures", codec.many(codec.record(lambda: AdvertisingStartStructure)), False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingStartResponseSlots(Record):
    """The subevents of a train, each with slots in which devices respond (Core 5.4, Vol 6, Part B, 4.4.2.12.2). All
    subevents fit into the interval of the train, and all slots into a subevent.

    slot_delay: From the start of a subevent to its first slot, in seconds, 0.00125 to 0.3175.
    slot_spacing: From the start of one slot to the start of the next, in seconds, 0.00025 to 0.031875.
    slots: The number of slots in a subevent, 1 to 255.
    subevent_interval: From the start of one subevent to the start of the next, in seconds, 0.0075 to
        0.31875.
    subevents: The number of subevents in each interval of the train, 1 to 128.
    """

    slot_delay: float
    slot_spacing: float
    slots: int
    subevent_interval: float
    subevents: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("slotDelay", "slot_delay", codec.number, True),
        Member("slotSpacing", "slot_spacing", codec.number, True),
        Member("slots", "slots", codec.integer, True),
        Member("subeventInterval", "subevent_interval", codec.number, True),
        Member("subevents", "subevents", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingStartStructure(Record):
    """An AD structure (Core Specification Supplement, Part A).

    data: Its data, 0 to 254 octets.
    type: The type of the data, 0 to 255 (Assigned Numbers, 2.3).
    """

    data: bytes
    type: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("data", "data", codec.octets, True),
        Member("type", "type", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributeFound(Record):
    """The attribute that a path of UUIDs names. Its members are missing if the call gave a handle.

    handle: The handle of the attribute.
    uuid: Its UUID.
    """

    handle: int | None = None
    uuid: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, False),
        Member("uuid", "uuid", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributePath(Record):
    """Names an attribute of a device: by its handle, or by UUIDs, which the daemon looks up in the device's primary
    services.

    characteristic: The UUID of the characteristic.
    descriptor: The UUID of a descriptor of the characteristic.
    handle: The handle, 1 to 65535; alone, without any of the others.
    index: The index of the attribute if several match, 0 or more, in the order of their handles.
    service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
    """

    characteristic: str | None = None
    descriptor: str | None = None
    handle: int | None = None
    index: int | None = None
    service: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("characteristic", "characteristic", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("index", "index", codec.integer, False),
        Member("service", "service", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributeValue(Record):
    """A value with the attribute that it is of.

    handle: The handle of the attribute.
    uuid: Its UUID, if it was named by UUIDs.
    value: The value.
    """

    handle: int
    uuid: str | None = None
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("uuid", "uuid", codec.text, False),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BondDescription(Record):
    """A device and the keys shared with it.

    adapter_address: The address of the adapter that shares the keys.
    address: Its identity address.
    address_type: "public" or "random".
    key_size: The size of the key, 7 to 16 octets.
    level: "encrypted", "authenticated" or "secureConnections": the level of a link with these keys.
    name: Its name, if known.
    peripheral: The daemon's identifier of the device; missing if it is no longer known.
    """

    adapter_address: str
    address: str
    address_type: Literal["public", "random"]
    key_size: int
    level: Literal["encrypted", "authenticated", "secureConnections"]
    name: str | None = None
    peripheral: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapterAddress", "adapter_address", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("keySize", "key_size", codec.integer, True),
        Member("level", "level", codec.text, True),
        Member("name", "name", codec.text, False),
        Member("peripheral", "peripheral", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CharacteristicDescription(Record):
    """A characteristic.

    declaration: The handle of its declaration; descriptions that an older daemon stored lack it.
    descriptors: Its descriptors, if they were requested.
    end: The last handle that belongs to it.
    extended_properties: The content of its Characteristic Extended Properties: "reliableWrite",
        "writableAuxiliaries". Missing where it has no such descriptor, the descriptors were not discovered, or
        the device refused to let it be read.
    handle: The handle of its value: the handle that `gatt.read`, `gatt.write` and `gatt.subscribe` use.
    properties: The operations that it supports: "broadcast", "read", "writeWithoutResponse", "write",
        "notify", "indicate", "signedWrite", "extendedProperties".
    uuid: The UUID of the characteristic.
    """

    declaration: int | None = None
    descriptors: Sequence[DescriptorDescription] | None = None
    end: int
    extended_properties: Sequence[Literal["reliableWrite", "writableAuxiliaries"]] | None = None
    handle: int
    properties: Sequence[Literal[
        "broadcast",
        "read",
        "writeWithoutResponse",
        "write",
        "notify",
        "indicate",
        "signedWrite",
        "extendedProperties",
    ]]
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("declaration", "declaration", codec.integer, False),
        Member("descriptors", "descriptors", codec.many(codec.record(lambda: DescriptorDescription)), False),
        Member("end", "end", codec.integer, True),
        Member("extendedProperties", "extended_properties", codec.many(codec.text), False),
        Member("handle", "handle", codec.integer, True),
        Member("properties", "properties", codec.many(codec.text), True),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CharacteristicReference(Record):
    """Names a characteristic of a device by its handle.

    handle: The handle of the characteristic's value.
    peripheral: The daemon's identifier of the device.
    """

    handle: int
    peripheral: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("peripheral", "peripheral", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DescriptorDescription(Record):
    """A descriptor.

    handle: Its handle.
    uuid: The UUID of the descriptor.
    """

    handle: int
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GATTWriteReliablyWrite(Record):
    """A part of a value.

    characteristic: The UUID of the characteristic.
    descriptor: The UUID of a descriptor of the characteristic.
    handle: The handle, 1 to 65535; alone, without any of the others.
    index: The index of the attribute if several match, 0 or more, in the order of their handles.
    offset: The offset in the device's value, in octets, 0 to 512; at its beginning if missing.
    service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
    value: The octets.
    """

    characteristic: str | None = None
    descriptor: str | None = None
    handle: int | None = None
    index: int | None = None
    offset: int | None = None
    service: str | None = None
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("characteristic", "characteristic", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("index", "index", codec.integer, False),
        Member("offset", "offset", codec.integer, False),
        Member("service", "service", codec.text, False),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LinkWish(Record):
    """The parameters that a session wants of a link (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).

    continuation: The number of further connection events used after one with data, 0 to 499, less than
        `maximumSubrate`; 0 if missing.
    latency: The number of connection events that the peripheral may skip, 0 to 499; 0 if missing. Times
        maximumSubrate, (1 + latency) is at most 500.
    maximum_interval: The longest time between two connection events, in seconds, 0.000375 to 4; 0.045 if
        missing, or `minimumInterval` where that is more.
    maximum_subrate: The maximum subrate factor, 1 to 500; `minimumSubrate` if missing. Without both each
        event is used, as every link can; a factor above 1 requires connection subrating on both sides.
    minimum_interval: The shortest time between two connection events, in seconds, 0.000375 to 4; 0.015 if
        missing, or `maximumInterval` where that is less. Below 0.0075 both sides need shorter connection
        intervals (Bluetooth 6.2).
    minimum_subrate: The minimum subrate factor (connection subrating): one of this number of connection
        events is used, 1 to 500; `maximumSubrate` if missing.
    timeout: The time without a packet after which the link is lost, in seconds, 0.1 to 32, and more than (1
        + latency) × maximumSubrate × maximumInterval × 2; if missing, 4 or as much as that rule needs.
    """

    continuation: int | None = None
    latency: int | None = None
    maximum_interval: float | None = None
    maximum_subrate: int | None = None
    minimum_interval: float | None = None
    minimum_subrate: int | None = None
    timeout: float | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("continuation", "continuation", codec.integer, False),
        Member("latency", "latency", codec.integer, False),
        Member("maximumInterval", "maximum_interval", codec.number, False),
        Member("maximumSubrate", "maximum_subrate", codec.integer, False),
        Member("minimumInterval", "minimum_interval", codec.number, False),
        Member("minimumSubrate", "minimum_subrate", codec.integer, False),
        Member("timeout", "timeout", codec.number, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Metric(Record):
    """Something that the daemon counts or measures, under a name of Prometheus.

    help: The meaning of the metric, in words: one sentence.
    kind: "counter", which only grows, "gauge" or "histogram".
    name: Its name: "bled_links". It ends in the unit, a counter's in "_total".
    samples: Its values, one for each set of labels.
    """

    help: str
    kind: Literal["counter", "gauge", "histogram"]
    name: str
    samples: Sequence[MetricSample]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("help", "help", codec.text, True),
        Member("kind", "kind", codec.text, True),
        Member("name", "name", codec.text, True),
        Member("samples", "samples", codec.many(codec.record(lambda: MetricSample)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MetricBucket(Record):
    """A part of a histogram.

    count: The number of such measurements.
    most: The greatest measurement that counts, 0 or more, in seconds; missing in the last bucket, which
        counts all.
    """

    count: int
    most: float | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("count", "count", codec.integer, True),
        Member("most", "most", codec.number, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MetricSample(Record):
    """A value of a metric.

    buckets: For a histogram, the number of measurements up to each bound; missing for other metrics.
    labels: The labels that tell samples apart: "adapter", "method", "user" and so on; empty where there is
        only one sample.
    value: The count, or the value, 0 or more; of a histogram the sum of all measurements, in seconds.
    """

    buckets: Sequence[MetricBucket] | None = None
    labels: Mapping[str, str]
    value: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("buckets", "buckets", codec.many(codec.record(lambda: MetricBucket)), False),
        Member("labels", "labels", codec.mapping(codec.text), True),
        Member("value", "value", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingDevice(Record):
    """A device that pairs.

    address: Its address.
    bond_level: The level of the keys that this machine and the device share already, "encrypted",
        "authenticated" or "secureConnections": pairing replaces them, and the asking device may be another one.
        Missing if there are none.
    is_ours: True if this machine began the pairing.
    name: Its name, if known.
    peripheral: The daemon's identifier of the device.
    """

    address: str
    bond_level: Literal["encrypted", "authenticated", "secureConnections"] | None = None
    is_ours: bool
    name: str | None = None
    peripheral: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("address", "address", codec.text, True),
        Member("bondLevel", "bond_level", codec.text, False),
        Member("isOurs", "is_ours", codec.boolean, True),
        Member("name", "name", codec.text, False),
        Member("peripheral", "peripheral", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingImportLongTermKey(Record):
    """A key with which links are encrypted.

    authenticated: True if the pairing was protected against a person in the middle.
    central: True if it is used on links that this machine begins; otherwise on the device's links.
    diversifier: Names the key in legacy pairing, 0 to 65535; 0 otherwise.
    random: Its random number (Rand), 16 hex digits with the highest first.
    secure_connections: True if it comes from LE Secure Connections; then it is used in both roles.
    size: The number of octets that count, 7 to 16.
    value: 16 octets, the lowest first.
    """

    authenticated: bool
    central: bool
    diversifier: int
    random: bytes
    secure_connections: bool
    size: int
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("authenticated", "authenticated", codec.boolean, True),
        Member("central", "central", codec.boolean, True),
        Member("diversifier", "diversifier", codec.integer, True),
        Member("random", "random", codec.octets, True),
        Member("secureConnections", "secure_connections", codec.boolean, True),
        Member("size", "size", codec.integer, True),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingImportSignatureKey(Record):
    """A key with which writes are signed.

    authenticated: True if the pairing was protected against a person in the middle.
    ours: True if this machine signs with it; otherwise the device does.
    value: 16 octets, the lowest first.
    """

    authenticated: bool
    ours: bool
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("authenticated", "authenticated", codec.boolean, True),
        Member("ours", "ours", codec.boolean, True),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicSyncResponses(Record):
    """The subevents of a train, with slots in which this side can respond.

    slot_delay: From the start of a subevent to its first slot, in seconds; missing for a train without
        slots.
    slot_spacing: From the start of one slot to the start of the next, in seconds; missing for a train
        without slots.
    subevent_interval: From the start of one subevent to the start of the next, in seconds.
    subevents: The number of subevents in each interval of the train, 1 to 128.
    """

    slot_delay: float | None = None
    slot_spacing: float | None = None
    subevent_interval: float
    subevents: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("slotDelay", "slot_delay", codec.number, False),
        Member("slotSpacing", "slot_spacing", codec.number, False),
        Member("subeventInterval", "subevent_interval", codec.number, True),
        Member("subevents", "subevents", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicTransferTrain(Record):
    """A train that this session follows.

    peripheral: The daemon's identifier of the device that sends it.
    sid: The number of the advertising set, 0 to 15; if missing, the only followed one of that device.
    """

    peripheral: str
    sid: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("sid", "sid", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralListEntry(Record):
    """A device that the daemon knows.

    adapter: The adapter that last received it or holds the link.
    address: Its address.
    address_type: "public" or "random".
    blocked: True if the device is blocked, see adapter.block. Missing otherwise.
    connectable: True if it accepted connections when it was last received; missing if it never was.
    incoming: True if the device made the link. Missing otherwise.
    mine: True if this session holds the link.
    mtu: The ATT MTU, 23 to 517 octets, while connected.
    name: Its name, if known.
    peripheral: The daemon's identifier of the device.
    rssi: Signal strength when it was last received, in dBm.
    since_report: Seconds since the device was last received; missing if it was not since the daemon
        started.
    state: "disconnected", "connecting" or "connected" (for any session).
    """

    adapter: str
    address: str
    address_type: Literal["public", "random"]
    blocked: bool | None = None
    connectable: bool | None = None
    incoming: bool | None = None
    mine: bool
    mtu: int | None = None
    name: str | None = None
    peripheral: str
    rssi: int | None = None
    since_report: float | None = None
    state: Literal["disconnected", "connecting", "connected"]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("blocked", "blocked", codec.boolean, False),
        Member("connectable", "connectable", codec.boolean, False),
        Member("incoming", "incoming", codec.boolean, False),
        Member("mine", "mine", codec.boolean, True),
        Member("mtu", "mtu", codec.integer, False),
        Member("name", "name", codec.text, False),
        Member("peripheral", "peripheral", codec.text, True),
        Member("rssi", "rssi", codec.integer, False),
        Member("sinceReport", "since_report", codec.number, False),
        Member("state", "state", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Principal(Record):
    """A user, as another program vouches for them.

    groups: The numbers of the user's groups, 0 to 4294967295; the first is the primary one.
    id: The number of the user, 0 to 4294967295.
    process: The number of the process, 1 or more, for the log and `session.list`.
    """

    groups: Sequence[int] | None = None
    id: int
    process: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("groups", "groups", codec.many(codec.integer), False),
        Member("id", "id", codec.integer, True),
        Member("process", "process", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RestoredState(Record):
    """The state of a session when its program went away. The events since then follow the answer that carries this;
    both together give the present state.

    advertisements: The advertisements.
    dropped_reports: The number of reports dropped because the queue was full; others were replaced by newer
        ones of the same device.
    dropped_values: The number of values dropped because the queue was full: their subscriptions ended, as
        the events report. Writes without response from devices are counted here, too.
    peripherals: The devices that were connected or had a pending connection.
    scan: The parameters of the scan without a number.
    scans: The parameters of the scans with numbers; missing if there are none.
    services: The services that the session published.
    since: When the program ended, in seconds since the epoch.
    """

    advertisements: Sequence[RestoredStateAdvertisement]
    dropped_reports: int
    dropped_values: int
    peripherals: Sequence[RestoredStatePeripheral]
    scan: ScanStartParams | None = None
    scans: Sequence[ScanStartParams] | None = None
    services: Sequence[RestoredStateService]
    since: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("advertisements", "advertisements", codec.many(codec.record(lambda: RestoredStateAdvertisement)), True),
        Member("droppedReports", "dropped_reports", codec.integer, True),
        Member("droppedValues", "dropped_values", codec.integer, True),
        Member("peripherals", "peripherals", codec.many(codec.record(lambda: RestoredStatePeripheral)), True),
        Member("scan", "scan", codec.record(lambda: ScanStartParams), False),
        Member("scans", "scans", codec.many(codec.record(lambda: ScanStartParams)), False),
        Member("services", "services", codec.many(codec.record(lambda: RestoredStateService)), True),
        Member("since", "since", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RestoredStateAdvertisement(Record):
    """An advertisement of the session.

    adapter: The adapter that sends it.
    advertising: The number that names it in this session, 1 or more.
    ends: The end of its `duration` or `count`, in seconds since the epoch, if it has one and was on the
        air.
    on_air: True if it was on the air: sent by its adapter, or taking turns with others.
    parameters: The parameters given to advertising.start.
    """

    adapter: str
    advertising: int
    ends: float | None = None
    on_air: bool
    parameters: AdvertisingStartParams

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("advertising", "advertising", codec.integer, True),
        Member("ends", "ends", codec.number, False),
        Member("onAir", "on_air", codec.boolean, True),
        Member("parameters", "parameters", codec.record(lambda: AdvertisingStartParams), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RestoredStatePeripheral(Record):
    """A device that was connected or had a pending connection.

    adapter: The adapter that holds the link or searches for the device.
    address: Its address.
    address_type: "public" or "random".
    indications: The subscriptions among them to indications; missing if there are none.
    mtu: The ATT MTU, 23 to 517 octets, while connected.
    name: Its name, if known.
    parameters: The parameters that the session requests for the link; missing if none.
    peripheral: The daemon's identifier of the device.
    reconnect: True if the daemon reconnects when the link is lost; false if missing.
    services: The attributes that the session discovered.
    state: "connected", or "connecting": peripheral.connected or peripheral.connectFailed follows.
    subscriptions: The handles of the characteristics that the session subscribes to.
    """

    adapter: str
    address: str
    address_type: Literal["public", "random"]
    indications: Sequence[int] | None = None
    mtu: int | None = None
    name: str | None = None
    parameters: LinkWish | None = None
    peripheral: str
    reconnect: bool | None = None
    services: Sequence[ServiceDescription]
    state: Literal["connected", "connecting"]
    subscriptions: Sequence[int]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("indications", "indications", codec.many(codec.integer), False),
        Member("mtu", "mtu", codec.integer, False),
        Member("name", "name", codec.text, False),
        Member("parameters", "parameters", codec.record(lambda: LinkWish), False),
        Member("peripheral", "peripheral", codec.text, True),
        Member("reconnect", "reconnect", codec.boolean, False),
        Member("services", "services", codec.many(codec.record(lambda: ServiceDescription)), True),
        Member("state", "state", codec.text, True),
        Member("subscriptions", "subscriptions", codec.many(codec.integer), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RestoredStateService(Record):
    """A service that the session published.

    definition: The definition given to service.add.
    service: The service with its unchanged handles.
    subscribers: The subscribers of its characteristics.
    """

    definition: ServiceToPublish
    service: ServiceDescription
    subscribers: Sequence[Subscriber]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("definition", "definition", codec.record(lambda: ServiceToPublish), True),
        Member("service", "service", codec.record(lambda: ServiceDescription), True),
        Member("subscribers", "subscribers", codec.many(codec.record(lambda: Subscriber)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartFilter(Record):
    """Conditions on an advertisement. All members that are present must match; at least one must be present.

    address_kinds: The device's address is of one of these kinds: public, static random (the same at least
        until the device restarts), resolvable private (resolved with the device's key), non-resolvable private.
    connectable: True: the device accepts connections.
    ignore_case: True: upper and lower case of the name are not distinguished. Requires `name`.
    manufacturer: The advertisement has manufacturer-specific data like this.
    name: The device's name begins with this text.
    pattern: The advertisement has an AD structure like this.
    service_data: The advertisement has service data like this.
    services: The advertisement lists one of these services.
    whole_name: True: the name is this text and no more. Requires `name`.
    """

    address_kinds: Sequence[Literal["public", "randomStatic", "resolvable", "nonResolvable"]] | None = None
    connectable: bool | None = None
    ignore_case: bool | None = None
    manufacturer: ScanStartManufacturer | None = None
    name: str | None = None
    pattern: ScanStartPattern | None = None
    service_data: ScanStartServiceData | None = None
    services: Sequence[str] | None = None
    whole_name: bool | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("addressKinds", "address_kinds", codec.many(codec.text), False),
        Member("connectable", "connectable", codec.boolean, False),
        Member("ignoreCase", "ignore_case", codec.boolean, False),
        Member("manufacturer", "manufacturer", codec.record(lambda: ScanStartManufacturer), False),
        Member("name", "name", codec.text, False),
        Member("pattern", "pattern", codec.record(lambda: ScanStartPattern), False),
        Member("serviceData", "service_data", codec.record(lambda: ScanStartServiceData), False),
        Member("services", "services", codec.many(codec.text), False),
        Member("wholeName", "whole_name", codec.boolean, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartKey(Record):
    """The key with which a device encrypts its advertising data.

    address: The address of the device.
    key: Its key, 16 octets: the bind key of BTHome or MiBeacon.
    """

    address: str
    key: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("address", "address", codec.text, True),
        Member("key", "key", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartManufacturer(Record):
    """Manufacturer-specific data to match.

    company: The company identifier, 0 to 65535 (Assigned Numbers, 7.1).
    data: The beginning of the data after the company identifier; anything if missing.
    mask: The bits of `data` that count, as many octets; all of them if missing.
    """

    company: int
    data: bytes | None = None
    mask: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("company", "company", codec.integer, True),
        Member("data", "data", codec.octets, False),
        Member("mask", "mask", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartParams(Record):
    """The parameters of scan.start: the devices to scan for, and the kind of scan.

    active: False: passive scanning, without scan requests unless another session's scan needs them. True if
        missing, but with `presence` false.
    adapter: The adapter to scan on; all of them if missing.
    address: Only the device of this address.
    addresses: Only the devices of these addresses, at most 64; together with `address`: that one, too.
    anonymous: True: anonymous advertisements, too, as scan.anonymousReport.
    decode: True: adds the values of known formats of beacons and sensors, as `decoded` of the reports.
    duplicates: True: a report for every advertising event. False or missing: one report for each device,
        and another whenever its data changes.
    filters: Only reports that match at least one of these, in addition to all of the above.
    keys: Together with `decode`: the keys of devices that encrypt their advertising data, at most 64. They
        are kept as long as the scan, and are not visible to other sessions.
    lost: In seconds, 0.5 to 3600: a device without any report that passes the filters for this time is
        reported by scan.lost. Not at all if missing.
    name: Only devices with a name that begins with this text.
    phys: The PHYs to listen on, "1M", "coded" or both, which then share the time; "1M" if missing.
    presence: True: only the presence of the devices that `address` and `addresses` name: no reports, but
        scan.found when one appears, and scan.lost when it was not received for the time of `lost`, which is
        required. If possible, the controller monitors them, and this machine is not woken by each packet.
    rssi: Only reports at least this strong, in dBm.
    rssi_out: In dBm, at most `rssi`: a device that reached `rssi` is reported until it is weaker than this.
    scan: The program's number for the scan, 1 to 65535, so that it can have several; its reports contain
        it. A scan without a number, if missing.
    services: Only devices that advertise one of these services.
    solicited_services: Only devices that solicit one of these services; together with `services`: devices
        that match either list.
    """

    active: bool | None = None
    adapter: str | None = None
    address: str | None = None
    addresses: Sequence[str] | None = None
    anonymous: bool | None = None
    decode: bool | None = None
    duplicates: bool | None = None
    filters: Sequence[ScanStartFilter] | None = None
    keys: Sequence[ScanStartKey] | None = None
    lost: float | None = None
    name: str | None = None
    phys: Sequence[Literal["1M", "coded"]] | None = None
    presence: bool | None = None
    rssi: int | None = None
    rssi_out: int | None = None
    scan: int | None = None
    services: Sequence[str] | None = None
    solicited_services: Sequence[str] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("active", "active", codec.boolean, False),
        Member("adapter", "adapter", codec.text, False),
        Member("address", "address", codec.text, False),
        Member("addresses", "addresses", codec.many(codec.text), False),
        Member("anonymous", "anonymous", codec.boolean, False),
        Member("decode", "decode", codec.boolean, False),
        Member("duplicates", "duplicates", codec.boolean, False),
        Member("filters", "filters", codec.many(codec.record(lambda: ScanStartFilter)), False),
        Member("keys", "keys", codec.many(codec.record(lambda: ScanStartKey)), False),
        Member("lost", "lost", codec.number, False),
        Member("name", "name", codec.text, False),
        Member("phys", "phys", codec.many(codec.text), False),
        Member("presence", "presence", codec.boolean, False),
        Member("rssi", "rssi", codec.integer, False),
        Member("rssiOut", "rssi_out", codec.integer, False),
        Member("scan", "scan", codec.integer, False),
        Member("services", "services", codec.many(codec.text), False),
        Member("solicitedServices", "solicited_services", codec.many(codec.text), False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartPattern(Record):
    """Octets in an AD structure to match.

    data: The octets there.
    offset: The offset in the data of the structure, behind its type, in octets, 0 to 254; 0 if missing.
    type: The AD type, 0 to 255 (Assigned Numbers, 2.3).
    """

    data: bytes
    offset: int | None = None
    type: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("data", "data", codec.octets, True),
        Member("offset", "offset", codec.integer, False),
        Member("type", "type", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanStartServiceData(Record):
    """Service data to match.

    data: The beginning of the data after the UUID; anything if missing.
    mask: The bits of `data` that count, as many octets; all of them if missing.
    uuid: The service.
    """

    data: bytes | None = None
    mask: bytes | None = None
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("data", "data", codec.octets, False),
        Member("mask", "mask", codec.octets, False),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerNotifyMultipleValue(Record):
    """A value.

    handle: The handle of the characteristic's value.
    value: The value, up to 512 octets.
    """

    handle: int
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerWriteWrite(Record):
    """One written value.

    handle: The handle of the characteristic's value, or of the descriptor.
    offset: The offset, 0 to 512.
    value: The value written.
    """

    handle: int
    offset: int
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("offset", "offset", codec.integer, True),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceDescription(Record):
    """A service on a device, or one that this session published.

    characteristics: Its characteristics, if they were requested.
    end: The last handle that belongs to it.
    handle: Its declaration's handle.
    includes: The services it includes, if they were requested.
    primary: False for a secondary service.
    uuid: The UUID of the service.
    """

    characteristics: Sequence[CharacteristicDescription] | None = None
    end: int
    handle: int
    includes: Sequence[ServiceDescription] | None = None
    primary: bool
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member(
            "characteristics",
            "characteristics",
            codec.many(codec.record(lambda: CharacteristicDescription)),
            False,
        ),
        Member("end", "end", codec.integer, True),
        Member("handle", "handle", codec.integer, True),
        Member("includes", "includes", codec.many(codec.record(lambda: ServiceDescription)), False),
        Member("primary", "primary", codec.boolean, True),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceToPublish(Record):
    """A service to publish.

    adapter: The only adapter that offers it to devices, by name or address; all of them if missing.
    characteristics: Its characteristics.
    includes: The handles of the included services, which this session must have published before.
    primary: False for a secondary service; true if missing.
    uuid: The UUID of the service.
    """

    adapter: str | None = None
    characteristics: Sequence[ServiceToPublishCharacteristic] | None = None
    includes: Sequence[int] | None = None
    primary: bool | None = None
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, False),
        Member(
            "characteristics",
            "characteristics",
            codec.many(codec.record(lambda: ServiceToPublishCharacteristic)),
            False,
        ),
        Member("includes", "includes", codec.many(codec.integer), False),
        Member("primary", "primary", codec.boolean, False),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceToPublishCharacteristic(Record):
    """A characteristic to publish.

    descriptors: Its descriptors; the daemon adds 2900 and 2902.
    minimum_key_size: The shortest key in octets, 7 to 16, where the link must be encrypted; 7 if missing.
    permissions: "readable", "writeable", and the link's security to read ("readEncryptionRequired", or
        "readAuthenticationRequired": paired with protection against a person in the middle, or
        "readSecureConnectionsRequired": the same with LE Secure Connections), to write
        ("writeEncryptionRequired", "writeAuthenticationRequired", "writeSecureConnectionsRequired") and to
        subscribe ("subscribeEncryptionRequired", "subscribeAuthenticationRequired",
        "subscribeSecureConnectionsRequired"); if missing: the ones that the properties imply.
    properties: The operations that it offers to devices: "broadcast", "read", "writeWithoutResponse",
        "write", "notify", "indicate", "signedWrite", and "extendedProperties", which offers reliable writes.
    uuid: The UUID of the characteristic.
    value: A fixed value, which the daemon answers; without one every read and write is passed to this
        session.
    """

    descriptors: Sequence[ServiceToPublishDescriptor] | None = None
    minimum_key_size: int | None = None
    permissions: Sequence[Literal[
        "readable",
        "writeable",
        "readEncryptionRequired",
        "readAuthenticationRequired",
        "readSecureConnectionsRequired",
        "writeEncryptionRequired",
        "writeAuthenticationRequired",
        "writeSecureConnectionsRequired",
        "subscribeEncryptionRequired",
        "subscribeAuthenticationRequired",
        "subscribeSecureConnectionsRequired",
    ]] | None = None
    properties: Sequence[Literal[
        "broadcast",
        "read",
        "writeWithoutResponse",
        "write",
        "notify",
        "indicate",
        "signedWrite",
        "extendedProperties",
    ]]
    uuid: str
    value: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("descriptors", "descriptors", codec.many(codec.record(lambda: ServiceToPublishDescriptor)), False),
        Member("minimumKeySize", "minimum_key_size", codec.integer, False),
        Member("permissions", "permissions", codec.many(codec.text), False),
        Member("properties", "properties", codec.many(codec.text), True),
        Member("uuid", "uuid", codec.text, True),
        Member("value", "value", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceToPublishDescriptor(Record):
    """A descriptor to publish.

    permissions: "readable", and the link's security to read it: "readEncryptionRequired",
        "readAuthenticationRequired" or "readSecureConnectionsRequired". Without a fixed value also "writeable",
        "writeEncryptionRequired", "writeAuthenticationRequired" and "writeSecureConnectionsRequired". If
        missing: any device can read it, and none can write it.
    uuid: The UUID of the descriptor.
    value: A fixed value, which the daemon answers; without one every read and write is passed to this
        session.
    """

    permissions: Sequence[Literal[
        "readable",
        "readEncryptionRequired",
        "readAuthenticationRequired",
        "readSecureConnectionsRequired",
        "writeable",
        "writeEncryptionRequired",
        "writeAuthenticationRequired",
        "writeSecureConnectionsRequired",
    ]] | None = None
    uuid: str
    value: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("permissions", "permissions", codec.many(codec.text), False),
        Member("uuid", "uuid", codec.text, True),
        Member("value", "value", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescription(Record):
    """A session: its program, its resources and its costs.

    acquired: The characteristics of devices with a socket of their own for values; missing if none.
    advertisements: Its advertisements.
    channels: Its L2CAP channels; missing if it has none.
    connecting: The devices to which it has a pending connection.
    connections: The devices that it is connected to.
    costs: The cost of the session.
    impersonator: The number of the user of the program that acts for `user`, 0 or more; missing if the
        session is the program's own.
    listening: The numbers of its listeners for L2CAP channels; missing if none.
    mine: True if it belongs to the caller.
    name: The name given in session.open; missing if there is none.
    permissions: The permissions of the session: "scan", "connect", "serve", "advertise", "pair", "bonds",
        "agent", "adapters", "sessions", "impersonate", "capture", "simulation".
    preserved: True if its program has ended and the session is preserved for it.
    process: The number of the process that connected, 1 or more, if the kernel reported it.
    program: The name of the program's executable, at most 15 octets.
    restore: Its restoration identifier; missing if it has none.
    scan: The parameters of its scan without a number; missing if it has none.
    scans: The parameters of its scans with numbers; missing if it has none.
    searching: The devices that it searches for in order to connect; missing if there are none.
    services: The services that it publishes.
    session: The number of the session, 1 or more.
    since: When it was opened, in seconds since the epoch.
    subscriptions: The characteristics that it is subscribed to.
    user: The number of the user, 0 or more, likewise.
    """

    acquired: Sequence[CharacteristicReference] | None = None
    advertisements: Sequence[SessionDescriptionAdvertisement]
    channels: Sequence[SessionDescriptionChannel] | None = None
    connecting: Sequence[SessionDescriptionDevice]
    connections: Sequence[SessionDescriptionDevice]
    costs: SessionDescriptionCosts
    impersonator: int | None = None
    listening: Sequence[SessionDescriptionListening] | None = None
    mine: bool
    name: str | None = None
    permissions: Sequence[Literal[
        "scan",
        "connect",
        "serve",
        "advertise",
        "pair",
        "bonds",
        "agent",
        "adapters",
        "sessions",
        "impersonate",
        "capture",
        "simulation",
    ]]
    preserved: bool | None = None
    process: int | None = None
    program: str | None = None
    restore: str | None = None
    scan: ScanStartParams | None = None
    scans: Sequence[ScanStartParams] | None = None
    searching: Sequence[SessionDescriptionSearch] | None = None
    services: Sequence[SessionDescriptionService]
    session: int
    since: float
    subscriptions: Sequence[CharacteristicReference]
    user: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("acquired", "acquired", codec.many(codec.record(lambda: CharacteristicReference)), False),
        Member(
            "advertisements",
            "advertisements",
            codec.many(codec.record(lambda: SessionDescriptionAdvertisement)),
            True,
        ),
        Member("channels", "channels", codec.many(codec.record(lambda: SessionDescriptionChannel)), False),
        Member("connecting", "connecting", codec.many(codec.record(lambda: SessionDescriptionDevice)), True),
        Member("connections", "connections", codec.many(codec.record(lambda: SessionDescriptionDevice)), True),
        Member("costs", "costs", codec.record(lambda: SessionDescriptionCosts), True),
        Member("impersonator", "impersonator", codec.integer, False),
        Member("listening", "listening", codec.many(codec.record(lambda: SessionDescriptionListening)), False),
        Member("mine", "mine", codec.boolean, True),
        Member("name", "name", codec.text, False),
        Member("permissions", "permissions", codec.many(codec.text), True),
        Member("preserved", "preserved", codec.boolean, False),
        Member("process", "process", codec.integer, False),
        Member("program", "program", codec.text, False),
        Member("restore", "restore", codec.text, False),
        Member("scan", "scan", codec.record(lambda: ScanStartParams), False),
        Member("scans", "scans", codec.many(codec.record(lambda: ScanStartParams)), False),
        Member("searching", "searching", codec.many(codec.record(lambda: SessionDescriptionSearch)), False),
        Member("services", "services", codec.many(codec.record(lambda: SessionDescriptionService)), True),
        Member("session", "session", codec.integer, True),
        Member("since", "since", codec.number, True),
        Member("subscriptions", "subscriptions", codec.many(codec.record(lambda: CharacteristicReference)), True),
        Member("user", "user", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionAdvertisement(Record):
    """An advertisement of the session.

    adapter: The adapter that sends it.
    advertising: The number that names it in the session, 1 or more.
    on_air: True if it is on the air: sent by its adapter, or taking turns with others.
    """

    adapter: str
    advertising: int
    on_air: bool

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("advertising", "advertising", codec.integer, True),
        Member("onAir", "on_air", codec.boolean, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionChannel(Record):
    """An L2CAP channel of the session.

    channel: Its number in the session, 1 or more.
    has_room: False while the program's packets wait: the device gives no credits, as it does not read.
    mode: The mode of the channel: "leCreditBased" or "enhanced".
    peripheral: The daemon's identifier of the device.
    psm: The number of the listener.
    receive_mps: The longest piece of the device's packets (MPS), in octets, 23 to 65533; absent if unknown.
    receive_mtu: The longest packet that the device may send, 23 to 65535 octets.
    send_mps: The longest piece of packets to the device (MPS), in octets, 23 to 65533; absent if unknown.
    send_mtu: The longest packet that the device accepts, 23 to 65535 octets.
    """

    channel: int
    has_room: bool
    mode: Literal["leCreditBased", "enhanced"]
    peripheral: str
    psm: int
    receive_mps: int | None = None
    receive_mtu: int
    send_mps: int | None = None
    send_mtu: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("channel", "channel", codec.integer, True),
        Member("hasRoom", "has_room", codec.boolean, True),
        Member("mode", "mode", codec.text, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("psm", "psm", codec.integer, True),
        Member("receiveMPS", "receive_mps", codec.integer, False),
        Member("receiveMTU", "receive_mtu", codec.integer, True),
        Member("sendMPS", "send_mps", codec.integer, False),
        Member("sendMTU", "send_mtu", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionCosts(Record):
    """The cost of the session since it was opened.

    link_time: The time for which it was connected, in seconds, summed over all devices.
    links_slowed: The number of times a link was slowed down because this session, its only reader, fell
        behind.
    packets_lost: The number of packets that the kernel dropped on links on which it subscribes or serves;
        they may have contained values.
    queue_octets: The number of octets queued for it.
    reports: The number of reports sent to it.
    reports_coalesced: The number of reports replaced by a newer one of the same device before they were
        read.
    reports_dropped: The number of reports dropped because its queue was full.
    requests: The number of its calls.
    requests_failed: The number of failed calls, with or without an id.
    scan_time: The time for which it had a scan, in seconds.
    values: The number of subscribed values sent to it.
    values_refused: The number of values dropped because its queue was full: each ended a subscription, or
        began a loss of values written by a device.
    """

    link_time: float
    links_slowed: int
    packets_lost: int
    queue_octets: int
    reports: int
    reports_coalesced: int
    reports_dropped: int
    requests: int
    requests_failed: int
    scan_time: float
    values: int
    values_refused: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("linkTime", "link_time", codec.number, True),
        Member("linksSlowed", "links_slowed", codec.integer, True),
        Member("packetsLost", "packets_lost", codec.integer, True),
        Member("queueOctets", "queue_octets", codec.integer, True),
        Member("reports", "reports", codec.integer, True),
        Member("reportsCoalesced", "reports_coalesced", codec.integer, True),
        Member("reportsDropped", "reports_dropped", codec.integer, True),
        Member("requests", "requests", codec.integer, True),
        Member("requestsFailed", "requests_failed", codec.integer, True),
        Member("scanTime", "scan_time", codec.number, True),
        Member("values", "values", codec.integer, True),
        Member("valuesRefused", "values_refused", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionDevice(Record):
    """A device.

    address: Its address.
    name: Its name, if known.
    peripheral: The daemon's identifier of it.
    """

    address: str
    name: str | None = None
    peripheral: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("address", "address", codec.text, True),
        Member("name", "name", codec.text, False),
        Member("peripheral", "peripheral", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionListening(Record):
    """A number on which the session listens for L2CAP channels.

    adapter: The adapter.
    psm: The number.
    """

    adapter: str
    psm: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("psm", "psm", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionSearch(Record):
    """The criteria of a search; a device must meet all that are present.

    name: Its name.
    name_prefix: The beginning of its name.
    service: A service that it advertises.
    """

    name: str | None = None
    name_prefix: str | None = None
    service: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("name", "name", codec.text, False),
        Member("namePrefix", "name_prefix", codec.text, False),
        Member("service", "service", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionDescriptionService(Record):
    """A service that the session publishes.

    handle: The handle of its declaration.
    uuid: Its UUID.
    """

    handle: int
    uuid: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("uuid", "uuid", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationDevice(Record):
    """A device on the simulated air.

    address: Its address.
    address_type: "public" or "random".
    connected: True if it has a link.
    name: Its name in the scenario.
    present: True if it is on the air.
    """

    address: str
    address_type: Literal["public", "random"]
    connected: bool
    name: str
    present: bool

    _members: ClassVar[tuple[Member, ...]] = (
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("connected", "connected", codec.boolean, True),
        Member("name", "name", codec.text, True),
        Member("present", "present", codec.boolean, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationVisitStep(Record):
    """Something that happened on the visit of a simulated phone.

    action: "discover" for each discovered characteristic; a step of its script: "read", "write",
        "subscribe", "unsubscribe", "pair" or "openChannel"; or "value" for a received value.
    characteristic: The UUID of the characteristic; missing if the step concerns none.
    error: The reason for its failure; missing if it did not fail.
    time: When it happened, in seconds since the epoch.
    value: The value that was read or sent.
    """

    action: Literal["discover", "read", "write", "subscribe", "unsubscribe", "pair", "openChannel", "value"]
    characteristic: str | None = None
    error: BledError | None = None
    time: float
    value: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("action", "action", codec.text, True),
        Member("characteristic", "characteristic", codec.text, False),
        Member("error", "error", codec.failure, False),
        Member("time", "time", codec.number, True),
        Member("value", "value", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationWrite(Record):
    """A write to a simulated device.

    characteristic: The UUID of the characteristic.
    device: The name of the device in the scenario.
    number: Its number, 1 or more; each write has the next one.
    operation: "write", "writeWithoutResponse", or "subscribe" for a write to the Client Characteristic
        Configuration.
    time: When it happened, in seconds since the epoch.
    value: The octets.
    """

    characteristic: str
    device: str
    number: int
    operation: Literal["write", "writeWithoutResponse", "subscribe"]
    time: float
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("characteristic", "characteristic", codec.text, True),
        Member("device", "device", codec.text, True),
        Member("number", "number", codec.integer, True),
        Member("operation", "operation", codec.text, True),
        Member("time", "time", codec.number, True),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Subscriber(Record):
    """A device that subscribed or unsubscribed.

    central: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    maximum_length: The longest value in one notification, in octets: MTU − 3, and 512 at most.
    """

    central: str
    handle: int
    maximum_length: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("maximumLength", "maximum_length", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionOpenResult(Record):
    """The result of session.open.

    adapters: The adapters, as `adapter.list` returns them.
    commit: The commit that the daemon was built from: its first digits, with "-modified" if files differed
        from it; missing in a development build.
    daemon: The daemon's name and version: "bled 0.2.0".
    permissions: The permissions of this session: "scan", "connect", "serve", "advertise", "pair", "bonds",
        "agent", "adapters", "sessions", "impersonate", "capture", "simulation".
    protocol: The version of this protocol, 1 or more; it is incremented by incompatible changes.
    restored: The state preserved under the restoration identifier; missing if there is none.
    session: The number of this session, 1 or more.
    """

    adapters: Sequence[AdapterDescription]
    commit: str | None = None
    daemon: str
    permissions: Sequence[Literal[
        "scan",
        "connect",
        "serve",
        "advertise",
        "pair",
        "bonds",
        "agent",
        "adapters",
        "sessions",
        "impersonate",
        "capture",
        "simulation",
    ]]
    protocol: int
    restored: RestoredState | None = None
    session: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapters", "adapters", codec.many(codec.record(lambda: AdapterDescription)), True),
        Member("commit", "commit", codec.text, False),
        Member("daemon", "daemon", codec.text, True),
        Member("permissions", "permissions", codec.many(codec.text), True),
        Member("protocol", "protocol", codec.integer, True),
        Member("restored", "restored", codec.record(lambda: RestoredState), False),
        Member("session", "session", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionListResult(Record):
    """The result of session.list.

    more: True if there are more: call again with the number of the last one as `after`. Missing otherwise.
    sessions: In the order in which they were opened.
    """

    more: bool | None = None
    sessions: Sequence[SessionDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("more", "more", codec.boolean, False),
        Member("sessions", "sessions", codec.many(codec.record(lambda: SessionDescription)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdapterListResult(Record):
    """The result of adapter.list.

    adapters: In the order in which the daemon received them; the first is the default.
    """

    adapters: Sequence[AdapterDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapters", "adapters", codec.many(codec.record(lambda: AdapterDescription)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicSyncResult(Record):
    """The result of periodic.sync.

    adapter: The adapter that is synchronised.
    interval: The time between two packets, in seconds.
    peripheral: The daemon's identifier of the device.
    phy: The PHY of the train: "1M", "2M" or "coded".
    responses: The subevents of the train, if it has any.
    sid: The number of the advertising set, 0 to 15.
    """

    adapter: str
    interval: float
    peripheral: str
    phy: Literal["1M", "2M", "coded"] | None = None
    responses: PeriodicSyncResponses | None = None
    sid: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("interval", "interval", codec.number, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("phy", "phy", codec.text, False),
        Member("responses", "responses", codec.record(lambda: PeriodicSyncResponses), False),
        Member("sid", "sid", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicReceiveResult(Record):
    """The result of periodic.receive.

    adapter: The adapter that is synchronised.
    interval: The time between two packets, in seconds.
    peripheral: The daemon's identifier of the device that sends the train, usually another one.
    phy: The PHY of the train: "1M", "2M" or "coded".
    responses: The subevents of the train, if it has any.
    service_data: The value sent with it, 0 to 65535.
    sid: The number of the advertising set, 0 to 15.
    """

    adapter: str
    interval: float
    peripheral: str
    phy: Literal["1M", "2M", "coded"] | None = None
    responses: PeriodicSyncResponses | None = None
    service_data: int
    sid: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("interval", "interval", codec.number, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("phy", "phy", codec.text, False),
        Member("responses", "responses", codec.record(lambda: PeriodicSyncResponses), False),
        Member("serviceData", "service_data", codec.integer, True),
        Member("sid", "sid", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralConnectResult(Record):
    """The result of peripheral.connect.

    adapter: The adapter that holds the link.
    address: Its address.
    address_type: "public" or "random".
    attempts: The number of attempts that were needed.
    mtu: The ATT MTU that was agreed, 23 to 517 octets.
    peripheral: The daemon's identifier of the device.
    """

    adapter: str
    address: str
    address_type: Literal["public", "random"]
    attempts: int
    mtu: int
    peripheral: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("attempts", "attempts", codec.integer, True),
        Member("mtu", "mtu", codec.integer, True),
        Member("peripheral", "peripheral", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralListResult(Record):
    """The result of peripheral.list.

    peripherals: The devices.
    """

    peripherals: Sequence[PeripheralListEntry]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripherals", "peripherals", codec.many(codec.record(lambda: PeripheralListEntry)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralRssiResult(Record):
    """The result of peripheral.rssi.

    rssi: The signal strength of the link, in dBm, -127 to 20.
    """

    rssi: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("rssi", "rssi", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralParametersResult(Record):
    """The result of peripheral.parameters.

    bearers: The number of simultaneous requests that the device accepts (enhanced ATT bearers), 2 to 3;
        missing if it is one.
    continuation: The number of further connection events used after one with data, 0 to 499; missing as
        `subrate`.
    interval: The time between two connection events, in seconds, 0.000375 to 4; missing if the controller
        did not report it, as `latency` and `timeout`.
    key_size: The size of the encryption key, 7 to 16 octets; missing without encryption.
    latency: The number of connection events that the peripheral may skip, 0 to 499.
    mtu: The ATT MTU, 23 to 517 octets.
    peripheral: The daemon's identifier of the device.
    role: This machine's role: "central" if it connected to the device, "peripheral" if the device connected
        to it.
    rx_octets: The longest payload of a packet on the air that the device sends, 27 to 251 octets; missing
        likewise.
    rx_phy: The PHY of the device's packets: "1M", "2M" or "coded"; missing likewise.
    security: The protection of the link: "encrypted", "authenticated" (the keys were agreed on with
        protection against a person in the middle) or "secureConnections" (also with LE Secure Connections);
        missing without encryption.
    subrate: The subrate factor (connection subrating): one of this number of connection events is used, 2
        to 500, and `latency` counts the used ones. Missing if each is used.
    timeout: The time without a packet after which the link is lost, in seconds, 0.1 to 32.
    tx_octets: The longest payload of a packet on the air that this machine sends, 27 to 251 octets; missing
        if the controller did not report it.
    tx_phy: The PHY of this machine's packets: "1M", "2M" or "coded"; missing if the controller did not
        report it.
    """

    bearers: int | None = None
    continuation: int | None = None
    interval: float | None = None
    key_size: int | None = None
    latency: int | None = None
    mtu: int
    peripheral: str
    role: Literal["central", "peripheral"]
    rx_octets: int | None = None
    rx_phy: Literal["1M", "2M", "coded"] | None = None
    security: Literal["encrypted", "authenticated", "secureConnections"] | None = None
    subrate: int | None = None
    timeout: float | None = None
    tx_octets: int | None = None
    tx_phy: Literal["1M", "2M", "coded"] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("bearers", "bearers", codec.integer, False),
        Member("continuation", "continuation", codec.integer, False),
        Member("interval", "interval", codec.number, False),
        Member("keySize", "key_size", codec.integer, False),
        Member("latency", "latency", codec.integer, False),
        Member("mtu", "mtu", codec.integer, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("role", "role", codec.text, True),
        Member("rxOctets", "rx_octets", codec.integer, False),
        Member("rxPHY", "rx_phy", codec.text, False),
        Member("security", "security", codec.text, False),
        Member("subrate", "subrate", codec.integer, False),
        Member("timeout", "timeout", codec.number, False),
        Member("txOctets", "tx_octets", codec.integer, False),
        Member("txPHY", "tx_phy", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattDiscoverResult(Record):
    """The result of gatt.discover.

    services: The services.
    """

    services: Sequence[ServiceDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("services", "services", codec.many(codec.record(lambda: ServiceDescription)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattDiscoverCharacteristicsResult(Record):
    """The result of gatt.discoverCharacteristics.

    characteristics: In order of their handles.
    """

    characteristics: Sequence[CharacteristicDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member(
            "characteristics",
            "characteristics",
            codec.many(codec.record(lambda: CharacteristicDescription)),
            True,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattDiscoverDescriptorsResult(Record):
    """The result of gatt.discoverDescriptors.

    descriptors: In order of their handles.
    """

    descriptors: Sequence[DescriptorDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("descriptors", "descriptors", codec.many(codec.record(lambda: DescriptorDescription)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattReadResult(Record):
    """The result of gatt.read.

    handle: The handle, if the attribute was named by UUIDs.
    truncated: True if the device has more than 512 octets, or does not give the rest of the value.
    uuid: Its UUID, likewise.
    value: 0 to 512 octets.
    """

    handle: int | None = None
    truncated: bool | None = None
    uuid: str | None = None
    value: bytes

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, False),
        Member("truncated", "truncated", codec.boolean, False),
        Member("uuid", "uuid", codec.text, False),
        Member("value", "value", codec.octets, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattReadUsingUUIDResult(Record):
    """The result of gatt.readUsingUUID.

    values: The values.
    """

    values: Sequence[AttributeValue]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("values", "values", codec.many(codec.record(lambda: AttributeValue)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattReadMultipleResult(Record):
    """The result of gatt.readMultiple.

    value: Otherwise: all values in a row.
    values: With `variable`: the values, in the order of the attributes.
    """

    value: bytes | None = None
    values: Sequence[AttributeValue] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("value", "value", codec.octets, False),
        Member("values", "values", codec.many(codec.record(lambda: AttributeValue)), False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattWriteReliablyResult(Record):
    """The result of gatt.writeReliably.

    written: The attributes written, in the order of the writes.
    """

    written: Sequence[AttributeFound]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("written", "written", codec.many(codec.record(lambda: AttributeFound)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattServerFeaturesResult(Record):
    """The result of gatt.serverFeatures.

    enhanced_bearers: True if it supports EATT: several requests at once, over enhanced bearers.
    value: The value as it was read; missing if the device does not have the characteristic.
    """

    enhanced_bearers: bool
    value: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("enhancedBearers", "enhanced_bearers", codec.boolean, True),
        Member("value", "value", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattAcquireResult(Record):
    """The result of gatt.acquire.

    handle: The handle of the characteristic's value.
    maximum_length: The longest value that can be written, in octets: MTU − 3, and 512 at most.
    values: True if there are packets to read.
    writes: True if packets can be written.
    """

    handle: int
    maximum_length: int
    values: bool
    writes: bool

    _members: ClassVar[tuple[Member, ...]] = (
        Member("handle", "handle", codec.integer, True),
        Member("maximumLength", "maximum_length", codec.integer, True),
        Member("values", "values", codec.boolean, True),
        Member("writes", "writes", codec.boolean, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceAddResult(Record):
    """The result of service.add.

    service: The service with its handles; the handle of the declaration identifies it from now on.
    """

    service: ServiceDescription

    _members: ClassVar[tuple[Member, ...]] = (
        Member("service", "service", codec.record(lambda: ServiceDescription), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerNotifyResult(Record):
    """The result of server.notify.

    indicated: With `confirmation`: the identifiers of the subscribers that receive it as an indication; one
        `server.confirmed` follows for each; missing if there are none.
    missed: The identifiers of the subscribers that miss a value because their queues were full: this one
        with "skip", an earlier one with "newest"; missing if there are none.
    out_of_sync: The identifiers of the subscribers that did not receive it because they must discover the
        changed services first; missing if there are none.
    receivers: The number of subscribers it was sent to, or is queued for.
    sent: False: there was no room and nothing was sent; try again after `server.ready`. True if there are
        no subscribers.
    truncated: The identifiers of the subscribers that received only the beginning, as the value is longer
        than their `maximumLength`; missing if there are none.
    """

    indicated: Sequence[str] | None = None
    missed: Sequence[str] | None = None
    out_of_sync: Sequence[str] | None = None
    receivers: int
    sent: bool
    truncated: Sequence[str] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("indicated", "indicated", codec.many(codec.text), False),
        Member("missed", "missed", codec.many(codec.text), False),
        Member("outOfSync", "out_of_sync", codec.many(codec.text), False),
        Member("receivers", "receivers", codec.integer, True),
        Member("sent", "sent", codec.boolean, True),
        Member("truncated", "truncated", codec.many(codec.text), False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerAcquireResult(Record):
    """The result of server.acquire.

    maximum_length: The longest value that can be sent, in octets: MTU − 3, and 512 at most.
    receives: True if there are packets to read: the characteristic can be written.
    sends: True if packets can be written: the device has subscribed.
    """

    maximum_length: int
    receives: bool
    sends: bool

    _members: ClassVar[tuple[Member, ...]] = (
        Member("maximumLength", "maximum_length", codec.integer, True),
        Member("receives", "receives", codec.boolean, True),
        Member("sends", "sends", codec.boolean, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingStartResult(Record):
    """The result of advertising.start.

    adapter: The adapter that sends it.
    advertising: The number that names it in this session, 1 or more.
    interval: The actual interval in seconds: longer than requested when advertisements take turns.
    shortened_name: The name in the advertisement, if it had to be shortened.
    tx_power: The transmit power chosen by the controller, in dBm, if `txPower` requested one and the
        controller reports it.
    """

    adapter: str
    advertising: int
    interval: float
    shortened_name: str | None = None
    tx_power: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("advertising", "advertising", codec.integer, True),
        Member("interval", "interval", codec.number, True),
        Member("shortenedName", "shortened_name", codec.text, False),
        Member("txPower", "tx_power", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class L2capPublishResult(Record):
    """The result of l2cap.publish.

    adapter: The adapter that listens.
    psm: The number under which devices open channels, 128 to 255.
    """

    adapter: str
    psm: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("psm", "psm", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class L2capOpenResult(Record):
    """The result of l2cap.open.

    channel: The number that names it in this session, 1 or more.
    mode: The mode of the channel: "leCreditBased" or "enhanced".
    peripheral: The daemon's identifier of the device.
    psm: The number of the listener (SPSM), 1 to 255.
    receive_mps: The longest piece of the device's packets (MPS), in octets, 23 to 65533; absent if unknown.
    receive_mtu: The longest packet that the device may send, in octets, 23 to 65535.
    send_mps: The longest piece of packets to the device (MPS), in octets, 23 to 65533; absent if unknown.
    send_mtu: The longest packet that the device accepts, in octets, 23 to 65535.
    socket: The path of the socket for the token.
    token: The token to send to `socket`, followed by a line feed, to get the channel's octets there: 32 hex
        digits. Valid once, for a program of the same user, within 30 seconds.
    """

    channel: int
    mode: Literal["leCreditBased", "enhanced"]
    peripheral: str
    psm: int
    receive_mps: int | None = None
    receive_mtu: int
    send_mps: int | None = None
    send_mtu: int
    socket: str | None = None
    token: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("channel", "channel", codec.integer, True),
        Member("mode", "mode", codec.text, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("psm", "psm", codec.integer, True),
        Member("receiveMPS", "receive_mps", codec.integer, False),
        Member("receiveMTU", "receive_mtu", codec.integer, True),
        Member("sendMPS", "send_mps", codec.integer, False),
        Member("sendMTU", "send_mtu", codec.integer, True),
        Member("socket", "socket", codec.text, False),
        Member("token", "token", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralPairResult(Record):
    """The result of peripheral.pair.

    bonded: True if both sides keep the keys, so that the next link is encrypted without pairing.
    key_size: The size of the key, 7 to 16 octets.
    level: "encrypted", "authenticated" or "secureConnections".
    """

    bonded: bool
    key_size: int
    level: Literal["encrypted", "authenticated", "secureConnections"]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("bonded", "bonded", codec.boolean, True),
        Member("keySize", "key_size", codec.integer, True),
        Member("level", "level", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingListResult(Record):
    """The result of pairing.list.

    bonds: The devices.
    """

    bonds: Sequence[BondDescription]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("bonds", "bonds", codec.many(codec.record(lambda: BondDescription)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingReadOutOfBandResult(Record):
    """The result of pairing.readOutOfBand.

    address: The adapter's address.
    address_type: "public" or "random".
    confirmation: The confirmation value, 16 octets, the lowest first as in AD structures of type 0x22.
    random: The random value, 16 octets, the lowest first as in AD structures of type 0x23.
    temporary_key: The temporary key, 16 octets, the lowest first as in AD structures of type 0x10: for
        devices without LE Secure Connections, which begin to pair. It is for one device: after its pairing read
        them again. Missing where the adapter is the kernel's.
    """

    address: str
    address_type: Literal["public", "random"]
    confirmation: bytes
    random: bytes
    temporary_key: bytes | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("confirmation", "confirmation", codec.octets, True),
        Member("random", "random", codec.octets, True),
        Member("temporaryKey", "temporary_key", codec.octets, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CaptureStartResult(Record):
    """The result of capture.start.

    capture: The number that names the recording in this session, 1 or more.
    """

    capture: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("capture", "capture", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CaptureStopResult(Record):
    """The result of capture.stop.

    lost: The number of missing packets, which were not read in time.
    packets: The number of packets in the recording, including notes.
    """

    lost: int
    packets: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("lost", "lost", codec.integer, True),
        Member("packets", "packets", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MetricsGetResult(Record):
    """The result of metrics.get.

    metrics: The metrics, in the order of the page for Prometheus.
    """

    metrics: Sequence[Metric]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("metrics", "metrics", codec.many(codec.record(lambda: Metric)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationAdvanceResult(Record):
    """The result of simulation.advance.

    time: The time on the clock, in seconds since the epoch.
    """

    time: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("time", "time", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationDevicesResult(Record):
    """The result of simulation.devices.

    devices: The devices, the first one first.
    """

    devices: Sequence[SimulationDevice]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("devices", "devices", codec.many(codec.record(lambda: SimulationDevice)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationWrittenResult(Record):
    """The result of simulation.written.

    writes: The writes.
    """

    writes: Sequence[SimulationWrite]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("writes", "writes", codec.many(codec.record(lambda: SimulationWrite)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulationVisitResult(Record):
    """The result of simulation.visit.

    complete: True if the link lasted to the end of the script.
    steps: The first 1,000 steps of the visit, in order.
    """

    complete: bool
    steps: Sequence[SimulationVisitStep]

    _members: ClassVar[tuple[Member, ...]] = (
        Member("complete", "complete", codec.boolean, True),
        Member("steps", "steps", codec.many(codec.record(lambda: SimulationVisitStep)), True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerRead(Event):
    """From the daemon: a device reads a characteristic or a descriptor of this session. Answer with the value from
    the offset on, or with an error whose data has the domain "att". Without an answer within 25 s the device
    receives Unlikely Error.

    central: The daemon's identifier of the device that reads.
    handle: The handle of the characteristic's value, or of the descriptor.
    offset: The offset, 0 to 512.
    mtu: The ATT_MTU of the link, 23 to 517.
    """

    method: ClassVar[str] = "server.read"
    central: str
    handle: int
    offset: int
    mtu: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("offset", "offset", codec.integer, True),
        Member("mtu", "mtu", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerWrite(Event):
    """From the daemon: a device wrote one or more characteristics or descriptors of this session; several writes
    together come from an Execute Write Request. Answer once, with an empty result or with an error whose data has
    the domain "att".

    central: The daemon's identifier of the device that writes.
    writes: The values, in order.
    without_response: True for a Write Command; the device receives no answer to it.
    mtu: The ATT_MTU of the link, 23 to 517.
    time: When the device wrote, in seconds since the epoch: a restored session receives calls that were
        kept for it.
    """

    method: ClassVar[str] = "server.write"
    central: str
    writes: Sequence[ServerWriteWrite]
    without_response: bool | None = None
    mtu: int | None = None
    time: float | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("writes", "writes", codec.many(codec.record(lambda: ServerWriteWrite)), True),
        Member("withoutResponse", "without_response", codec.boolean, False),
        Member("mtu", "mtu", codec.integer, False),
        Member("time", "time", codec.number, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingConfirm(Event):
    """From the daemon, to a session that has called pairing.register: whether to pair with this device. With
    "number", whether the device shows the same number. Without an answer within the time the pairing is refused.

    device: The device that pairs.
    number: The number that the device shows, six digits; missing if there is none to compare.
    seconds: The time to answer, in seconds, 0 or more.
    """

    method: ClassVar[str] = "pairing.confirm"
    device: PairingDevice
    number: str | None = None
    seconds: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("device", "device", codec.record(lambda: PairingDevice), True),
        Member("number", "number", codec.text, False),
        Member("seconds", "seconds", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingEnterPasskey(Event):
    """From the daemon, to a session that has called pairing.register: the passkey that the device shows. Without an
    answer within the time the pairing is refused.

    device: The device that pairs.
    seconds: The time to answer, in seconds, 0 or more.
    """

    method: ClassVar[str] = "pairing.enterPasskey"
    device: PairingDevice
    seconds: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("device", "device", codec.record(lambda: PairingDevice), True),
        Member("seconds", "seconds", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdapterChanged(Event):
    """An adapter appeared, disappeared, or changed its state. Sent to every session.

    adapter: Its name in calls: "hci0".
    kind: The kind of the adapter: "kernel", "host" or "simulated".
    address: Its address; missing while it is not known.
    address_type: The type of the address, "public" or "random"; missing while it is not known.
    name: The system's name for it.
    device_name: The Device Name of the Generic Access service, under which devices see this machine; see
        adapter.setName.
    state: "absent" (unplugged), "off", "starting", "on", "suspended" (the system sleeps) or "failed" (see
        `problem`).
    problem: Why it is "failed" or, if that is known, "absent", and the remedy.
    scanning: True if it scans at the moment.
    advertising: The number of advertisements that it sends at the moment.
    links: The number of its links.
    taking_turns: The activities, of "connecting", "advertising" and "scanning", that its controller cannot
        run at once and therefore runs in turns at the moment; missing if all wanted ones run together.
    held_back: The activities, of "connecting", "advertising" and "scanning", that its controller cannot run
        beside its links; they wait until links have ended. Missing for none.
    phys: The PHYs that its controller has: "1M", "2M", "coded". Missing while it is not on.
    features: The names of its controller's features (Core 6.2, Vol 6, Part B, 4.6): "LE 2M PHY", or
        "unknown feature bit 75" for one of a later specification. Those beyond the first 64 are read only where
        the controller has commands of theirs that the daemon uses. Missing while it is not on, and of simulated
        adapters.
    longest_packet: The longest payload of a packet on a link, in octets, 27 to 251 (the maximum data
        length). Missing while it is not on.
    advertising_sets: The number of advertisements that its controller sends at once; further ones take
        turns on the last place. Missing while it is not on.
    longest_advertisement: The longest data of an advertisement in octets, 31 to 1650: 31 with legacy PDUs.
        Missing while it is not on.
    company: The company identifier of its controller's maker, 0 to 65535 (Assigned Numbers, 7.1). Missing
        if unknown.
    version: The version of its controller's Core Specification, as HCI numbers them, 0 to 255; 13 is 5.4
        (Assigned Numbers, 2.1). Missing if unknown.
    private_address: The private address under which devices see it at present, six octets in hex with
        colons. Missing where they see `address`.
    quirks: The known or learned faults of its make of controller. Missing if there are none.
    since_report: The time since its controller received an advertisement or a scan response, in seconds, 0
        or more. Missing if it received none since it was brought into use, and while it is not on.
    since_event: The time since its controller sent anything, reports included, in seconds, 0 or more.
        Missing likewise.
    """

    method: ClassVar[str] = "adapter.changed"
    adapter: str
    kind: Literal["kernel", "host", "simulated"]
    address: str | None = None
    address_type: Literal["public", "random"] | None = None
    name: str
    device_name: str | None = None
    state: Literal["absent", "off", "starting", "on", "suspended", "failed"]
    problem: AdapterDescriptionProblem | None = None
    scanning: bool
    advertising: int
    links: int
    taking_turns: Sequence[Literal["connecting", "advertising", "scanning"]] | None = None
    held_back: Sequence[Literal["connecting", "advertising", "scanning"]] | None = None
    phys: Sequence[Literal["1M", "2M", "coded"]] | None = None
    features: Sequence[str] | None = None
    longest_packet: int | None = None
    advertising_sets: int | None = None
    longest_advertisement: int | None = None
    company: int | None = None
    version: int | None = None
    private_address: str | None = None
    quirks: Sequence[AdapterDescriptionQuirk] | None = None
    since_report: float | None = None
    since_event: float | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("kind", "kind", codec.text, True),
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("name", "name", codec.text, True),
        Member("deviceName", "device_name", codec.text, False),
        Member("state", "state", codec.text, True),
        Member("problem", "problem", codec.record(lambda: AdapterDescriptionProblem), False),
        Member("scanning", "scanning", codec.boolean, True),
        Member("advertising", "advertising", codec.integer, True),
        Member("links", "links", codec.integer, True),
        Member("takingTurns", "taking_turns", codec.many(codec.text), False),
        Member("heldBack", "held_back", codec.many(codec.text), False),
        Member("phys", "phys", codec.many(codec.text), False),
        Member("features", "features", codec.many(codec.text), False),
        Member("longestPacket", "longest_packet", codec.integer, False),
        Member("advertisingSets", "advertising_sets", codec.integer, False),
        Member("longestAdvertisement", "longest_advertisement", codec.integer, False),
        Member("company", "company", codec.integer, False),
        Member("version", "version", codec.integer, False),
        Member("privateAddress", "private_address", codec.text, False),
        Member("quirks", "quirks", codec.many(codec.record(lambda: AdapterDescriptionQuirk)), False),
        Member("sinceReport", "since_report", codec.number, False),
        Member("sinceEvent", "since_event", codec.number, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanReport(Event):
    """A device was heard; its advertisement and its scan response are one report, with the data of both merged.

    peripheral: The daemon's stable identifier of the device, a UUID.
    adapter: The adapter that received it.
    address: The address it used.
    address_type: "public" or "random".
    rssi: Signal strength in dBm, -127 to 20, if known.
    connectable: True if it accepts connections.
    name: Its last received name, complete or shortened: not necessarily from this advertisement.
    services: The services it lists.
    solicited_services: The services it solicits.
    service_data: Service data: an object whose members are named by the UUIDs of services, as `{"180F":
        "64"}`.
    manufacturer_data: Manufacturer-specific data; the first two octets are the company identifier, low
        octet first.
    tx_power: The transmit power, in dBm, -127 to 127, from its data or else from the header of an extended
        advertisement.
    appearance: The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    data: The advertising data as received.
    scan_response: The scan response data as received, once one was received that is not empty.
    truncated: True if the controller lost the end of the advertising data.
    directed: True if the advertisement is directed to one device.
    primary_phy: The PHY on which the advertisement begins: "1M" or "coded".
    secondary_phy: The PHY on which an extended advertisement continues: "1M", "2M" or "coded".
    sid: The number of the advertising set, 0 to 15, of an extended advertisement.
    periodic_interval: The time between two packets of the periodic train that this set announces, in
        seconds; see periodic.sync.
    decoded: The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if
        no format fits.
    scan: The number of the scan that it is for, 1 to 65535; missing for the one without a number.
    time: When it was received, in seconds since the epoch.
    """

    method: ClassVar[str] = "scan.report"
    peripheral: str
    adapter: str
    address: str
    address_type: Literal["public", "random"]
    rssi: int | None = None
    connectable: bool
    name: str | None = None
    services: Sequence[str] | None = None
    solicited_services: Sequence[str] | None = None
    service_data: Mapping[str, bytes] | None = None
    manufacturer_data: bytes | None = None
    tx_power: int | None = None
    appearance: int | None = None
    data: bytes
    scan_response: bytes | None = None
    truncated: bool | None = None
    directed: bool | None = None
    primary_phy: Literal["1M", "coded"] | None = None
    secondary_phy: Literal["1M", "2M", "coded"] | None = None
    sid: int | None = None
    periodic_interval: float | None = None
    decoded: Sequence[Mapping[str, str | float | bool]] | None = None
    scan: int | None = None
    time: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("rssi", "rssi", codec.integer, False),
        Member("connectable", "connectable", codec.boolean, True),
        Member("name", "name", codec.text, False),
        Member("services", "services", codec.many(codec.text), False),
        Member("solicitedServices", "solicited_services", codec.many(codec.text), False),
        Member("serviceData", "service_data", codec.mapping(codec.octets), False),
        Member("manufacturerData", "manufacturer_data", codec.octets, False),
        Member("txPower", "tx_power", codec.integer, False),
        Member("appearance", "appearance", codec.integer, False),
        Member("data", "data", codec.octets, True),
        Member("scanResponse", "scan_response", codec.octets, False),
        Member("truncated", "truncated", codec.boolean, False),
        Member("directed", "directed", codec.boolean, False),
        Member("primaryPHY", "primary_phy", codec.text, False),
        Member("secondaryPHY", "secondary_phy", codec.text, False),
        Member("sid", "sid", codec.integer, False),
        Member("periodicInterval", "periodic_interval", codec.number, False),
        Member("decoded", "decoded", codec.many(codec.mapping(codec.scalar)), False),
        Member("scan", "scan", codec.integer, False),
        Member("time", "time", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanAnonymousReport(Event):
    """An advertisement without an address was heard (Core 5.4, Vol 6, Part B, 4.4.2.1). It is not known who sent it,
    and nobody can connect to it. Only for scans with "anonymous".

    adapter: The adapter that received it.
    rssi: Signal strength in dBm, -127 to 20, if known.
    name: Its name, complete or shortened.
    services: The services it lists.
    service_data: Service data: an object whose members are named by the UUIDs of services, as `{"180F":
        "64"}`.
    manufacturer_data: Manufacturer-specific data; the first two octets are the company identifier, low
        octet first.
    tx_power: The transmit power, in dBm, -127 to 127, from its data or else its header.
    data: The advertising data as received.
    truncated: True if the controller lost the end of the data.
    directed: True if the advertisement is directed to one device.
    primary_phy: The PHY on which the advertisement begins: "1M" or "coded".
    secondary_phy: The PHY on which it continues: "1M", "2M" or "coded".
    sid: The number of the advertising set, 0 to 15.
    decoded: The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if
        no format fits.
    scan: The number of the scan that it is for, 1 to 65535; missing for the one without a number.
    time: When it was received, in seconds since the epoch.
    """

    method: ClassVar[str] = "scan.anonymousReport"
    adapter: str
    rssi: int | None = None
    name: str | None = None
    services: Sequence[str] | None = None
    service_data: Mapping[str, bytes] | None = None
    manufacturer_data: bytes | None = None
    tx_power: int | None = None
    data: bytes
    truncated: bool | None = None
    directed: bool | None = None
    primary_phy: Literal["1M", "coded"] | None = None
    secondary_phy: Literal["1M", "2M", "coded"] | None = None
    sid: int | None = None
    decoded: Sequence[Mapping[str, str | float | bool]] | None = None
    scan: int | None = None
    time: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("adapter", "adapter", codec.text, True),
        Member("rssi", "rssi", codec.integer, False),
        Member("name", "name", codec.text, False),
        Member("services", "services", codec.many(codec.text), False),
        Member("serviceData", "service_data", codec.mapping(codec.octets), False),
        Member("manufacturerData", "manufacturer_data", codec.octets, False),
        Member("txPower", "tx_power", codec.integer, False),
        Member("data", "data", codec.octets, True),
        Member("truncated", "truncated", codec.boolean, False),
        Member("directed", "directed", codec.boolean, False),
        Member("primaryPHY", "primary_phy", codec.text, False),
        Member("secondaryPHY", "secondary_phy", codec.text, False),
        Member("sid", "sid", codec.integer, False),
        Member("decoded", "decoded", codec.many(codec.mapping(codec.scalar)), False),
        Member("scan", "scan", codec.integer, False),
        Member("time", "time", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanFound(Event):
    """A device that this session's scan with "presence" names is there. While it stays nothing more is told of it;
    scan.lost says that it is not there any more.

    peripheral: The daemon's stable identifier of the device, a UUID.
    adapter: The adapter that received it.
    address: Its address.
    address_type: "public" or "random".
    name: Its name, if known.
    rssi: Signal strength in dBm, -127 to 20, if known.
    scan: The number of the scan that found it, 1 to 65535; missing for the one without a number.
    time: When it was received, in seconds since the epoch.
    """

    method: ClassVar[str] = "scan.found"
    peripheral: str
    adapter: str
    address: str
    address_type: Literal["public", "random"]
    name: str | None = None
    rssi: int | None = None
    scan: int | None = None
    time: float

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("adapter", "adapter", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("name", "name", codec.text, False),
        Member("rssi", "rssi", codec.integer, False),
        Member("scan", "scan", codec.integer, False),
        Member("time", "time", codec.number, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanLost(Event):
    """Nothing that passes the filters came from a device for the time that this session's scan gives as "lost". When
    it is heard again it is reported again.

    peripheral: The daemon's identifier of the device.
    last_heard: When it was last received, in seconds since the epoch.
    scan: The number of the scan that has lost it, 1 to 65535; missing for the one without a number.
    """

    method: ClassVar[str] = "scan.lost"
    peripheral: str
    last_heard: float
    scan: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("lastHeard", "last_heard", codec.number, True),
        Member("scan", "scan", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicReport(Event):
    """A packet of a train that this session follows was received.

    peripheral: The daemon's identifier of the device.
    adapter: The adapter that received it.
    sid: The number of the advertising set, 0 to 15.
    data: The data, usually AD structures: 0 to 1650 octets.
    rssi: Signal strength in dBm, if known.
    tx_power: The transmit power in dBm, if the header contains it.
    truncated: True if the controller lost the end of the data.
    time: When it was received, in seconds since the epoch.
    event: The number of the event in which it was sent, 0 to 65535, of a train with subevents.
    subevent: The subevent in which it was sent, 0 to 127, of a train with subevents.
    """

    method: ClassVar[str] = "periodic.report"
    peripheral: str
    adapter: str
    sid: int
    data: bytes
    rssi: int | None = None
    tx_power: int | None = None
    truncated: bool | None = None
    time: float
    event: int | None = None
    subevent: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("adapter", "adapter", codec.text, True),
        Member("sid", "sid", codec.integer, True),
        Member("data", "data", codec.octets, True),
        Member("rssi", "rssi", codec.integer, False),
        Member("txPower", "tx_power", codec.integer, False),
        Member("truncated", "truncated", codec.boolean, False),
        Member("time", "time", codec.number, True),
        Member("event", "event", codec.integer, False),
        Member("subevent", "subevent", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeriodicChanged(Event):
    """A train that this session follows was lost (it is looked for again), was found again, or cannot be followed
    any more (`reason`).

    peripheral: The daemon's identifier of the device.
    adapter: The adapter.
    sid: The number of the advertising set, 0 to 15.
    synced: True if the adapter is synchronised with it.
    interval: The time between two packets, in seconds, if it is.
    phy: The PHY of the train, if it is: "1M", "2M" or "coded".
    reason: The reason why this session no longer follows it; missing if it does.
    """

    method: ClassVar[str] = "periodic.changed"
    peripheral: str
    adapter: str
    sid: int
    synced: bool
    interval: float | None = None
    phy: Literal["1M", "2M", "coded"] | None = None
    reason: BledError | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("adapter", "adapter", codec.text, True),
        Member("sid", "sid", codec.integer, True),
        Member("synced", "synced", codec.boolean, True),
        Member("interval", "interval", codec.number, False),
        Member("phy", "phy", codec.text, False),
        Member("reason", "reason", codec.failure, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralConnected(Event):
    """A device was connected again after its link was lost (`reconnect`), or the peripheral.connect that was pending
    when the program went away succeeded.

    peripheral: The daemon's identifier of the device.
    address: Its address.
    address_type: "public" or "random".
    adapter: The adapter that holds the link.
    mtu: The ATT MTU that was agreed, 23 to 517 octets.
    attempts: The number of attempts that were needed.
    """

    method: ClassVar[str] = "peripheral.connected"
    peripheral: str
    address: str
    address_type: Literal["public", "random"]
    adapter: str
    mtu: int
    attempts: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("adapter", "adapter", codec.text, True),
        Member("mtu", "mtu", codec.integer, True),
        Member("attempts", "attempts", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralConnectFailed(Event):
    """A peripheral.connect that was pending when the program went away failed or was cancelled; see session.open.

    peripheral: The daemon's identifier of the device.
    reason: The reason.
    """

    method: ClassVar[str] = "peripheral.connectFailed"
    peripheral: str
    reason: BledError

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("reason", "reason", codec.failure, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralConnectWaiting(Event):
    """The adapter could not look for a device in the last ten seconds, although this session waits for the
    connection. It is looked for as soon as that is possible, and the call remains pending. Sent once for each
    reason.

    peripheral: The daemon's identifier of the device.
    reason: The reason.
    """

    method: ClassVar[str] = "peripheral.connectWaiting"
    peripheral: str
    reason: BledError

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("reason", "reason", codec.failure, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralDisconnected(Event):
    """A device that this session was connected to is disconnected; every pending call on it has failed.

    peripheral: The daemon's identifier of the device.
    reason: The reason; missing if this session disconnected.
    reconnecting: True if the daemon reconnects as soon as the device is present, which peripheral.connected
        reports. Missing otherwise.
    time: When the connection ended, in seconds since the epoch: a restored session receives it later.
    """

    method: ClassVar[str] = "peripheral.disconnected"
    peripheral: str
    reason: BledError | None = None
    reconnecting: bool | None = None
    time: float | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("reason", "reason", codec.failure, False),
        Member("reconnecting", "reconnecting", codec.boolean, False),
        Member("time", "time", codec.number, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralLinkChanged(Event):
    """A link of any session came up or ended; sent after peripheral.watch.

    peripheral: The daemon's identifier of the device.
    linked: True if the link is up.
    name: The device's name, if known.
    reason: The reason for the link's end. Missing if it is up.
    incoming: True if the link is up and the device made it. Missing otherwise.
    """

    method: ClassVar[str] = "peripheral.linkChanged"
    peripheral: str
    linked: bool
    name: str | None = None
    reason: BledError | None = None
    incoming: bool | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("linked", "linked", codec.boolean, True),
        Member("name", "name", codec.text, False),
        Member("reason", "reason", codec.failure, False),
        Member("incoming", "incoming", codec.boolean, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeripheralParametersChanged(Event):
    """The parameters, the MTU, a PHY, a packet length or the protection of a link changed. Sent to the sessions that
    use the device, and to those whose services it uses.

    peripheral: The daemon's identifier of the device.
    role: This machine's role: "central" if it connected to the device, "peripheral" if the device connected
        to it.
    interval: The time between two connection events, in seconds, 0.000375 to 4; missing if the controller
        did not report it, as `latency` and `timeout`.
    latency: The number of connection events that the peripheral may skip, 0 to 499.
    timeout: The time without a packet after which the link is lost, in seconds, 0.1 to 32.
    subrate: The subrate factor (connection subrating): one of this number of connection events is used, 2
        to 500, and `latency` counts the used ones. Missing if each is used.
    continuation: The number of further connection events used after one with data, 0 to 499; missing as
        `subrate`.
    mtu: The ATT MTU, 23 to 517 octets.
    bearers: The number of simultaneous requests that the device accepts (enhanced ATT bearers), 2 to 3;
        missing if it is one.
    tx_phy: The PHY of this machine's packets: "1M", "2M" or "coded"; missing if the controller did not
        report it.
    rx_phy: The PHY of the device's packets: "1M", "2M" or "coded"; missing likewise.
    tx_octets: The longest payload of a packet on the air that this machine sends, 27 to 251 octets; missing
        if the controller did not report it.
    rx_octets: The longest payload of a packet on the air that the device sends, 27 to 251 octets; missing
        likewise.
    security: The protection of the link: "encrypted", "authenticated" (the keys were agreed on with
        protection against a person in the middle) or "secureConnections" (also with LE Secure Connections);
        missing without encryption.
    key_size: The size of the encryption key, 7 to 16 octets; missing without encryption.
    """

    method: ClassVar[str] = "peripheral.parametersChanged"
    peripheral: str
    role: Literal["central", "peripheral"]
    interval: float | None = None
    latency: int | None = None
    timeout: float | None = None
    subrate: int | None = None
    continuation: int | None = None
    mtu: int
    bearers: int | None = None
    tx_phy: Literal["1M", "2M", "coded"] | None = None
    rx_phy: Literal["1M", "2M", "coded"] | None = None
    tx_octets: int | None = None
    rx_octets: int | None = None
    security: Literal["encrypted", "authenticated", "secureConnections"] | None = None
    key_size: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("role", "role", codec.text, True),
        Member("interval", "interval", codec.number, False),
        Member("latency", "latency", codec.integer, False),
        Member("timeout", "timeout", codec.number, False),
        Member("subrate", "subrate", codec.integer, False),
        Member("continuation", "continuation", codec.integer, False),
        Member("mtu", "mtu", codec.integer, True),
        Member("bearers", "bearers", codec.integer, False),
        Member("txPHY", "tx_phy", codec.text, False),
        Member("rxPHY", "rx_phy", codec.text, False),
        Member("txOctets", "tx_octets", codec.integer, False),
        Member("rxOctets", "rx_octets", codec.integer, False),
        Member("security", "security", codec.text, False),
        Member("keySize", "key_size", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattDiscoveryProgress(Event):
    """A gatt.discover of this session has not finished; about once a second while the device answers.

    peripheral: The daemon's identifier of the device.
    services: The number of services known so far.
    characteristics: The number of characteristics known so far.
    """

    method: ClassVar[str] = "gatt.discoveryProgress"
    peripheral: str
    services: int
    characteristics: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("services", "services", codec.integer, True),
        Member("characteristics", "characteristics", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattValue(Event):
    """The device notified or indicated a value that this session subscribed to.

    peripheral: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    value: The value.
    time: When it was received, in seconds since the epoch: a restored session gets values that were kept
        for it.
    serial: Increases with each value of all devices while the daemon runs, from 1 on: a value for several
        sessions has the same one in each.
    """

    method: ClassVar[str] = "gatt.value"
    peripheral: str
    handle: int
    value: bytes
    time: float | None = None
    serial: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("value", "value", codec.octets, True),
        Member("time", "time", codec.number, False),
        Member("serial", "serial", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattServicesChanged(Event):
    """The attributes in this range of handles changed: the handles are no longer valid, discover again.

    peripheral: The daemon's identifier of the device.
    start: First handle of the range.
    end: Last handle of the range.
    """

    method: ClassVar[str] = "gatt.servicesChanged"
    peripheral: str
    start: int
    end: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("start", "start", codec.integer, True),
        Member("end", "end", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattSubscriptionLost(Event):
    """The daemon ended a subscription of this session, for instance because it did not read fast enough.

    peripheral: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    reason: The reason.
    """

    method: ClassVar[str] = "gatt.subscriptionLost"
    peripheral: str
    handle: int
    reason: BledError

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("reason", "reason", codec.failure, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattValuesLost(Event):
    """Packets from a device were dropped because a buffer of the kernel was full. They may have contained values
    that this session subscribed to. The subscriptions continue.

    peripheral: The daemon's identifier of the device.
    packets: The number of packets, 1 or more.
    """

    method: ClassVar[str] = "gatt.valuesLost"
    peripheral: str
    packets: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("packets", "packets", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattReleased(Event):
    """The daemon closed its end of the descriptor of gatt.acquire: the link ended, the device's services changed, a
    packet was longer than a value may be or, where the program asked for that, the other end was closed (error
    cancelled).

    peripheral: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    reason: The reason.
    unsent: The number of packets that the program had written and that were not sent.
    writes: True if the descriptor was for writing.
    values: True if it was for values.
    """

    method: ClassVar[str] = "gatt.released"
    peripheral: str
    handle: int
    reason: BledError
    unsent: int
    writes: bool | None = None
    values: bool | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("reason", "reason", codec.failure, True),
        Member("unsent", "unsent", codec.integer, True),
        Member("writes", "writes", codec.boolean, False),
        Member("values", "values", codec.boolean, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GattValuesDropped(Event):
    """So many values of the device were dropped because the program did not read the descriptor of gatt.acquire;
    those that come from now on follow the gap.

    peripheral: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    values: The number of values, 1 or more.
    """

    method: ClassVar[str] = "gatt.valuesDropped"
    peripheral: str
    handle: int
    values: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("values", "values", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerReleased(Event):
    """The daemon closed its end of the descriptor of server.acquire: the device unsubscribed, the link ended, the
    service was removed, or a packet was longer than a value may be.

    central: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    reason: The reason.
    unsent: The number of packets that the program had written and that were not sent.
    """

    method: ClassVar[str] = "server.released"
    central: str
    handle: int
    reason: BledError
    unsent: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("reason", "reason", codec.failure, True),
        Member("unsent", "unsent", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerSubscribed(Event):
    """A device subscribed to a characteristic of this session.

    central: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    maximum_length: The longest value in one notification, in octets: MTU − 3, and 512 at most.
    """

    method: ClassVar[str] = "server.subscribed"
    central: str
    handle: int
    maximum_length: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("maximumLength", "maximum_length", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerUnsubscribed(Event):
    """A device unsubscribed from a characteristic of this session, or disconnected.

    central: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    maximum_length: The longest value in one notification, in octets: MTU − 3, and 512 at most.
    """

    method: ClassVar[str] = "server.unsubscribed"
    central: str
    handle: int
    maximum_length: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("maximumLength", "maximum_length", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerWritesLost(Event):
    """Packets from a device were dropped because a buffer of the kernel or the queue of this session was full. They
    may have contained values written without response to characteristics of this session.

    central: The daemon's identifier of the device.
    packets: The number of packets, 1 or more.
    """

    method: ClassVar[str] = "server.writesLost"
    central: str
    packets: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("packets", "packets", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerReady(Event):
    """There is room again after server.notify answered "sent": false."""

    method: ClassVar[str] = "server.ready"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServerConfirmed(Event):
    """A subscriber has confirmed an indication of server.notify with "confirmation", or will not: it unsubscribed,
    the link ended, or a newer value replaced this one. Sent once for each subscriber in "indicated", in the order
    of the values for that subscriber; it may precede the answer.

    central: The daemon's identifier of the device.
    handle: The handle of the characteristic's value.
    confirmation: The number chosen in server.notify, 0 to 4294967295.
    error: The reason why it was not confirmed; missing if it was.
    """

    method: ClassVar[str] = "server.confirmed"
    central: str
    handle: int
    confirmation: int
    error: BledError | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("central", "central", codec.text, True),
        Member("handle", "handle", codec.integer, True),
        Member("confirmation", "confirmation", codec.integer, True),
        Member("error", "error", codec.failure, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingChanged(Event):
    """An advertisement of this session went off the air, came back, changed its interval, ended by itself (`ended`),
    or failed (`reason`).

    advertising: The number that `advertising.start` gave, 1 or more.
    on_air: True if it is on the air: sent by its adapter, or taking turns with others. False while the
        adapter is off or absent.
    interval: The actual interval in seconds while it is on the air: it grows with the number of
        advertisements that take turns.
    reason: The reason for its failure; missing if it did not fail.
    ended: The reason why it ended by itself; missing if it did not: "duration" (also of the high duty
        cycle), "count", or "connected" if it was directed to the device that connected. The advertisement no
        longer exists then.
    """

    method: ClassVar[str] = "advertising.changed"
    advertising: int
    on_air: bool
    interval: float | None = None
    reason: BledError | None = None
    ended: Literal["duration", "count", "connected"] | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("advertising", "advertising", codec.integer, True),
        Member("onAir", "on_air", codec.boolean, True),
        Member("interval", "interval", codec.number, False),
        Member("reason", "reason", codec.failure, False),
        Member("ended", "ended", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvertisingResponses(Event):
    """Devices responded to a subevent of a train of this session, or its data could not be sent (`sent`).

    advertising: The number of the advertisement.
    subevent: Which subevent, 0 to 127.
    sent: True if the data of the subevent was sent.
    responses: The received responses, in the controller's order.
    time: When the controller reported them, in seconds since the epoch.
    lost: The number of such events of the advertisement that were dropped before this one, because this
        session did not read; missing if none.
    """

    method: ClassVar[str] = "advertising.responses"
    advertising: int
    subevent: int
    sent: bool
    responses: Sequence[AdvertisingResponsesResponse]
    time: float
    lost: int | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("advertising", "advertising", codec.integer, True),
        Member("subevent", "subevent", codec.integer, True),
        Member("sent", "sent", codec.boolean, True),
        Member("responses", "responses", codec.many(codec.record(lambda: AdvertisingResponsesResponse)), True),
        Member("time", "time", codec.number, True),
        Member("lost", "lost", codec.integer, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class L2capIncoming(Event):
    """A device opened a channel to a number that this session published: call l2cap.accept within 30 seconds.

    channel: The number that names it in this session, 1 or more.
    peripheral: The daemon's identifier of the device.
    psm: The number of the listener (SPSM), 1 to 255.
    mode: The mode of the channel: "leCreditBased" or "enhanced".
    receive_mtu: The longest packet that the device may send, in octets, 23 to 65535.
    send_mtu: The longest packet that the device accepts, in octets, 23 to 65535.
    receive_mps: The longest piece of the device's packets (MPS), in octets, 23 to 65533; absent if unknown.
    send_mps: The longest piece of packets to the device (MPS), in octets, 23 to 65533; absent if unknown.
    token: The token to send to `socket`, followed by a line feed, to get the channel's octets there: 32 hex
        digits. Valid once, for a program of the same user, within 30 seconds.
    socket: The path of the socket for the token.
    """

    method: ClassVar[str] = "l2cap.incoming"
    channel: int
    peripheral: str
    psm: int
    mode: Literal["leCreditBased", "enhanced"]
    receive_mtu: int
    send_mtu: int
    receive_mps: int | None = None
    send_mps: int | None = None
    token: str | None = None
    socket: str | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("channel", "channel", codec.integer, True),
        Member("peripheral", "peripheral", codec.text, True),
        Member("psm", "psm", codec.integer, True),
        Member("mode", "mode", codec.text, True),
        Member("receiveMTU", "receive_mtu", codec.integer, True),
        Member("sendMTU", "send_mtu", codec.integer, True),
        Member("receiveMPS", "receive_mps", codec.integer, False),
        Member("sendMPS", "send_mps", codec.integer, False),
        Member("token", "token", codec.text, False),
        Member("socket", "socket", codec.text, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class L2capClosed(Event):
    """A channel of this session ended. It is sent when what the device had sent before was handed over.

    channel: The number that names it in this session, 1 or more.
    reason: The reason, unless the program closed its side.
    """

    method: ClassVar[str] = "l2cap.closed"
    channel: int
    reason: BledError | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("channel", "channel", codec.integer, True),
        Member("reason", "reason", codec.failure, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingShowPasskey(Event):
    """To a session that has called pairing.register: show this passkey to whoever types it at the device. It is
    repeated with each digit that the device tells of.

    device: The device that pairs.
    passkey: Six digits.
    entered: The number of digits typed so far, 0 to 6.
    """

    method: ClassVar[str] = "pairing.showPasskey"
    device: PairingDevice
    passkey: str
    entered: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("device", "device", codec.record(lambda: PairingDevice), True),
        Member("passkey", "passkey", codec.text, True),
        Member("entered", "entered", codec.integer, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingEnded(Event):
    """To a session that has called pairing.register: a device has paired, or could not. What was asked or shown for
    it is of no interest any more.

    device: The device.
    reason: The reason why it did not pair; missing if it did.
    """

    method: ClassVar[str] = "pairing.ended"
    device: PairingDevice
    reason: BledError | None = None

    _members: ClassVar[tuple[Member, ...]] = (
        Member("device", "device", codec.record(lambda: PairingDevice), True),
        Member("reason", "reason", codec.failure, False),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingKeysLost(Event):
    """To sessions that have called pairing.register or use the device: the link cannot be encrypted because one side
    has lost the keys of the other. It is not paired anew by itself: it may be another device with the same
    address.

    device: The device.
    side: The side that has no keys: "device" or "machine".
    remedy: The remedy, in words.
    """

    method: ClassVar[str] = "pairing.keysLost"
    device: PairingDevice
    side: Literal["device", "machine"]
    remedy: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("device", "device", codec.record(lambda: PairingDevice), True),
        Member("side", "side", codec.text, True),
        Member("remedy", "remedy", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingBonded(Event):
    """To every session with the permission "bonds": this machine keeps keys, or others than before, that it shares
    with the device on this adapter. It has paired, or its keys were imported.

    peripheral: The daemon's identifier of the device; missing if it is no longer known.
    address: Its identity address.
    address_type: "public" or "random".
    adapter_address: The address of the adapter that shared the keys.
    """

    method: ClassVar[str] = "pairing.bonded"
    peripheral: str | None = None
    address: str
    address_type: Literal["public", "random"]
    adapter_address: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, False),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("adapterAddress", "adapter_address", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairingForgotten(Event):
    """To every session with the permission "bonds": this machine shares no keys with the device any more on this
    adapter. A program has forgotten them, or they had to give way to others, or were refused.

    peripheral: The daemon's identifier of the device; missing if it is no longer known.
    address: Its identity address.
    address_type: "public" or "random".
    adapter_address: The address of the adapter that shared the keys.
    """

    method: ClassVar[str] = "pairing.forgotten"
    peripheral: str | None = None
    address: str
    address_type: Literal["public", "random"]
    adapter_address: str

    _members: ClassVar[tuple[Member, ...]] = (
        Member("peripheral", "peripheral", codec.text, False),
        Member("address", "address", codec.text, True),
        Member("addressType", "address_type", codec.text, True),
        Member("adapterAddress", "adapter_address", codec.text, True),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CaptureLost(Event):
    """So many packets are missing from a recording because they were not read in time. It is told a second after the
    first of them; the recording says where they are missing.

    capture: Its number, 1 or more.
    packets: The number of packets, 1 or more.
    """

    method: ClassVar[str] = "capture.lost"
    capture: int
    packets: int

    _members: ClassVar[tuple[Member, ...]] = (
        Member("capture", "capture", codec.integer, True),
        Member("packets", "packets", codec.integer, True),
    )


EVENTS: Mapping[str, type[Event]] = {
    event.method: event
    for event in (
        AdapterChanged,
        ScanReport,
        ScanAnonymousReport,
        ScanFound,
        ScanLost,
        PeriodicReport,
        PeriodicChanged,
        PeripheralConnected,
        PeripheralConnectFailed,
        PeripheralConnectWaiting,
        PeripheralDisconnected,
        PeripheralLinkChanged,
        PeripheralParametersChanged,
        GattDiscoveryProgress,
        GattValue,
        GattServicesChanged,
        GattSubscriptionLost,
        GattValuesLost,
        GattReleased,
        GattValuesDropped,
        ServerReleased,
        ServerSubscribed,
        ServerUnsubscribed,
        ServerWritesLost,
        ServerReady,
        ServerConfirmed,
        AdvertisingChanged,
        AdvertisingResponses,
        L2capIncoming,
        L2capClosed,
        PairingShowPasskey,
        PairingEnded,
        PairingKeysLost,
        PairingBonded,
        PairingForgotten,
        CaptureLost,
    )
}

__all__ = [
    "AdapterChanged",
    "AdapterDescription",
    "AdapterDescriptionProblem",
    "AdapterDescriptionQuirk",
    "AdapterListResult",
    "AdvertisingChanged",
    "AdvertisingResponses",
    "AdvertisingResponsesResponse",
    "AdvertisingStartParams",
    "AdvertisingStartPeriodic",
    "AdvertisingStartResponseSlots",
    "AdvertisingStartResult",
    "AdvertisingStartStructure",
    "AttributeFound",
    "AttributePath",
    "AttributeValue",
    "BondDescription",
    "CaptureLost",
    "CaptureStartResult",
    "CaptureStopResult",
    "CharacteristicDescription",
    "CharacteristicReference",
    "DescriptorDescription",
    "GATTWriteReliablyWrite",
    "GattAcquireResult",
    "GattDiscoverCharacteristicsResult",
    "GattDiscoverDescriptorsResult",
    "GattDiscoverResult",
    "GattDiscoveryProgress",
    "GattReadMultipleResult",
    "GattReadResult",
    "GattReadUsingUUIDResult",
    "GattReleased",
    "GattServerFeaturesResult",
    "GattServicesChanged",
    "GattSubscriptionLost",
    "GattValue",
    "GattValuesDropped",
    "GattValuesLost",
    "GattWriteReliablyResult",
    "L2capClosed",
    "L2capIncoming",
    "L2capOpenResult",
    "L2capPublishResult",
    "LinkWish",
    "Metric",
    "MetricBucket",
    "MetricSample",
    "MetricsGetResult",
    "PairingBonded",
    "PairingConfirm",
    "PairingDevice",
    "PairingEnded",
    "PairingEnterPasskey",
    "PairingForgotten",
    "PairingImportLongTermKey",
    "PairingImportSignatureKey",
    "PairingKeysLost",
    "PairingListResult",
    "PairingReadOutOfBandResult",
    "PairingShowPasskey",
    "PeriodicChanged",
    "PeriodicReceiveResult",
    "PeriodicReport",
    "PeriodicSyncResponses",
    "PeriodicSyncResult",
    "PeriodicTransferTrain",
    "PeripheralConnectFailed",
    "PeripheralConnectResult",
    "PeripheralConnectWaiting",
    "PeripheralConnected",
    "PeripheralDisconnected",
    "PeripheralLinkChanged",
    "PeripheralListEntry",
    "PeripheralListResult",
    "PeripheralPairResult",
    "PeripheralParametersChanged",
    "PeripheralParametersResult",
    "PeripheralRssiResult",
    "Principal",
    "RestoredState",
    "RestoredStateAdvertisement",
    "RestoredStatePeripheral",
    "RestoredStateService",
    "ScanAnonymousReport",
    "ScanFound",
    "ScanLost",
    "ScanReport",
    "ScanStartFilter",
    "ScanStartKey",
    "ScanStartManufacturer",
    "ScanStartParams",
    "ScanStartPattern",
    "ScanStartServiceData",
    "ServerAcquireResult",
    "ServerConfirmed",
    "ServerNotifyMultipleValue",
    "ServerNotifyResult",
    "ServerRead",
    "ServerReady",
    "ServerReleased",
    "ServerSubscribed",
    "ServerUnsubscribed",
    "ServerWrite",
    "ServerWriteWrite",
    "ServerWritesLost",
    "ServiceAddResult",
    "ServiceDescription",
    "ServiceToPublish",
    "ServiceToPublishCharacteristic",
    "ServiceToPublishDescriptor",
    "SessionDescription",
    "SessionDescriptionAdvertisement",
    "SessionDescriptionChannel",
    "SessionDescriptionCosts",
    "SessionDescriptionDevice",
    "SessionDescriptionListening",
    "SessionDescriptionSearch",
    "SessionDescriptionService",
    "SessionListResult",
    "SessionOpenResult",
    "SimulationAdvanceResult",
    "SimulationDevice",
    "SimulationDevicesResult",
    "SimulationVisitResult",
    "SimulationVisitStep",
    "SimulationWrite",
    "SimulationWrittenResult",
    "Subscriber",
]

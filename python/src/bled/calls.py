"""A function for each method of the socket.

Generated from docs/openrpc.json by python/generate.py; not to be edited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypedDict, TypeVar

from bled import codec
from bled.codec import Member, Parameters
from bled.protocol import (
    AdapterDescription,
    AdapterListResult,
    AdvertisingStartPeriodic,
    AdvertisingStartResult,
    AdvertisingStartStructure,
    AttributeFound,
    AttributePath,
    CaptureStartResult,
    CaptureStopResult,
    GattAcquireResult,
    GattDiscoverCharacteristicsResult,
    GattDiscoverDescriptorsResult,
    GattDiscoverResult,
    GattReadMultipleResult,
    GattReadResult,
    GattReadUsingUUIDResult,
    GattServerFeaturesResult,
    GattWriteReliablyResult,
    GATTWriteReliablyWrite,
    L2capOpenResult,
    L2capPublishResult,
    LinkWish,
    MetricsGetResult,
    PairingImportLongTermKey,
    PairingImportSignatureKey,
    PairingListResult,
    PairingReadOutOfBandResult,
    PeriodicReceiveResult,
    PeriodicSyncResult,
    PeriodicTransferTrain,
    PeripheralConnectResult,
    PeripheralListResult,
    PeripheralPairResult,
    PeripheralParametersResult,
    PeripheralRssiResult,
    Principal,
    ScanStartFilter,
    ScanStartKey,
    ServerAcquireResult,
    ServerNotifyMultipleValue,
    ServerNotifyResult,
    ServiceAddResult,
    ServiceToPublish,
    SessionListResult,
    SessionOpenResult,
    SimulationAdvanceResult,
    SimulationDevicesResult,
    SimulationVisitResult,
    SimulationWrittenResult,
)

_Result = TypeVar("_Result")


def _nothing(value: object) -> None:
    return None


def _anything(value: object) -> object:
    return value


SESSION_OPEN = Parameters(
    (
        Member("name", "name", codec.text, False),
        Member("restore", "restore", codec.text, False),
        Member("keep", "keep", codec.number, False),
        Member("background", "background", codec.boolean, False),
        Member("user", "user", codec.record(lambda: Principal), False),
    )
)
SESSION_END = Parameters(
    (
        Member("restore", "restore", codec.text, False),
    )
)
SESSION_LIST = Parameters(
    (
        Member("after", "after", codec.integer, False),
    )
)
ADAPTER_POWER = Parameters(
    (
        Member("on", "on", codec.boolean, False),
        Member("adapter", "adapter", codec.text, False),
    )
)
ADAPTER_SET_NAME = Parameters(
    (
        Member("name", "name", codec.text, False),
    )
)
ADAPTER_BLOCK = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("on", "on", codec.boolean, False),
    )
)
SCAN_START = Parameters(
    (
        Member("adapter", "adapter", codec.text, False),
        Member("services", "services", codec.many(codec.text), False),
        Member("solicitedServices", "solicited_services", codec.many(codec.text), False),
        Member("name", "name", codec.text, False),
        Member("address", "address", codec.text, False),
        Member("addresses", "addresses", codec.many(codec.text), False),
        Member("presence", "presence", codec.boolean, False),
        Member("rssi", "rssi", codec.integer, False),
        Member("duplicates", "duplicates", codec.boolean, False),
        Member("active", "active", codec.boolean, False),
        Member("anonymous", "anonymous", codec.boolean, False),
        Member("filters", "filters", codec.many(codec.record(lambda: ScanStartFilter)), False),
        Member("rssiOut", "rssi_out", codec.integer, False),
        Member("lost", "lost", codec.number, False),
        Member("decode", "decode", codec.boolean, False),
        Member("keys", "keys", codec.many(codec.record(lambda: ScanStartKey)), False),
        Member("phys", "phys", codec.many(codec.text), False),
        Member("scan", "scan", codec.integer, False),
    )
)
SCAN_STOP = Parameters(
    (
        Member("scan", "scan", codec.integer, False),
    )
)
PERIODIC_SYNC = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("sid", "sid", codec.integer, False),
        Member("adapter", "adapter", codec.text, False),
        Member("timeout", "timeout", codec.number, False),
        Member("subevents", "subevents", codec.many(codec.integer), False),
    )
)
PERIODIC_STOP = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("sid", "sid", codec.integer, False),
    )
)
PERIODIC_TRANSFER = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("advertising", "advertising", codec.integer, False),
        Member("train", "train", codec.record(lambda: PeriodicTransferTrain), False),
        Member("serviceData", "service_data", codec.integer, False),
    )
)
PERIODIC_RECEIVE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("timeout", "timeout", codec.number, False),
        Member("subevents", "subevents", codec.many(codec.integer), False),
    )
)
PERIODIC_RESPOND = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("event", "event", codec.integer, False),
        Member("subevent", "subevent", codec.integer, False),
        Member("slot", "slot", codec.integer, False),
        Member("data", "data", codec.octets, False),
        Member("sid", "sid", codec.integer, False),
        Member("adapter", "adapter", codec.text, False),
        Member("responseSubevent", "response_subevent", codec.integer, False),
    )
)
PERIPHERAL_CONNECT = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("name", "name", codec.text, False),
        Member("namePrefix", "name_prefix", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("adapter", "adapter", codec.text, False),
        Member("timeout", "timeout", codec.number, False),
        Member("reconnect", "reconnect", codec.boolean, False),
        Member("parameters", "parameters", codec.record(lambda: LinkWish), False),
        Member("phy", "phy", codec.text, False),
    )
)
PERIPHERAL_DISCONNECT = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("name", "name", codec.text, False),
        Member("namePrefix", "name_prefix", codec.text, False),
        Member("service", "service", codec.text, False),
    )
)
PERIPHERAL_RSSI = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
    )
)
PERIPHERAL_FORGET = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
    )
)
PERIPHERAL_WATCH = Parameters(
    (
        Member("on", "on", codec.boolean, False),
    )
)
PERIPHERAL_PARAMETERS = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
    )
)
PERIPHERAL_SET_PARAMETERS = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("parameters", "parameters", codec.record(lambda: LinkWish), False),
    )
)
PERIPHERAL_SET_PHY = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("phy", "phy", codec.text, False),
    )
)
GATT_DISCOVER = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("timeout", "timeout", codec.number, False),
    )
)
GATT_DISCOVER_SERVICES = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("services", "services", codec.many(codec.text), False),
    )
)
GATT_DISCOVER_INCLUDED_SERVICES = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("uuids", "uuids", codec.many(codec.text), False),
    )
)
GATT_DISCOVER_CHARACTERISTICS = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("uuids", "uuids", codec.many(codec.text), False),
    )
)
GATT_DISCOVER_DESCRIPTORS = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("uuids", "uuids", codec.many(codec.text), False),
    )
)
GATT_READ = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("force", "force", codec.boolean, False),
    )
)
GATT_WRITE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("value", "value", codec.octets, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("response", "response", codec.boolean, False),
        Member("offset", "offset", codec.integer, False),
        Member("signed", "signed", codec.boolean, False),
        Member("force", "force", codec.boolean, False),
    )
)
GATT_SUBSCRIBE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("indications", "indications", codec.boolean, False),
    )
)
GATT_UNSUBSCRIBE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
    )
)
GATT_READ_USING_UUID = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("uuid", "uuid", codec.text, False),
        Member("start", "start", codec.integer, False),
        Member("end", "end", codec.integer, False),
    )
)
GATT_READ_MULTIPLE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("attributes", "attributes", codec.many(codec.record(lambda: AttributePath)), False),
        Member("variable", "variable", codec.boolean, False),
    )
)
GATT_WRITE_RELIABLY = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("writes", "writes", codec.many(codec.record(lambda: GATTWriteReliablyWrite)), False),
    )
)
GATT_SERVER_FEATURES = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
    )
)
GATT_ACQUIRE = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("handle", "handle", codec.integer, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("service", "service", codec.text, False),
        Member("descriptor", "descriptor", codec.text, False),
        Member("index", "index", codec.integer, False),
        Member("values", "values", codec.boolean, False),
        Member("writes", "writes", codec.boolean, False),
        Member("indications", "indications", codec.boolean, False),
        Member("closing", "closing", codec.boolean, False),
    )
)
SERVICE_ADD = Parameters(
    (
        Member("service", "service", codec.record(lambda: ServiceToPublish), False),
    )
)
SERVICE_REMOVE = Parameters(
    (
        Member("handle", "handle", codec.integer, False),
    )
)
SERVER_NOTIFY = Parameters(
    (
        Member("handle", "handle", codec.integer, False),
        Member("value", "value", codec.octets, False),
        Member("centrals", "centrals", codec.many(codec.text), False),
        Member("whenFull", "when_full", codec.text, False),
        Member("confirmation", "confirmation", codec.integer, False),
    )
)
SERVER_NOTIFY_MULTIPLE = Parameters(
    (
        Member("values", "values", codec.many(codec.record(lambda: ServerNotifyMultipleValue)), False),
        Member("centrals", "centrals", codec.many(codec.text), False),
    )
)
SERVER_ACQUIRE = Parameters(
    (
        Member("central", "central", codec.text, False),
        Member("handle", "handle", codec.integer, False),
    )
)
SERVER_SET_LATENCY = Parameters(
    (
        Member("central", "central", codec.text, False),
        Member("latency", "latency", codec.text, False),
    )
)
ADVERTISING_START = Parameters(
    (
        Member("adapter", "adapter", codec.text, False),
        Member("name", "name", codec.text, False),
        Member("services", "services", codec.many(codec.text), False),
        Member("serviceData", "service_data", codec.mapping(codec.octets), False),
        Member("manufacturerData", "manufacturer_data", codec.octets, False),
        Member("appearance", "appearance", codec.integer, False),
        Member("connectable", "connectable", codec.boolean, False),
        Member("interval", "interval", codec.number, False),
        Member("solicitedServices", "solicited_services", codec.many(codec.text), False),
        Member("uri", "uri", codec.text, False),
        Member("structures", "structures", codec.many(codec.record(lambda: AdvertisingStartStructure)), False),
        Member("scannable", "scannable", codec.boolean, False),
        Member("extended", "extended", codec.boolean, False),
        Member("anonymous", "anonymous", codec.boolean, False),
        Member("directedTo", "directed_to", codec.text, False),
        Member("directedToType", "directed_to_type", codec.text, False),
        Member("highDuty", "high_duty", codec.boolean, False),
        Member("txPower", "tx_power", codec.integer, False),
        Member("includeTxPower", "include_tx_power", codec.boolean, False),
        Member("channels", "channels", codec.many(codec.integer), False),
        Member("ownAddress", "own_address", codec.text, False),
        Member("primaryPHY", "primary_phy", codec.text, False),
        Member("secondaryPHY", "secondary_phy", codec.text, False),
        Member("duration", "duration", codec.number, False),
        Member("count", "count", codec.integer, False),
        Member("periodic", "periodic", codec.record(lambda: AdvertisingStartPeriodic), False),
    )
)
ADVERTISING_STOP = Parameters(
    (
        Member("advertising", "advertising", codec.integer, False),
    )
)
ADVERTISING_SEND = Parameters(
    (
        Member("advertising", "advertising", codec.integer, False),
        Member("subevent", "subevent", codec.integer, False),
        Member("data", "data", codec.octets, False),
        Member("firstSlot", "first_slot", codec.integer, False),
        Member("slots", "slots", codec.integer, False),
    )
)
L2CAP_PUBLISH = Parameters(
    (
        Member("psm", "psm", codec.integer, False),
        Member("security", "security", codec.text, False),
        Member("receiveMTU", "receive_mtu", codec.integer, False),
        Member("mode", "mode", codec.text, False),
        Member("adapter", "adapter", codec.text, False),
    )
)
L2CAP_UNPUBLISH = Parameters(
    (
        Member("psm", "psm", codec.integer, False),
        Member("adapter", "adapter", codec.text, False),
    )
)
L2CAP_OPEN = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("psm", "psm", codec.integer, False),
        Member("security", "security", codec.text, False),
        Member("receiveMTU", "receive_mtu", codec.integer, False),
        Member("mode", "mode", codec.text, False),
        Member("packets", "packets", codec.boolean, False),
        Member("token", "token", codec.boolean, False),
    )
)
L2CAP_ACCEPT = Parameters(
    (
        Member("channel", "channel", codec.integer, False),
        Member("packets", "packets", codec.boolean, False),
        Member("token", "token", codec.boolean, False),
    )
)
L2CAP_CLOSE = Parameters(
    (
        Member("channel", "channel", codec.integer, False),
    )
)
PERIPHERAL_PAIR = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("level", "level", codec.text, False),
        Member("minimumKeySize", "minimum_key_size", codec.integer, False),
    )
)
PAIRING_REGISTER = Parameters(
    (
        Member("capability", "capability", codec.text, False),
    )
)
PAIRING_OPEN = Parameters(
    (
        Member("seconds", "seconds", codec.number, False),
    )
)
PAIRING_FORGET = Parameters(
    (
        Member("peripheral", "peripheral", codec.text, False),
        Member("address", "address", codec.text, False),
    )
)
PAIRING_IMPORT = Parameters(
    (
        Member("adapterAddress", "adapter_address", codec.text, False),
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("longTermKeys", "long_term_keys", codec.many(codec.record(lambda: PairingImportLongTermKey)), False),
        Member("identityResolvingKey", "identity_resolving_key", codec.octets, False),
        Member("signatureKeys", "signature_keys", codec.many(codec.record(lambda: PairingImportSignatureKey)), False),
    )
)
PAIRING_READ_OUT_OF_BAND = Parameters(
    (
        Member("adapter", "adapter", codec.text, False),
    )
)
PAIRING_SET_OUT_OF_BAND = Parameters(
    (
        Member("address", "address", codec.text, False),
        Member("addressType", "address_type", codec.text, False),
        Member("adapter", "adapter", codec.text, False),
        Member("confirmation", "confirmation", codec.octets, False),
        Member("random", "random", codec.octets, False),
        Member("temporaryKey", "temporary_key", codec.octets, False),
    )
)
CAPTURE_START = Parameters(
    (
        Member("format", "format", codec.text, False),
        Member("adapter", "adapter", codec.text, False),
        Member("keys", "keys", codec.boolean, False),
    )
)
CAPTURE_STOP = Parameters(
    (
        Member("capture", "capture", codec.integer, False),
    )
)
SIMULATION_ADVANCE = Parameters(
    (
        Member("seconds", "seconds", codec.number, False),
    )
)
SIMULATION_ADD = Parameters(
    (
        Member("scenario", "scenario", codec.text, False),
    )
)
SIMULATION_VANISH = Parameters(
    (
        Member("device", "device", codec.text, False),
    )
)
SIMULATION_COME_BACK = Parameters(
    (
        Member("device", "device", codec.text, False),
    )
)
SIMULATION_DISCONNECT = Parameters(
    (
        Member("device", "device", codec.text, False),
        Member("reason", "reason", codec.integer, False),
    )
)
SIMULATION_SET_VALUE = Parameters(
    (
        Member("device", "device", codec.text, False),
        Member("characteristic", "characteristic", codec.text, False),
        Member("value", "value", codec.octets, False),
    )
)
SIMULATION_CHANGE = Parameters(
    (
        Member("device", "device", codec.text, False),
        Member("members", "members", codec.text, False),
    )
)
SIMULATION_WRITTEN = Parameters(
    (
        Member("device", "device", codec.text, False),
        Member("after", "after", codec.integer, False),
    )
)
SIMULATION_VISIT = Parameters(
    (
        Member("phone", "phone", codec.text, False),
    )
)
SIMULATION_ADAPTER = Parameters(
    (
        Member("state", "state", codec.text, False),
        Member("adapter", "adapter", codec.text, False),
    )
)


class ScanStartOptions(TypedDict, total=False):
    """The parameters of scan.start that may be missing."""

    adapter: str | None
    services: Sequence[str] | None
    solicited_services: Sequence[str] | None
    name: str | None
    address: str | None
    addresses: Sequence[str] | None
    presence: bool | None
    rssi: int | None
    duplicates: bool | None
    active: bool | None
    anonymous: bool | None
    filters: Sequence[ScanStartFilter] | None
    rssi_out: int | None
    lost: float | None
    decode: bool | None
    keys: Sequence[ScanStartKey] | None
    phys: Sequence[Literal["1M", "coded"]] | None
    scan: int | None


class PeripheralConnectOptions(TypedDict, total=False):
    """The parameters of peripheral.connect that may be missing."""

    peripheral: str | None
    address: str | None
    address_type: Literal["public", "random"] | None
    name: str | None
    name_prefix: str | None
    service: str | None
    adapter: str | None
    timeout: float | None
    reconnect: bool | None
    parameters: LinkWish | None
    phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"] | None


class AdvertisingStartOptions(TypedDict, total=False):
    """The parameters of advertising.start that may be missing."""

    adapter: str | None
    name: str | None
    services: Sequence[str] | None
    service_data: Mapping[str, bytes] | None
    manufacturer_data: bytes | None
    appearance: int | None
    connectable: bool | None
    interval: float | None
    solicited_services: Sequence[str] | None
    uri: str | None
    structures: Sequence[AdvertisingStartStructure] | None
    scannable: bool | None
    extended: bool | None
    anonymous: bool | None
    directed_to: str | None
    directed_to_type: Literal["public", "random"] | None
    high_duty: bool | None
    tx_power: int | None
    include_tx_power: bool | None
    channels: Sequence[int] | None
    own_address: str | None
    primary_phy: Literal["1M", "coded", "codedS2", "codedS8"] | None
    secondary_phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"] | None
    duration: float | None
    count: int | None
    periodic: AdvertisingStartPeriodic | None


class L2capOpenOptions(TypedDict, total=False):
    """The parameters of l2cap.open that may be missing."""

    security: Literal["none", "encrypted", "authenticated", "secureConnections"] | None
    receive_mtu: int | None
    mode: Literal["leCreditBased", "enhanced"] | None
    packets: bool | None
    token: bool | None


class L2capPublishOptions(TypedDict, total=False):
    """The parameters of l2cap.publish that may be missing."""

    psm: int | None
    security: Literal["none", "encrypted", "authenticated", "secureConnections"] | None
    receive_mtu: int | None
    mode: Literal["leCreditBased", "enhanced"] | None
    adapter: str | None


class Calls(ABC):
    """The methods of the daemon, as docs/reference.md has them."""

    @abstractmethod
    async def _call(
        self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]
    ) -> _Result: ...

    @abstractmethod
    async def _call_passing(
        self, method: str, params: Mapping[str, object], decode: Callable[[object], _Result]
    ) -> tuple[_Result, int | None]: ...

    async def session_open(
        self,
        *,
        name: str | None = None,
        restore: str | None = None,
        keep: float | None = None,
        background: bool | None = None,
        user: Principal | None = None,
    ) -> SessionOpenResult:
        """Names the program behind this connection and returns the daemon's release and adapters. With "restore" the
        session outlasts its program: what it holds and its events are preserved, and handed over when the program
        opens a session with the same identifier again. The preserved events follow the answer. With "user" the
        session is opened for another user, whose permissions and limits it then has; that needs the permission
        "impersonate".

        name: A human-readable name, which `session.list` and the log show.
        restore: The restoration identifier, 1 to 128 octets, which is separate for each user. Only in the first
            call of a connection.
        keep: The time for which the session is preserved without its program, in seconds, 0 or more; the
            daemon's limit if missing or longer than that.
        background: True: the program works in the background, see docs/protocol.md. If missing: unchanged,
            initially false.
        user: The user of the session, for a program that serves the programs of other users. Only in the first
            call of a connection.
        """
        request = SESSION_OPEN.request(
            name=name,
            restore=restore,
            keep=keep,
            background=background,
            user=user,
        )
        return await self._call("session.open", request, SessionOpenResult.from_json)

    async def session_end(
        self,
        *,
        restore: str | None = None,
    ) -> None:
        """Releases everything that this session holds, whether it has a restoration identifier or not, and closes
        the connection. With "restore" it ends a preserved session of the same user instead.

        restore: The restoration identifier of a session without a program; this session if missing.
        """
        request = SESSION_END.request(
            restore=restore,
        )
        return await self._call("session.end", request, _nothing)

    async def session_list(
        self,
        *,
        after: int | None = None,
    ) -> SessionListResult:
        """Lists the sessions: their programs, what they hold and what they cost, at most 50 at a time. Without the
        permission "sessions" the list has only the caller's own session.

        after: Lists the sessions after the one with this number, 1 or more; all if missing.
        """
        request = SESSION_LIST.request(
            after=after,
        )
        return await self._call("session.list", request, SessionListResult.from_json)

    async def rpc_discover(
        self,
    ) -> object:
        """Describes this protocol as an OpenRPC document."""
        return await self._call("rpc.discover", {}, _anything)

    async def adapter_list(
        self,
    ) -> AdapterListResult:
        """Lists the adapters with their state and, if one cannot be used, the reason and the remedy."""
        return await self._call("adapter.list", {}, AdapterListResult.from_json)

    async def adapter_power(
        self,
        *,
        on: bool,
        adapter: str | None = None,
    ) -> AdapterDescription:
        """Switches an adapter on or off for all programs, and answers when that is done; calls are handled one at a
        time. Scans, advertisements and pending connections resume when it is on again. adapter.changed is sent to
        every session.

        on: True to switch it on.
        adapter: The adapter; the first if missing.

        Needs the permission "adapters".
        """
        request = ADAPTER_POWER.request(
            on=on,
            adapter=adapter,
        )
        return await self._call("adapter.power", request, AdapterDescription.from_json)

    async def adapter_set_name(
        self,
        *,
        name: str | None = None,
    ) -> None:
        """Sets the Device Name of the Generic Access service (Core 5.4, Vol 3, Part C, 12.1), which devices read, on
        all adapters. It lasts over restarts. Without a name it is again that of the configuration.
        adapter.changed is sent to every session. Names in advertisements are those of advertising.start.

        name: The name, 1 to 248 octets; that of the configuration if missing.

        Needs the permission "adapters".
        """
        request = ADAPTER_SET_NAME.request(
            name=name,
        )
        return await self._call("adapter.setName", request, _nothing)

    async def adapter_block(
        self,
        *,
        peripheral: str,
        on: bool | None = None,
    ) -> None:
        """Blocks a device for all programs, or unblocks it: links with it end, pending connections to it fail with
        the gap error blocked, and so does peripheral.connect; a link that the device starts ends at once. It is
        still heard. A device is known by its address: one that uses private addresses is recognised only while it
        is paired. This lasts over restarts and peripheral.forget.

        peripheral: The daemon's identifier of the device.
        on: False unblocks the device. True if missing.

        Needs the permission "adapters".
        """
        request = ADAPTER_BLOCK.request(
            peripheral=peripheral,
            on=on,
        )
        return await self._call("adapter.block", request, _nothing)

    async def scan_start(
        self,
        *,
        adapter: str | None = None,
        services: Sequence[str] | None = None,
        solicited_services: Sequence[str] | None = None,
        name: str | None = None,
        address: str | None = None,
        addresses: Sequence[str] | None = None,
        presence: bool | None = None,
        rssi: int | None = None,
        duplicates: bool | None = None,
        active: bool | None = None,
        anonymous: bool | None = None,
        filters: Sequence[ScanStartFilter] | None = None,
        rssi_out: int | None = None,
        lost: float | None = None,
        decode: bool | None = None,
        keys: Sequence[ScanStartKey] | None = None,
        phys: Sequence[Literal["1M", "coded"]] | None = None,
        scan: int | None = None,
    ) -> None:
        """Starts a scan of this session, or replaces the one with the same number. Reports are sent as scan.report.
        A scan ends with scan.stop or with the session, and survives an adapter that is removed and comes back.

        adapter: The adapter to scan on; all of them if missing.
        services: Only devices that advertise one of these services.
        solicited_services: Only devices that solicit one of these services; together with `services`: devices
            that match either list.
        name: Only devices with a name that begins with this text.
        address: Only the device of this address.
        addresses: Only the devices of these addresses, at most 64; together with `address`: that one, too.
        presence: True: only the presence of the devices that `address` and `addresses` name: no reports, but
            scan.found when one appears, and scan.lost when it was not received for the time of `lost`, which is
            required. If possible, the controller monitors them, and this machine is not woken by each packet.
        rssi: Only reports at least this strong, in dBm.
        duplicates: True: a report for every advertising event. False or missing: one report for each device,
            and another whenever its data changes.
        active: False: passive scanning, without scan requests unless another session's scan needs them. True if
            missing, but with `presence` false.
        anonymous: True: anonymous advertisements, too, as scan.anonymousReport.
        filters: Only reports that match at least one of these, in addition to all of the above.
        rssi_out: In dBm, at most `rssi`: a device that reached `rssi` is reported until it is weaker than this.
        lost: In seconds, 0.5 to 3600: a device without any report that passes the filters for this time is
            reported by scan.lost. Not at all if missing.
        decode: True: adds the values of known formats of beacons and sensors, as `decoded` of the reports.
        keys: Together with `decode`: the keys of devices that encrypt their advertising data, at most 64. They
            are kept as long as the scan, and are not visible to other sessions.
        phys: The PHYs to listen on, "1M", "coded" or both, which then share the time; "1M" if missing.
        scan: The program's number for the scan, 1 to 65535, so that it can have several; its reports contain
            it. A scan without a number, if missing.

        Needs the permission "scan".
        """
        request = SCAN_START.request(
            adapter=adapter,
            services=services,
            solicited_services=solicited_services,
            name=name,
            address=address,
            addresses=addresses,
            presence=presence,
            rssi=rssi,
            duplicates=duplicates,
            active=active,
            anonymous=anonymous,
            filters=filters,
            rssi_out=rssi_out,
            lost=lost,
            decode=decode,
            keys=keys,
            phys=phys,
            scan=scan,
        )
        return await self._call("scan.start", request, _nothing)

    async def scan_stop(
        self,
        *,
        scan: int | None = None,
    ) -> None:
        """Stops a scan of this session. Does nothing if there is none.

        scan: The number of the scan, 1 to 65535; the one without a number if missing.

        Needs the permission "scan".
        """
        request = SCAN_STOP.request(
            scan=scan,
        )
        return await self._call("scan.stop", request, _nothing)

    async def periodic_sync(
        self,
        *,
        peripheral: str,
        address_type: Literal["public", "random"] | None = None,
        sid: int | None = None,
        adapter: str | None = None,
        timeout: float | None = None,
        subevents: Sequence[int] | None = None,
    ) -> PeriodicSyncResult:
        """Follows a train of periodic advertisements, and answers when the adapter is synchronised with it; without
        a timeout it waits indefinitely, and while it waits the adapter scans. What the train carries is sent as
        periodic.report. Sessions share the synchronisation with a train. It ends with periodic.stop or when the
        program disconnects; when the train is lost, periodic.changed tells, and it is looked for again. Of a
        train with subevents the session gets those that it names, else all; fails with invalidParameter if the
        train has no such subevents, and with the controller's error if it does not receive so many.

        peripheral: The device: the daemon's identifier of it, or its address.
        address_type: For an address in `peripheral`, "public" or "random"; if missing: as last received, else
            random if the two top bits are set, else public.
        sid: The number of the advertising set, 0 to 15; if missing, the one that last announced a train of the
            device.
        adapter: The adapter; if missing, the one that last received the device.
        timeout: The timeout in seconds; none if missing.
        subevents: The subevents to receive, 1 to 128 numbers of 0 to 127, of a train that has subevents; all if
            missing.

        Needs the permission "scan".
        """
        request = PERIODIC_SYNC.request(
            peripheral=peripheral,
            address_type=address_type,
            sid=sid,
            adapter=adapter,
            timeout=timeout,
            subevents=subevents,
        )
        return await self._call("periodic.sync", request, PeriodicSyncResult.from_json)

    async def periodic_stop(
        self,
        *,
        peripheral: str | None = None,
        sid: int | None = None,
    ) -> None:
        """This session no longer follows a train, or waits for it: of a device all if there is no `sid`, and all
        trains if there is no `peripheral`.

        peripheral: The device: the daemon's identifier of it, or its address, as in periodic.sync.
        sid: The number of the advertising set, 0 to 15.

        Needs the permission "scan".
        """
        request = PERIODIC_STOP.request(
            peripheral=peripheral,
            sid=sid,
        )
        return await self._call("periodic.stop", request, _nothing)

    async def periodic_transfer(
        self,
        *,
        peripheral: str,
        advertising: int | None = None,
        train: PeriodicTransferTrain | None = None,
        service_data: int | None = None,
    ) -> None:
        """Transfers a train of periodic advertisements to a device that is connected to this session or uses its
        services: the device can follow it without looking for it. The train is one that this session sends
        (`advertising`) or follows (`train`), on the adapter of the link. Whether the device follows it is not
        told. Fails with notSupported if one of the two controllers cannot do it, which the message tells, and
        with unknownHandle without such a train.

        peripheral: The daemon's identifier of the device that receives the train.
        advertising: The number of an advertisement of this session with `periodic`.
        train: A train that this session follows.
        service_data: A value for the program at the device, 0 to 65535; 0 if missing.

        Needs the permission "scan".
        """
        request = PERIODIC_TRANSFER.request(
            peripheral=peripheral,
            advertising=advertising,
            train=train,
            service_data=service_data,
        )
        return await self._call("periodic.transfer", request, _nothing)

    async def periodic_receive(
        self,
        *,
        peripheral: str,
        timeout: float | None = None,
        subevents: Sequence[int] | None = None,
    ) -> PeriodicReceiveResult:
        """Waits for a train of periodic advertisements that a device transfers, which is connected to this session
        or uses its services; without a timeout until the link ends. The train is followed from then on as after
        periodic.sync, without a scan. Each call is for one train, and all sessions that wait for one of a device
        get the same. periodic.stop ends the wait, too. Fails with notSupported if one of the two controllers
        cannot do it, which the message tells, with notConnected when the link ends, and with the controller's
        error if it could not follow the train. Of a train with subevents the session gets those that it names,
        else all; periodic.changed tells the reason if that fails.

        peripheral: The daemon's identifier of the device that transfers a train.
        timeout: The timeout in seconds; none if missing.
        subevents: The subevents to receive, 1 to 128 numbers of 0 to 127, of a train that has subevents; all if
            missing.

        Needs the permission "scan".
        """
        request = PERIODIC_RECEIVE.request(
            peripheral=peripheral,
            timeout=timeout,
            subevents=subevents,
        )
        return await self._call("periodic.receive", request, PeriodicReceiveResult.from_json)

    async def periodic_respond(
        self,
        *,
        peripheral: str,
        event: int,
        subevent: int,
        slot: int,
        data: bytes,
        sid: int | None = None,
        adapter: str | None = None,
        response_subevent: int | None = None,
    ) -> None:
        """Sends a response to a packet of a train with subevents that this session follows, once, in a slot of the
        next subevent of that number, and answers when the controller has it. Whether the advertiser receives it
        is not told, and its program must have left the slot to this device. Fails with packetTooLate (domain hci)
        if the slot has passed, with packetTooLong if the data is longer than a slot, with unknownHandle if the
        train is not followed at present, and with notSupported if the controller cannot respond. A session may
        have one in progress for each train (alreadyInProgress), and a user 16 in all (limitReached).

        peripheral: The daemon's identifier of the device that sends the train.
        event: The `event` of the packet, 0 to 65535.
        subevent: The `subevent` of the packet, 0 to 127.
        slot: The slot of the response, 0 to 254.
        data: The data, 0 to 247 octets.
        sid: The number of the advertising set, 0 to 15; if missing, the only followed one of that device.
        adapter: The adapter; if missing, the only one that follows the train.
        response_subevent: The subevent of the response, 0 to 127; that of the packet if missing.

        Needs the permission "advertise".
        """
        request = PERIODIC_RESPOND.request(
            peripheral=peripheral,
            event=event,
            subevent=subevent,
            slot=slot,
            data=data,
            sid=sid,
            adapter=adapter,
            response_subevent=response_subevent,
        )
        return await self._call("periodic.respond", request, _nothing)

    async def peripheral_connect(
        self,
        *,
        peripheral: str | None = None,
        address: str | None = None,
        address_type: Literal["public", "random"] | None = None,
        name: str | None = None,
        name_prefix: str | None = None,
        service: str | None = None,
        adapter: str | None = None,
        timeout: float | None = None,
        reconnect: bool | None = None,
        parameters: LinkWish | None = None,
        phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"] | None = None,
    ) -> PeripheralConnectResult:
        """Connects to a device and answers once the link is up; without a timeout it waits indefinitely. The link to
        a device that is already connected is shared. peripheral.disconnect cancels a pending connection. A
        pending connection survives an adapter that is removed and comes back; with `reconnect` the device is
        connected again whenever the link is lost. A device that is named by its name or a service is looked for
        first: the first that is heard and can be connected to is meant, or one that is connected already. That
        needs the permission "scan", too.

        peripheral: The daemon's identifier of the device.
        address: The device's address; it need not have been received before.
        address_type: "public" or "random"; if missing: as last received, else random if the two top bits are
            set, else public.
        name: The name that the device advertises, octet for octet.
        name_prefix: The beginning of the name that the device advertises, octet for octet.
        service: A service that the device advertises.
        adapter: The adapter to connect with; if missing, the one that last received the device, else the first.
            A device that is linked or being connected over another adapter stays there: the answer names it.
        timeout: The timeout in seconds, more than 0; none if missing.
        reconnect: True: whenever the link is lost the daemon connects again, until `peripheral.disconnect` is
            called. peripheral.disconnected then has `reconnecting`, and peripheral.connected reports the new link.
            The last call applies.
        parameters: The parameters that this session requests for the link from this call on; see
            peripheral.setParameters. If missing, its earlier request remains.
        phy: The wanted PHY of the link, "1M", "2M", "coded", "codedS2" or "codedS8": as in peripheral.setPHY.
            With one of the coded ones the device is searched for on the coded PHY, too, as is one that was last
            received there. If missing, a link that begins on "1M" changes to "2M" if both sides support it and the
            configuration does not exclude it.

        Needs the permission "connect".
        """
        request = PERIPHERAL_CONNECT.request(
            peripheral=peripheral,
            address=address,
            address_type=address_type,
            name=name,
            name_prefix=name_prefix,
            service=service,
            adapter=adapter,
            timeout=timeout,
            reconnect=reconnect,
            parameters=parameters,
            phy=phy,
        )
        return await self._call("peripheral.connect", request, PeripheralConnectResult.from_json)

    async def peripheral_disconnect(
        self,
        *,
        peripheral: str | None = None,
        address: str | None = None,
        address_type: Literal["public", "random"] | None = None,
        name: str | None = None,
        name_prefix: str | None = None,
        service: str | None = None,
    ) -> None:
        """Ends this session's use of a device, or cancels its pending connection: that peripheral.connect fails with
        the gap error cancelled. The link is disconnected when no session uses it any more.
        peripheral.disconnected follows if the device was connected.

        peripheral: The daemon's identifier of the device.
        address: The device's address.
        address_type: "public" or "random"; if missing, both match.
        name: The name of the searched device.
        name_prefix: The beginning of its name.
        service: The service that it advertises.

        Needs the permission "connect".
        """
        request = PERIPHERAL_DISCONNECT.request(
            peripheral=peripheral,
            address=address,
            address_type=address_type,
            name=name,
            name_prefix=name_prefix,
            service=service,
        )
        return await self._call("peripheral.disconnect", request, _nothing)

    async def peripheral_list(
        self,
    ) -> PeripheralListResult:
        """Lists the devices that were heard or connected recently, and those that were connected before the daemon
        started; the most recently used first.

        Needs the permission "connect".
        """
        return await self._call("peripheral.list", {}, PeripheralListResult.from_json)

    async def peripheral_rssi(
        self,
        *,
        peripheral: str,
    ) -> PeripheralRssiResult:
        """Measures the signal strength of the link to a device.

        peripheral: The daemon's identifier of the device.

        Needs the permission "connect".
        """
        request = PERIPHERAL_RSSI.request(
            peripheral=peripheral,
        )
        return await self._call("peripheral.rssi", request, PeripheralRssiResult.from_json)

    async def peripheral_forget(
        self,
        *,
        peripheral: str,
    ) -> None:
        """Permanently forgets a device: its identifier, its name and its cached attributes. If it is heard again it
        gets a new identifier. Fails with the bled error notPermitted while a session is connected to the device
        or has a pending connection to it, and without the permission "sessions" if other users have used the
        device.

        peripheral: The daemon's identifier of the device.

        Needs the permission "connect".
        """
        request = PERIPHERAL_FORGET.request(
            peripheral=peripheral,
        )
        return await self._call("peripheral.forget", request, _nothing)

    async def peripheral_watch(
        self,
        *,
        on: bool | None = None,
    ) -> None:
        """Reports each link that comes up or ends, of any session, to this session as peripheral.linkChanged. For
        the links that are already up see peripheral.list.

        on: False: stop reporting. True if missing.

        Needs the permission "connect".
        """
        request = PERIPHERAL_WATCH.request(
            on=on,
        )
        return await self._call("peripheral.watch", request, _nothing)

    async def peripheral_parameters(
        self,
        *,
        peripheral: str,
    ) -> PeripheralParametersResult:
        """Tells what is in force on the link with a device, whichever program or device connected: interval,
        latency, supervision timeout, subrating, MTU, PHYs, the lengths of packets, and how it is protected. On a
        new link the answer comes when the daemon's procedures for another PHY and longer packets have ended.

        peripheral: The daemon's identifier of the device.

        Needs the permission "connect".
        """
        request = PERIPHERAL_PARAMETERS.request(
            peripheral=peripheral,
        )
        return await self._call("peripheral.parameters", request, PeripheralParametersResult.from_json)

    async def peripheral_set_parameters(
        self,
        *,
        peripheral: str,
        parameters: LinkWish | None = None,
    ) -> PeripheralParametersResult:
        """Replaces what this session wants of the parameters of a link, and answers with what is in force when the
        controllers have settled it. The wishes of all sessions are merged: the quickest interval, the lowest
        subrate factor with the highest continuation number, the lowest latency, the longest timeout. A session's
        wish ends when it lets the device go. For a device that connected to this machine the session must serve
        it; then the device's controller has to agree. The error notSupported says which side lacks connection
        subrating, or shorter connection intervals for an interval below 7.5 ms; the rest is in force then, with
        the shortest interval that there is.

        peripheral: The daemon's identifier of the device.
        parameters: The parameters that this session requests; if missing, its request is withdrawn.

        Needs the permission "connect".
        """
        request = PERIPHERAL_SET_PARAMETERS.request(
            peripheral=peripheral,
            parameters=parameters,
        )
        return await self._call("peripheral.setParameters", request, PeripheralParametersResult.from_json)

    async def peripheral_set_phy(
        self,
        *,
        peripheral: str,
        phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"],
    ) -> PeripheralParametersResult:
        """Asks for a PHY in both directions of a link, and answers with what is in force when the controllers have
        settled it: "1M", "2M" (twice as fast), "coded" (longer range), or "codedS2" and "codedS8" for the coded
        PHY with a preference for 500 or 125 kb/s. The error notSupported says which side lacks it. The last call
        counts, of whatever session, and for later links, too, while a session uses the device or waits for it.

        peripheral: The daemon's identifier of the device.
        phy: "1M", "2M", "coded", "codedS2" or "codedS8".

        Needs the permission "connect".
        """
        request = PERIPHERAL_SET_PHY.request(
            peripheral=peripheral,
            phy=phy,
        )
        return await self._call("peripheral.setPHY", request, PeripheralParametersResult.from_json)

    async def gatt_discover(
        self,
        *,
        peripheral: str,
        timeout: float | None = None,
    ) -> GattDiscoverResult:
        """Discovers all services, included services, characteristics and descriptors of a device. Fails with the gap
        error timeout when it has taken too long; gatt.discoveryProgress reports about once a second how far it
        got.

        peripheral: The daemon's identifier of the device.
        timeout: The timeout in seconds, more than 0 and at most a day; 60 if missing.

        Needs the permission "connect".
        """
        request = GATT_DISCOVER.request(
            peripheral=peripheral,
            timeout=timeout,
        )
        return await self._call("gatt.discover", request, GattDiscoverResult.from_json)

    async def gatt_discover_services(
        self,
        *,
        peripheral: str,
        services: Sequence[str] | None = None,
    ) -> GattDiscoverResult:
        """Discovers the primary services of a device, with the given UUIDs, or all.

        peripheral: The daemon's identifier of the device.
        services: Only these; all if missing or empty.

        Needs the permission "connect".
        """
        request = GATT_DISCOVER_SERVICES.request(
            peripheral=peripheral,
            services=services,
        )
        return await self._call("gatt.discoverServices", request, GattDiscoverResult.from_json)

    async def gatt_discover_included_services(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        uuids: Sequence[str] | None = None,
    ) -> GattDiscoverResult:
        """Discovers the services that a service includes.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        uuids: Only these; all if missing or empty.

        Needs the permission "connect".
        """
        request = GATT_DISCOVER_INCLUDED_SERVICES.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            uuids=uuids,
        )
        return await self._call("gatt.discoverIncludedServices", request, GattDiscoverResult.from_json)

    async def gatt_discover_characteristics(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        uuids: Sequence[str] | None = None,
    ) -> GattDiscoverCharacteristicsResult:
        """Discovers the characteristics of a service.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        uuids: Only these; all if missing or empty.

        Needs the permission "connect".
        """
        request = GATT_DISCOVER_CHARACTERISTICS.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            uuids=uuids,
        )
        return await self._call("gatt.discoverCharacteristics", request, GattDiscoverCharacteristicsResult.from_json)

    async def gatt_discover_descriptors(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        uuids: Sequence[str] | None = None,
    ) -> GattDiscoverDescriptorsResult:
        """Discovers the descriptors of a characteristic.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        uuids: Only these; all if missing or empty.

        Needs the permission "connect".
        """
        request = GATT_DISCOVER_DESCRIPTORS.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            uuids=uuids,
        )
        return await self._call("gatt.discoverDescriptors", request, GattDiscoverDescriptorsResult.from_json)

    async def gatt_read(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        force: bool | None = None,
    ) -> GattReadResult:
        """Reads the whole value of a characteristic or descriptor, whatever its length. It is named by its handle,
        or by the UUIDs of the characteristic, its service and the descriptor, which are discovered where they are
        not known.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        force: True: sends the request even if the declared properties do not allow it.

        Needs the permission "connect".
        """
        request = GATT_READ.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            force=force,
        )
        return await self._call("gatt.read", request, GattReadResult.from_json)

    async def gatt_write(
        self,
        *,
        peripheral: str,
        value: bytes,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        response: bool | None = None,
        offset: int | None = None,
        signed: bool | None = None,
        force: bool | None = None,
    ) -> AttributeFound:
        """Writes a value of up to 512 octets. With a response, the call answers once the device has answered;
        without one, it answers once there was room for the packet on the link, and the value must fit into MTU −
        3. With an offset the value is written from there on, with a response; whether what lies behind it stays
        is up to the device. A signed write has no response; the value must fit into MTU − 15, and it needs a bond
        in whose pairing we gave a key for signatures. On an encrypted link it goes as a write without response,
        as the specification has it.

        peripheral: The daemon's identifier of the device.
        value: The value.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        response: False: write without response. If missing: with response.
        offset: The offset in the device's value, in octets, 0 to 512; at its beginning if missing.
        signed: True: a signed write (Core 5.4, Vol 3, Part G, 4.9.2).
        force: True: sends the request even if the declared properties do not allow it.

        Needs the permission "connect".
        """
        request = GATT_WRITE.request(
            peripheral=peripheral,
            value=value,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            response=response,
            offset=offset,
            signed=signed,
            force=force,
        )
        return await self._call("gatt.write", request, AttributeFound.from_json)

    async def gatt_subscribe(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        indications: bool | None = None,
    ) -> AttributeFound:
        """Subscribes to the notifications of a characteristic, or to its indications if it has no notifications or
        they are asked for. All sessions share one choice: another one fails with alreadyInProgress while others
        are subscribed. Values are sent as gatt.value, including those that the device sends before it confirms
        the subscription.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        indications: True: its indications, false: its notifications. If missing: the choice of other sessions,
            else its notifications, or its indications if it has no notifications.

        Needs the permission "connect".
        """
        request = GATT_SUBSCRIBE.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            indications=indications,
        )
        return await self._call("gatt.subscribe", request, AttributeFound.from_json)

    async def gatt_unsubscribe(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
    ) -> AttributeFound:
        """Ends this session's subscription; the daemon unsubscribes on the device when no session is subscribed any
        more.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.

        Needs the permission "connect".
        """
        request = GATT_UNSUBSCRIBE.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
        )
        return await self._call("gatt.unsubscribe", request, AttributeFound.from_json)

    async def gatt_read_using_uuid(
        self,
        *,
        peripheral: str,
        uuid: str,
        start: int | None = None,
        end: int | None = None,
    ) -> GattReadUsingUUIDResult:
        """Reads all attributes of a UUID in a range of handles without discovering anything (Read Using
        Characteristic UUID). Each value has at most MTU − 4 octets, and at most 253: gatt.read reads the rest.
        Fails with the att error attributeNotFound if there is none.

        peripheral: The daemon's identifier of the device.
        uuid: The UUID of the characteristics or descriptors.
        start: The first handle of the range; 1 if missing.
        end: The last handle of the range; 65535 if missing.

        Needs the permission "connect".
        """
        request = GATT_READ_USING_UUID.request(
            peripheral=peripheral,
            uuid=uuid,
            start=start,
            end=end,
        )
        return await self._call("gatt.readUsingUUID", request, GattReadUsingUUIDResult.from_json)

    async def gatt_read_multiple(
        self,
        *,
        peripheral: str,
        attributes: Sequence[AttributePath],
        variable: bool | None = None,
    ) -> GattReadMultipleResult:
        """Reads several values with one request. With `variable` each value has its length, and those that do not
        fit into the MTU are left out (Read Multiple Variable Length Characteristic Values); without it they come
        in a row, of at most MTU − 1 octets, and the caller has to know their lengths (Read Multiple
        Characteristic Values). Fails with the gap error notSupported if the device does not know the request.

        peripheral: The daemon's identifier of the device.
        attributes: 2 or more values, as many as fit into the request: (MTU − 1) / 2.
        variable: True if the values have different lengths; false if missing.

        Needs the permission "connect".
        """
        request = GATT_READ_MULTIPLE.request(
            peripheral=peripheral,
            attributes=attributes,
            variable=variable,
        )
        return await self._call("gatt.readMultiple", request, GattReadMultipleResult.from_json)

    async def gatt_write_reliably(
        self,
        *,
        peripheral: str,
        writes: Sequence[GATTWriteReliablyWrite],
    ) -> GattWriteReliablyResult:
        """Writes several values, or parts of them, at once (Characteristic Value Reliable Writes). The device
        repeats each; if one of them comes back changed, or the device refuses one, nothing is written.

        peripheral: The daemon's identifier of the device.
        writes: 1 to 64 writes, in their order.

        Needs the permission "connect".
        """
        request = GATT_WRITE_RELIABLY.request(
            peripheral=peripheral,
            writes=writes,
        )
        return await self._call("gatt.writeReliably", request, GattWriteReliablyResult.from_json)

    async def gatt_server_features(
        self,
        *,
        peripheral: str,
    ) -> GattServerFeaturesResult:
        """Reads the Server Supported Features (2B3A) of a device.

        peripheral: The daemon's identifier of the device.

        Needs the permission "connect".
        """
        request = GATT_SERVER_FEATURES.request(
            peripheral=peripheral,
        )
        return await self._call("gatt.serverFeatures", request, GattServerFeaturesResult.from_json)

    async def gatt_acquire(
        self,
        *,
        peripheral: str,
        handle: int | None = None,
        characteristic: str | None = None,
        service: str | None = None,
        descriptor: str | None = None,
        index: int | None = None,
        values: bool | None = None,
        writes: bool | None = None,
        indications: bool | None = None,
        closing: bool | None = None,
    ) -> tuple[GattAcquireResult, int | None]:
        """Passes a SOCK_SEQPACKET descriptor with the answer, for many values of one characteristic: each packet
        that the program writes is sent as a Write Command, and each notification or indication is a packet to
        read. At a time one descriptor is for writing, and one for values; it can be the same. Closing the
        descriptor ends that, and so does gatt.released.

        peripheral: The daemon's identifier of the device.
        handle: The handle, 1 to 65535; alone, without any of the others.
        characteristic: The UUID of the characteristic.
        service: The UUID of the service, or of the one that the characteristic is in; any service if missing.
        descriptor: The UUID of a descriptor of the characteristic.
        index: The index of the attribute if several match, 0 or more, in the order of their handles.
        values: False: the program only writes. If missing: it also reads the values of a characteristic that
            has any.
        writes: False: the program only reads values. If missing: it also writes, where the characteristic can
            be written without response.
        indications: True: its indications, false: its notifications, as for gatt.subscribe.
        closing: True: gatt.released is also sent when the other end is closed, for a program that hands the
            descriptor on.

        Needs the permission "connect".

        The descriptor is the caller's, to be closed.
        """
        request = GATT_ACQUIRE.request(
            peripheral=peripheral,
            handle=handle,
            characteristic=characteristic,
            service=service,
            descriptor=descriptor,
            index=index,
            values=values,
            writes=writes,
            indications=indications,
            closing=closing,
        )
        return await self._call_passing("gatt.acquire", request, GattAcquireResult.from_json)

    async def service_add(
        self,
        *,
        service: ServiceToPublish,
    ) -> ServiceAddResult:
        """Publishes a service, on every adapter unless it names one. Reads and writes of characteristics and
        descriptors without a fixed value are passed to this session as calls of server.read and server.write. The
        service is removed by service.remove or when the session ends.

        service: The service.

        Needs the permission "serve".
        """
        request = SERVICE_ADD.request(
            service=service,
        )
        return await self._call("service.add", request, ServiceAddResult.from_json)

    async def service_remove(
        self,
        *,
        handle: int | None = None,
    ) -> None:
        """Removes a service of this session, or all of them if no handle is given.

        handle: The handle of the service's declaration.

        Needs the permission "serve".
        """
        request = SERVICE_REMOVE.request(
            handle=handle,
        )
        return await self._call("service.remove", request, _nothing)

    async def server_notify(
        self,
        *,
        handle: int,
        value: bytes,
        centrals: Sequence[str] | None = None,
        when_full: Literal["wait", "skip", "newest"] | None = None,
        confirmation: int | None = None,
    ) -> ServerNotifyResult:
        """Sends a new value to the subscribers of a characteristic, as a notification or an indication, as each of
        them requested. A value longer than a subscriber's MTU − 3 is truncated, which the result says; the
        subscriber can read the rest. A value that was accepted is sent even if the session stops waiting for the
        answer.

        handle: The handle of the characteristic's value.
        value: The value, up to 512 octets.
        centrals: Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if
            missing.
        when_full: The treatment of a subscriber without room: "wait", no subscriber receives the value yet;
            "skip", it waits for that subscriber alone, which misses it if 16 values wait already; "newest", it
            waits in the place of earlier values; "wait" if missing.
        confirmation: A number that the session chooses, 0 to 4294967295: `server.confirmed` with it reports the
            confirmation of each subscriber in `indicated`, or that there will be none. If missing nothing is
            reported.

        Needs the permission "serve".
        """
        request = SERVER_NOTIFY.request(
            handle=handle,
            value=value,
            centrals=centrals,
            when_full=when_full,
            confirmation=confirmation,
        )
        return await self._call("server.notify", request, ServerNotifyResult.from_json)

    async def server_notify_multiple(
        self,
        *,
        values: Sequence[ServerNotifyMultipleValue],
        centrals: Sequence[str] | None = None,
    ) -> ServerNotifyResult:
        """Sends the new values of several characteristics: to a device that supports it, and where they fit into its
        MTU, in one packet (Multiple Handle Value Notification), else one by one. A device receives the values
        that it subscribed to; those of which it wants indications are indicated.

        values: 1 to 8 values, each of another characteristic.
        centrals: Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if
            missing.

        Needs the permission "serve".
        """
        request = SERVER_NOTIFY_MULTIPLE.request(
            values=values,
            centrals=centrals,
        )
        return await self._call("server.notifyMultiple", request, ServerNotifyResult.from_json)

    async def server_acquire(
        self,
        *,
        central: str,
        handle: int,
    ) -> tuple[ServerAcquireResult, int | None]:
        """Passes a SOCK_SEQPACKET descriptor with the answer, for many values of one characteristic of this session
        and one device: each packet that the program writes is notified to the device, or indicated if it
        subscribed to indications, and each value that the device writes is a packet to read, instead of a call of
        server.write. Closing the descriptor ends that, and so does server.released.

        central: The daemon's identifier of the device, as in `server.subscribed` and `server.write`.
        handle: The handle of the characteristic's value.

        Needs the permission "serve".

        The descriptor is the caller's, to be closed.
        """
        request = SERVER_ACQUIRE.request(
            central=central,
            handle=handle,
        )
        return await self._call_passing("server.acquire", request, ServerAcquireResult.from_json)

    async def server_set_latency(
        self,
        *,
        central: str,
        latency: Literal["low", "medium", "high"],
    ) -> None:
        """Asks a device that connected to this machine for another connection interval: "low" latency (15 to 30 ms),
        or "medium" (90 to 120 ms) or "high" (480 to 510 ms) to save power. It is a wish of this session as that
        of peripheral.setParameters, and takes its place. The call answers when the two controllers have settled
        it.

        central: The daemon's identifier of the device, as in `server.subscribed`.
        latency: The requested latency: low is 15 to 30 ms between two connection events, medium 90 to 120 ms,
            high 480 to 510 ms.

        Needs the permission "serve".
        """
        request = SERVER_SET_LATENCY.request(
            central=central,
            latency=latency,
        )
        return await self._call("server.setLatency", request, _nothing)

    async def advertising_start(
        self,
        *,
        adapter: str | None = None,
        name: str | None = None,
        services: Sequence[str] | None = None,
        service_data: Mapping[str, bytes] | None = None,
        manufacturer_data: bytes | None = None,
        appearance: int | None = None,
        connectable: bool | None = None,
        interval: float | None = None,
        solicited_services: Sequence[str] | None = None,
        uri: str | None = None,
        structures: Sequence[AdvertisingStartStructure] | None = None,
        scannable: bool | None = None,
        extended: bool | None = None,
        anonymous: bool | None = None,
        directed_to: str | None = None,
        directed_to_type: Literal["public", "random"] | None = None,
        high_duty: bool | None = None,
        tx_power: int | None = None,
        include_tx_power: bool | None = None,
        channels: Sequence[int] | None = None,
        own_address: str | None = None,
        primary_phy: Literal["1M", "coded", "codedS2", "codedS8"] | None = None,
        secondary_phy: Literal["1M", "2M", "coded", "codedS2", "codedS8"] | None = None,
        duration: float | None = None,
        count: int | None = None,
        periodic: AdvertisingStartPeriodic | None = None,
    ) -> AdvertisingStartResult:
        """Starts an advertisement of this session. The daemon adds the flags; data that does not fit into the
        advertisement goes into the scan response, the name is shortened if necessary, and if the data still does
        not fit the call fails. The advertisement ends with advertising.stop or with the session, and survives an
        adapter that is removed and comes back; with `duration` (seconds) or `count` (1 to 255 advertising events)
        it ends by itself, which advertising.changed tells. Legacy PDUs are sent, which every scanner hears and
        which carry 31 octets and as many in the scan response; with `extended` one advertisement has up to 1650
        octets, or fewer if the controller has less, and scanners before Bluetooth 5.0 do not hear it. `interval`
        is in seconds, 0.02 to 10.24, `txPower` in dBm, -127 to 20, `channels` lists some of 37, 38 and 39.

        adapter: The adapter; the first if missing.
        name: The local name.
        services: The services to list.
        service_data: Service data: an object whose members are named by the UUIDs of services, as `{"180F":
            "64"}`.
        manufacturer_data: Manufacturer-specific data; the first two octets are the company identifier, low
            octet first.
        appearance: The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
        connectable: False: not connectable. True if missing.
        interval: The advertising interval in seconds, 0.02 to 10.24; 0.1 if missing.
        solicited_services: The services to solicit.
        uri: A URI.
        structures: Further AD structures, sent unchanged; flags (type 1) replace the daemon's.
        scannable: True if scan requests are answered. If missing: with legacy PDUs true for a connectable
            advertisement or a scan response with data; with extended PDUs false.
        extended: True: extended PDUs, which only scanners of Bluetooth 5.0 and later receive. False if missing:
            legacy PDUs.
        anonymous: With `extended`: without our address; neither connectable nor scannable.
        directed_to: The only device that may connect: the daemon's identifier of it, or its address. The
            advertisement ends when it has connected. With legacy PDUs there is no data then. A paired device with
            private addresses needs an adapter that addresses it by them, and must have reported on a link that its
            controller resolves them, else "notSupported".
        directed_to_type: For an address in `directedTo`, "public" or "random"; if missing: as last received,
            else random if the two top bits are set, else public.
        high_duty: With `directedTo`: the device is addressed as often as possible, at least every 3.75 ms, for
            1.28 s at the most.
        tx_power: The transmit power that is aimed for, in dBm, -127 to 20; the controller's choice if missing.
        include_tx_power: With `extended`: the header contains the transmit power.
        channels: The primary channels, 37 to 39, each at most once; all if missing.
        own_address: A static random address to advertise with (its two top bits are set); the adapter's own if
            missing.
        primary_phy: The PHY on which the advertisement begins, "1M" or with `extended` "coded", "codedS2" (500
            kb/s) or "codedS8" (125 kb/s); "1M" if missing. The last two need a controller with a choice of coding.
        secondary_phy: With `extended`: the PHY on which it continues, "1M", "2M", "coded", "codedS2" or
            "codedS8"; if missing, as `primaryPHY`.
        duration: The time after it was first on the air at which it ends, in seconds, 0.01 to 86400; never if
            missing.
        count: The number of its advertising events, 1 to 255; unlimited if missing.
        periodic: With `extended`, neither connectable, scannable nor anonymous: data that is sent at fixed
            times to synchronised devices (periodic.sync). It starts and ends with the advertisement, which
            announces it.

        Needs the permission "advertise".
        """
        request = ADVERTISING_START.request(
            adapter=adapter,
            name=name,
            services=services,
            service_data=service_data,
            manufacturer_data=manufacturer_data,
            appearance=appearance,
            connectable=connectable,
            interval=interval,
            solicited_services=solicited_services,
            uri=uri,
            structures=structures,
            scannable=scannable,
            extended=extended,
            anonymous=anonymous,
            directed_to=directed_to,
            directed_to_type=directed_to_type,
            high_duty=high_duty,
            tx_power=tx_power,
            include_tx_power=include_tx_power,
            channels=channels,
            own_address=own_address,
            primary_phy=primary_phy,
            secondary_phy=secondary_phy,
            duration=duration,
            count=count,
            periodic=periodic,
        )
        return await self._call("advertising.start", request, AdvertisingStartResult.from_json)

    async def advertising_stop(
        self,
        *,
        advertising: int | None = None,
    ) -> None:
        """Stops an advertisement of this session, or all of them if no number is given.

        advertising: The number that `advertising.start` gave, 1 or more.

        Needs the permission "advertise".
        """
        request = ADVERTISING_STOP.request(
            advertising=advertising,
        )
        return await self._call("advertising.stop", request, _nothing)

    async def advertising_send(
        self,
        *,
        advertising: int,
        subevent: int,
        data: bytes,
        first_slot: int | None = None,
        slots: int | None = None,
    ) -> None:
        """Sends data in a subevent of a train with `responses`, once, and answers when the controller has it, which
        is within an interval of the train. Data for a subevent replaces data that still waits for it, whose call
        fails with cancelled. Without data a subevent is sent empty. The responses of devices come as
        advertising.responses.

        advertising: The number of an advertisement of this session with `responses` of `periodic`.
        subevent: Which subevent, 0 to 127.
        data: The data, 0 to 249 octets.
        first_slot: The first slot for responses, 0 to 254; 0 if missing.
        slots: The number of slots that devices may use, 0 to 255; if missing, all from the first one on.

        Needs the permission "advertise".
        """
        request = ADVERTISING_SEND.request(
            advertising=advertising,
            subevent=subevent,
            data=data,
            first_slot=first_slot,
            slots=slots,
        )
        return await self._call("advertising.send", request, _nothing)

    async def l2cap_publish(
        self,
        *,
        psm: int | None = None,
        security: Literal["none", "encrypted", "authenticated", "secureConnections"] | None = None,
        receive_mtu: int | None = None,
        mode: Literal["leCreditBased", "enhanced"] | None = None,
        adapter: str | None = None,
    ) -> L2capPublishResult:
        """Listens for L2CAP channels that devices open, until l2cap.unpublish or the session's end; each is told of
        with l2cap.incoming.

        psm: The number under which devices open channels, 128 to 255; the daemon chooses one if missing.
        security: The required security of a device's link: "none", "encrypted", "authenticated" or
            "secureConnections"; "none" if missing.
        receive_mtu: The longest packet that a device may send, 23 to 65535 octets, of an enhanced channel 64 or
            more; 8192 if missing.
        mode: The required mode of channels: "leCreditBased" or "enhanced"; if missing either, if the adapter
            has both.
        adapter: The adapter; the first if missing.

        Needs the permission "serve".
        """
        request = L2CAP_PUBLISH.request(
            psm=psm,
            security=security,
            receive_mtu=receive_mtu,
            mode=mode,
            adapter=adapter,
        )
        return await self._call("l2cap.publish", request, L2capPublishResult.from_json)

    async def l2cap_unpublish(
        self,
        *,
        psm: int,
        adapter: str | None = None,
    ) -> None:
        """Ends the listening that l2cap.publish began. Open channels stay.

        psm: The number that `l2cap.publish` gave, 128 to 255.
        adapter: The adapter; the first if missing.

        Needs the permission "serve".
        """
        request = L2CAP_UNPUBLISH.request(
            psm=psm,
            adapter=adapter,
        )
        return await self._call("l2cap.unpublish", request, _nothing)

    async def l2cap_open(
        self,
        *,
        peripheral: str,
        psm: int,
        security: Literal["none", "encrypted", "authenticated", "secureConnections"] | None = None,
        receive_mtu: int | None = None,
        mode: Literal["leCreditBased", "enhanced"] | None = None,
        packets: bool | None = None,
        token: bool | None = None,
    ) -> tuple[L2capOpenResult, int | None]:
        """Opens an L2CAP channel to a device that this session is connected to. The answer passes a descriptor for
        its octets (SCM_RIGHTS), or has a token to fetch them with. Nothing is dropped, and who does not read
        stops the other side. The channel ends when the program closes the descriptor, and with the session.

        peripheral: The daemon's identifier of the device.
        psm: The number of the device's listener, 1 to 255.
        security: The required security of the link: "none", "encrypted", "authenticated" or
            "secureConnections"; "none" if missing. A device may require more.
        receive_mtu: The longest packet that the device may send, 23 to 65535 octets, of an enhanced channel 64
            or more; 8192 if missing.
        mode: The mode of the channel: "leCreditBased" or "enhanced", which the adapter and the device must
            support; "leCreditBased" if missing.
        packets: True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most
            `sendMTU` octets, and one read gives one. A stream otherwise.
        token: True: no descriptor is passed, and the answer has a token. Not with `packets`.

        Needs the permission "connect".

        The descriptor is the caller's, to be closed.
        """
        request = L2CAP_OPEN.request(
            peripheral=peripheral,
            psm=psm,
            security=security,
            receive_mtu=receive_mtu,
            mode=mode,
            packets=packets,
            token=token,
        )
        return await self._call_passing("l2cap.open", request, L2capOpenResult.from_json)

    async def l2cap_accept(
        self,
        *,
        channel: int,
        packets: bool | None = None,
        token: bool | None = None,
    ) -> tuple[L2capOpenResult, int | None]:
        """Takes a channel of l2cap.incoming, within 30 seconds; its octets come as those of l2cap.open. To refuse
        it, call l2cap.close.

        channel: The number that `l2cap.incoming` gave, 1 or more.
        packets: True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most
            `sendMTU` octets, and one read gives one. A stream otherwise.
        token: True: no descriptor is passed, and the answer has a token. Not with `packets`.

        Needs the permission "serve".

        The descriptor is the caller's, to be closed.
        """
        request = L2CAP_ACCEPT.request(
            channel=channel,
            packets=packets,
            token=token,
        )
        return await self._call_passing("l2cap.accept", request, L2capOpenResult.from_json)

    async def l2cap_close(
        self,
        *,
        channel: int,
    ) -> None:
        """Closes a channel of this session, or refuses one of l2cap.incoming. What the program wrote before is sent;
        l2cap.closed does not follow.

        channel: The number that names it in this session, 1 or more.
        """
        request = L2CAP_CLOSE.request(
            channel=channel,
        )
        return await self._call("l2cap.close", request, _nothing)

    async def peripheral_pair(
        self,
        *,
        peripheral: str,
        level: Literal["encrypted", "authenticated", "secureConnections"] | None = None,
        minimum_key_size: int | None = None,
    ) -> PeripheralPairResult:
        """Raises the security of the link to a connected device: encrypts it with the keys of an earlier pairing, or
        pairs. A device that has connected to this machine is asked to do so (Security Request). Answers when the
        keys are stored. Questions go to this session first, if it has called pairing.register. A read, write or
        subscription that the device refuses for lack of security does the same by itself and is then repeated.

        peripheral: The daemon's identifier of the device.
        level: "encrypted", "authenticated" (protected against a person in the middle) or "secureConnections"
            (also with LE Secure Connections); "encrypted" if missing.
        minimum_key_size: The shortest key that will do, 7 to 16 octets; 7 if missing.

        Needs the permission "pair".
        """
        request = PERIPHERAL_PAIR.request(
            peripheral=peripheral,
            level=level,
            minimum_key_size=minimum_key_size,
        )
        return await self._call("peripheral.pair", request, PeripheralPairResult.from_json)

    async def pairing_register(
        self,
        *,
        capability: Literal["display", "displayYesNo", "keyboard", "keyboardDisplay", "none"],
    ) -> None:
        """Makes this session one that is asked when a device pairs, until it ends or calls pairing.unregister: with
        pairing.confirm and pairing.enterPasskey. It is asked for pairings that concern its user: those that
        programs of this user begin, and those of devices that use their connections or services. With the
        permission "agent" it is asked for all, after the users concerned.

        capability: The input and output of this program: "display" (shows a passkey), "displayYesNo" (has
            numbers compared, too), "keyboard" (has a passkey typed), "keyboardDisplay" (all of these) or "none".

        Needs the permission "pair".
        """
        request = PAIRING_REGISTER.request(
            capability=capability,
        )
        return await self._call("pairing.register", request, _nothing)

    async def pairing_unregister(
        self,
    ) -> None:
        """This session is no longer asked when a device pairs.

        Needs the permission "pair".
        """
        return await self._call("pairing.unregister", {}, _nothing)

    async def pairing_open(
        self,
        *,
        seconds: float,
    ) -> None:
        """For some seconds every device that uses services or connections of this user may pair without a check
        (Just Works), unless a session that has called pairing.register is asked. With the permission "agent" that
        holds for all devices. 0 ends it at once.

        seconds: The time for which devices may pair, in seconds, 0 to 3600.

        Needs the permission "pair".
        """
        request = PAIRING_OPEN.request(
            seconds=seconds,
        )
        return await self._call("pairing.open", request, _nothing)

    async def pairing_list(
        self,
    ) -> PairingListResult:
        """Lists the devices that this machine has paired with, the last one first. Shows no keys.

        Needs the permission "bonds".
        """
        return await self._call("pairing.list", {}, PairingListResult.from_json)

    async def pairing_forget(
        self,
        *,
        peripheral: str | None = None,
        address: str | None = None,
    ) -> None:
        """Removes the keys that this machine shares with a device, here and in the kernel, and ends its link. The
        device keeps its own: forget this machine there, too. Without the permission "sessions" it fails with
        notPermitted if other users have used the device, or it uses their services.

        peripheral: The daemon's identifier of the device.
        address: Its identity address.

        Needs the permission "pair".
        """
        request = PAIRING_FORGET.request(
            peripheral=peripheral,
            address=address,
        )
        return await self._call("pairing.forget", request, _nothing)

    async def pairing_import(
        self,
        *,
        adapter_address: str,
        address: str,
        address_type: Literal["public", "random"],
        long_term_keys: Sequence[PairingImportLongTermKey],
        identity_resolving_key: bytes | None = None,
        signature_keys: Sequence[PairingImportSignatureKey] | None = None,
    ) -> None:
        """Takes over the keys that an adapter of this machine shares with a device because another stack has paired
        them, in place of those that the daemon has. Answers when they are stored. They are used for links that
        come up afterwards. It fails with notPermitted without the permission "adapters".

        adapter_address: The address of the adapter that shares the keys.
        address: The device's identity address.
        address_type: "public" or "random".
        long_term_keys: The keys for encryption: one, or after legacy pairing up to two, one for each role.
        identity_resolving_key: The key that resolves the device's private addresses, 16 octets.
        signature_keys: The keys for signed writes, at most one for each side.

        Needs the permission "pair".
        """
        request = PAIRING_IMPORT.request(
            adapter_address=adapter_address,
            address=address,
            address_type=address_type,
            long_term_keys=long_term_keys,
            identity_resolving_key=identity_resolving_key,
            signature_keys=signature_keys,
        )
        return await self._call("pairing.import", request, _nothing)

    async def pairing_read_out_of_band(
        self,
        *,
        adapter: str | None = None,
    ) -> PairingReadOutOfBandResult:
        """Makes data that are given to a device by another way than the air, such as a QR code or NFC. Whoever has
        them may pair with this adapter without a question, until this session ends; the link is authenticated
        then. Data that were made before, by whatever session, are worth nothing any more.

        adapter: The adapter's identifier or address; the first one if missing.

        Needs the permission "pair".
        """
        request = PAIRING_READ_OUT_OF_BAND.request(
            adapter=adapter,
        )
        return await self._call("pairing.readOutOfBand", request, PairingReadOutOfBandResult.from_json)

    async def pairing_set_out_of_band(
        self,
        *,
        address: str,
        address_type: Literal["public", "random"],
        adapter: str | None = None,
        confirmation: bytes | None = None,
        random: bytes | None = None,
        temporary_key: bytes | None = None,
    ) -> None:
        """Tells the daemon the data that a device gave by another way than the air: "confirmation" and "random" for
        LE Secure Connections, "temporaryKey" for legacy pairing, or both. The device may pair without a question
        then, whoever begins, and its link is authenticated. They hold until this session ends, or calls this
        without any. Kernel adapters refuse a temporary key with notSupported.

        address: The device's address, given with the data.
        address_type: "public" or "random".
        adapter: The adapter's identifier or address; the first one if missing.
        confirmation: The confirmation value, 16 octets, the lowest first.
        random: The random value, 16 octets, the lowest first.
        temporary_key: The temporary key, 16 octets, the lowest first, not all zero. If it is given alone, the
            pairing is a legacy one, unless a higher level than "authenticated" is requested.

        Needs the permission "pair".
        """
        request = PAIRING_SET_OUT_OF_BAND.request(
            address=address,
            address_type=address_type,
            adapter=adapter,
            confirmation=confirmation,
            random=random,
            temporary_key=temporary_key,
        )
        return await self._call("pairing.setOutOfBand", request, _nothing)

    async def capture_start(
        self,
        *,
        format: Literal["pcapng", "btsnoop"] | None = None,
        adapter: str | None = None,
        keys: bool | None = None,
    ) -> tuple[CaptureStartResult, int | None]:
        """Records the packets between adapters and their controllers, of all programs, and which session called
        what. The answer passes the descriptor of a pipe with it, from which the recording is read as it comes, as
        a file of the format would be. What the program does not read in time is left out and counted. The
        recording ends with capture.stop, when the program closes the descriptor, and with the session.

        format: "pcapng" (link type 254) or "btsnoop" (datalink type 2001, which btmon reads); "pcapng" if
            missing.
        adapter: Only this adapter; all of them, later ones included, if missing.
        keys: True: keys are recorded, too, which needs the permission "sessions". Otherwise they are zeros.

        Needs the permission "capture".

        The descriptor is the caller's, to be closed.
        """
        request = CAPTURE_START.request(
            format=format,
            adapter=adapter,
            keys=keys,
        )
        return await self._call_passing("capture.start", request, CaptureStartResult.from_json)

    async def capture_stop(
        self,
        *,
        capture: int,
    ) -> CaptureStopResult:
        """Ends a recording of this session. What was recorded before can still be read. It fails with the reason if
        the recording had ended because no adapter could be recorded any more.

        capture: Its number, 1 or more.
        """
        request = CAPTURE_STOP.request(
            capture=capture,
        )
        return await self._call("capture.stop", request, CaptureStopResult.from_json)

    async def metrics_get(
        self,
    ) -> MetricsGetResult:
        """Returns the daemon's counters and measurements since its start, as it gives them to Prometheus: adapters,
        links, queues, dropped packets and events, durations of calls and reads, and the cost of users.
        session.list has the cost of each session."""
        return await self._call("metrics.get", {}, MetricsGetResult.from_json)

    async def simulation_advance(
        self,
        *,
        seconds: float,
    ) -> SimulationAdvanceResult:
        """Moves the clock of a scenario with "clock": "manual", by which the whole daemon goes. Answers when all
        that was due until then is done. Moves of several sessions follow one another.

        seconds: The time in seconds, 0 to 86400.

        Needs the permission "simulation".
        """
        request = SIMULATION_ADVANCE.request(
            seconds=seconds,
        )
        return await self._call("simulation.advance", request, SimulationAdvanceResult.from_json)

    async def simulation_devices(
        self,
    ) -> SimulationDevicesResult:
        """Lists the devices on the simulated air, whether or not they are present.

        Needs the permission "simulation".
        """
        return await self._call("simulation.devices", {}, SimulationDevicesResult.from_json)

    async def simulation_add(
        self,
        *,
        scenario: str,
    ) -> None:
        """Puts the devices and phones of a scenario on the simulated air, as they would be in the file of the
        adapter. Those whose addresses are there already stay as they are.

        scenario: A scenario, as JSON5 in a text; its devices and phones count.

        Needs the permission "simulation".
        """
        request = SIMULATION_ADD.request(
            scenario=scenario,
        )
        return await self._call("simulation.add", request, _nothing)

    async def simulation_vanish(
        self,
        *,
        device: str,
    ) -> None:
        """Has a simulated device go out of range: its link is lost, and it advertises no more.

        device: The name of the device in the scenario.

        Needs the permission "simulation".
        """
        request = SIMULATION_VANISH.request(
            device=device,
        )
        return await self._call("simulation.vanish", request, _nothing)

    async def simulation_come_back(
        self,
        *,
        device: str,
    ) -> None:
        """Has a simulated device come back that has vanished.

        device: The name of the device in the scenario.

        Needs the permission "simulation".
        """
        request = SIMULATION_COME_BACK.request(
            device=device,
        )
        return await self._call("simulation.comeBack", request, _nothing)

    async def simulation_disconnect(
        self,
        *,
        device: str,
        reason: int | None = None,
    ) -> None:
        """Has a simulated device end its link with a reason. Without a link nothing happens.

        device: The name of the device in the scenario.
        reason: The HCI error code reported to this machine, 1 to 255; 19 (remote user terminated connection) if
            missing.

        Needs the permission "simulation".
        """
        request = SIMULATION_DISCONNECT.request(
            device=device,
            reason=reason,
        )
        return await self._call("simulation.disconnect", request, _nothing)

    async def simulation_set_value(
        self,
        *,
        device: str,
        characteristic: str,
        value: bytes,
    ) -> None:
        """Sets the value of a characteristic of a simulated device, and notifies or indicates it if it is subscribed
        to.

        device: The name of the device in the scenario.
        characteristic: The UUID of the characteristic; selects the first one with it.
        value: The value, 0 to 512 octets.

        Needs the permission "simulation".
        """
        request = SIMULATION_SET_VALUE.request(
            device=device,
            characteristic=characteristic,
            value=value,
        )
        return await self._call("simulation.setValue", request, _nothing)

    async def simulation_change(
        self,
        *,
        device: str,
        members: str,
    ) -> None:
        """Changes members of a simulated device, on its link from this moment on: "rssi", "losses", "faults",
        "connectDelay", "responseDelay", "pairing", "services", "advertising" and "scanResponse". Members that are
        missing stay as they are; services that stay the same keep their handles, and a subscriber is told of
        others by Service Changed.

        device: The name of the device in the scenario.
        members: Members of a device in a scenario, as JSON5 in a text.

        Needs the permission "simulation".
        """
        request = SIMULATION_CHANGE.request(
            device=device,
            members=members,
        )
        return await self._call("simulation.change", request, _nothing)

    async def simulation_written(
        self,
        *,
        device: str | None = None,
        after: int | None = None,
    ) -> SimulationWrittenResult:
        """Lists what was written to simulated devices, the first write first: at most 100, of the newest 1,000. The
        next call continues after the last number. Numbers that are missing belong to other devices, or are no
        longer kept.

        device: The name of the device in the scenario; all if missing.
        after: Only writes with a higher number, 0 or more; all if missing.

        Needs the permission "simulation".
        """
        request = SIMULATION_WRITTEN.request(
            device=device,
            after=after,
        )
        return await self._call("simulation.written", request, SimulationWrittenResult.from_json)

    async def simulation_visit(
        self,
        *,
        phone: str,
    ) -> SimulationVisitResult:
        """Has a simulated phone connect to the first matching advertisement, do its script, and disconnect. Answers
        when its link has ended; without an advertisement it waits as long as the caller does. A phone of the same
        address as before has its keys still.

        phone: A phone of a scenario, as JSON5 in a text. The phone visits once, regardless of its member
            returnAfter.

        Needs the permission "simulation".
        """
        request = SIMULATION_VISIT.request(
            phone=phone,
        )
        return await self._call("simulation.visit", request, SimulationVisitResult.from_json)

    async def simulation_adapter(
        self,
        *,
        state: Literal["on", "off", "absent", "failed"],
        adapter: str | None = None,
    ) -> None:
        """Has a simulated adapter be switched off or on by another program, unplugged, or fail. "on" plugs it in,
        repairs it and switches it on, which takes its "startDelay".

        state: "on", "off", "absent" or "failed".
        adapter: The adapter; the first simulated one if missing.

        Needs the permission "simulation".
        """
        request = SIMULATION_ADAPTER.request(
            state=state,
            adapter=adapter,
        )
        return await self._call("simulation.adapter", request, _nothing)

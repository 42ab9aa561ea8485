"""The users of links and subscriptions, and what the end of a use or of a cancelled call undoes at the daemon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass, field
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

Thing = TypeVar("Thing", bound=Hashable)
_Compared = TypeVar("_Compared")


class Request(Protocol[_Compared]):
    """A call's request for a link, or a subscription."""

    def may_mean(self, thing: _Compared) -> bool:
        """Whether it may be for this one."""

    def may_equal(self, other: Request[_Compared]) -> bool:
        """Whether both may be for the same one."""


@dataclass(frozen=True)
class UsedLink:
    """A link that a session uses. An address may change, the identifier does not."""

    peripheral: str
    address: str | None = field(default=None, compare=False)
    address_type: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class LinkRequest:
    """A call of peripheral.connect: how it names the device."""

    peripheral: str | None = None
    address: str | None = None
    address_type: str | None = None
    name: str | None = None
    name_prefix: str | None = None
    service: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The members that name the device."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def may_mean(self, thing: UsedLink) -> bool:
        """A device that is looked for by what it advertises is not compared: if it is used, the daemon answers."""
        if self.peripheral is not None:
            return self.peripheral == thing.peripheral
        return self._may_be(thing.address, thing.address_type)

    def may_equal(self, other: Request[UsedLink]) -> bool:
        """An identifier and an address may be of one device."""
        if not isinstance(other, LinkRequest):
            return False
        if self.address is not None and other.address is not None:
            return self._may_be(other.address, other.address_type)
        if self.address is not None or other.address is not None:
            return self.peripheral is not None or other.peripheral is not None
        return self == other

    def _may_be(self, address: str | None, kind: str | None) -> bool:
        if self.address is None or address is None or self.address.upper() != address.upper():
            return False
        return self.address_type is None or kind is None or self.address_type == kind


@dataclass(frozen=True)
class UsedCharacteristic:
    """A characteristic that a session is subscribed to."""

    peripheral: str
    handle: int


@dataclass(frozen=True)
class SubscriptionRequest:
    """A call of gatt.subscribe; without a handle it names the characteristic by UUIDs."""

    peripheral: str
    handle: int | None = None

    def may_mean(self, thing: UsedCharacteristic) -> bool:
        """Whether it may be for this one."""
        return self.peripheral == thing.peripheral and self.handle in (None, thing.handle)

    def may_equal(self, other: Request[UsedCharacteristic]) -> bool:
        """Whether both may be for the same one."""
        if not isinstance(other, SubscriptionRequest) or self.peripheral != other.peripheral:
            return False
        return self.handle is None or other.handle is None or self.handle == other.handle


class _State(Enum):
    WAITING = auto()
    ABANDONED = auto()
    WITHDRAWN = auto()


@dataclass
class _Call(Generic[Thing]):
    request: Request[Thing]
    state: _State = _State.WAITING


@dataclass
class Undo(Generic[Thing]):
    """Messages for the daemon.

    withdrawn: The pending requests to cancel.
    released: The things to release.
    """

    withdrawn: list[Request[Thing]] = field(default_factory=list)
    released: list[Thing] = field(default_factory=list)


class Uses(Generic[Thing]):
    """The users of things. A thing is released, and a request withdrawn, once no other user has or awaits the same.

    undo: Tells the daemon.
    """

    def __init__(self, undo: Callable[[Undo[Thing]], None]) -> None:
        self._undo = undo
        self._calls: dict[int, _Call[Thing]] = {}
        self._users: Counter[Thing] = Counter()
        # In the order in which their last users left.
        self._unneeded: dict[Thing, None] = {}

    def begin(self, call: int, request: Request[Thing]) -> None:
        """A call is made."""
        self._calls[call] = _Call(request)

    def answered(self, call: int, thing: Thing | None) -> None:
        """A call was answered while its caller waited for it, who uses the thing from now on."""
        self._calls.pop(call, None)
        if thing is not None:
            self.use(thing)
        self._settle()

    def ended(self, call: int) -> None:
        """A call ended without such an answer."""
        known = self._calls.get(call)
        if known is not None and known.state is _State.WAITING:
            del self._calls[call]
            self._settle()

    def abandoned(self, call: int) -> None:
        """Nobody waits for a call any more."""
        known = self._calls.get(call)
        if known is not None and known.state is _State.WAITING:
            known.state = _State.ABANDONED
            self._settle()

    def late(self, call: int, thing: Thing | None) -> None:
        """An abandoned call was answered: with the thing that it has made, or None if it failed."""
        self._calls.pop(call, None)
        if thing is not None:
            self._drop(thing)
        self._settle()

    def use(self, thing: Thing) -> None:
        """A thing has a user more."""
        self._users[thing] += 1

    def is_last(self, thing: Thing) -> bool:
        """Whether a thing has one user, and no waiting call may mean it."""
        return self._users[thing] <= 1 and not any(request.may_mean(thing) for request in self._waiting)

    def leave(self, thing: Thing) -> None:
        """A user needs a thing no longer."""
        self._users[thing] -= 1
        if self._users[thing] <= 0:
            del self._users[thing]
        self._drop(thing)
        self._settle()

    def lost(self, thing: Thing) -> None:
        """The daemon has released a thing by itself, or is told so otherwise."""
        del self._users[thing]
        self._unneeded.pop(thing, None)
        self._settle()

    @property
    def _waiting(self) -> list[Request[Thing]]:
        return [call.request for call in self._calls.values() if call.state is _State.WAITING]

    def _drop(self, thing: Thing) -> None:
        if thing not in self._users:
            self._unneeded[thing] = None

    def _settle(self) -> None:
        waiting = self._waiting
        undo: Undo[Thing] = Undo()
        for thing in list(self._unneeded):
            if thing in self._users:
                del self._unneeded[thing]
            elif not any(request.may_mean(thing) for request in waiting):
                del self._unneeded[thing]
                undo.released.append(thing)
        for _, call in sorted(self._calls.items()):
            request = call.request
            if call.state is not _State.ABANDONED or any(request.may_mean(thing) for thing in self._users):
                continue
            if not any(request.may_equal(other) for other in waiting):
                call.state = _State.WITHDRAWN
                undo.withdrawn.append(request)
        if undo.released or undo.withdrawn:
            self._undo(undo)

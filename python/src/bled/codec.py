"""How members of messages become attributes, and back. A member that is not known is ignored, and so is the list of
words that a member may have: a later daemon has more."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from bled.errors import BledError, error_of, violation

_Value = TypeVar("_Value")
_Self = TypeVar("_Self", bound="Record")


@dataclass(frozen=True, slots=True)
class Codec(Generic[_Value]):
    """Both directions of one kind of value. `decode` raises ValueError for a value of another kind."""

    decode: Callable[[object], _Value]
    encode: Callable[[_Value], object]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a message, and the attribute that has its value."""

    name: str
    attribute: str
    codec: Codec[Any]
    required: bool


class Record:
    """The base of all types of the protocol."""

    __slots__ = ()
    _members: ClassVar[tuple[Member, ...]] = ()

    @classmethod
    def from_json(cls: type[_Self], value: object) -> _Self:
        """Makes one of parsed JSON; raises ProtocolViolation if a required member is missing, or one is of another
        kind."""
        if not isinstance(value, dict):
            raise violation(f"the daemon sent {_shown(value)} where an object is expected ({cls.__name__})")
        attributes: dict[str, object] = {}
        for member in cls._members:
            found = value.get(member.name)
            if found is None:
                if member.required:
                    raise violation(f'the daemon sent no "{member.name}" ({cls.__name__})')
                continue
            try:
                attributes[member.attribute] = member.codec.decode(found)
            except ValueError:
                raise violation(f'the daemon sent {_shown(found)} as "{member.name}" ({cls.__name__})') from None
        return cls(**attributes)

    def __repr__(self) -> str:
        values = ((m.attribute, getattr(self, m.attribute)) for m in self._members)
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in values if v is not None)})"

    def to_json(self) -> dict[str, object]:
        """The JSON for it, without the members that have no value."""
        return _encoded(self._members, ((m.attribute, getattr(self, m.attribute)) for m in self._members))


class Event(Record):
    """A message that the daemon sends by itself."""

    __slots__ = ()
    method: ClassVar[str]


class Parameters:
    """The parameters of a method."""

    __slots__ = ("_members",)

    def __init__(self, members: tuple[Member, ...]) -> None:
        self._members = members

    def request(self, **values: object) -> dict[str, object]:
        """The JSON for them, without those that are None."""
        return _encoded(self._members, values.items())


def _encoded(members: tuple[Member, ...], values: Iterable[tuple[str, object]]) -> dict[str, object]:
    by_name = {member.attribute: member for member in members}
    result: dict[str, object] = {}
    for attribute, value in values:
        if value is not None:
            member = by_name[attribute]
            try:
                result[member.name] = member.codec.encode(value)
            except (AttributeError, TypeError, ValueError) as error:
                raise TypeError(f"{attribute}: {_shown(value)} is not of its type: {error}") from None
    return result


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _same(value: _Value) -> _Value:
    return value


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError


def _number(value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise ValueError from None
    raise ValueError


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError


def _octets(value: object) -> bytes:
    # bytes.fromhex would skip spaces.
    if isinstance(value, str):
        return binascii.unhexlify(value)
    raise ValueError


def _scalar(value: object) -> str | float | bool:
    if isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError


def _word(value: str) -> str:
    return _text(value)


text: Codec[str] = Codec(_text, _word)
integer: Codec[int] = Codec(_integer, _integer)
number: Codec[float] = Codec(_number, _number)
boolean: Codec[bool] = Codec(_boolean, _boolean)
octets: Codec[bytes] = Codec(_octets, lambda value: bytes(value).hex() if not isinstance(value, int) else _text(value))
scalar: Codec[str | float | bool] = Codec(_scalar, _same)
anything: Codec[object] = Codec(_same, _same)
failure: Codec[BledError] = Codec(error_of, lambda error: {"code": -32000, "message": error.message})


def record(kind: Callable[[], type[Record]]) -> Codec[Any]:
    """The codec of a type of the protocol, which may be defined further down."""
    return Codec(lambda value: kind().from_json(value), lambda value: value.to_json())


def many(codec: Codec[Any]) -> Codec[Any]:
    """The codec of a list."""

    def decode(value: object) -> tuple[Any, ...]:
        if isinstance(value, list):
            return tuple(codec.decode(element) for element in value)
        raise ValueError

    def encode(value: Iterable[Any]) -> list[object]:
        if isinstance(value, (str, bytes)):
            raise ValueError("a list is expected")
        return [codec.encode(element) for element in value]

    return Codec(decode, encode)


def mapping(codec: Codec[Any]) -> Codec[Any]:
    """The codec of values by name."""

    def decode(value: object) -> dict[str, Any]:
        if isinstance(value, dict):
            return {name: codec.decode(element) for name, element in value.items()}
        raise ValueError

    def encode(value: Mapping[str, Any]) -> dict[str, object]:
        return {name: codec.encode(element) for name, element in value.items()}

    return Codec(decode, encode)

"""Formats that people give the values of their devices, as bleshell reads them (docs/values.md has the grammar).

value = ValueFormat("u8 state, i16le temperature*0.01 °C").read(octets)
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from dataclasses import dataclass
from typing import Literal, NoReturn

from .units import SIGNS

Content = float | bool | str | list[str]

_LONGEST = 1024
_LONGEST_VALUE = 512
_WORD = re.compile(r"[a-zA-Z0-9]*")
_TYPE = re.compile(r"([a-zA-Z]*)([0-9]*)(.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INT64 = range(-(2**63), 2**63)
# The types of Characteristic Presentation Format (Assigned Numbers, 2.4.1), as their formats are written here.
_PRESENTED = {
    0x01: "bool",
    **dict(enumerate(("u2", "u4", "u8", "u12", "u16", "u24", "u32", "u48", "u64"), 0x02)),
    **dict(enumerate(("i8", "i12", "i16", "i24", "i32", "i48", "i64"), 0x0C)),
    **dict(enumerate(("f32", "f64", "medfloat16", "medfloat32"), 0x14)),
    0x19: "text",
}


class FormatError(ValueError):
    """A format that cannot be read: the fault and its remedy."""


@dataclass(frozen=True)
class FormattedField:
    """A part of a value; without a name it is the whole value."""

    name: str | None
    content: Content
    """A number without a fraction is a float, too; a text; whether a flag is set; or the names of bits that are."""
    text: str
    unit: str

    @property
    def number(self) -> float | None:
        return self.content if isinstance(self.content, float) else None


@dataclass(frozen=True)
class FormattedValue:
    """A value that was read by a format."""

    fields: list[FormattedField]

    @property
    def text(self) -> str:
        """ "22.60 °C", or with several fields "state 3, temperature 22.60 °C"."""
        return ", ".join(" ".join(part for part in (it.name, it.text, it.unit) if part) for it in self.fields)

    @property
    def number(self) -> float | None:
        """The first of its numbers."""
        return next((it.number for it in self.fields if it.number is not None), None)

    @property
    def unit(self) -> str | None:
        """The unit of the number; empty for none."""
        return next((it.unit for it in self.fields if it.number is not None), None)

    def __getitem__(self, name: str) -> Content:
        """The content of a field."""
        for it in self.fields:
            if it.name == name:
                return it.content
        raise KeyError(name)


@dataclass(frozen=True)
class _Exact:
    """A decimal number, so that 0.1 stays 0.1."""

    mantissa: int
    exponent: int = 0

    @property
    def is_kept(self) -> bool:
        return self.mantissa in _INT64 and -18 <= self.exponent <= 18

    @property
    def value(self) -> float:
        if self.exponent < 0:
            return float(self.mantissa) / 10.0**-self.exponent
        return float(self.mantissa) * 10.0**self.exponent

    @property
    def text(self) -> str:
        if self.exponent >= 0 or self.mantissa == 0:
            return str(self.mantissa) + ("0" * self.exponent if self.mantissa else "")
        digits = str(abs(self.mantissa)).rjust(1 - self.exponent, "0")
        return f"{'-' if self.mantissa < 0 else ''}{digits[: self.exponent]}.{digits[self.exponent :]}"

    def times(self, other: _Exact) -> _Exact | None:
        product = _Exact(self.mantissa * other.mantissa, self.exponent + other.exponent)
        return product if product.is_kept else None

    def plus(self, other: _Exact) -> _Exact | None:
        common = min(self.exponent, other.exponent)
        digits = [it.mantissa * 10 ** (it.exponent - common) for it in (self, other)]
        total = _Exact(sum(digits), common)
        return total if total.is_kept and all(it in _INT64 for it in digits) else None


def _rounded(number: float, digits: int) -> tuple[str, float]:
    """A binary number as text and, without the noise of binary fractions, as a number."""
    if not math.isfinite(number):
        return ("no number" if math.isnan(number) else "above range" if number > 0 else "below range"), number
    size, exponent = abs(number), 0
    is_plain = size == 0 or 1e-5 <= size < 1e15
    while not is_plain and size >= 10:
        size, exponent = size / 10, exponent + 1
    while not is_plain and size < 1:
        size, exponent = size * 10, exponent - 1
    places, limit = 0, 10.0 ** (digits - 1)
    while places < 18 and size != 0 and size * 10.0**places < limit:
        places += 1
    mantissa = math.floor(size * 10.0**places + 0.5)
    while places > 0 and mantissa % 10 == 0:
        mantissa, places = mantissa // 10, places - 1
    sign = "-" if number < 0 else ""
    plain = sign + _Exact(mantissa, -places).text
    if not is_plain:
        return f"{plain}e{exponent}", number
    rounded = float(mantissa) / 10.0**places
    return plain, -rounded if number < 0 else rounded


@dataclass(frozen=True)
class _Type:
    kind: Literal["integer", "float", "medfloat", "flag", "flags", "choice", "text", "octets"]
    octets: int | None
    bits: int = 0
    is_signed: bool = False
    is_big: bool = False
    names: tuple[str, ...] = ()
    choices: tuple[tuple[int, str], ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind in ("integer", "float", "medfloat")

    def unsigned(self, octets: bytes) -> int:
        number = int.from_bytes(octets, "big" if self.is_big else "little")
        return number & ((1 << self.bits) - 1) if self.bits else number

    def signed(self, octets: bytes) -> int:
        number = self.unsigned(octets)
        return number - (1 << self.bits) if number >> (self.bits - 1) else number


@dataclass(frozen=True)
class _Field:
    name: str | None
    type: _Type
    offset: int | None
    steps: tuple[tuple[str, _Exact], ...]
    unit: str

    def read(self, octets: bytes) -> FormattedField | None:
        match self.type.kind:
            case "integer":
                number = self.type.signed(octets) if self.type.is_signed else self.type.unsigned(octets)
                if not self.steps:
                    return self._field(float(number), str(number))
                return self._number(_Exact(number) if number in _INT64 else float(number), 15)
            case "float":
                order = ">" if self.type.is_big else "<"
                if self.type.octets == 4:
                    return self._number(struct.unpack(f"{order}f", octets)[0], 7)
                return self._number(struct.unpack(f"{order}d", octets)[0], 15)
            case "medfloat":
                return self._medical(octets)
            case "flag":
                flag = any(octets)
                return self._field(flag, "yes" if flag else "no")
            case "flags":
                bits, names = self.type.unsigned(octets), self.type.names
                words = [
                    names[bit] if bit < len(names) and names[bit] else f"bit {bit}"
                    for bit in range(64)
                    if bits >> bit & 1
                ]
                return self._field(words, "+".join(words) or "none")
            case "choice":
                number = self.type.unsigned(octets)
                text = dict(self.type.choices).get(number, str(number))
                return self._field(text, text)
            case "text":
                try:
                    text = octets.split(b"\0", 1)[0].decode()
                except UnicodeDecodeError:
                    return None
                return self._field(text, text)
            case "octets":
                return self._field(octets.hex(), octets.hex())

    def _field(self, content: Content, text: str) -> FormattedField:
        return FormattedField(self.name, content, text, self.unit)

    def _medical(self, octets: bytes) -> FormattedField:
        bits = int.from_bytes(octets, "little", signed=True)
        width, largest = (12, 0x7FF) if len(octets) == 2 else (24, 0x7FFFFF)
        exponent, mantissa = bits >> width, bits & ((1 << width) - 1)
        mantissa -= (1 << width) if mantissa > largest else 0
        special = {
            largest: "no number",
            largest - 1: "above range",
            -largest - 1: "not at this resolution",
            -largest: "reserved",
            -largest + 1: "below range",
        }
        if exponent == 0 and mantissa in special:
            return self._field(special[mantissa], special[mantissa])
        exact = _Exact(mantissa, exponent)
        return self._number(exact if exact.is_kept else float(f"{mantissa}e{exponent}"), 7)

    def _number(self, number: _Exact | float, digits: int) -> FormattedField:
        for sign, other in self.steps:
            if isinstance(number, _Exact) and sign != "/":
                exact = number.times(other) if sign == "*" else number.plus(other)
                if exact is not None:
                    number = exact
                    continue
            value = number.value if isinstance(number, _Exact) else number
            digits = 15 if isinstance(number, _Exact) else digits
            match sign:
                case "*":
                    number = value * other.value
                case "/":
                    number, digits = value / other.value, 7
                case _:
                    number = value + other.value
        if isinstance(number, _Exact):
            return self._field(number.value, number.text)
        text, value = _rounded(number, digits)
        return self._field(value if math.isfinite(value) else text, text)


class _Reader:
    """Reads one field from the front of a text."""

    def __init__(self, text: str) -> None:
        self.rest = text.strip(" ")

    def field(self, is_one_of_several: bool) -> _Field:
        type_ = self._type()
        offset = self._count("an offset") if self._take("@") else None
        name = self._name(is_one_of_several)
        if is_one_of_several and name is None:
            self._fail('each of several fields needs a name behind its type, such as "u8 state, i16 speed"')
        steps = []
        while (step := self._step()) is not None:
            steps.append(step)
        if self.rest and self.rest[0] != " ":
            self._fail(f'"{_shown(self.rest)}" is not understood behind a type')
        unit = self.rest.lstrip(" ")
        if len(unit.encode()) > 32 or _CONTROL.search(unit):
            self._fail(f'"{_shown(unit)}" is not a unit: give at most 32 octets of text')
        if not type_.is_number and (steps or unit):
            self._fail("only numbers have a scale and a unit")
        return _Field(name, type_, offset, tuple(steps), unit)

    def _type(self) -> _Type:
        word = self._match(_WORD)
        letters, digits, order = _TYPE.fullmatch(word).groups()  # type: ignore[union-attr]
        bits = int(digits) if 0 < len(digits) <= 3 else None
        is_big, is_ordered = order == "be", order in ("", "le", "be")
        octets = (bits + 7) // 8 if bits is not None and is_ordered and 1 <= bits <= 64 else None
        if octets is not None and bits is not None:
            match letters:
                case "u" | "uint":
                    return _Type("integer", octets, bits, is_big=is_big)
                case "i" | "int" | "sint":
                    return _Type("integer", octets, bits, is_signed=True, is_big=is_big)
                case "flags":
                    return _Type("flags", octets, bits, is_big=is_big, names=self._flags(bits))
                case "enum":
                    return _Type("choice", octets, bits, is_big=is_big, choices=self._choices())
                case "f" | "float" if bits in (32, 64):
                    return _Type("float", octets, is_big=is_big)
                case "medfloat" if bits in (16, 32) and not order:
                    return _Type("medfloat", octets)
        match word:
            case "bool":
                return _Type("flag", 1)
            case "text":
                return _Type("text", self._length())
            case "hex":
                return _Type("octets", self._length())
        self._fail(
            f'"{_shown(word)}" is not a type: give one such as u8, i16, u16be, f32, bool, text, hex, flags8(a|b) or '
            "enum8(a|b)"
        )

    def _length(self) -> int | None:
        if not self._take("["):
            return None
        count = self._count("a length")
        if not self._take("]"):
            self._fail("the closing ] is missing")
        return count

    def _words(self) -> list[str]:
        if not self._take("("):
            self._fail("names in parentheses are missing, such as (off|on)")
        inside, closing, behind = self.rest.partition(")")
        if not closing:
            self._fail("the closing ) is missing")
        if _CONTROL.search(inside):
            self._fail(f'"{_shown(inside)}" are not names')
        self.rest = behind
        return inside.split("|")

    def _flags(self, bits: int) -> tuple[str, ...]:
        names = self._words()
        if len(names) > bits:
            self._fail(f"there are more names than bits: give at most {bits}")
        return tuple(names)

    def _choices(self) -> tuple[tuple[int, str], ...]:
        choices, following = [], 0
        for word in self._words():
            number, equals, name = word.partition("=")
            if equals:
                if not re.fullmatch(r"[0-9]{1,18}", number):
                    self._fail(f'"{_shown(number)}" is not a number before =')
                following = int(number)
            choices.append((following, name if equals else word))
            following += 1
        return tuple(choices)

    def _name(self, is_one_of_several: bool) -> str | None:
        if not self.rest.startswith(" "):
            return None
        before = self.rest
        self.rest = self.rest.lstrip(" ")
        word = self._match(re.compile(r"[^ *+\-/@()\[\]|=\x00-\x1f\x7f-\x9f]*"))
        if not word or len(word) > 64:
            self.rest = before
            return None
        behind = self.rest
        # A single word behind a single field is a unit.
        if not is_one_of_several:
            try:
                is_name = self._step() is not None
            except FormatError:
                is_name = False
            self.rest = behind if is_name else before
            return word if is_name else None
        return word

    def _step(self) -> tuple[str, _Exact] | None:
        ahead = self.rest.lstrip(" ")
        if not ahead or ahead[0] not in "*/+-":
            return None
        sign, ahead = ahead[0], ahead[1:].lstrip(" ")
        found = re.match(r"(-?)([0-9.]+)(e(?=[-0-9])-?[0-9]*)?", ahead)
        # "m/s" is a unit.
        if found is None or (found[1] and sign in "+-"):
            return None
        written = ("-" if found[1] or sign == "-" else "") + found[2] + (found[3] or "")
        number = _exact(written)
        if number is None:
            self._fail(f'"{_shown(written)}" is not a number with at most 15 digits and 18 places')
        if sign == "/" and number.mantissa == 0:
            self._fail("nothing can be divided by 0")
        self.rest = ahead[found.end() :]
        return sign, number

    def _count(self, what: str) -> int:
        digits = self._match(re.compile("[0-9]*"))
        if not 1 <= len(digits) <= 4 or int(digits) > _LONGEST_VALUE:
            self._fail(f'"{_shown(digits)}" is not {what}: give 0 to {_LONGEST_VALUE}')
        return int(digits)

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.rest)
        text = found[0] if found else ""
        self.rest = self.rest[len(text) :]
        return text

    def _take(self, text: str) -> bool:
        if not self.rest.startswith(text):
            return False
        self.rest = self.rest[len(text) :]
        return True

    def _fail(self, message: str) -> NoReturn:
        raise FormatError(message)


def _is_same(name: str, other: str | None) -> bool:
    """Whether two names have the same characters, in any form of Unicode."""
    return other is not None and unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other)


def _exact(text: str) -> _Exact | None:
    found = re.fullmatch(r"(-?)([0-9]*)(?:\.([0-9]*))?(?:e(-?[0-9]{1,3}))?", text)
    if found is None or not 1 <= len(found[2] + (found[3] or "")) <= 15 or len(found[4] or "") > 3:
        return None
    number = _Exact(int(found[1] + found[2] + (found[3] or "")), int(found[4] or 0) - len(found[3] or ""))
    return number if number.is_kept else None


def _shown(text: str) -> str:
    return _CONTROL.sub("\ufffd", text[:40])


class ValueFormat:
    """The format of a value: one field, or several, each with a name."""

    def __init__(self, text: str) -> None:
        if len(text.encode()) > _LONGEST:
            raise FormatError(f"the format is longer than {_LONGEST} octets: shorten it")
        parts, is_inside = [""], False
        for character in text:
            is_inside = character == "(" or (is_inside and character != ")")
            if character == "," and not is_inside:
                parts.append("")
            else:
                parts[-1] += character
        self._fields: list[_Field] = []
        for part in parts:
            field = _Reader(part).field(len(parts) > 1)
            if field.name is not None and any(_is_same(field.name, it.name) for it in self._fields):
                raise FormatError(f"two fields are named {field.name}")
            self._fields.append(field)

    @classmethod
    def presented(cls, descriptor: bytes) -> ValueFormat | None:
        """The format that a device describes in a Characteristic Presentation Format descriptor (2904).

        None for a descriptor that is too short, and for types that are not a number, a text or a Boolean.
        """
        if len(descriptor) < 7 or descriptor[0] not in _PRESENTED:
            return None
        format_, exponent, unit = struct.unpack_from("<BbH", descriptor)
        made = cls(_PRESENTED[format_])
        field = made._fields[0]
        scale = _Exact(1, exponent)
        # The exponent is for integers.
        steps = (("*", scale),) if exponent and field.type.kind == "integer" else ()
        if steps and not scale.is_kept:
            return None
        sign = SIGNS.get(unit, f"(unit {unit:04X})") if field.type.is_number else ""
        made._fields = [_Field(None, field.type, None, steps, sign)]
        return made

    def read(self, value: bytes) -> FormattedValue | None:
        """Reads a value; None if it is too short, or a text is not UTF-8."""
        place, fields = 0, []
        for it in self._fields:
            place = place if it.offset is None else it.offset
            length = max(0, len(value) - place) if it.type.octets is None else it.type.octets
            if place > len(value) or length > len(value) - place:
                return None
            content = it.read(value[place : place + length])
            if content is None:
                return None
            fields.append(content)
            place += length
        return FormattedValue(fields)

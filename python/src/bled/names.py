"""The names and formats that people give devices, services and characteristics, as bleshell keeps them
(docs/values.md).
"""

from __future__ import annotations

import os
import pathlib
import re
from dataclasses import dataclass

from bled.formats import FormatError, ValueFormat

SYSTEM_FILE = "/etc/bled/names"
_LONGEST_NAME = 64
_BASE = "-0000-1000-8000-00805f9b34fb"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"([0-9A-F]{2}:){5}[0-9A-F]{2}")


class NamesError(ValueError):
    """A line of a file of names that cannot be read: its number, the fault and its remedy."""


@dataclass(frozen=True)
class _Key:
    address: str | None = None
    service: str | None = None
    uuid: str | None = None


def _whole(uuid: str) -> str | None:
    """A UUID with all its digits."""
    text = uuid.lower()
    if re.fullmatch("[0-9a-f]{4}|[0-9a-f]{8}", text):
        return text.rjust(8, "0") + _BASE
    return text if _UUID.fullmatch(text) else None


def _key(text: str) -> _Key | None:
    parts = text.split("/")
    address = parts.pop(0).upper() if _ADDRESS.fullmatch(parts[0].upper()) else None
    if address is not None and not parts:
        return _Key(address)
    uuids = [_whole(part) for part in parts]
    if None in uuids or not 1 <= len(uuids) <= 2:
        return None
    return _Key(address, uuids[0] if len(uuids) == 2 else None, uuids[-1])


class NameList:
    """Names and formats, from the text of a file."""

    def __init__(self, text: str = "") -> None:
        self._names: dict[_Key, str] = {}
        self._formats: dict[_Key, ValueFormat] = {}
        for index, line in enumerate(re.split("\r\n|[\n\r\v\f\x85\u2028\u2029]", text)):
            line = line.strip(" \t")
            if line and not line.startswith("#"):
                try:
                    self._add(line)
                except (NamesError, FormatError) as error:
                    raise NamesError(f"{index + 1}: {error}") from None

    def _add(self, line: str) -> None:
        left, equals, right = line.partition("=")
        if not equals:
            raise NamesError("the = is missing: give KEY = NAME, or KEY = NAME: FORMAT")
        key = _key(left.strip(" \t"))
        if key is None:
            raise NamesError("before the = is no key: give a UUID or an address, or several with slashes between them")
        name, colon, text = (part.strip(" \t") for part in right.partition(":"))
        if len(name.encode()) > _LONGEST_NAME or re.search(r"[\x00-\x1f]", name):
            raise NamesError(f"the name is not valid: give at most {_LONGEST_NAME} octets of text")
        if colon and key.uuid is None:
            raise NamesError("a device has no format: name a characteristic behind a slash")
        if not name and not colon:
            raise NamesError("there is neither a name nor a format behind the =")
        if colon:
            self._formats.setdefault(key, ValueFormat(text))
        if name:
            self._names.setdefault(key, name)

    def followed_by(self, other: NameList) -> NameList:
        """The same with the entries of another list behind its own: of two with one key the first counts."""
        both = NameList()
        # The order counts, too: `uuid` gives the first entry with a name.
        both._names = {**self._names, **{key: it for key, it in other._names.items() if key not in self._names}}
        both._formats = {**self._formats, **{key: it for key, it in other._formats.items() if key not in self._formats}}
        return both

    def device_name(self, address: str) -> str | None:
        """The name of a device."""
        return self._names.get(_Key(address.upper()))

    def name(self, uuid: str, service: str | None = None, address: str | None = None) -> str | None:
        """The name of an attribute, the most particular one."""
        return next((self._names[key] for key in self._keys(uuid, service, address) if key in self._names), None)

    def format(self, uuid: str, service: str | None = None, address: str | None = None) -> ValueFormat | None:
        """The format of an attribute's value, the most particular one."""
        return next((self._formats[key] for key in self._keys(uuid, service, address) if key in self._formats), None)

    def uuid(self, name: str) -> str | None:
        """The UUID with a name, in upper or lower case."""
        return next((key.uuid for key, it in self._names.items() if key.uuid and it.lower() == name.lower()), None)

    @staticmethod
    def _keys(uuid: str, service: str | None, address: str | None) -> list[_Key]:
        addresses = [address.upper(), None] if address else [None]
        services = [_whole(service), None] if service else [None]
        return [_Key(address, service, _whole(uuid)) for address in addresses for service in services]


def read_names() -> NameList:
    """The names of this user, then those of all users (/etc/bled/names)."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    names = NameList()
    for path in (pathlib.Path(folder, "bleshell", "names"), pathlib.Path(SYSTEM_FILE)):
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except UnicodeDecodeError:
            raise NamesError(f"{path} is not text in UTF-8") from None
        try:
            names = names.followed_by(NameList(text))
        except NamesError as error:
            raise NamesError(f"{path}:{error}") from None
    return names

"""The table of cases in Tests/Formats, which ValueFormatsTests read, too."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from bled.formats import FormatError, ValueFormat
from bled.names import NameList, NamesError, read_names

TABLE = json.loads((pathlib.Path(__file__).parents[2] / "Tests" / "Formats" / "formats.json").read_text())


@pytest.mark.parametrize("case", TABLE["values"], ids=[f"{case['format']} {case['value']}" for case in TABLE["values"]])
def test_value(case: dict[str, Any]) -> None:
    read = ValueFormat(case["format"]).read(bytes.fromhex(case["value"]))
    assert (read.text if read else None) == case["text"]
    if read:
        number = case["number"]
        assert read.number == (None if number is None else float(number))
        assert read.number is None or read.unit == case["unit"]
        for name, content, unit in case.get("fields", []):
            assert read[name] == content
            assert next(it.unit for it in read.fields if it.name == name) == unit


@pytest.mark.parametrize("case", TABLE["presentations"], ids=[case["descriptor"] for case in TABLE["presentations"]])
def test_presentation(case: dict[str, Any]) -> None:
    format_ = ValueFormat.presented(bytes.fromhex(case["descriptor"]))
    read = format_.read(bytes.fromhex(case["value"])) if format_ else None
    assert (read.text if read else None) == case["text"]
    if read:
        assert read.number == (None if case["number"] is None else float(case["number"]))
        assert read.number is None or read.unit == case["unit"]
    assert ValueFormat.presented(bytes.fromhex(case["descriptor"])[:6]) is None


@pytest.mark.parametrize("case", TABLE["faults"], ids=[case["format"] for case in TABLE["faults"]])
def test_fault(case: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as error:
        ValueFormat(case["format"])
    assert str(error.value) == case["error"]


def test_names() -> None:
    names = NameList(TABLE["names"]["text"])
    for case in TABLE["names"]["lookups"]:
        if "uuid" not in case:
            assert names.device_name(case["address"]) == case["name"]
            continue
        where = case["uuid"], case.get("service"), case.get("address")
        assert names.name(*where) == case.get("name")
        if "value" in case:
            format_ = names.format(*where)
            read = format_.read(bytes.fromhex(case["value"])) if format_ else None
            assert read and read.text == case["text"]
    assert names.uuid("torque") == "6f3c0002-0000-4000-8000-000000000001"
    for case in TABLE["names"]["faults"]:
        with pytest.raises(NamesError) as error:
            NameList(case["text"])
        assert str(error.value) == case["error"]


def test_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert read_names().name("2A19") is None
    (tmp_path / "bleshell").mkdir()
    (tmp_path / "bleshell" / "names").write_text("2A19 = Cell: u8*2 %\n")
    assert read_names().name("2A19") == "Cell"
    (tmp_path / "bleshell" / "names").write_text("Cell\n")
    with pytest.raises(NamesError, match="names:1: the = is missing"):
        read_names()
    (tmp_path / "bleshell" / "names").write_bytes(b"2A19 = \xff\n")
    with pytest.raises(NamesError, match="names is not text in UTF-8"):
        read_names()


def test_precedence() -> None:
    names = NameList("2A19 = Cell").followed_by(NameList("2A1A = cell: u8\n2A19 = Battery: u8"))
    assert names.uuid("cell") == "00002a19-0000-1000-8000-00805f9b34fb"
    assert names.name("2A19") == "Cell"
    assert names.format("2A19") is not None

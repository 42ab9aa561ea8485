"""The generator, on a document that has what that of the daemon may have one day."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from typing import Any

from conftest import ROOT

GENERATOR = ROOT / "python/generate.py"
WORDS = [f"aRatherLongWordOfTheProtocol{number}" for number in range(9)]
DOCUMENT: dict[str, Any] = {
    "components": {
        "schemas": {
            "HexBytes": {"type": "string"},
            "Colour": {"type": "string", "enum": WORDS},
            "Thing": {
                "type": "object",
                "properties": {
                    "colour": {"$ref": "#/components/schemas/Colour"},
                    "things": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
                    "from": {"type": "integer", "description": 'A "quoted" word'},
                    "rxPHY": {"type": "array", "items": {"type": "string", "enum": ["1M"]}},
                    "data": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/HexBytes"}},
                },
                "required": ["colour"],
            },
        }
    },
    "methods": [
        {"name": name, "params": [], "x-sender": "client", "result": {"schema": {"type": "object", "properties": {}}}}
        for name in ("scan.start", "peripheral.connect", "advertising.start", "l2cap.open", "l2cap.publish")
    ]
    + [
        {
            "name": "thing.paint",
            "params": [{"name": "newColour", "required": True, "schema": {"$ref": "#/components/schemas/Colour"}}],
            "x-sender": "client",
            "result": {"schema": {"$ref": "#/components/schemas/Thing"}},
        },
        {"name": "thing.painted", "params": [], "x-sender": "daemon"},
    ],
}


def loaded(name: str, text: str) -> types.ModuleType:
    """Generated text as a module."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(text, module.__dict__)
    return module


def test_generated_code() -> None:
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    maker = generate.Maker(DOCUMENT)
    text = maker.types()
    assert max(map(len, text.splitlines())) <= 120
    module = loaded("generated_protocol", text)
    assert module.Colour.__args__ == tuple(WORDS)
    told = {
        "colour": "a word of later",
        "things": [{"colour": WORDS[0]}],
        "from": 1,
        "rxPHY": ["1M"],
        "data": {"a": "00"},
    }
    thing = module.Thing.from_json(told)
    assert (thing.colour, thing.from_, thing.rx_phy, thing.data) == ("a word of later", 1, ("1M",), {"a": b"\x00"})
    assert thing.to_json() == told
    assert list(module.EVENTS) == ["thing.painted"]
    calls = maker.calls().replace("from bled.protocol import", "from generated_protocol import")
    assert "new_colour: Colour," in calls and "-> Thing:" in calls
    assert loaded("generated_calls", calls).THING_PAINT.request(new_colour=WORDS[1]) == {"newColour": WORDS[1]}


def test_generated_files_are_up_to_date() -> None:
    subprocess.run([sys.executable, GENERATOR, "--check"], check=True)

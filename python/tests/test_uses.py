"""The table of cases in Tests/Uses, which BledConnectionTests plays, too."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from bled.uses import LinkRequest, SubscriptionRequest, Undo, UsedCharacteristic, UsedLink, Uses

TABLE = pathlib.Path(__file__).parents[2] / "Tests" / "Uses" / "uses.json"
CASES = [case for case in json.loads(TABLE.read_text()) if case["kind"] != "train"]


def request(kind: str, members: dict[str, Any]) -> Any:
    if kind == "subscription":
        return SubscriptionRequest(**members)
    return LinkRequest(**{"address_type" if name == "addressType" else name: value for name, value in members.items()})


def thing(kind: str, members: dict[str, Any] | None) -> Any:
    if members is None:
        return None
    if kind == "subscription":
        return UsedCharacteristic(**members)
    return UsedLink(members["peripheral"], members.get("address"), members.get("addressType"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    kind = case["kind"]
    undos: list[Undo[Any]] = []
    uses: Uses[Any] = Uses(undos.append)
    for step in case["steps"]:
        call = step.get("call", 0)
        its = thing(kind, step.get("thing"))
        match step["do"]:
            case "begin":
                uses.begin(call, request(kind, step["request"]))
            case "answered":
                uses.answered(call, its)
            case "late":
                uses.late(call, its)
            case "ended":
                uses.ended(call)
            case "abandoned":
                uses.abandoned(call)
            case "use":
                uses.use(its)
            case "leave":
                uses.leave(its)
            case "lost":
                uses.lost(its)
        # A subscription is not withdrawn: its result is released.
        withdrawn = [it for undo in undos for it in undo.withdrawn if kind != "subscription"]
        assert withdrawn == [request(kind, members) for members in step.get("withdraw", [])], step
        released = [it for undo in undos for it in undo.released]
        assert released == [thing(kind, members) for members in step.get("release", [])], step
        undos.clear()


def test_table_is_there() -> None:
    assert len(CASES) >= 10

"""Programs that do not read: reports are dropped and counted; what may not be lost ends with TooSlow, and others go
on."""

from __future__ import annotations

import pytest
from conftest import Daemon, simulation

import bled


async def test_reports_are_dropped(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bled.scanning.REPORTS", 4)
    async with bled.connect(daemon.socket) as client:
        async with (
            client.scan(name="Belt", duplicates=True) as slow,
            client.scan(name="Belt", duplicates=True) as quick,
        ):
            for _ in range(10):
                newest = await anext(quick)
            assert slow.dropped >= 5 and quick.dropped == 0
            assert len(slow) == 4
            assert newest.time >= (await anext(slow)).time


@simulation
async def test_values_are_not_lost_silently(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Belt", timeout=30) as link:
        async with link.subscribe("2A37", limit=3) as slow, link.subscribe("2A37") as quick:
            for number in range(5):
                await client.simulation_set_value(device="Belt", characteristic="2A37", value=bytes([number]))
                assert await anext(quick) == bytes([number])
            assert [await anext(slow) for _ in range(3)] == [b"\0", b"\1", b"\2"]
            with pytest.raises(bled.TooSlow):
                await anext(slow)
            await client.simulation_set_value(device="Belt", characteristic="2A37", value=b"\5")
            assert await anext(quick) == b"\5"

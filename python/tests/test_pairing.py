"""Pairing with a device that shows a passkey."""

from __future__ import annotations

import asyncio

import pytest
from conftest import Daemon

import bled


async def test_agent_enters_the_passkey(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Lock", timeout=30) as link:
        async with client.agent("keyboard") as questions:
            reading = asyncio.create_task(link.read("FFF1"))
            question = await anext(questions)
            assert isinstance(question, bled.PasskeyEntry)
            assert question.device.peripheral == link.peripheral
            question.enter("000042")
            assert await reading == b"open sesame"
        (bond,) = (await client.pairing_list()).bonds
        assert bond.level == "secureConnections"
        await client.pairing_forget(peripheral=link.peripheral)


async def test_what_is_not_answered_is_refused(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.link(name="Lock", timeout=30) as link:
        async with client.agent("keyboard") as questions:
            pairing = asyncio.create_task(link.pair("authenticated"))
            while not len(questions):
                await client.adapter_list()
        with pytest.raises(bled.GAPError) as failure:
            await pairing
        assert failure.value.name == "pairingFailed"


async def test_one_agent_at_a_time(daemon: Daemon) -> None:
    async with bled.connect(daemon.socket) as client, client.agent("keyboard"):
        with pytest.raises(RuntimeError):
            async with client.agent("display"):
                pass
    async with bled.connect(daemon.socket) as client:
        for capability in ("keyboard", "displayYesNo"):
            async with client.agent(capability):
                pass

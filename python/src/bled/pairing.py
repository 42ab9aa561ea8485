"""An agent: who is asked when devices pair."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias

from bled.connection import Answer, Connection
from bled.protocol import (
    PairingConfirm,
    PairingDevice,
    PairingEnded,
    PairingEnterPasskey,
    PairingKeysLost,
    PairingShowPasskey,
)
from bled.stream import Full, Stream

Capability: TypeAlias = Literal["display", "displayYesNo", "keyboard", "keyboardDisplay", "none"]
# Maximum waiting questions; further ones are refused.
LIMIT = 64


class Confirmation:
    """Whether to pair.

    device: The device.
    number: Six digits to compare with those that the device shows; None if there is nothing to compare.
    seconds: How long the answer is awaited.
    """

    def __init__(self, params: PairingConfirm, answer: Answer) -> None:
        self.device: PairingDevice = params.device
        self.number = params.number
        self.seconds = params.seconds
        self._answer = answer

    def accept(self) -> None:
        """Pairs."""
        self._answer.result({"accept": True})

    def refuse(self) -> None:
        """Does not pair."""
        self._answer.result({"accept": False})


class PasskeyEntry:
    """The passkey that the device shows is wanted.

    device: The device.
    seconds: How long the answer is awaited.
    """

    def __init__(self, params: PairingEnterPasskey, answer: Answer) -> None:
        self.device: PairingDevice = params.device
        self.seconds = params.seconds
        self._answer = answer

    def enter(self, passkey: str) -> None:
        """Pairs with a passkey of up to six digits."""
        self._answer.result({"passkey": passkey})

    def refuse(self) -> None:
        """Does not pair."""
        self._answer.result({})


Question: TypeAlias = Confirmation | PasskeyEntry
PairingEvent: TypeAlias = Confirmation | PasskeyEntry | PairingShowPasskey | PairingEnded | PairingKeysLost


class Agents:
    """The agent of a client: one at a time. Without one, questions are refused."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._events: Stream[PairingEvent] | None = None
        connection.serve("pairing.confirm", PairingConfirm, lambda p, answer: self._ask(Confirmation(p, answer)))
        connection.serve(
            "pairing.enterPasskey", PairingEnterPasskey, lambda p, answer: self._ask(PasskeyEntry(p, answer))
        )

    @asynccontextmanager
    async def register(self, capability: Capability) -> AsyncIterator[Stream[PairingEvent]]:
        """Is asked until it is left."""
        if self._events is not None:
            raise RuntimeError("there is an agent already")
        events: Stream[PairingEvent] = Stream(LIMIT, Full.END)
        self._events = events

        def offer(event: PairingEvent) -> None:
            events.offer(event)

        removals: list[Callable[[], None]] = [
            self._connection.on(PairingShowPasskey, offer),
            self._connection.on(PairingEnded, offer),
            self._connection.on(PairingKeysLost, offer),
            self._connection.on_end(events.finish),
        ]
        try:
            await self._connection.call(
                "pairing.register",
                {"capability": capability},
                lambda result, descriptor: None,
                undo=lambda nothing: self._connection.tell("pairing.unregister", {}),
            )
            try:
                yield events
            finally:
                self._connection.tell("pairing.unregister", {})
        finally:
            self._events = None
            for remove in removals:
                remove()
            for event in events.clear():
                if isinstance(event, (Confirmation, PasskeyEntry)):
                    event.refuse()

    def _ask(self, question: Question) -> None:
        if self._events is None or not self._events.offer(question):
            question.refuse()

"""People at devices that pair."""

import asyncio
from dataclasses import dataclass

from bumble import smp
from bumble.pairing import PairingConfig, PairingDelegate

from .description import check, span

CAPABILITIES = {
    "none": PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT,
    "display": PairingDelegate.IoCapability.DISPLAY_OUTPUT_ONLY,
    "displayYesNo": PairingDelegate.IoCapability.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "keyboard": PairingDelegate.IoCapability.KEYBOARD_INPUT_ONLY,
    "keyboardDisplay": PairingDelegate.IoCapability.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}
STANDARD_PASSKEY = 123_456


class Session(smp.Session):
    """A pairing whose key has the size that was agreed on: Bumble's has always 16 octets."""

    @property
    def ltk(self):
        size = self.maximum_encryption_key_size
        return self._ltk[:size] + bytes(16 - size)

    @ltk.setter
    def ltk(self, value):
        self._ltk = value


@dataclass
class Key:
    """The properties of a shared key on which the protection of values depends."""

    authenticated: bool
    secure_connections: bool
    size: int


class Person(PairingDelegate):
    """Answers as the scenario says."""

    def __init__(self, description):
        check(
            description, "capability", "secureConnections", "bonding", "keySize", "passkey", "answer", "answerDelay",
            "losesKeys", "securityRequest")
        self._description = description
        super().__init__(
            CAPABILITIES[description.get("capability", "none")],
            maximum_encryption_key_size=description.get("keySize", 16),
        )

    def configuration(self):
        description = self._description
        return PairingConfig(
            sc=description.get("secureConnections", True),
            mitm=description.get("capability", "none") != "none",
            bonding=description.get("bonding", True),
            delegate=self,
        )

    async def accept(self):
        answer = self._description.get("answer", "accept")
        if answer == "never":
            await asyncio.Event().wait()
        await asyncio.sleep(span(self._description.get("answerDelay"), 0))
        return answer == "accept"

    async def generate_passkey(self):
        return self._description.get("passkey", STANDARD_PASSKEY)

    async def get_number(self):
        return self._description.get("passkey", STANDARD_PASSKEY)


def seat(device, description):
    """Has a person at the device, who refuses where the scenario has no pairing."""
    person = Person(description.get("pairing", {"answer": "refuse"}))
    device.pairing_config_factory = lambda _: person.configuration()
    device.smp_session_proxy = Session

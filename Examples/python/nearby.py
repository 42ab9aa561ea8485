#!/usr/bin/env python3
"""A peer of nearby sessions, written from docs/nearby.md alone: accepts one invitation and sends messages back.

bled --adapter simulated --adapter simulated &
python3 Examples/python/nearby.py simulated1 &
swift run bleshell send --adapter simulated   # lists no receiver: this peer has a service type of its own

It needs the package cryptography (Debian: python3-cryptography).
"""

import asyncio
import hashlib
import hmac
import os
import struct
import sys
import uuid

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import bled
from bled.protocol import ServiceToPublish, ServiceToPublishCharacteristic

TYPE = "bled-echo"
HELLO, INVITE, ANSWER, MESSAGE, ACKNOWLEDGE, BYE = 1, 2, 3, 4, 6, 7
UNCOUNTED = {HELLO, 5, ACKNOWLEDGE, BYE}
# Seconds for the wait and the session together.
LONGEST = 600


def raw(key: X25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def sha256(octets: bytes) -> bytes:
    return hashlib.sha256(octets).digest()


def uuid_of(text: str) -> str:
    octets = bytearray(sha256(text.encode())[:16])
    octets[6] = octets[6] & 0x0F | 0x80
    octets[8] = octets[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(octets))).upper()


class Cipher:
    """One direction (Noise, 5.1)."""

    def __init__(self, key: bytes) -> None:
        self.cipher, self.number = ChaCha20Poly1305(key), 0

    def _nonce(self) -> bytes:
        self.number += 1
        return bytes(4) + struct.pack("<Q", self.number - 1)

    def encrypt(self, text: bytes, data: bytes = b"") -> bytes:
        return self.cipher.encrypt(self._nonce(), text, data)

    def decrypt(self, text: bytes, data: bytes = b"") -> bytes:
        return self.cipher.decrypt(self._nonce(), text, data)


class Responder:
    """The responder of Noise_XX and Noise_NNpsk0 (Noise, 5.2 and 7.5)."""

    def __init__(self, pattern: str, prologue: bytes, psk: bytes = b"") -> None:
        self.hash = self.chain = f"Noise_{pattern}_25519_ChaChaPoly_SHA256".encode().ljust(32, b"\0")
        if len(self.hash) > 32:
            self.hash = self.chain = sha256(self.hash)
        self.cipher: Cipher | None = None
        self.psk = psk
        self.mix_hash(prologue)
        self.ephemeral = X25519PrivateKey.generate()
        self.remote = b""

    def mix_hash(self, octets: bytes) -> None:
        self.hash = sha256(self.hash + octets)

    def derive(self, secret: bytes, count: int) -> list[bytes]:
        temporary = hmac.digest(self.chain, secret, "sha256")
        keys = [b""]
        for number in range(1, count + 1):
            keys.append(hmac.digest(temporary, keys[-1] + bytes([number]), "sha256"))
        return keys[1:]

    def mix_key(self, secret: bytes) -> None:
        self.chain, key = self.derive(secret, 2)
        self.cipher = Cipher(key)

    def mix_psk(self) -> None:
        self.chain, mixed, key = self.derive(self.psk, 3)
        self.mix_hash(mixed)
        self.cipher = Cipher(key)

    def mix_ephemeral(self, key: bytes) -> None:
        self.mix_hash(key)
        if self.psk:
            self.mix_key(key)

    def seal(self, text: bytes) -> bytes:
        sealed = self.cipher.encrypt(text, self.hash) if self.cipher else text
        self.mix_hash(sealed)
        return sealed

    def open(self, sealed: bytes) -> bytes:
        text = self.cipher.decrypt(sealed, self.hash) if self.cipher else sealed
        self.mix_hash(sealed)
        return text

    def secret(self, own: X25519PrivateKey, remote: bytes) -> None:
        self.mix_key(own.exchange(X25519PublicKey.from_public_bytes(remote)))

    def read_e(self, message: bytes) -> bytes:
        if self.psk:
            self.mix_psk()
        self.remote = message[:32]
        self.mix_ephemeral(self.remote)
        return self.open(message[32:])

    def write_e(self) -> bytes:
        public = raw(self.ephemeral.public_key())
        self.mix_ephemeral(public)
        self.secret(self.ephemeral, self.remote)
        return public

    def split(self) -> tuple[Cipher, Cipher]:
        """The ciphers for receiving and sending."""
        first, second = self.derive(b"", 2)
        return Cipher(first), Cipher(second)


class Octets:
    """The octets of a channel."""

    def __init__(self, channel: bled.Channel) -> None:
        self.channel, self.held = channel, b""

    async def take(self, count: int) -> bytes:
        while len(self.held) < count:
            self.held += await anext(self.channel)
        octets, self.held = self.held[:count], self.held[count:]
        return octets

    async def record(self) -> bytes:
        return await self.take(int.from_bytes(await self.take(2), "big"))

    async def send(self, message: bytes) -> None:
        await self.channel.send(len(message).to_bytes(2, "big") + message)


class Frames:
    """The frames of a channel after its handshake."""

    def __init__(self, octets: Octets, receiving: Cipher, sending: Cipher) -> None:
        self.octets, self.receiving, self.sending = octets, receiving, sending
        self.plain, self.received = b"", 0

    async def _take(self, count: int) -> bytes:
        while len(self.plain) < count:
            self.plain += self.receiving.decrypt(await self.octets.record())
        octets, self.plain = self.plain[:count], self.plain[count:]
        return octets

    async def next(self) -> tuple[int, int, bytes]:
        kind, flow, high, low = struct.unpack(">BIBH", await self._take(8))
        payload = await self._take(high << 16 | low)
        if kind not in UNCOUNTED:
            self.received += 1
            await self.send(ACKNOWLEDGE, struct.pack(">Q", self.received))
        return kind, flow, payload

    async def send(self, kind: int, payload: bytes) -> None:
        frame = struct.pack(">BIBH", kind, 0, len(payload) >> 16, len(payload) & 0xFFFF) + payload
        for start in range(0, len(frame), 8000):
            await self.octets.send(self.sending.encrypt(frame[start : start + 8000]))


async def open_control(octets: Octets, identifier: bytes, key: X25519PrivateKey) -> tuple[Frames, bytes, bytes]:
    """The handshake, and both hellos.

    Returns the frames, and the ticket and key of the bulk channel.
    """
    if await octets.take(2) != b"\x01\x00":
        raise ValueError("not a control channel")
    noise = Responder("XX", f"bled nearby 1 {TYPE}".encode() + b"\x01\x00")
    noise.read_e(await octets.record())
    nonce = os.urandom(16)
    message = noise.write_e() + noise.seal(raw(key.public_key()))
    noise.secret(key, noise.remote)
    await octets.send(message + noise.seal(sha256(nonce)))
    message = await octets.record()
    static = noise.open(message[:48])
    noise.secret(noise.ephemeral, static)
    remote_nonce = noise.open(message[48:])
    frames = Frames(octets, *noise.split())
    kind, _, hello = await frames.next()
    if kind != HELLO or hello[0] != 1:
        raise ValueError("no hello of version 1")
    ticket, psk, name = os.urandom(8), os.urandom(32), b"Python"
    await frames.send(
        HELLO,
        b"\x01" + identifier + os.urandom(16) + bytes(16) + nonce + ticket + psk + bytes([len(name)]) + name,
    )
    code = sha256(b"bled nearby code" + noise.hash + remote_nonce + nonce)
    length = hello[97]
    print(f"{hello[98 : 98 + length].decode()!r}: code {int.from_bytes(code[:8], 'big') % 1_000_000:06}", flush=True)
    return frames, ticket, psk


async def open_bulk(octets: Octets, ticket: bytes, psk: bytes) -> None:
    preface = await octets.take(10)
    if preface != b"\x01\x01" + ticket:
        raise ValueError("another bulk channel")
    noise = Responder("NNpsk0", f"bled nearby 1 {TYPE}".encode() + preface, psk)
    noise.read_e(await octets.record())
    await octets.send(noise.write_e() + noise.seal(b""))


async def main(adapter: str) -> None:
    identifier, key, service = os.urandom(8), X25519PrivateKey.generate(), uuid_of(f"bled nearby service {TYPE}")
    async with bled.connect() as client, client.listen(adapter=adapter) as listener:
        description = b"\x01" + identifier + b"\x00" + struct.pack(">H", listener.psm) + b"\x06Python"
        characteristic = ServiceToPublishCharacteristic(
            uuid=uuid_of("bled nearby description"), properties=["read"], value=description
        )
        async with (
            client.publish(ServiceToPublish(uuid=service, characteristics=[characteristic], adapter=adapter)),
            client.advertise(adapter=adapter, services=[service], service_data={service: identifier + b"\x00\x01"}),
            listener.accept() as control,
        ):
            frames, ticket, psk = await open_control(Octets(control), identifier, key)
            async with listener.accept() as bulk:
                await open_bulk(Octets(bulk), ticket, psk)
                while True:
                    kind, _, payload = await frames.next()
                    if kind == INVITE:
                        print(f"invited with {payload[2:]!r}", flush=True)
                        await frames.send(ANSWER, b"\x01")
                    elif kind == MESSAGE:
                        await frames.send(MESSAGE, payload)
                    elif kind == BYE:
                        return


if __name__ == "__main__":
    try:
        asyncio.run(asyncio.wait_for(main(sys.argv[1] if len(sys.argv) > 1 else "hci0"), LONGEST))
    except TimeoutError:
        sys.exit(f"nearby.py: no session was begun and ended within {LONGEST} s")
    except (bled.BledError, InvalidTag, ValueError) as error:
        sys.exit(f"nearby.py: {error}")

"""Errors in Bluetooth's own terms."""

from __future__ import annotations

from collections.abc import Mapping


class BledError(Exception):
    """An operation failed.

    domain: "att", "hci", "gap" or "bled"; "rpc" where the call itself was not valid, with the codes of JSON-RPC.
    code: The code within that domain.
    name: The code's name, such as "insufficientAuthentication".
    message: A sentence for people, which says what to do.
    """

    domain = "bled"

    def __init__(self, message: str = "", *, domain: str | None = None, code: int = 0, name: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.domain = domain or type(self).domain
        self.code = code
        self.name = name

    def __str__(self) -> str:
        return self.message or self.name


class ATTError(BledError):
    """The device, or a program that serves a device, answered with an error code of the Attribute Protocol."""

    domain = "att"


class HCIError(BledError):
    """A controller's error code, such as why a link ended."""

    domain = "hci"


class GAPError(BledError):
    """A procedure of this machine's failed: no device, no link, no adapter."""

    domain = "gap"


class ConnectTimeout(GAPError, TimeoutError):
    """Something took longer than its `timeout`, or than the specification permits."""


class NotConnected(GAPError):
    """The link has ended, or there was none."""


class DaemonError(BledError):
    """The daemon's own reasons: limits, permissions, parameters."""

    domain = "bled"


class NotPermitted(DaemonError):
    """The user lacks a permission; the message says who has it and how to get it."""


class LimitReached(DaemonError):
    """A limit of the session, of the user or of this client."""


class TooSlow(DaemonError):
    """A queue was not read in time and is full."""


class DaemonUnreachable(DaemonError, ConnectionError):
    """There is no daemon, or the connection to it has ended."""


class ProtocolViolation(DaemonError):
    """The daemon sent what this client does not understand."""


class CallError(BledError):
    """The daemon did not understand the call: a method or a member that this release lacks, or a value out of range."""

    domain = "rpc"


_DOMAINS: Mapping[str, type[BledError]] = {
    "att": ATTError,
    "hci": HCIError,
    "gap": GAPError,
    "bled": DaemonError,
}
_NAMED: Mapping[tuple[str, str], type[BledError]] = {
    ("gap", "timeout"): ConnectTimeout,
    ("gap", "notConnected"): NotConnected,
    ("gap", "disconnected"): NotConnected,
    ("bled", "notPermitted"): NotPermitted,
    ("bled", "limitReached"): LimitReached,
    ("bled", "tooSlow"): TooSlow,
    ("bled", "daemonUnreachable"): DaemonUnreachable,
    ("bled", "protocolViolation"): ProtocolViolation,
}


def error_of(error: object) -> BledError:
    """The exception for a JSON-RPC error object. What is not as it should be in it is left out."""
    if not isinstance(error, dict):
        return ProtocolViolation("the daemon sent an error that is not an object", code=8, name="protocolViolation")
    message = error.get("message")
    message = message if isinstance(message, str) else ""
    data = error.get("data")
    if not isinstance(data, dict):
        code = error.get("code")
        return CallError(message, code=code if isinstance(code, int) else 0)
    domain, code, name = data.get("domain"), data.get("code"), data.get("name")
    domain = domain if isinstance(domain, str) else "bled"
    name = name if isinstance(name, str) else ""
    kind = _NAMED.get((domain, name)) or _DOMAINS.get(domain, BledError)
    return kind(message, domain=domain, code=code if isinstance(code, int) else 0, name=name)


def unreachable(message: str) -> DaemonUnreachable:
    """The error of a connection that has ended."""
    return DaemonUnreachable(message, code=10, name="daemonUnreachable")


def violation(message: str) -> ProtocolViolation:
    """The error of a message that cannot be understood."""
    return ProtocolViolation(message, code=8, name="protocolViolation")


def too_slow(message: str) -> TooSlow:
    """The error of a queue that is full."""
    return TooSlow(message, code=6, name="tooSlow")

"""The exceptions of bleak for the errors of the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bleak.exc import (
    BleakBluetoothNotAvailableError,
    BleakBluetoothNotAvailableReason,
    BleakDeviceNotFoundError,
    BleakError,
    BleakGATTProtocolError,
)

from bled.errors import ATTError, BledError, DaemonUnreachable, GAPError, NotConnected, NotPermitted

_Reason = BleakBluetoothNotAvailableReason


def failure_of(error: BledError, address: str = "") -> BleakError:
    """The exception of bleak; `address` is that of the device that was asked for."""
    if isinstance(error, ATTError):
        return BleakGATTProtocolError(error.code)
    if isinstance(error, DaemonUnreachable):
        return BleakBluetoothNotAvailableError(str(error), _Reason.NO_BLUETOOTH)
    if isinstance(error, NotPermitted):
        return BleakBluetoothNotAvailableError(str(error), _Reason.DENIED_BY_SYSTEM)
    if isinstance(error, NotConnected):
        return BleakError("Not connected", str(error))
    if isinstance(error, GAPError):
        if error.name == "adapterOff":
            return BleakBluetoothNotAvailableError(str(error), _Reason.POWERED_OFF)
        if error.name in ("adapterAbsent", "adapterFailed"):
            return BleakBluetoothNotAvailableError(str(error), _Reason.NO_BLUETOOTH)
        if error.name == "unknownDevice":
            return BleakDeviceNotFoundError(address, str(error))
    return BleakError(str(error))


@contextmanager
def translated(address: str = "") -> Iterator[None]:
    """Raises what bleak would; TimeoutError remains one."""
    try:
        yield
    except BledError as error:
        if isinstance(error, TimeoutError):
            raise TimeoutError(str(error)) from error
        raise failure_of(error, address) from error

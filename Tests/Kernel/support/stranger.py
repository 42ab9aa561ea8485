"""A local user without any access to bled, who uses the kernel's sockets directly."""

import asyncio
import ctypes
import os
import socket
import struct

NOBODY = 65534
# <bluetooth/bluetooth.h>: types of addresses in L2CAP sockets.
BDADDR_LE_PUBLIC, BDADDR_LE_RANDOM = 1, 2


def _address(psm, octets, cid, kind):
    """struct sockaddr_l2 (<bluetooth/l2cap.h>)."""
    return struct.pack("<HH6sHBx", socket.AF_BLUETOOTH, psm, octets, cid, kind)


def _connect(address, psm, cid):
    """Connects a channel to a device with a random address, blocking; gives 0 or the errno."""
    libc = ctypes.CDLL(None, use_errno=True)
    channel = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET, socket.BTPROTO_L2CAP)
    ours = _address(0, bytes(6), cid, BDADDR_LE_PUBLIC)
    theirs = _address(psm, bytes.fromhex(address.replace(":", ""))[::-1], cid, BDADDR_LE_RANDOM)
    for call, there in ((libc.bind, ours), (libc.connect, theirs)):
        if call(channel.fileno(), there, len(there)) != 0:
            return ctypes.get_errno()
    return 0


async def open_channel(address, psm=0, cid=0):
    """Has the user nobody open a channel to a device, which ends at once; gives 0 or the errno."""
    result, ours = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(ours, bytes([_connect(address, psm, cid)]))
        finally:
            os._exit(0)
    os.close(ours)
    try:
        async with asyncio.timeout(60):
            [error] = await asyncio.get_running_loop().run_in_executor(None, os.read, result, 1)
        return error
    finally:
        os.close(result)
        os.waitpid(child, 0)

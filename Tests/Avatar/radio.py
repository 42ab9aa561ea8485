"""The air: rootcanal's emulated controllers, and the one of them that the kernel drives."""

import asyncio
import contextlib

from bumble import hci
from bumble.transport import open_transport
from rootcanal.binaries import get_package_binary_resource_path
from support.vhci import open_vhci

ADDRESS = "127.0.0.1:6402"  # Where rootcanal gives each connection a controller of its own.


class Air:
    """rootcanal, and its first controller as hci0."""

    def __init__(self, log):
        self._log = log
        self._resources = contextlib.AsyncExitStack()

    async def __aenter__(self):
        program = str(get_package_binary_resource_path("rootcanal"))
        log = self._resources.enter_context(open(self._log, "wb"))
        process = await asyncio.create_subprocess_exec(program, stdout=log, stderr=log)
        self._resources.push_async_callback(process.wait)
        self._resources.callback(process.terminate)
        controller = await self._resources.enter_async_context(await connect())
        kernel = await self._resources.enter_async_context(await open_vhci())
        controller.source.set_packet_sink(kernel.sink)
        kernel.source.set_packet_sink(Commands(controller.sink, kernel.sink))
        return self

    async def __aexit__(self, *_):
        await self._resources.aclose()


class Commands:
    """Commands of the kernel. rootcanal ends at a command that it says it supports: it is answered here."""

    def __init__(self, controller, kernel):
        self._controller = controller
        self._kernel = kernel

    def on_packet(self, packet):
        command = hci.HCI_Packet.from_bytes(packet) if packet[0] == hci.HCI_COMMAND_PACKET else None
        if command is None or command.op_code != hci.HCI_WRITE_AUTHENTICATED_PAYLOAD_TIMEOUT_COMMAND:
            return self._controller.on_packet(packet)
        handle = command.parameters[:2]
        self._kernel.on_packet(
            bytes(
                hci.HCI_Command_Complete_Event(
                    num_hci_command_packets=1,
                    command_opcode=command.op_code,
                    return_parameters=bytes([hci.HCI_SUCCESS]) + handle,
                )
            )
        )


async def connect():
    """A controller, as soon as rootcanal listens."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await open_transport(f"tcp-client:{ADDRESS}")
            except OSError:
                await asyncio.sleep(0.1)

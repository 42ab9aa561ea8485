"""The air: rootcanal's emulated controllers, one of which is bled's."""

import asyncio
import contextlib
import socket

from bumble import hci
from bumble.transport import open_transport
from rootcanal.binaries import get_package_binary_resource_path
from support.vhci import open_vhci


class Air:
    """rootcanal, which gives each connection to `address` a controller of its own."""

    def __init__(self, log):
        self._log = log
        self._resources = contextlib.AsyncExitStack()
        self.ports = free_ports("test_port", "hci_port", "link_port", "link_ble_port")
        self.address = f"127.0.0.1:{self.ports['hci_port']}"

    async def __aenter__(self):
        program = str(get_package_binary_resource_path("rootcanal"))
        log = self._resources.enter_context(open(self._log, "wb"))
        options = [f"--{name}={port}" for name, port in self.ports.items()]
        process = await asyncio.create_subprocess_exec(program, *options, stdout=log, stderr=log)
        self._resources.push_async_callback(process.wait)
        self._resources.callback(process.terminate)
        async with asyncio.timeout(60):
            while True:
                try:
                    _, probe = await asyncio.open_connection("127.0.0.1", self.ports["test_port"])
                except OSError:
                    await asyncio.sleep(0.1)
                else:
                    probe.close()
                    return self

    async def __aexit__(self, *_):
        await self._resources.aclose()

    async def kernel(self):
        """Gives the kernel a controller, as hci0."""
        controller = await self._resources.enter_async_context(await open_transport(f"tcp-client:{self.address}"))
        kernel = await self._resources.enter_async_context(await open_vhci())
        controller.source.set_packet_sink(kernel.sink)
        kernel.source.set_packet_sink(Commands(controller.sink, kernel.sink))
        return "hci0"

    async def host(self):
        """Leaves a controller to bled's own host."""
        return f"h4:tcp:{self.ports['hci_port']}"


def free_ports(*names):
    """A port for each name, which nobody uses at the moment."""
    with contextlib.ExitStack() as sockets:
        ports = {}
        for name in names:
            listener = sockets.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            ports[name] = listener.getsockname()[1]
        return ports


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

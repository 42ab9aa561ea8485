"""bluetoothd, beside which several benchmarks measure bled."""

from support.tools import Program


async def start_bluetoothd(resources):
    """Starts bluetoothd, and bluetoothctl, which switches the adapter on. Gives both programs; a bus runs already."""
    server = await resources.open(Program("/usr/libexec/bluetooth/bluetoothd", "-n"))
    client = await resources.open(Program("bluetoothctl"))
    await client.wait_for("Agent registered|Pairable: yes")
    client.type("power on")
    await client.wait_for("Powered: yes|succeeded")
    return server, client

"""real_proxy.py PROXY KEY ADDRESS: what Home Assistant does by a proxy, with the peripheral of Tests/Kernel."""

import asyncio
import sys

from aioesphomeapi import APIClient

RATE, LEVEL, LONG, WRITABLE, INDICATED = (
    "00002a37", "00002a19", "b1ed0002", "b1ed0003", "b1ed0004")  # fmt: skip


async def hear(api, number):
    heard = asyncio.Event()

    def batch(response):
        for advertisement in response.advertisements:
            if advertisement.address == number and b"Bumble belt" in advertisement.data:
                heard.set()

    stop = api.subscribe_bluetooth_le_raw_advertisements(batch)
    await heard.wait()
    stop()
    print("heard")


async def link(api, features, number):
    """Connects; returns the characteristics by the beginning of their UUIDs, and the changes of the connection."""
    changes = asyncio.Queue()
    await api.bluetooth_device_connect(
        number, lambda *change: changes.put_nowait(change), timeout=60, disconnect_timeout=60,
        feature_flags=features, has_cache=False, address_type=1)
    connected, mtu, error = await changes.get()
    assert connected and mtu > 23 and not error, (connected, mtu, error)
    services = (await api.bluetooth_gatt_get_services(number)).services
    return {found.uuid[:8]: found for service in services for found in service.characteristics}, changes


async def use(api, number, found):
    assert bytes(await api.bluetooth_gatt_read(number, found[LEVEL].handle)) == b"\x5a"
    assert len(await api.bluetooth_gatt_read(number, found[LONG].handle)) == 512
    await api.bluetooth_gatt_write(number, found[WRITABLE].handle, b"with a response", True)
    assert bytes(await api.bluetooth_gatt_read(number, found[WRITABLE].handle)) == b"with a response"
    await api.bluetooth_gatt_write(number, found[WRITABLE].handle, b"without", False)
    values = asyncio.Queue()
    for uuid in (RATE, INDICATED):
        await api.bluetooth_gatt_start_notify(
            number, found[uuid].handle, lambda _, value: values.put_nowait(bytes(value)))
    print("subscribed")
    assert {await values.get() for _ in range(2)} == {b"\x00\x55", b"\x01"}


async def main():
    proxy, key, address = sys.argv[1:]
    number = int(address.replace(":", ""), 16)
    api = APIClient(proxy, 6053, None, noise_psk=key)
    await api.connect(login=True)
    features = (await api.device_info()).bluetooth_proxy_feature_flags_compat(api.api_version)
    await hear(api, number)
    found, changes = await link(api, features, number)
    await use(api, number, found)
    # The peripheral ends the connection.
    connected, _, error = await changes.get()
    assert (connected, error) == (False, 0x13), (connected, error)
    print("disconnected")
    await link(api, features, number)
    assert (await api.bluetooth_device_pair(number, timeout=60)).paired
    print("paired")
    assert (await api.bluetooth_device_unpair(number, timeout=60)).success
    await api.disconnect()
    print("done")


asyncio.run(main())

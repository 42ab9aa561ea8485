"""served_bluezero.py: a characteristic published with bluezero."""

from bluezero import adapter, async_tools, peripheral

SERVICE = "12345678-1234-5678-1234-56789abcdef0"
VALUE = "12345678-1234-5678-1234-56789abcdef1"

values = iter(range(1 << 20))


def notify(characteristic):
    characteristic.set_value(list(next(values).to_bytes(4, "little")))
    return characteristic.is_notifying


def notifying(is_on, characteristic):
    if is_on:
        async_tools.add_timer_ms(100, notify, characteristic)


def main():
    address = list(adapter.Adapter.available())[0].address
    served = peripheral.Peripheral(address, local_name="Served", appearance=1344)
    served.on_connect = lambda device: print("connected", device.address, flush=True)
    served.on_disconnect = lambda _, address: print("disconnected", address, flush=True)
    served.add_service(srv_id=1, uuid=SERVICE, primary=True)
    served.add_characteristic(
        srv_id=1, chr_id=1, uuid=VALUE, value=[], notifying=False, flags=["read", "write", "notify"],
        read_callback=lambda: [1], write_callback=lambda value, _: print("written", bytes(value), flush=True),
        notify_callback=notifying)
    served.add_descriptor(
        srv_id=1, chr_id=1, dsc_id=1, uuid="2904", value=[0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x00, 0x00], flags=["read"])
    async_tools.add_timer_ms(10, lambda: print("advertising", flush=True))
    served.publish()


main()

"""The attacks, and the bounds of what another user may notice of them."""

from dataclasses import dataclass, field

from lines import JUNK, big, flood, line, methods
from stage import FAST, OPEN, READERS, SHARED

# The bounds: the ratio by which another user's read may take longer, at the median and for 99 of 100.
FLOODS = "clients of one user flood any method"
LINES = "clients send lines of 1 MiB"
SAME = "sessions of one user read the same device"
MANY = "480 sessions scan a busy air, or subscribe and do not read"
BOUNDS = {FLOODS: (2, 5), LINES: (2, 5), SAME: (2, 5), MANY: (1.5, 3)}


@dataclass
class Attack:
    """An attack: `plan` takes the device that the attackers are connected to and the handle of its value."""

    row: str
    title: str
    plan: object
    reads: bool = True
    seconds: float = 1
    victims: list = field(default_factory=lambda: READERS)
    device: str = OPEN
    is_busy: bool = False
    is_short: bool = False


def with_device(address, lines):
    """The lines that a session sends once, before it attacks: it connects to the device that they name."""
    return line("peripheral.connect", {"address": address, "addressType": "random"}, 1), lines


def attacks():
    """All of them."""
    found = []
    for clients in (1, 20, 400):
        for has_id in (True, False):
            for reads in (True, False):
                manner = f"{'with' if has_id else 'without'} id, {'reading' if reads else 'not reading'}"

                def mixed(device, handle, clients=clients, has_id=has_id):
                    calls = methods(device, handle)
                    # Each session begins with another method.
                    return [with_device(OPEN, flood(calls[n % len(calls):] + calls[:n % len(calls)], has_id) + JUNK)
                            for n in range(clients)]

                found.append(Attack(FLOODS, f"{clients} clients, all methods, {manner}", mixed, reads,
                                    is_short=clients == 400 and not reads))
    for clients in (1, 20):
        for number, (name, _) in enumerate(methods("", 0)):

            def one(device, handle, number=number, clients=clients):
                return [with_device(OPEN, flood([methods(device, handle)[number]], False))] * clients

            found.append(Attack(FLOODS, f"{clients} clients, {name} without id", one, False, 0.4))
    for clients in (10, 50):

        def shapes(device, handle, clients=clients):
            octets = [octets for _, octets in big(device, handle)]
            return [with_device(OPEN, octets[n % len(octets)]) for n in range(clients)]

        found.append(Attack(LINES, f"{clients} clients, lines of all shapes", shapes, is_short=clients == 10))
    for number, (name, _) in enumerate(big("", 0)):

        def shape(device, handle, number=number):
            return [with_device(OPEN, big(device, handle)[number][1])] * 10

        found.append(Attack(LINES, f"10 clients, {name}", shape, False, 0.4))
    for method, value in (("gatt.read", {}), ("gatt.write", {"value": "00" * 20}), ("gatt.discover", None)):

        def same(device, handle, method=method, value=value):
            params = {"peripheral": device} | ({} if value is None else {"handle": handle, **value})
            return [with_device(SHARED, flood([(method, params)], True))] * 100

        found.append(Attack(SAME, f"100 sessions, {method}", same, True, victims=[SHARED], device=SHARED,
                            is_short=method == "gatt.read"))
    for reads in (True, False):
        manner = "reading" if reads else "not reading"
        scan = line("scan.start", {"duplicates": True}, 1)
        found.append(Attack(MANY, f"480 sessions scan, {manner}", lambda *_, scan=scan: [(scan, b"")] * 480, reads,
                            is_busy=True))

        def subscribe(device, handle):
            params = {"peripheral": device, "handle": handle}
            return [(with_device(FAST, b"")[0] + line("gatt.subscribe", params, 2), b"")] * 480

        found.append(Attack(MANY, f"480 sessions subscribe, {manner}", subscribe, reads, device=FAST,
                            is_short=not reads))
    return found

"""Lines that attackers send: every method in a line of its own, and lines of 1 MiB of any shape."""

import json

from stage import OPEN, READERS

MEBIBYTE = 1 << 20


def methods(device, handle):
    """Each method of the protocol with params that the daemon has work with, and lines that are no calls. The device is
    one that the attackers are connected to."""
    target = {"peripheral": device, "handle": handle}
    service = {"uuid": "FFE0", "characteristics": [
        {"uuid": "FFE1", "properties": ["read", "write", "notify"]},
        {"uuid": "FFE2", "properties": ["read"], "value": "00"}]}
    calls = {
        "session.open": {"name": "flood"},
        "session.list": {},
        "session.end": {"restore": "nobody"},
        "rpc.discover": {},
        "adapter.list": {},
        "adapter.power": {"on": True},
        "scan.start": {"services": ["180D"] * 64},
        "scan.stop": {},
        "peripheral.connect": {"address": OPEN, "addressType": "random"},
        "peripheral.disconnect": {"address": "C0:FF:EE:00:00:01", "addressType": "random"},
        "peripheral.list": {},
        "peripheral.rssi": {"peripheral": device},
        "peripheral.forget": {"peripheral": "nobody"},
        "peripheral.watch": {},
        "peripheral.parameters": {"peripheral": device},
        "peripheral.setParameters": {
            "peripheral": device,
            "parameters": {"maximumInterval": 0.03, "maximumSubrate": 2},
        },
        "peripheral.setPHY": {"peripheral": device, "phy": "2M"},
        "gatt.discover": {"peripheral": device},
        "gatt.discoverServices": {"peripheral": device},
        "gatt.discoverIncludedServices": target,
        "gatt.discoverCharacteristics": target,
        "gatt.discoverDescriptors": target,
        "gatt.read": target,
        "gatt.write": {**target, "value": "00" * 64, "response": False},
        "gatt.subscribe": target,
        "gatt.unsubscribe": target,
        "service.add": {"service": service},
        "service.remove": {},
        "server.notify": {"handle": 20, "value": "00" * 20},
        "server.setLatency": {"central": device, "latency": "low"},
        "advertising.start": {"name": "flood", "services": ["180D"]},
        "advertising.stop": {},
        "no.such.method": {},
    }
    return list(calls.items())


def line(method, params, number):
    """A call; without a number it wants no answer."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message).encode() + b"\n"


def flood(calls, has_id, size=32 << 10):
    """Lines with these calls in turn, as many as fill some octets."""
    octets, number = bytearray(), 0
    while len(octets) < size:
        for method, params in calls:
            octets += line(method, params, number if has_id else None)
            number += 1
    return bytes(octets)


JUNK = b"nonsense\n" + b'{"jsonrpc":"2.0","id":1,"result":{}}\n' + b"{}\n" + b'{"jsonrpc":"2.0","method":null}\n'


def big(device, handle):
    """Lines of nearly 1 MiB: the name of the shape, and the line."""
    target = f'"peripheral":"{device}","handle":{handle}'

    def call(method, before, piece, after="", count=None):
        """A call with params of as many pieces as there is room for."""
        head = f'{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{before}'.encode()
        tail = (after + "}}").encode()
        pieces = piece if callable(piece) else (lambda _: piece)
        octets, number = bytearray(), 0
        room = MEBIBYTE - len(head) - len(tail) - 64
        while len(octets) < room and number != count:
            octets += (("," if number else "") + pieces(number)).encode()
            number += 1
        return head + bytes(octets) + tail + b"\n"

    def text(filler, method="adapter.list"):
        head, tail = f'{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"x":"'.encode(), b'"}}\n'
        return head + filler * ((MEBIBYTE - 128) // len(filler)) + tail

    half = MEBIBYTE // 2
    return [
        ("a text", text(b"a")),
        ("a text of escapes", text(b"\\u0041")),
        ("a text of four-octet characters", text("\U0001F600".encode())),
        ("spaces", b'{"jsonrpc":"2.0",' + b" " * (MEBIBYTE - 128) + b'"id":7,"method":"adapter.list"}\n'),
        ("unknown members", call("adapter.list", "", lambda n: f'"k{n}":{n}')),
        ("numbers", call("adapter.list", '"x":[', "0", "]")),
        ("a long number", b'{"jsonrpc":"2.0","id":7,"method":"adapter.list","params":{"x":' + b"9" * (MEBIBYTE - 128) +
         b"}}\n"),
        ("arrays in arrays", b"[" * half + b"]" * (half - 64) + b"\n"),
        ("objects in objects", b'{"a":' * (MEBIBYTE // 6) + b"1" + b"}" * (MEBIBYTE // 6) + b"\n"),
        ("a method's name", b'{"jsonrpc":"2.0","id":7,"method":"' + b"m" * (MEBIBYTE - 128) + b'"}\n'),
        ("an id", b'{"jsonrpc":"2.0","id":"' + b"i" * (MEBIBYTE - 128) + b'","method":"adapter.list"}\n'),
        ("invalid at the end", text(b"a")[:-3] + b"\n"),
        ("invalid UTF-8", text(b"\xff")),
        ("session.open name", text(b"n", "session.open").replace(b'"x"', b'"name"')),
        ("scan.start services", call("scan.start", '"services":[', '"180D"', "]")),
        ("service.add includes",
         call("service.add", '"service":{"uuid":"FFE0","includes":[', lambda n: str(n % 65535 + 1), "]}")),
        ("service.add characteristics",
         call("service.add", '"service":{"uuid":"FFE0","characteristics":[',
              '{"uuid":"FFE1","properties":["read"],"value":"00"}', "]}")),
        ("advertising.start serviceData",
         call("advertising.start", '"serviceData":{', lambda n: f'"{n % 65536:04X}":"00"', "}")),
        ("gatt.write value", call("gatt.write", f'{target},"value":"', "00" * (half - 256), '"', 1)),
        ("gatt.discoverServices services",
         call("gatt.discoverServices", f'"peripheral":"{device}","services":[', '"180D"', "]")),
        ("server.notify centrals", call("server.notify", '"handle":20,"value":"00","centrals":[', f'"{device}"', "]")),
        ("no end", b"x" * MEBIBYTE),
    ]


def combining(count):
    """A text that costs Unicode's normalisation the square of its length: marks in the wrong order."""
    return "a" + "\u0300" * count + "\u0316" * count


def unicode_lines(device, size=MEBIBYTE - 256):
    """Lines with such a text wherever the protocol has a name: where it is, and the line."""
    text = combining(size // 4)
    calls = [
        ("method", {"method": text}),
        ("member of the message", {"method": "adapter.list", text: 1}),
        ("member of params", {"method": "adapter.list", "params": {text: 1}}),
        ("id", {"method": "adapter.list", "id": text}),
        ("name", {"method": "session.open", "params": {"name": text}}),
        ("adapter", {"method": "scan.start", "params": {"adapter": text}}),
        ("service", {"method": "scan.start", "params": {"services": [text]}}),
        ("prefix", {"method": "scan.start", "params": {"name": text}}),
        ("address", {"method": "scan.start", "params": {"address": text}}),
        ("peripheral", {"method": "gatt.read", "params": {"peripheral": text, "handle": 3}}),
        ("addressType", {"method": "peripheral.connect", "params": {"address": READERS[0], "addressType": text}}),
        ("properties", {"method": "service.add", "params": {"service": {
            "uuid": "FFE0", "characteristics": [{"uuid": "FFE1", "properties": [text]}]}}}),
        ("permissions", {"method": "service.add", "params": {"service": {
            "uuid": "FFE0", "characteristics": [{"uuid": "FFE1", "properties": ["read"], "permissions": [text]}]}}}),
        ("serviceData", {"method": "advertising.start", "params": {"serviceData": {text: "00"}}}),
        ("central", {"method": "server.setLatency", "params": {"central": text, "latency": "low"}}),
        ("latency", {"method": "server.setLatency", "params": {"central": device, "latency": text}}),
        ("restore", {"method": "session.end", "params": {"restore": text}}),
    ]
    return [(place, json.dumps({"jsonrpc": "2.0", "id": 7, **message}, ensure_ascii=False).encode() + b"\n")
            for place, message in calls]

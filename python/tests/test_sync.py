"""The synchronous face."""

from __future__ import annotations

import json
import threading

import pytest
from conftest import ECHO_VALUE, Daemon, simulation

import bled
import bled.sync


@simulation
def test_central(daemon: Daemon) -> None:
    with bled.sync.connect(daemon.socket, name="a script") as client:
        for found in client.scan(services=["180D"]):
            report = found
            break
        with client.link(report, timeout=30) as link:
            assert link.read("2A38") == b"\x01"
            assert "180D" in [service.uuid for service in link.discover()]
            with link.subscribe("2A37") as values:
                client.run(client.session.simulation_set_value(device="Belt", characteristic="2A37", value=b"\x07"))
                assert values.next(30) == b"\x07"
                with pytest.raises(TimeoutError):
                    values.next(0.01)
            with pytest.raises(bled.DaemonError):
                link.write("2A38", b"")
        assert not link.is_connected and link.wait(30) is None
        with client.link(name="Echo", timeout=30) as echo:
            with echo.acquire(ECHO_VALUE) as pipe:
                pipe.send(b"there")
                assert pipe.receive(30) == b"there"
            with echo.open_channel(128) as channel:
                channel.send(b"and back")
                assert channel.receive(30) == b"and back"


@simulation
def test_peripheral(daemon: Daemon) -> None:
    characteristic = bled.ServiceToPublishCharacteristic(uuid="2A19", properties=["read", "notify"])
    phone = {
        "name": "P",
        "address": "C0:DE:00:00:01:02",
        "stay": 0,
        "script": [{"do": "read", "characteristic": "2A19"}],
    }
    with bled.sync.connect(daemon.socket) as client:
        with client.publish(bled.ServiceToPublish(uuid="180F", characteristics=[characteristic])) as battery:
            with client.advertise(name="Battery", services=["180F"]):
                visit = client.start(client.session.simulation_visit(phone=json.dumps(phone)))
                request = client.server_events.next(30)
                assert isinstance(request, bled.ReadRequest) and request.handle == battery.handle("2A19")
                request.respond(b"\x64")
                steps = visit.result(30).steps
                assert b"\x64" in [step.value for step in steps]
                assert client.notify(battery.handle("00002a19-0000-1000-8000-00805f9b34fb"), b"\x63").receivers == 0


def test_nothing_is_left(daemon: Daemon) -> None:
    before = threading.active_count()
    client = bled.sync.connect(daemon.socket)
    waiting = client.start(client.session.link("C0:DE:00:00:99:99")._open())
    client.close()
    assert waiting.cancelled() or waiting.exception() is not None
    client.close()
    assert threading.active_count() == before
    with pytest.raises(bled.DaemonUnreachable):
        bled.sync.connect(daemon.socket + ".none")
    assert threading.active_count() == before

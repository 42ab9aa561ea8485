"""A program for a heart-rate belt, tested on a simulated one: python3 -m pytest Examples/python"""

import pytest

from bled import CallFailed

BELT = {
    "name": "Belt", "address": "C0:DE:00:00:00:01", "addressType": "random", "advertising": {"name": "Belt"},
    "services": [{"uuid": "180D", "characteristics": [
        {"uuid": "2A37", "properties": ["notify"], "value": "0048"},
        {"uuid": "2A39", "properties": ["write"]},
    ]}],
}


class Program:
    """The program under test. It moves the clock itself, behind each call on the same connection: so the call comes
    first, however busy the machine is."""

    def __init__(self, simulation):
        self.session = simulation.session(name="program")

    def call(self, method, **params):
        number = self.session.start(method, **params)
        self.session.call("simulation.advance", seconds=5)
        return self.session.finish(number)

    def connect(self):
        device = {"address": BELT["address"], "addressType": BELT["addressType"]}
        self.peripheral = self.call("peripheral.connect", **device)["peripheral"]

    def gatt(self, method, characteristic, **params):
        return self.call(f"gatt.{method}", peripheral=self.peripheral, characteristic=characteristic, **params)


@pytest.fixture
def program(simulation):
    simulation.add({"devices": [BELT]})
    program = Program(simulation)
    program.connect()
    return program


def test_values_arrive(simulation, program):
    program.gatt("subscribe", "2A37")
    simulation.command("setValue", device="Belt", characteristic="2A37", value="0050")
    simulation.advance(1)
    assert program.session.next("gatt.value")["value"] == "0050"


def test_a_write_that_is_refused_once(simulation, program):
    simulation.change("Belt", faults={"answers": [{"characteristic": "2A39", "error": 0x80, "count": 1}]})
    with pytest.raises(CallFailed) as failure:
        program.gatt("write", "2A39", value="01")
    assert (failure.value.domain, failure.value.code) == ("att", 0x80)
    program.gatt("write", "2A39", value="01")
    assert [(write["operation"], write["value"]) for write in simulation.written("Belt")] == [("write", "01")]


def test_the_belt_goes_out_of_range(simulation, program):
    simulation.command("vanish", device="Belt")
    simulation.advance(30)
    assert program.session.next("peripheral.disconnected")["reason"]["data"]["name"] == "connectionTimeout"

"""A program for a heart-rate belt, tested on a simulated one: python3 -m pytest Examples/python"""

from collections.abc import Awaitable
from typing import TypeVar

import pytest
from conftest import Simulation

import bled

Result = TypeVar("Result")
ADDRESS = "C0:DE:00:00:00:01"
BELT = {
    "name": "Belt",
    "address": ADDRESS,
    "addressType": "random",
    "advertising": {"name": "Belt"},
    "services": [
        {
            "uuid": "180D",
            "characteristics": [
                {"uuid": "2A37", "properties": ["notify"], "value": "0048"},
                {"uuid": "2A39", "properties": ["write"]},
            ],
        }
    ],
}


class Program:
    """The program under test. It moves the clock itself, behind each call on the same connection: so the call comes
    first, however busy the machine is."""

    def __init__(self, simulation: Simulation) -> None:
        self.client = simulation.connect("program")
        self.link = self.run(self.client.session.link(ADDRESS))

    def run(self, call: Awaitable[Result]) -> Result:
        begun = self.client.start(call)
        self.client.run(self.client.session.simulation_advance(seconds=5))
        return begun.result()


@pytest.fixture
def program(simulation: Simulation) -> Program:
    simulation.add({"devices": [BELT]})
    return Program(simulation)


def test_values_arrive(simulation: Simulation, program: Program) -> None:
    with program.client.events(bled.GattValue) as values:
        session = program.client.session
        program.run(session.gatt_subscribe(peripheral=program.link.peripheral, characteristic="2A37"))
        simulation.set_value("Belt", "2A37", b"\x00\x50")
        simulation.advance(1)
        assert values.next(30).value == b"\x00\x50"


def test_a_write_that_is_refused_once(simulation: Simulation, program: Program) -> None:
    simulation.change("Belt", faults={"answers": [{"characteristic": "2A39", "error": 0x80, "count": 1}]})
    with pytest.raises(bled.ATTError) as failure:
        program.run(program.link.write("2A39", b"\x01"))
    assert failure.value.code == 0x80
    program.run(program.link.write("2A39", b"\x01"))
    assert [(write.operation, write.value) for write in simulation.written("Belt")] == [("write", b"\x01")]


def test_the_belt_goes_out_of_range(simulation: Simulation, program: Program) -> None:
    simulation.vanish("Belt")
    simulation.advance(30)
    reason = program.client.run(program.link.ended(), 30)
    assert reason is not None and reason.name == "connectionTimeout"

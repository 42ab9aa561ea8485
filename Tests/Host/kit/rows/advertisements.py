"""Advertising data that is malformed or unusual."""

from ..row import Row


def heard(situation, data, member, value, source=""):
    """A device with this data is scanned for; a member of its report, as JSON."""
    return Row(situation, "", f"scan; reports {member} = {value}", source, advertises=data)


ROWS = [
    heard("A name in Latin-1", "0709436166e92031", "name", '"Caf"', "esp32-nimble#43"),
    heard("A name that ends in the middle of a character", "0509436166c3", "name", '"Caf"', "whad#346"),
    heard("A name with zeros behind it", "0809436166000000" + "00", "name", '"Caf"'),
    heard("A name behind a structure without octets", "00" + "0409436166", "name", "null"),
    heard("A structure that is longer than the data", "0201061e09436166", "name", "null"),
    heard("A structure that is longer than the data, behind a name", "0409436166ff03", "name", '"Caf"'),
    heard("A list of services that is cut off", "04030f1818" + "0409436166", "name", '"Caf"'),
    heard("Two names", "0409436166" + "0409446167", "name", '"Caf"'),
    heard("Manufacturer data without a company", "02ff4c" + "0409436166", "name", '"Caf"'),
    heard("Data of nothing but zeros", "00*31", "name", "null"),
    heard("No data", "", "data", '""'),
]

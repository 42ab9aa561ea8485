"""Matter over Bluetooth LE: the CHIP SDK's controller over bled-bluez, and Examples/python/matter_device.py, a device
on another adapter of the same daemon."""

import json
import signal
import unittest

from house import ROOT
from world import World

PYTHON = ROOT / ".build/matter/bin/python"
EMPTY = ROOT / "Tests/BlueZ/empty.json"


class Device:
    def __init__(self, world, adapter):
        state = world.folder / f"{adapter}.json"
        self.program = world.start(PYTHON, "-B", ROOT / "Examples/python/matter_device.py", adapter, state)
        self.program.expect("^Advertised")
        content = json.loads(state.read_text())
        self.code = content["discriminator"], content["passcode"]

    def expect(self, pattern, start=0):
        return self.program.expect(pattern, start)

    def stop(self):
        self.program.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.program.process.send_signal(signal.SIGCONT)


class Controller:
    def __init__(self, world, number):
        """On the adapter of this number."""
        self._world = world
        self._folder = world.folder / f"controller{number}"
        self._folder.mkdir()
        self._program = world.start(
            PYTHON, "-B", ROOT / "Tests/Home/programs/matter_controller.py", number, cwd=self._folder)
        self._start = 0

    def begin(self, name, *numbers):
        self._program.expect("^ready$")
        self._start = len(self._program.lines)
        self._program.say(" ".join(map(str, (name, *numbers))))

    def answer(self, name):
        return self._program.expect(f"^{name} (done|failed) (.*)$", self._start).group(2)

    def ask(self, name, *numbers):
        self.begin(name, *numbers)
        return self.answer(name)

    def log(self):
        return (self._folder / "log").read_text()

    def expect_log(self, text):
        self._world.settled(lambda: text in self.log(), lambda: f"{text!r} was not logged:\n{self.log()}")

    def end(self):
        self._program.kill()


class MatterTest(unittest.TestCase):
    def setUp(self):
        self.world = World(*[EMPTY] * 4)
        self.addCleanup(self.world.close)
        self.world.environment["PYTHONPATH"] = str(ROOT / "python/src")

    def pairs(self, count):
        """Controllers, and devices, on adapters of their own: a controller takes each connection of its adapter for
        its own."""
        controllers = [Controller(self.world, number) for number in range(count)]
        return controllers, [Device(self.world, self.world.air.names[count + number]) for number in range(count)]

    def expect_no_link(self):
        def links():
            with self.world.session() as session:
                found = session.call("peripheral.list")["peripherals"]
            return [entry for entry in found if entry["state"] != "disconnected"]

        self.world.settled(lambda: not links(), lambda: f"links are left: {links()}")

    def is_powered(self):
        return "b true" in self.world.start(
            "busctl", f"--address={self.world.bus}", "get-property", "org.bluez", "/org/bluez/hci0",
            "org.bluez.Adapter1", "Powered").finish()  # fmt: skip

    def test_commissioning(self):
        (controller,), (device,) = self.pairs(1)
        # All that is missing is the certificate of the device's maker in the controller's store.
        self.assertIn("Failed Device Attestation", controller.ask("commission", *device.code))
        device.expect("^A controller has left")
        self.expect_no_link()

    def test_messages_of_several_segments(self):
        (controller,), (device,) = self.pairs(1)
        self.assertEqual(controller.ask("session", *device.code), "None")
        device.expect("^A controller: segments of 244 octets")
        before = controller.log().count("Indication received")
        self.assertEqual(controller.ask("read", 1), "CircuitMatter")
        self.assertGreaterEqual(controller.log().count("Indication received") - before, 5)
        self.assertEqual(controller.ask("write", 600), "None")
        device.expect("^A message of 6[0-9][0-9] octets")
        controller.end()
        device.expect("^A controller has left")
        self.expect_no_link()

    def test_two_at_once(self):
        controllers, devices = self.pairs(2)
        for controller, device in zip(controllers, devices):
            controller.begin("session", *device.code)
        self.assertEqual([controller.answer("session") for controller in controllers], ["None"] * 2)
        for controller in controllers:
            controller.begin("read", 5)
        self.assertEqual([controller.answer("read") for controller in controllers], ["CircuitMatter"] * 2)
        for controller in controllers:
            controller.end()
        self.expect_no_link()

    def test_devices_that_do_not_answer(self):
        controllers, devices = self.pairs(2)
        self.assertEqual(controllers[0].ask("session", *devices[0].code), "None")
        for device in devices:
            device.stop()
        controllers[0].begin("read", 1)
        controllers[1].begin("session", *devices[1].code)
        self.assertIn("Timeout", controllers[0].answer("read"))
        self.assertIn("ChipStackError", controllers[1].answer("session"))
        self.assertIn("ack recv timeout", controllers[0].log())
        self.assertIn("connect handshake timed out", controllers[1].log())
        self.expect_no_link()
        for controller, device in zip(controllers, devices):
            device.go_on()
            self.assertEqual(controller.ask("session", *device.code), "None")

    def test_bled_restarts(self):
        (controller,), (device,) = self.pairs(1)
        self.assertEqual(controller.ask("session", *device.code), "None")
        device.stop()
        controller.begin("read", 1)
        # The library may crash when it sends on a connection that ends at that moment.
        controller.expect_log("Moving to [AwaitingIn]")
        self.world.bled.kill()
        controller.expect_log("BLE connection closed")
        device.go_on()
        device.expect("^The daemon has ended")
        start = len(device.program.lines)
        self.world.start_bled()
        device.expect("^Advertised", start)
        self.world.settled(self.is_powered, lambda: "the adapter is not powered")
        self.assertEqual(controller.ask("session", *device.code), "None")
        self.assertEqual(controller.ask("read", 1), "CircuitMatter")


if __name__ == "__main__":
    unittest.main()

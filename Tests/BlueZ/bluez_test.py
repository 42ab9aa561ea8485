#!/usr/bin/env python3
"""Other people's clients of org.bluez, unmodified, on a private bus with bled-bluez on bled's simulated adapter.

    bluez_test.py [-k TEXT]      cases whose name has the text
"""

import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

from world import HERE, NEW, OLD, PATIENCE, ROOT, WITH_SYSTEM, World

from test_air import IS_ON_OWN_HOST

sys.path.append(str(ROOT / "Tests/Attack"))
import wire  # noqa: E402

BELT, ECHO, LOCK, PLAIN = (f"C0:DE:00:00:00:{number}" for number in ("01", "04", "09", "0A"))


def path(address):
    return "/org/bluez/hci0/dev_" + address.replace(":", "_")


class Case(unittest.TestCase):
    scenarios = ()
    configuration = None
    rules = ""

    def setUp(self):
        self.world = World(*self.scenarios, configuration=self.configuration, rules=self.rules)
        self.addCleanup(self.world.close)

    def done(self, program, pattern="^done$"):
        """A program has printed its last line, and ended well."""
        program.expect(pattern)
        program.finish()
        self.assertEqual(program.process.returncode, 0, program.text())

    def busctl(self, *arguments):
        program = self.world.start("busctl", f"--address={self.world.bus}", *arguments)
        return program.finish()


class Bleak(Case):
    def test_central(self):
        self.done(self.world.python("central.py", "both"))
        self.world.expect_nothing_left()

    def test_central_with_an_old_release(self):
        self.done(self.world.python("central.py", python=OLD))
        self.world.expect_nothing_left()

    def test_subscriptions_right_after_each_connection(self):
        self.done(self.world.python("again.py"))
        self.world.expect_nothing_left()

    def test_integrations_of_home_assistant(self):
        self.done(self.world.python("home.py"))
        self.world.expect_nothing_left()

    def test_home_assistant_itself(self):
        with self.world.session() as session:
            address = session.call("adapter.list")["adapters"][0]["address"]
        self.done(self.world.python("home_manager.py", address))
        self.world.expect_nothing_left()

    def test_passive_scan(self):
        self.done(self.world.python("passive.py"))
        self.world.expect_nothing_left()

    def test_pairing(self):
        self.done(self.world.python("pair.py"))
        self.world.expect_nothing_left()

    def test_two_programs_and_bluetoothctl_at_once(self):
        """Each has its own scan and links; they are killed at some point, and nothing is left of them."""
        chance = random.Random(25)
        steps = ["found", "connected", "subscribed", "scanning"]
        for _ in range(4):
            programs = [self.world.python("holder.py", address) for address in (BELT, ECHO)]
            control = self.world.bluetoothctl()
            control.say("scan on")
            control.expect("Discovery started")
            for program in programs:
                program.expect(f"^{chance.choice(steps)}$")
            for program in chance.sample(programs + [control], 3):
                program.kill()
            self.world.expect_nothing_left()
            self.assertIn("b false", self.busctl("get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1",
                                                 "Discovering"))

    def test_one_program_disconnects_and_the_other_stays(self):
        stays, leaves = programs = [self.world.python("holder.py", BELT, "wait") for _ in range(2)]
        # A device that is connected may fall silent.
        for program in programs:
            program.expect("^found$")
        for program in programs:
            program.say("connect")
        for program in programs:
            program.expect("^scanning$")
        leaves.kill(signal.SIGINT)
        self.world.settled(lambda: len(self.world.sessions()) < 6, lambda: "the sessions of the other remain")
        self.assertEqual(self.world.devices()["Belt"]["state"], "connected")
        stays.kill()
        self.world.expect_nothing_left()


class Bluetoothctl(Case):
    def test_central(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect("NEW.* Device C0:DE:00:00:00:01 Belt")
        control.say("scan off")
        control.expect("Discovery stopped")
        control.say(f"connect {BELT}")
        control.expect("Connection successful")
        control.expect("ServicesResolved: yes")
        self.world.settled(
            lambda: "y 85" in self.busctl("get-property", "org.bluez", path(BELT), "org.bluez.Battery1", "Percentage"),
            lambda: "there is no battery level")
        control.say(f"info {BELT}")
        control.expect("Battery Percentage: 0x55 .85.")
        control.say("menu gatt")
        for text, answer in [
            ("select-attribute 00002a38-0000-1000-8000-00805f9b34fb", "char"),
            ("read", r"  01 +\."),
            ("select-attribute 00002a37-0000-1000-8000-00805f9b34fb", "char"),
            ("notify on", "Notify started"),
            ("notify off", "Notify stopped"),
            ("acquire-notify", "AcquireNotify success: fd .* MTU"),
            ("release-notify", "NotifyAcquired: no"),
            ("acquire-notify", "AcquireNotify success: fd .* MTU"),
        ]:
            start = len(control.lines)
            control.say(text)
            control.expect(answer, start)
        control.say("back")
        control.say(f"disconnect {BELT}")
        control.expect("Successful disconnected")
        control.say(f"remove {BELT}")
        control.expect("Device has been removed")
        control.say("quit")
        control.finish()
        self.world.expect_nothing_left()

    def test_a_passkey_is_asked_of_the_agent(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {LOCK}")
        control.say(f"pair {LOCK}")
        control.expect("Enter passkey")
        control.say("42")
        control.expect("Pairing successful")
        control.say(f"info {LOCK}")
        control.expect("Bonded: yes")
        control.say("devices Paired")
        control.expect(f"^Device {LOCK} Lock")
        control.say(f"trust {LOCK}")
        control.expect("trust succeeded")
        control.say("quit")
        control.finish()
        # The state of paired devices outlasts the process.
        self.world.facade.kill(signal.SIGTERM)
        self.world.start_facade()
        self.world.settled(
            lambda: "b true" in self.busctl("get-property", "org.bluez", path(LOCK), "org.bluez.Device1", "Paired"),
            lambda: "the bond is not shown")
        self.assertIn("b true", self.busctl("get-property", "org.bluez", path(LOCK), "org.bluez.Device1", "Trusted"))

    def test_a_blocked_device(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {BELT}")
        control.say(f"block {BELT}")
        control.expect("Blocked: yes")
        control.say(f"connect {BELT}")
        control.expect("Failed to connect")
        control.say(f"unblock {BELT}")
        control.expect("Blocked: no")
        control.say(f"connect {BELT}")
        control.expect("Connection successful")

    def test_a_device_that_is_forgotten_elsewhere(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {PLAIN}")
        control.say(f"pair {PLAIN}")
        control.expect("Pairing successful")
        control.say(f"disconnect {PLAIN}")
        control.expect("Successful disconnected")
        start = len(control.lines)
        device = self.world.devices()["Plain"]["peripheral"]
        with self.world.session() as session:
            session.call("pairing.forget", peripheral=device)
            control.expect(f"CHG.* Device {PLAIN} Paired: no", start)
            session.call("peripheral.forget", peripheral=device)
        control.say(f"connect {PLAIN}")
        control.expect("Connection successful", start)
        control.say(f"remove {PLAIN}")
        control.expect("Device has been removed", start)
        control.expect(f"NEW.* Device {PLAIN}", start)

    def test_a_wrong_passkey(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {LOCK}")
        control.say(f"pair {LOCK}")
        control.expect("Enter passkey")
        control.say("43")
        control.expect("Failed to pair: org.bluez.Error.AuthenticationFailed")

    def test_advertising_and_an_application(self):
        control = self.world.bluetoothctl()
        for text, answer in [
            ("menu gatt", "Menu gatt"),
            ("register-service 0xFFE0", "Primary"),
            ("yes", ""),
            ("register-characteristic 0xFFE1 read,write", "Characteristic"),
            ("01 02", ""),
            ("register-application", "Application registered"),
            ("back", "Menu main"),
            ("advertise on", "Advertising object registered"),
            ("advertise off", "Advertising object unregistered|unregistered"),
        ]:
            start = len(control.lines)
            control.say(text)
            control.expect(answer, start)
        control.say("quit")
        control.finish()
        self.world.expect_nothing_left()


class Scripts(Case):
    """BlueZ's own test scripts, of Debian's bluez-test-scripts."""

    scenarios = (HERE / "scenario.json", HERE / "empty.json")

    def test_peripheral(self):
        server = self.world.script("example-gatt-server")
        server.expect("GATT application registered")
        advertisement = self.world.script("example-advertisement")
        advertisement.expect("Advertisement registered")
        with self.world.session() as session:
            address = session.call("adapter.list")["adapters"][0]["address"]
        self.done(self.world.python("visitor.py", "hci1", address))
        server.expect(r"TestCharacteristic Write:.*3\)")
        server.kill()
        advertisement.kill()
        self.world.expect_nothing_left()

    def test_adapter(self):
        self.assertIn("hci0", self.world.script("test-adapter", "list").finish())
        self.assertRegex(self.world.script("test-adapter", "address").finish(), "^02:")
        self.assertIn("1", self.world.script("test-adapter", "powered").finish())

    def test_list_devices(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {BELT}")
        text = self.world.script("list-devices").finish()
        self.assertIn("[ /org/bluez/hci0 ]", text)
        self.assertIn(f"[ {path(BELT)} ]", text)


class TwoAdapters(Case):
    scenarios = (HERE / "scenario.json", HERE / "scenario.json")

    def test_a_program_scans_on_both(self):
        self.done(self.world.python("both_adapters.py"))
        self.world.expect_nothing_left()


class Peripherals(Case):
    """Programs that publish services with the libraries of Python."""

    scenarios = (HERE / "empty.json", HERE / "empty.json")

    def visit(self, *guest):
        """A device comes by the other adapter."""

        def adapter():
            with self.world.session() as session:
                return session.call("adapter.list")["adapters"][0]

        self.world.settled(lambda: adapter()["state"] == "on", lambda: "the adapter is not on")
        self.done(self.world.python(*(guest or ["guest.py"]), "hci1", adapter()["address"]))

    def serve(self, program, python=NEW):
        server = self.world.python(program, python=python)
        server.expect("advertising")
        self.visit()
        server.expect("^written b'more than fits into one packet of the default size'")
        return server

    def test_bless(self):
        self.serve("served_bless.py").kill()
        self.world.expect_nothing_left()

    def test_bluezero(self):
        server = self.serve("served_bluezero.py", WITH_SYSTEM)
        server.expect("^connected .*:")
        server.expect("^disconnected .*:")
        server.kill()
        self.world.expect_nothing_left()

    def test_bluez_peripheral(self):
        server = self.serve("served_bluez_peripheral.py")
        server.expect("^read by /org/bluez/hci0/dev_.* with 517")
        server.expect("^written .* by CharacteristicWriteType.REQUEST")
        server.kill()
        self.world.expect_nothing_left()

    def recipe(self, name):
        """Starts a program that docs/bluez.md shows."""
        page = (ROOT / "docs/bluez.md").read_text()
        block = re.search(rf"<!-- docs-test: file {name}\.py -->\n((?:    .*\n|\n)+)", page)[1]
        program = self.world.folder / f"{name}.py"
        program.write_text(re.sub("^    ", "", block, flags=re.MULTILINE))
        server = self.world.start(NEW, "-B", program)
        server.expect("advertising")
        self.visit("recipe_guest.py", name)
        server.kill()
        self.world.expect_nothing_left()

    def test_recipe_of_a_mesh_node(self):
        self.recipe("mesh")

    def test_recipe_of_a_game(self):
        self.recipe("game")

    def test_an_application_with_sockets(self):
        """AcquireWrite and AcquireNotify of an application."""
        self.serve("served_sockets.py").kill()
        self.world.expect_nothing_left()

    def test_a_device_that_connects(self):
        """Its services are read, and a program uses them; it does not keep the link."""
        visited = self.world.python("visited.py")
        visited.expect("^watching")
        server = self.serve("served_sockets.py")
        visited.expect("^connected /org/bluez/hci0/dev_")
        visited.expect("^resolved .* [1-9] services")
        visited.expect("^read b'")
        visited.expect("^disconnected")
        server.kill()
        visited.kill()
        self.world.expect_nothing_left()

    def test_bled_restarts(self):
        """Services are published again, and advertised."""
        server = self.serve("served_bluez_peripheral.py")
        self.world.bled.kill()
        self.world.facade.expect("it is tried again each second")
        self.world.start_bled()
        self.world.facade.expect("bled is there again")
        start = len(server.lines)
        self.visit()
        server.expect("^written b'more", start)
        server.kill()
        self.world.expect_nothing_left()


class Providers(Case):
    """Programs that know of a device, or want to be connected to it."""

    def connect(self, address):
        """A program connects to a device, and leaves; the services of the device are known then."""
        self.busctl("call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "ConnectDevice", "a{sv}", "2",
                    "Address", "s", address, "AddressType", "s", "random")
        place = ("org.bluez", path(address), "org.bluez.Device1")
        self.world.settled(lambda: "b true" in self.busctl("get-property", *place, "ServicesResolved"),
                           lambda: "the services are not known")

    @unittest.skipIf(IS_ON_OWN_HOST, "the devices of the other air do not vanish")
    def test_a_profile(self):
        """A device with the service of a profile, connected once, is connected as soon as it is in range again."""
        profile = self.world.python("profile.py", "0000180d-0000-1000-8000-00805f9b34fb")
        profile.expect("^registered $")
        self.connect(BELT)
        for member, state in (("vanish", "disconnected"), ("comeBack", "connected")) * 2:
            start = len(profile.lines)
            with self.world.session() as session:
                session.call(f"simulation.{member}", device="Belt")
            profile.expect(f"^{state} {path(BELT)}", start)
        self.assertEqual(self.busctl("call", "org.bluez", path(BELT), "org.bluez.Device1", "Disconnect"), "")
        profile.expect("^disconnected", start)
        profile.say("")
        profile.expect("^unregistered $")
        profile.kill()
        self.world.expect_nothing_left()

    def test_a_battery_level(self):
        """The level of a device without a Battery Service, from a program that knows it."""
        self.connect(PLAIN)
        battery = ("org.bluez", path(PLAIN), "org.bluez.Battery1")

        def level():
            return self.busctl("get-property", *battery, "Percentage").strip()

        provider = self.world.python("battery.py", path(PLAIN), "77")
        provider.expect("^registered $")
        self.world.settled(lambda: level() == "y 77", level)
        self.assertEqual(self.busctl("get-property", *battery, "Source").strip(), 's "protocol of the maker"')
        provider.say("40")
        self.world.settled(lambda: level() == "y 40", level)
        provider.kill()
        self.world.settled(lambda: "y 40" not in level(), level)
        self.busctl("call", "org.bluez", path(PLAIN), "org.bluez.Device1", "Disconnect")
        self.world.expect_nothing_left()


class Bus(Case):
    def test_every_object_is_described(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {BELT}")
        control.say(f"connect {BELT}")
        control.expect("ServicesResolved: yes")
        seen = []

        def walk(place):
            text = self.busctl(
                "call", "org.bluez", place, "org.freedesktop.DBus.Introspectable", "Introspect", "--json=short")
            root = xml.etree.ElementTree.fromstring(json.loads(text)["data"][0])
            seen.append(place)
            for node in root.findall("node"):
                walk(place.rstrip("/") + "/" + node.get("name"))

        walk("/")
        for place in ("/org/bluez", path(BELT)):
            self.assertIn(place, seen)
        self.assertTrue(any("/desc" in place for place in seen), seen)

    def test_a_hostile_program(self):
        """Wrong signatures, members and paths, floods, and an end in the middle of each operation."""
        holder = self.world.python("holder.py", PLAIN)
        holder.expect("^scanning$")
        self.done(self.world.python("hostile.py"))
        self.assertIsNone(self.world.facade.process.poll(), self.world.facade.text())
        self.assertIsNone(holder.process.poll(), holder.text())
        self.assertEqual(self.world.devices()["Plain"]["state"], "connected")
        self.assertIn("b true", self.busctl("get-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1",
                                            "Discovering"))
        self.done(self.world.python("central.py"))
        holder.kill()
        self.world.expect_nothing_left()

    def test_programs_that_do_not_read(self):
        """They call without an end, and the bus keeps the answers."""
        place = f"{self.world.folder}/bus"
        call = ("/org/bluez/hci0", "org.freedesktop.DBus.Introspectable", "Introspect")
        hostile = [wire.Connection(place) for _ in range(4)]
        unsent = {connection: b"" for connection in hostile}
        for connection in hostile:
            connection.socket.setblocking(False)
            self.addCleanup(connection.socket.close)
        other = wire.Connection(place)
        self.addCleanup(other.socket.close)
        for turn in range(60):
            for connection in hostile:
                try:
                    for serial in range(100):
                        octets = unsent[connection] or wire.call(100 * turn + serial + 2, *call)
                        unsent[connection] = octets[connection.socket.send(octets):]
                except BlockingIOError:
                    pass
            # The programs take turns: with these about as many of the others are answered.
            for serial in range(100):
                other.socket.sendall(wire.call(serial + 2, "/", "org.freedesktop.DBus.ObjectManager",
                                               "GetManagedObjects"))
            for serial in range(100):
                self.assertEqual(other.answer(serial + 2)[0], wire.RETURN)
        self.done(self.world.python("central.py"))
        self.assertIsNone(self.world.facade.process.poll(), self.world.facade.text())

    def test_programs_that_leave(self):
        """Nothing of their calls is left, and none of the descriptors in them."""
        place = f"/proc/{self.world.facade.process.pid}/fd"
        before = len(os.listdir(place))
        self.done(self.world.python("leaving.py"))
        end = time.monotonic() + PATIENCE
        while len(os.listdir(place)) > before:
            self.assertLess(time.monotonic(), end, [os.readlink(f"{place}/{name}") for name in os.listdir(place)])
            time.sleep(0.05)
        self.done(self.world.python("central.py"))

    def test_a_device_that_was_not_heard(self):
        options = ("a{sv}", "2", "Address", "s", ECHO, "AddressType", "s", "random")
        call = ("call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "ConnectDevice", *options)
        self.assertEqual(self.busctl(*call).strip(), f'o "{path(ECHO)}"')
        self.assertEqual(self.busctl("call", "org.bluez", path(ECHO), "org.bluez.Device1", "Disconnect"), "")
        self.world.expect_nothing_left()

    def test_commands_one_after_the_other(self):
        """Each is a program of its own, and uses the link of the one before."""
        options = ("a{sv}", "2", "Address", "s", BELT, "AddressType", "s", "random")
        self.busctl("call", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "ConnectDevice", *options)
        device = ("org.bluez", path(BELT), "org.bluez.Device1")
        self.world.settled(lambda: "b true" in self.busctl("get-property", *device, "ServicesResolved"),
                           lambda: "the services are not known")
        objects = json.loads(self.busctl(
            "call", "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "--json=short"))
        value = next(name for name, interfaces in objects["data"][0].items()
                     if interfaces.get("org.bluez.GattCharacteristic1", {}).get("UUID", {}).get("data", "")
                     .startswith("00002a38"))
        for _ in range(2):
            text = self.busctl("call", "org.bluez", value, "org.bluez.GattCharacteristic1", "ReadValue", "a{sv}", "0")
            self.assertEqual(text.strip(), "ay 1 1")
        self.assertEqual(self.busctl("call", *device, "Disconnect"), "")
        self.world.expect_nothing_left()

    def test_bled_restarts(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {BELT}")
        control.say(f"connect {BELT}")
        control.expect("ServicesResolved: yes")
        self.world.bled.kill()
        control.expect("CHG.* Device C0:DE:00:00:00:01 Connected: no")
        control.expect("CHG.* Controller .* Powered: no")
        start = len(control.lines)
        self.world.start_bled()
        control.expect("CHG.* Controller .* Powered: yes", start)
        # The scan that it has not stopped continues.
        control.expect("CHG.* Device .* RSSI", start)
        control.say(f"connect {BELT}")
        control.expect("Connection successful", start)

    def test_settings_that_cannot_be_used(self):
        """They do not keep org.bluez from being served."""
        for content in ("x" * (2 << 20), "{"):
            self.world.facade.kill(signal.SIGTERM)
            (self.world.folder / "bluez/devices.json").write_text(content)
            self.world.start_facade()
            self.assertIn("damaged or too large", self.world.facade.text())

    def test_the_name_is_taken(self):
        first = self.world.facade
        second = self.world.start(first.process.args[0], "--socket", self.world.socket)
        second.expect("another program has the name org.bluez")
        second.finish()
        self.assertEqual(second.process.returncode, 69)


class Crowd(Case):
    """More devices in range than org.bluez has places for (`Devices.maximum`)."""

    def setUp(self):
        devices = [
            {"name": f"Device {number}", "address": f"C0:DE:00:01:{number >> 8:02X}:{number & 255:02X}",
             "addressType": "random", "interval": 2,
             "advertising": {"name": f"Device {number}", "manufacturerData": "ffff0102", "services": ["180D"]}}
            for number in range(1200)
        ]  # fmt: skip
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scenario = pathlib.Path(folder.name, "crowd.json")
        scenario.write_text(json.dumps({"seed": 1, "devices": devices}))
        self.scenarios = (scenario,)
        super().setUp()

    @unittest.skipIf(IS_ON_OWN_HOST, "the other air has few devices")
    def test_a_crowd(self):
        """Objects do not come and go, and neither the answers nor the process grow with the crowd."""
        program = self.world.python("crowd.py", "1000")
        devices, added, removed, octets = map(int, program.expect(
            "(.*) devices, (.*) added, (.*) removed, (.*) octets").groups())
        self.assertEqual((devices, added, removed), (1000, 0, 0))
        self.assertLess(octets, 2 << 20)
        status = pathlib.Path(f"/proc/{self.world.facade.process.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1))
        self.assertLess(resident, 100 << 10, "in KiB")


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
class StrictBus(Case):
    """BlueZ's own policy lets a service of root call programs, but not ask whether they read."""
    rules = '<deny send_interface="org.freedesktop.DBus.Peer"/>'

    def test_a_program_that_reads_much(self):
        program = wire.Connection(f"{self.world.folder}/bus")
        self.addCleanup(program.socket.close)
        # More than the unread messages of a user may be.
        received, serial = 0, 2
        while received < 10 << 20:
            program.socket.sendall(
                wire.call(serial, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            kind, body = program.answer(serial)
            self.assertEqual(kind, wire.RETURN)
            received += len(body)
            serial += 1


class Permissions(Case):
    configuration = {"policy": {"scan": ["user:nobody"], "connect": []}}

    def test_the_policy_is_that_of_the_caller(self):
        arguments = ("busctl", f"--address={self.world.bus}", "call", "org.bluez")
        adapter = ("/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery")
        (self.world.folder / "bus").chmod(0o666)
        self.assertEqual(self.world.start(*arguments, *adapter, user="nobody", extra_groups=[]).finish(), "")
        text = self.world.start(*arguments, *adapter, user="daemon", extra_groups=[]).finish()
        self.assertIn("Not Authorized", text)

    def test_properties_of_others(self):
        control = self.world.bluetoothctl()
        control.say("scan on")
        control.expect(f"NEW.* Device {BELT}")
        (self.world.folder / "bus").chmod(0o666)
        device, adapter = (path(BELT), "org.bluez.Device1"), ("/org/bluez/hci0", "org.bluez.Adapter1")

        def busctl(user, *arguments):
            program = self.world.start(
                "busctl", f"--address={self.world.bus}", *arguments, user=user, extra_groups=[])
            return program.finish().strip()

        for user in ("daemon", "nobody"):
            for name, *value in (("Trusted", "b", "true"), ("Alias", "s", "PWNED"), ("Blocked", "b", "true")):
                self.assertIn("Not Authorized", busctl(user, "set-property", "org.bluez", *device, name, *value))
            # Programs set them at their start: they stay as they are.
            self.assertEqual(busctl(user, "set-property", "org.bluez", *adapter, "Discoverable", "b", "true"), "")
        self.assertIn("Not Authorized", busctl(
            "daemon", "call", "org.bluez", *adapter, "SetDiscoveryFilter", "a{sv}", "0"))
        self.assertIn("Not Authorized", busctl(
            "daemon", "call", "org.bluez", "/org/bluez/hci0", "org.bluez.AdvertisementMonitorManager1",
            "RegisterMonitor", "o", "/"))
        self.assertEqual(busctl("root", "get-property", "org.bluez", *device, "Trusted", "Alias"), 'b false\ns "Belt"')
        self.assertEqual(busctl("root", "get-property", "org.bluez", *adapter, "Discoverable"), "b false")
        self.assertEqual(busctl("root", "set-property", "org.bluez", *device, "Trusted", "b", "true"), "")
        self.assertEqual(busctl("root", "get-property", "org.bluez", *device, "Trusted"), "b true")


if __name__ == "__main__":
    unittest.main(verbosity=2)

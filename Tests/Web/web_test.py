"""`bleshell web` in a browser, and against the attacks that a server on the loopback address meets."""

import http.server
import json
import os
import pathlib
import pwd
import re
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from browser import Browser  # noqa: E402
from site_under_test import PATIENCE, SIMULATED, Session, Site, read_event  # noqa: E402

VIEWS = ("devices", "sensors", "links", "adapters", "recordings")


class BrowserTests(unittest.TestCase):
    """A browser and a site for all tests of a class."""

    WRITES = True

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="bled-chromium-", ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        cls.site = Site(writes=cls.WRITES)
        cls.addClassCleanup(cls.site.close)
        cls.browser = Browser(scratch.name)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.resize(1100, 800)
        self.browser.set_dark(False)
        self.browser.open(self.site.address)

    def open_device(self, name):
        """Opens the view of a device, and connects to it."""
        browser = self.browser
        browser.wait_text("#device-table", name)
        self.click_device(name)
        browser.wait_text("#device-title", name)
        if browser.text("#connect") == "Connect":
            browser.click("#connect")
        browser.wait_text("#connect", "Disconnect")
        browser.wait("return document.querySelector('#tree .service')")

    def click_device(self, name):
        self.browser.wait_text("#device-table", name)
        self.browser.run(
            "const links = [...document.querySelectorAll('#device-table a')];"
            "links.find((link) => link.textContent === arguments[0]).click();", name)

    def disconnect(self):
        self.browser.click("#connect")
        self.browser.wait_text("#connect", "^Connect$")

    def press_button(self, label):
        self.browser.wait("return document.querySelector(`button[aria-label^='${arguments[0]}']`)", label)
        self.browser.click(f"button[aria-label^='{label}']")


class PageTests(BrowserTests):
    def tearDown(self):
        # No script failed, and nothing was against the policy.
        self.assertEqual(self.browser.complaints(), [])

    def expect_refusals(self, count):
        """The browser reports operations that a device refused."""
        complaints = self.browser.complaints()
        self.assertEqual([line for line in complaints if "502 (Bad Gateway)" not in line], [])
        self.assertEqual(len(complaints), count)

    def test_devices_are_live(self):
        """Devices come with their contents, and go on."""
        browser = self.browser
        for pattern in ("Belt", "Heart Rate", "Echo", r"25\.06 °C"):
            browser.wait_text("#device-table", pattern)
        self.assertTrue(browser.run("return location.href").endswith("/#devices"))
        points = "document.querySelector('#device-table .spark polyline').getAttribute('points').split(' ').length"
        first = browser.run(f"return {points}")
        browser.wait(f"return {points} > arguments[0]", first)

    def test_names_of_strangers_are_text(self):
        """Markup in a name is shown as it is, and dangerous characters as their code."""
        browser = self.browser
        browser.wait_text("#device-table", re.escape("<img src=x onerror=foo()>"))
        browser.wait_text("#device-table", r"\\u0001a\\u202eb")
        self.assertEqual(browser.run("return document.querySelectorAll('img').length"), 0)

    def test_filter_and_pause(self):
        """The filter leaves fewer devices, and a paused table stands still."""
        browser = self.browser
        browser.wait_text("#device-table", "Belt")
        browser.type("#filter", "echo")
        # The device may not have been received yet.
        browser.wait_text("#device-count", r"^1 device of \d+")
        self.assertNotIn("Belt", browser.text("#device-table"))
        browser.press("Escape")
        browser.wait_text("#device-table", "Belt")
        browser.click("#pause")
        self.assertEqual(browser.text("#pause"), "Resume")
        table = "document.querySelector('#device-table tbody').innerHTML"
        shown = browser.run(f"return {table}")
        # Longer than the ages in it stay the same.
        begun = browser.run("return performance.now()")
        browser.wait("return performance.now() > arguments[0] + 3000", begun)
        self.assertEqual(browser.run(f"return {table}"), shown)
        browser.click("#pause")
        browser.wait(f"return {table} !== arguments[0]", shown)

    def test_filter_by_service(self):
        """A service that is heard can be chosen, and leaves its devices."""
        browser = self.browser
        browser.wait(
            "return [...document.querySelector('#service').options].some((each) => each.text === 'Heart Rate')")
        browser.wait_text("#device-table", "Echo")
        browser.run(
            "const menu = document.querySelector('#service'); menu.value = 'Heart Rate';"
            "menu.dispatchEvent(new Event('change'));")
        browser.wait_text("#device-count", r"^1 device of \d+")
        browser.wait_text("#device-table", "Belt")

    def test_sensors(self):
        """Sensors have their measurements in columns, the battery and the age."""
        browser = self.browser
        browser.click("nav a[href='#sensors']")
        browser.wait_text("#sensor-table thead", r"Name\s+Temperature\s+Humidity\s+Illuminance\s+Battery\s+Age\s+RSSI")
        browser.wait_text("#sensor-table", r"Kitchen\s+22\.44 °C\s+50\.4 %\s+6400 lx\s+65 %\s+(now|\d+ s)\s+-\d+ dBm")
        browser.wait_text("#sensor-table", r"Sensor\s+25\.06 °C")
        # The key of a sensor that encrypts is known.
        browser.wait_text("#sensor-table", r"Cellar\s+25\.06 °C\s+50\.55 %")
        self.assertNotIn("Belt", browser.text("#sensor-table"))
        browser.resize(360, 640)
        browser.wait_text("#sensor-table", r"Kitchen")
        self.assert_no_scroll("sensors")

    def test_descriptors(self):
        """Descriptors are listed below their characteristic, and read."""
        self.open_device("Echo")
        self.press_button("Read Characteristic User Description (2901) of Torque")
        self.browser.wait_text("#tree", r"Torque\s+\[54 6f 72 71 75 65\]")
        self.disconnect()

    def test_names_and_formats(self):
        """A name and a format that are given here count here, and are in the file of bleshell."""
        browser, names = self.browser, self.site.folder / "config/bleshell/names"
        self.open_device("Echo")
        form = "form:has([aria-label^='Save name and format of Torque'])"
        self.press_button("Name and format of Torque")
        browser.type(f"{form} label:nth-of-type(2) input", "i16*0.1 Nm")
        browser.click(f"{form} button")
        browser.wait_text("#tree", r"7\.3 Nm\s+\[49 00\]")
        self.assertEqual(names.read_text(), "B1ED0003-5EED-4B1E-8D00-000000000000 = : i16*0.1 Nm\n")
        browser.run("document.querySelector('#device-name').value = 'Test stand'")
        browser.click("#device-naming button")
        browser.wait_text("#device-title", "^Test stand$")
        browser.wait_text("#device-facts", "advertises as Echo")
        self.assertIn("C0:DE:00:00:00:04 = Test stand\n", names.read_text())
        # A line that is removed elsewhere counts, too.
        names.unlink()
        browser.wait_text("#device-title", "^Echo$")
        self.disconnect()

    def test_pairing(self):
        """A page pairs, asks for the passkey, and reads a value that needs it."""
        browser = self.browser
        self.open_device("Lock")
        browser.run("document.querySelector('#level').value = 'authenticated'")
        browser.click("#pair")
        browser.wait_text("#question", "Type the passkey that Lock shows")
        browser.type("#passkey", "000042")
        browser.press("Enter")
        browser.wait_text("#device-state", "paired, authenticated|paired, secureConnections")
        browser.wait("return document.querySelector('#question').hidden")
        self.press_button("Read FFF1")
        browser.wait_text("#tree", "open sesame")
        self.disconnect()

    def test_stronger_keys(self):
        """Keys without a passkey, of a value that was read, are replaced by keys with one, which can be forgotten."""
        browser = self.browser
        self.open_device("Safe")
        self.press_button("Read FFF1")
        browser.wait_text("#message", "insufficientAuthentication|more protection")
        browser.run("document.querySelector('#level').value = 'authenticated'")
        browser.click("#pair")
        browser.wait_text("#question", "Type the passkey that Safe shows")
        browser.type("#passkey", "000042")
        browser.press("Enter")
        browser.wait_text("#device-state", "paired, authenticated|paired, secureConnections")
        self.press_button("Read FFF1")
        browser.wait_text("#tree", "gold")
        browser.click("#forget")
        browser.wait_text("#connect", "^Connect$")
        self.expect_refusals(1)

    def test_comparison(self):
        """Two numbers are compared; another answer than yes ends the pairing."""
        browser = self.browser
        self.open_device("Panel")
        browser.run("document.querySelector('#level').value = 'authenticated'")
        browser.click("#pair")
        browser.wait_text("#question", r"Does Panel show \d{6}\?")
        browser.click("#refuse")
        browser.wait("return document.querySelector('#question').hidden")
        browser.wait_text("#message", "refused|confirm")
        browser.click("#pair")
        browser.wait("return !document.querySelector('#question').hidden")
        browser.wait_text("#question", r"Does Panel show \d{6}\?")
        self.assertTrue(browser.run("return document.querySelector('#passkey').closest('[hidden]') !== null"))
        browser.click("#accept")
        browser.wait_text("#device-state", "paired, secureConnections")
        self.disconnect()
        self.expect_refusals(1)

    def test_just_works(self):
        """A device without display and buttons is paired without a question: the click was the consent."""
        browser = self.browser
        self.open_device("Tag")
        browser.click("#pair")
        browser.wait_text("#device-state", "paired, encrypted")
        self.assertTrue(browser.run("return document.querySelector('#question').hidden"))
        # A passkey is impossible with this device, which keeps its keys.
        browser.run("document.querySelector('#level').value = 'authenticated'")
        browser.click("#pair")
        browser.wait("return !document.querySelector('#pair').disabled && document.querySelector('#message').innerText")
        browser.wait_text("#message", "cannot reach this security level")
        self.disconnect()
        self.expect_refusals(1)

    def test_a_hidden_page_lets_go(self):
        """When nobody looks for 30 s the link ends; a page that is looked at sooner keeps its curve."""
        browser = self.browser
        self.open_device("Belt")
        self.press_button("Subscribe Heart Rate Measurement")
        browser.wait("return (document.querySelector('#plot-lines polyline')?.points.length ?? 0) >= 5")
        points = "document.querySelector('#plot-lines polyline').points.length"
        browser.cover()()
        before = browser.run(f"return {points}")
        self.assertGreaterEqual(before, 5)
        browser.wait(f"return {points} > arguments[0]", before)
        self.assertEqual(browser.text("#connect"), "Disconnect")
        uncover = browser.cover()
        try:
            with Session(self.site.socket, name="observer") as observer:
                # The scan goes with the last page.
                self.wait_for(lambda: not self.session_of_page(observer)["connections"])
                self.assertFalse(self.session_of_page(observer).get("scans"))
        finally:
            uncover()
        browser.wait_text("#connect", "^Connect$")
        browser.click("nav a[href='#links']")
        browser.wait_text("#end-table", r"Belt\s+bleshell web disconnected")

    def session_of_page(self, observer):
        sessions = observer.call("session.list")["sessions"]
        return next(each for each in sessions if each.get("name") == "bleshell web")

    def wait_for(self, condition):
        end = time.monotonic() + 2 * PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, "did not come")
            time.sleep(0.1)

    def test_wide(self):
        """On a wide page the curve is beside the attributes, and stays in sight."""
        browser = self.browser
        browser.resize(1440, 900)
        self.open_device("Belt")
        self.press_button("Subscribe Heart Rate Measurement")
        browser.wait("return (document.querySelector('#plot-lines polyline')?.points.length ?? 0) >= 2")
        place = "const { left, top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect();"
        tree = browser.run(f"{place} return left", "#tree")
        browser.run("scrollTo(0, document.body.scrollHeight)")
        left, top, bottom = browser.run(f"{place} return [left, top, bottom]", "#plot-lines")
        self.assertGreater(left, tree + 400)
        self.assertTrue(0 <= top and bottom <= 900, (top, bottom))
        self.disconnect()

    def test_raw_and_history(self):
        """A device has its structures in words, their octets on demand, and its changes."""
        browser = self.browser
        self.click_device("Belt")
        browser.wait_text("#raw-table", r"Flags\s+general discoverable, BR/EDR not supported")
        browser.wait_text("#raw-table", r"Complete Local Name\s+Belt")
        browser.wait_text("#raw-table", r"Appearance\s+Heart Rate Belt")
        browser.press("Escape")
        self.click_device("Sensor")
        browser.wait_text("#raw-table", "Complete Local Name")
        self.assertNotIn("d2 fc", browser.text("#raw-table"))
        browser.click("#octets")
        browser.wait_text("#raw-table", "d2 fc 40 02 ca 09")
        browser.wait_text("#history-table", r"25\.06 °C")
        self.assertTrue(browser.run("return document.querySelector('#connect').disabled"))

    def test_read_and_write(self):
        """A value that was written is read."""
        browser = self.browser
        self.open_device("Echo")
        browser.type("#tree input[aria-label*='B1ED0002']", "48 65 6c 6c 6f")
        browser.press("Enter")
        browser.wait_text("#device-state", "wrote")
        self.press_button("Read B1ED0002")
        browser.wait_text("#tree", r"Hello\s+\[48 65 6c 6c 6f\]")
        self.disconnect()

    def test_a_page_that_is_loaded_anew(self):
        """The device is still connected, and its attributes are there."""
        browser = self.browser
        self.open_device("Echo")
        browser.run("location.reload()")
        browser.wait("return document.querySelector('#tree .service')")
        self.assertEqual(browser.text("#connect"), "Disconnect")
        self.disconnect()

    def test_subscribe_and_plot(self):
        """The values of a subscription come, and are drawn."""
        browser = self.browser
        self.open_device("Belt")
        self.press_button("Subscribe Heart Rate Measurement")
        browser.wait("return (document.querySelector('#plot-lines polyline')?.points.length ?? 0) >= 5")
        browser.wait_text("#plot-summary", r"values in \d+ s, \d+ to \d+ bpm, now \d+ bpm")
        browser.wait_text("#value-table", r"\d+ bpm")
        self.press_button("Unsubscribe Heart Rate Measurement")
        browser.wait("return document.querySelector(`button[aria-label^='Subscribe Heart']`)")
        self.disconnect()

    def test_a_pressed_row_stays(self):
        """Rows that are pressed do not move away before the click."""
        browser = self.browser
        browser.wait_text("#device-table", r"Belt[^~]*Echo|Echo[^~]*Belt")
        link = "document.querySelector('#device-table tbody a')"
        press = f"{link}.dispatchEvent(new Event(arguments[0], {{bubbles: true}}))"
        browser.click("[data-order=name]")
        browser.wait("return document.querySelector('[aria-sort=ascending]')")
        browser.run(press, "pointerdown")
        browser.run("document.querySelector('[data-order=heard]').click()")
        self.assertTrue(browser.run("return document.querySelector('[aria-sort=ascending]')"))
        browser.run(press, "pointerup")
        browser.wait("return document.querySelector('[aria-sort=descending]')")

    def test_links_and_programs(self):
        """A link has its program, and after its end the reason."""
        browser = self.browser
        with Session(self.site.socket, name="other program") as other:
            other.call("peripheral.connect", name="Echo", timeout=PATIENCE)
            browser.click("nav a[href='#links']")
            browser.wait_text("#link-table", rf"Echo\s+other program, process \d+\s+{SIMULATED}")
            user = pwd.getpwuid(os.geteuid()).pw_name
            browser.wait_text("#session-table", rf"bleshell web, process \d+, this page\s+{user}\s")
            self.assertEqual(browser.text("#session-table").count("bleshell"), 1)
        browser.wait_text("#link-table", "no device is connected")
        browser.wait_text("#end-table", r"Echo\s+the connection was ended locally")

    def test_adapters_and_doctor(self):
        """The adapters and the lines of doctor."""
        browser = self.browser
        browser.click("nav a[href='#adapters']")
        browser.wait_text("#adapter-table", rf"{SIMULATED}\s+on")
        browser.wait_text("#doctor-table", r"daemon\s+note\s+This is bleshell")
        # No word is broken beside the long lines of the findings.
        for width in (1440, 1000, 360):
            browser.resize(width, 900)
            lines = browser.run(
                "return [...document.querySelectorAll('#doctor-table tbody th')].map((each) => {"
                "const range = document.createRange(); range.selectNodeContents(each);"
                "return new Set([...range.getClientRects()].map((box) => box.top)).size; })")
            self.assertEqual(set(lines), {1}, f"{width} px")

    def test_recording(self):
        """A recording is started, stopped, saved and removed."""
        browser = self.browser
        browser.click("nav a[href='#recordings']")
        browser.click("#record")
        octets = browser.wait_text("#recording-table", r"running\s+([1-9]\d*)")[1]
        # A click lasts: its target is not replaced when a number changes.
        browser.run("document.querySelector('[data-recording]').isMarked = true")
        browser.wait_text("#recording-table", rf"running\s+(?!{octets}\s)\d")
        self.assertTrue(browser.run("return document.querySelector('[data-recording]').isMarked"))
        self.press_button("Stop the recording")
        browser.wait_text("#recording-table", "ended")
        status, _, content = self.site.request("GET", "/api/recordings/1")
        self.assertEqual((status, content[:4].hex()), (200, "0a0d0d0a"))
        self.press_button("Remove the recording")
        browser.wait_text("#recording-table", "none")
        self.assertEqual(self.site.request("GET", "/api/recordings/1")[0], 404)

    def test_keyboard(self):
        """Everything works without a pointer."""
        browser = self.browser
        browser.wait_text("#device-table", "Echo")
        browser.press("/")
        browser.press(*"echo", "Down", "Enter")
        browser.wait_text("#device-title", "Echo")
        browser.press("Escape")
        browser.wait("return location.hash === '#devices'")
        browser.open(self.site.address)
        browser.wait_text("#device-table", "Echo")
        reached = []
        for _ in range(24):
            browser.press("Tab")
            reached.append(browser.run("return document.activeElement.id || document.activeElement.textContent"))
        views = ("Devices", "Links", "Adapters", "Recordings")
        for name in ("Skip to the content", *views, "filter", "pause", "Name", "RSSI"):
            self.assertIn(name, reached)

    def test_narrow(self):
        """On 360 pixels no view scrolls sideways, and rows remain rows."""
        browser = self.browser
        browser.resize(360, 640)
        browser.wait_text("#device-table", "Belt")
        self.assertIn("row", [role for role, _ in browser.accessibility()])
        for view in VIEWS:
            browser.click(f"nav a[href='#{view}']")
            self.assert_no_scroll(view)
        browser.click("nav a[href='#adapters']")
        browser.wait_text("#doctor-table", "This is bleshell")
        # Words are not broken: each cell has the width of the page.
        widths = browser.run(
            "return [...document.querySelectorAll('#doctor-table tbody :is(th, td)')].map((each) => each.clientWidth)")
        self.assertGreater(min(widths), 300)
        browser.click("nav a[href='#devices']")
        self.open_device("Belt")
        self.press_button("Subscribe Heart Rate Measurement")
        browser.wait("return (document.querySelector('#plot-lines polyline')?.points.length ?? 0) >= 2")
        self.assert_no_scroll("device")
        self.disconnect()

    def assert_no_scroll(self, view):
        # Without the scroll bar of a long view.
        content, room = self.browser.run(
            "const { scrollWidth, clientWidth } = document.documentElement; return [scrollWidth, clientWidth]")
        self.assertEqual(content, room, view)
        self.assertLessEqual(room, 360)

    def test_contrast(self):
        """Text is readable in light and in dark (WCAG 2, 1.4.3)."""
        browser = self.browser
        browser.wait_text("#device-table", "Belt")
        grounds = set()
        for dark in (False, True):
            browser.set_dark(dark)
            ground = browser.run("return getComputedStyle(document.body).backgroundColor")
            grounds.add(ground)
            for selector in ("body", ".note", "#device-table a", "#device-table th"):
                color = browser.run(
                    "return getComputedStyle(document.querySelector(arguments[0])).color", selector)
                self.assertGreaterEqual(contrast(color, ground), 4.5, f"{selector} dark={dark}")
        self.assertEqual(len(grounds), 2)

    def test_screen_reader(self):
        """A screen reader is told a table with headings, links with names, and the state."""
        self.browser.wait_text("#device-table", "Belt")
        nodes = self.browser.accessibility()
        for node in [
            ("link", "Belt"), ("searchbox", "Filter"), ("button", "Pause"), ("columnheader", "RSSI"),
            ("navigation", "Views"), ("table", "Devices that are heard; the arrow keys move between them"),
        ]:  # fmt: skip
            self.assertIn(node, nodes)
        roles = [role for role, _ in nodes]
        for role in ("banner", "main", "status", "rowheader", "row"):
            self.assertIn(role, roles)

    def test_daemon_comes_back(self):
        """The page tells that the daemon is gone, and goes on when it is back."""
        site, browser = self.site, self.browser
        browser.wait_text("#device-table", "Belt")
        site.bled.kill()
        browser.wait_text("#state", "^(?!bled 0)")
        browser.wait_text("#device-count", "^0 devices")
        site.start_bled(site.scenario)
        browser.wait_text("#device-table", "Belt")


class ReadOnlyTests(BrowserTests):
    WRITES = False

    def test_write_is_refused(self):
        """Without --allow-writes the page has no way to write, and the server refuses."""
        browser, site = self.browser, self.site
        self.open_device("Echo")
        self.assertEqual(browser.run("return document.querySelectorAll('#tree form').length"), 0)
        browser.wait_text("#state", "read-only")
        device = browser.run("return location.hash.split('/')[1]")
        body = {"handle": 3, "value": "00", "response": True}
        status, _, content = site.request("POST", f"/api/devices/{device}/write", body=body)
        self.assertEqual(status, 403)
        self.assertIn("--allow-writes", json.loads(content)["error"])
        self.disconnect()

    def test_token_is_needed(self):
        """A page without the token, or with that of another start, shows nothing."""
        browser = self.browser
        browser.run("sessionStorage.clear()")
        browser.open(f"http://127.0.0.1:{self.site.port}/")
        browser.wait_text("#state", "earlier start")
        self.assertEqual(browser.text("#device-table tbody"), "")
        browser.open(f"http://127.0.0.1:{self.site.port}/#{'0' * 32}")
        browser.wait_text("#state", "earlier start")

    def test_rebinding(self):
        """A name of an attacker that points to this machine reaches nothing (DNS rebinding)."""
        self.browser.open(f"http://rebound.example:{self.site.port}/")
        self.assertIn("Misdirected Request", self.browser.text("body"))

    def test_foreign_page(self):
        """A foreign page reads and changes nothing, not even with the token, and frames nothing."""
        browser, site = self.browser, self.site
        with ForeignSite() as foreign:
            browser.open(foreign.address)
            for mode, headers in (("cors", {"Authorization": f"Bearer {site.token}"}), ("cors", {}), ("no-cors", {})):
                for method, path in (("GET", "api/doctor"), ("POST", "api/recordings"), ("GET", "page.js")):
                    result = browser.run_async(
                        "const [address, method, mode, headers] = arguments;"
                        "const answer = await fetch(address, { method, mode, headers });"
                        "return answer.type + await answer.text();",
                        f"http://127.0.0.1:{site.port}/{path}", method, mode, headers)
                    self.assertTrue(result.startswith("TypeError") or result == "opaque", result)
            framed = browser.run_async(
                "const frame = document.createElement('iframe'); frame.src = arguments[0];"
                "document.body.append(frame); await new Promise((done) => frame.onload = done);"
                "try { return frame.contentDocument ? 'readable' : 'foreign'; } catch { return 'foreign'; }",
                f"http://127.0.0.1:{site.port}/")
            self.assertEqual(framed, "foreign")
        self.assertTrue(any("frame-ancestors" in line for line in browser.complaints()))
        _, answer = site.events()
        self.assertEqual(read_event(answer, "status")["recordings"], [])


class AttackTests(unittest.TestCase):
    """Other users of the machine reach the port, without the token."""

    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.close)

    def test_loopback_only(self):
        """Other addresses of the machine do not lead to the server."""
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.site.port), timeout=PATIENCE)

    def test_many_listeners(self):
        """Of nine streams the last is refused, and the others go on; an end makes room."""
        streams = [self.site.events() for _ in range(8)]
        self.assertEqual([answer.status for _, answer in streams], [200] * 8)
        connection, answer = self.site.events()
        self.assertEqual(answer.status, 503)
        connection.close()
        for _, answer in streams:
            self.assertIn("devices", read_event(answer, "air"))
        for connection, answer in streams:
            answer.close()
            connection.close()
        self.wait_for_stream()

    def wait_for_stream(self):
        while True:
            connection, answer = self.site.events()
            if answer.status == 200:
                return connection, answer
            connection.close()

    def test_idle_connections(self):
        """Hundreds of connections that say nothing keep the page neither from loading nor from its events."""
        connection, answer = self.wait_for_stream()
        idle = [socket.create_connection(("127.0.0.1", self.site.port)) for _ in range(300)]
        self.assertEqual(self.site.request("GET", "/")[0], 200)
        self.assertIn("devices", read_event(answer, "air"))
        for each in idle:
            each.close()
        answer.close()
        connection.close()

    def test_slow_reader(self):
        """A page that does not read costs no memory, and holds up no other."""
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.connect(("127.0.0.1", self.site.port))
        slow.sendall(
            f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{self.site.port}\r\n"
            f"Authorization: Bearer {self.site.token}\r\n\r\n".encode())
        connection, answer = self.wait_for_stream()
        before = self.memory()
        for _ in range(8):
            self.assertIn("devices", read_event(answer, "air"))
        self.assertLess(self.memory() - before, 16 << 20)
        slow.close()
        answer.close()
        connection.close()

    def memory(self):
        status = pathlib.Path(f"/proc/{self.site.web.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) << 10

    def test_odd_requests(self):
        """Requests that are not HTTP are refused or closed, and the server goes on."""
        for octets in (b"\0" * 9000, b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.site.port), timeout=PATIENCE) as connection:
                connection.sendall(octets)
                connection.shutdown(socket.SHUT_WR)
                self.assertRegex(connection.recv(64), rb"^(HTTP/1\.1 4\d\d |$)")
        self.assertEqual(self.site.request("GET", "/api/doctor")[0], 200)


class ForeignSite:
    """A page of another origin."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><link rel=icon href='data:,'><body>foreign")

        def log_message(self, *_):
            pass

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def contrast(one, other):
    """The contrast of two colours, 1 to 21."""
    def luminance(text):
        parts = [int(part) / 255 for part in re.findall(r"\d+", text)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    unittest.main()

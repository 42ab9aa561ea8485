"""Chromium without a window, driven by chromedriver over WebDriver (W3C) with the standard library alone."""

import base64
import json
import os
import re
import time
import urllib.error
import urllib.request

from site_under_test import PATIENCE, Program

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013", "Tab": "\ue004"}


class Browser:
    def __init__(self, folder, width=1100, height=800):
        self.driver = Program(["chromedriver", "--port=0"], {**os.environ, "HOME": str(folder)})
        port = self.driver.expect(r"started successfully on port (\d+)").group(1)
        self.address = f"http://127.0.0.1:{port}"
        arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}",
            f"--user-data-dir={folder}/chromium", "--lang=en-GB", "--force-device-scale-factor=1",
            # A name that an attacker makes point to this machine.
            "--host-resolver-rules=MAP rebound.example 127.0.0.1",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        wanted = {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }  # fmt: skip
        self.path = ""
        self.path = "/session/" + self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.resize(width, height)

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            self.address + self.path + path, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from error

    def open(self, address):
        # Another fragment alone would not load the page again.
        self._call("POST", "/url", {"url": "about:blank"})
        self._call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """Runs an async function, and returns what it returns."""
        body = (
            "const done = arguments[arguments.length - 1];"
            f"(async (...arguments) => {{ {script} }})(...arguments).then(done, (error) => done(String(error)));")
        return self._call("POST", "/execute/async", {"script": body, "args": list(arguments)})

    def find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self._call("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self._call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Presses keys one after the other, wherever the focus is."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def wait(self, script, *arguments):
        """Waits until a script returns something true; returns it."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(f"did not come: {script}\n" + self.text("body"))
            time.sleep(0.02)
        return found

    def wait_text(self, selector, pattern):
        """Waits until the text of an element has a pattern; returns the match."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text(selector))):
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} did not come in {selector}: {self.text('body')}")
            time.sleep(0.02)
        return found

    def resize(self, width, height):
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def cover(self):
        """Opens another tab, which hides the page; returns what shows the page again."""
        page = self._call("GET", "/window")
        self._call("POST", "/window", {"handle": self._call("POST", "/window/new", {"type": "tab"})["handle"]})

        def uncover():
            self._call("DELETE", "/window")
            self._call("POST", "/window", {"handle": page})
        return uncover

    def set_dark(self, dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._devtools("Emulation.setEmulatedMedia", {"features": features})

    def _devtools(self, command, parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def accessibility(self):
        """The nodes that a screen reader is told: (role, name)."""
        nodes = self._devtools("Accessibility.getFullAXTree", {})["nodes"]
        value = lambda node, key: node.get(key, {}).get("value", "")  # noqa: E731
        return [(value(node, "role"), value(node, "name")) for node in nodes if not node.get("ignored")]

    def picture(self):
        return base64.b64decode(self._call("GET", "/screenshot"))

    def complaints(self):
        """The lines of the browser's console: errors of scripts, and violations of the policy."""
        entries = self._call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries]

    def close(self):
        try:
            if self.path:
                self._call("DELETE", "")
        finally:
            self.driver.kill()

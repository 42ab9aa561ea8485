#!/usr/bin/env python3
"""Takes docs/web-devices.png and docs/web-device.png of the page in Chromium. `make docs-pictures` calls it."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from browser import Browser  # noqa: E402
from site_under_test import ROOT, Site  # noqa: E402

DOCS = ROOT / "docs"
MEASUREMENT = "[data-title^='Heart Rate Measurement']"
# A second each.
POINTS = 30


def main():
    with tempfile.TemporaryDirectory(prefix="bled-chromium-", ignore_cleanup_errors=True) as scratch:
        site = Site(None, writes=True)
        browser = None
        try:
            browser = Browser(scratch, 900, 420)
            browser.open(site.address)
            points = "document.querySelector('.spark polyline')?.getAttribute('points').split(' ').length"
            browser.wait(f"return {points} >= {POINTS}")
            (DOCS / "web-devices.png").write_bytes(browser.picture())
            browser.set_dark(True)
            browser.resize(1200, 760)
            browser.run(
                "const links = [...document.querySelectorAll('#device-table a')];"
                "links.find((link) => link.text === 'Heart Belt').click();")
            browser.click("#connect")
            browser.wait("return document.querySelector(arguments[0])", MEASUREMENT)
            browser.click(MEASUREMENT)
            browser.wait(
                "return (document.querySelector('#plot-lines polyline')?.points.length ?? 0) >= arguments[0]",
                POINTS)
            (DOCS / "web-device.png").write_bytes(browser.picture())
        finally:
            if browser:
                browser.close()
            site.close()


if __name__ == "__main__":
    main()

"""Links of the pages: the file exists, and so does the section."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("python/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def sections(text):
    """The anchors of the headings, as GitHub makes them: a second one of a name has -1 at its end."""
    found = []
    for heading in re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.append(f"{anchor}-{found.count(anchor)}" if anchor in found else anchor)
    return found


def dead_links(page):
    # A link may have a line break in its text.
    for target in LINK.findall(re.sub(r"\n\s*", " ", page.read_text())):
        file, _, section = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if "://" in target or target.startswith("mailto:"):
            continue
        if not path.exists() or (section and path.suffix == ".md" and section not in sections(path.read_text())):
            yield target


class Links(unittest.TestCase):
    def test_anchors(self):
        page = "# `bled` on [Linux](a.md), 2\n## A\n```\n# b\n```\n## A"
        self.assertEqual(sections(page), ["bled-on-linux-2", "a", "a-1"])

    def test_each_link_leads_somewhere(self):
        for page in PAGES:
            self.assertEqual(list(dead_links(page)), [], page.relative_to(ROOT))


if __name__ == "__main__":
    unittest.main()

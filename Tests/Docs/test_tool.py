"""That the tool notices what differs: a page that passes says something only if a wrong one fails."""

import unittest

import blocks
import compare


def differs(pattern, value, names=None):
    return compare.difference(compare.json_pattern(pattern), value, {} if names is None else names)


class JSON(unittest.TestCase):
    def test_all_members_count_unless_some_are_elided(self):
        self.assertIsNone(differs('{"a":1,"b":[true]}', {"a": 1, "b": [True]}))
        self.assertEqual(differs('{"a":1}', {"a": 1, "b": 2}), " also has b: 2")
        self.assertEqual(differs('{"a":1,"b":2}', {"a": 1}), '.b is missing in {"a": 1}')
        self.assertIsNone(differs('{"a":1,…}', {"a": 1, "b": 2}))
        self.assertIsNotNone(differs('{"a":1,…}', {"a": True, "b": 2}))

    def test_lists(self):
        self.assertIsNone(differs("[…,2,…]", [1, 2, 3]))
        self.assertIsNotNone(differs("[…,4,…]", [1, 2, 3]))
        self.assertIsNotNone(differs("[1,2]", [1, 2, 3]))
        self.assertIsNotNone(differs("[2,…]", [1, 2]))

    def test_an_identifier_is_the_same_everywhere(self):
        names = {}
        self.assertIsNone(differs('{"peripheral":"7D49…"}', {"peripheral": "AAAA-1"}, names))
        self.assertIsNone(differs('{"peripheral":"7D49…"}', {"peripheral": "AAAA-1"}, names))
        self.assertIsNotNone(differs('{"peripheral":"7D49…"}', {"peripheral": "BBBB-2"}, names))

    def test_what_varies_has_its_type(self):
        self.assertIsNone(differs('{"rssi":-57}', {"rssi": -60}))
        self.assertIsNotNone(differs('{"rssi":-57}', {"rssi": "-57"}))
        self.assertIsNotNone(differs('{"mtu":247}', {"mtu": 185}))


class Lines(unittest.TestCase):
    def test_what_varies(self):
        self.assertIsNone(compare.lines_differ(["Echo  -58  5CCB6F76"], ["Echo  -61  43854FCC"]))
        self.assertIsNotNone(compare.lines_differ(["Echo  -58  5CCB6F76"], ["Belt  -58  5CCB6F76"]))

    def test_elided_lines_and_order(self):
        self.assertIsNone(compare.lines_differ(["a", "…", "d"], ["a", "b", "c", "d"]))
        self.assertIsNotNone(compare.lines_differ(["a", "…", "d"], ["a", "b", "c"]))
        self.assertIsNotNone(compare.lines_differ(["b", "a"], ["a", "b"]))
        self.assertIsNone(compare.lines_differ(["b", "a"], ["a", "b"], ordered=False))
        self.assertIsNotNone(compare.lines_differ(["b", "b", "…"], ["a", "b"], ordered=False))


class Pages(unittest.TestCase):
    def test_kinds(self):
        page = ["", "    $ a", "    b", "", "<!-- docs-test: not run, why -->", "    $ c", "", "```swift", "```"]
        self.assertEqual([block.kind for block in blocks.read(page)], ["console", "not", "swift"])
        self.assertEqual(blocks.commands(blocks.read(page)[0]), [("a", ["b"], 2)])

    def test_more_time(self):
        self.assertEqual(blocks.with_more_time("bleshell scan --time 3 --json"), "bleshell scan --time 30 --json")
        self.assertIsNone(blocks.with_more_time("bleshell scan --timeout 3"))

    def test_what_nobody_can_run_is_an_error(self):
        for page in (["", "    nothing"], ["```json", "```"], ["<!-- docs-test: fil x -->"], ["```swift"]):
            with self.assertRaises(blocks.PageError, msg=page):
                blocks.read(page)

    def test_messages_are_folded(self):
        block = blocks.read(['    > {"a":', "       1}", "    < …"])[0]
        self.assertEqual(blocks.messages(block), [[">", '{"a": 1}', 1], ["<", "…", 3]])


if __name__ == "__main__":
    unittest.main()

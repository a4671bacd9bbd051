#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""pack --html: the page holds the packing that -o writes. Its look is tested in tests/report/browser."""
import json
import re
import unittest

from program import DONE, NO, USAGE, ProgramTest

PROBLEM = "id,lower,upper,size,gaps\nresting,0,9,64,3-6\nlate,3,6,128,\nb<i>,0,9,32,\n"


class PackPage(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("buffers.csv", PROBLEM)

    def sheet(self, page):
        text = (self.folder / page).read_text()
        embedded = re.search(r'<script type="application/json" id="sheets">(.*?)</script>', text, re.DOTALL)
        return json.loads(embedded.group(1))

    def test_the_page_holds_the_packing(self):
        report = self.json(DONE, "pack", "buffers.csv", "--html", "map.html", "-o", "packed.csv", "--capacity", "1KiB")
        page = self.sheet("map.html")
        self.assertIs(page["verified"], True)
        (sheet,) = page["sheets"]
        offsets = [int(line.split(",")[-1]) for line in (self.folder / "packed.csv").read_text().splitlines()[1:]]
        self.assertEqual(sheet["whole"]["offset"], offsets)
        self.assertEqual(sheet["whole"]["name"], ["resting", "late", "b<i>"])
        self.assertEqual(sheet["whole"]["pieces"], [2, 1, 1])
        self.assertEqual(sheet["regions"][0]["arena"], report["height"])
        self.assertEqual(sheet["regions"][0]["capacity"], 1024)
        self.assertEqual(sheet["facts"]["bound"], report["bound"])
        self.assertEqual(sheet["facts"]["graph"], "buffers.csv")
        bounds = sheet["time"]["bounds"]
        self.assertEqual(bounds, [0, 3, 6, 9])
        self.assertEqual(bounds[sheet["facts"]["witness"]], report["witness_time"])

    def test_the_page_is_the_same_each_time_and_on_stdout(self):
        self.expect(DONE, "pack", "buffers.csv", "--html", "map.html")
        result = self.expect(DONE, "pack", "buffers.csv", "--html", "-")
        self.assertEqual(result.stdout, (self.folder / "map.html").read_text())
        self.assertIn("height", result.stderr)

    def test_what_does_not_fit_is_not_drawn(self):
        result = self.expect(NO, "pack", "buffers.csv", "--html", "map.html", "--capacity", "100")
        self.assertIn("nothing was written", result.stderr)
        self.assertNotIn("map.html", self.listing())

    def test_page_and_offsets_are_two_files(self):
        self.expect(USAGE, "pack", "buffers.csv", "--html", "one", "-o", "one")
        self.expect(USAGE, "pack", "buffers.csv", "--html", "buffers.csv")
        self.expect(USAGE, "pack", "buffers.csv", "--html", "-", "--json")


if __name__ == "__main__":
    unittest.main()

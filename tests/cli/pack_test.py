#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""pack: the rows of a file come back with offsets, and published problems are solved."""
import csv
import pathlib
import unittest

from program import BAD_INPUT, DONE, ProgramTest

INSTANCES = pathlib.Path(__file__).resolve().parents[2] / "bench" / "instances"

# a has a gap from 4 to 8, when b is live; c starts at a multiple of 64.
PROBLEM = """id,lower,upper,size,alignment,gaps,offset
a,0,12,10,,4-8,
b,4,8,10,,,
c,0,3,7,64,,
"""


def rows(text):
    return list(csv.DictReader(text.splitlines()))


class PackTest(ProgramTest):
    # c is at 0 and a above it. With a at 0, c would end at 71. b is live in the gap of a and may use its bytes.
    def test_columns_of_the_file_are_kept_next_to_offsets(self):
        self.write("buffers.csv", PROBLEM)
        report = self.json(DONE, "pack", "buffers.csv", "-o", "packed.csv")
        self.assertEqual((report["height"], report["proven_optimal"]), (17, True))
        given, packed = rows(PROBLEM), rows((self.folder / "packed.csv").read_text())
        for before, after in zip(given, packed, strict=True):
            for key in ("id", "lower", "upper", "size", "gaps"):
                self.assertEqual(after[key], before[key])
            self.assertEqual(after["alignment"] or "1", before["alignment"] or "1")
        self.assertEqual([row["size"] for row in packed], ["10", "10", "7"])
        self.assertEqual([int(packed[at]["offset"]) for at in (0, 2)], [7, 0])
        self.assertLessEqual(int(packed[1]["offset"]), 7)

    def test_what_was_packed_is_packed_to_the_same_bytes(self):
        self.write("buffers.csv", PROBLEM)
        self.expect(DONE, "pack", "buffers.csv", "-o", "once.csv")
        self.expect(DONE, "pack", "once.csv", "-o", "twice.csv")
        self.assertEqual((self.folder / "once.csv").read_bytes(), (self.folder / "twice.csv").read_bytes())

    def test_the_problem_may_come_from_a_pipe(self):
        self.write("buffers.csv", PROBLEM)
        self.expect(DONE, "pack", "buffers.csv", "-o", "from_file.csv")
        said = self.expect(DONE, "pack", "-", "-o", "from_pipe.csv", stdin=PROBLEM.encode())
        self.assertIn("stdin", said.stdout)
        self.assertEqual((self.folder / "from_file.csv").read_bytes(), (self.folder / "from_pipe.csv").read_bytes())
        said = self.expect(BAD_INPUT, "pack", "-", stdin=b"id,lower\n")
        self.assertIn("stdin: line 1, column 'upper': the header lacks this required column", said.stderr)

    def test_fixed_offsets_that_collide_are_bad_input(self):
        # a has bytes 0 to 7 until time 4. From time 2, b has bytes 8 to 11, and then bytes 7 to 10.
        for offset, code in ((8, DONE), (7, BAD_INPUT)):
            self.write("fixed.csv", f"id,lower,upper,size,offset\na,0,4,8,0\nb,2,6,4,{offset}\n")
            said = self.expect(code, "pack", "fixed.csv")
        self.assertEqual(said.stdout, "")
        self.assertIn("fixed at bytes [7, 11), it collides with buffer 'a', fixed at bytes [0, 8), at time 2",
                      said.stderr)

    # Except for D and J, the optimum is found and proven with the default effort.
    def test_published_problems_are_solved(self):
        for name in "ABCEFGHIK":
            report = self.json(DONE, "pack", str(INSTANCES / f"{name}.1048576.csv"))
            self.assertIs(report["proven_optimal"], True, name)
            self.assertEqual(report["height"], report["bound"], name)

    # They were made for a capacity of 1 MiB.
    def test_published_problems_fit_their_capacity(self):
        for name in "ABCDEFGHIJK":
            report = self.json(DONE, "pack", str(INSTANCES / f"{name}.1048576.csv"), "--capacity", "1MiB")
            self.assertIs(report["fits"], True, name)
            self.assertIs(report["verified"], True, name)
            self.assertLessEqual(report["height"], 1048576, name)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a small model with a budget that it keeps because a tensor leaves the arena for a time."""
import json
import unittest

import small_models
from program import BAD_INPUT, DONE, ProgramTest
from small_models import ints, node, value_info


class Swap(ProgramTest):
    def test_what_leaves_the_arena_may_be_in_a_file(self):
        # a has 4 KiB, and big, which b is a part of, and t have 16 KiB each. While t is computed, a is elsewhere.
        nodes = [node("Softmax", ["x"], ["a"]),
                 node("Transpose", ["a"], ["b"], attributes=[ints("perm", [1, 0])]),
                 node("Concat", ["b", "b", "b", "b"], ["big"], attributes=[small_models.axis(0)]),
                 node("Transpose", ["big"], ["t"], attributes=[ints("perm", [1, 0])]),
                 node("ReduceMax", ["t"], ["m"]),
                 node("Add", ["a", "m"], ["y"])]
        self.write("swap.onnx", small_models.model(
            nodes, [value_info("x", [32, 32])], [value_info("y", [32, 32])]))
        run = ("run", "swap.onnx", "--synthetic", "1", "--output-dir")
        self.expect(DONE, *run, "plain")
        self.write("hints.json", json.dumps({"hints": [{"name": "a", "hint": "swap"}]}))
        # x and the two large tensors
        limit = ("--budget", "36KiB", "--link", "1e15", "--hints", "hints.json")
        self.assertIn("outside 4,096 B", self.expect(DONE, *run, "moved", *limit).stdout)
        self.expect(DONE, *run, "file", *limit, "--swap-dir", ".")
        outputs = {(self.folder / folder / "y.npy").read_bytes() for folder in ("plain", "moved", "file")}
        self.assertEqual(len(outputs), 1)
        self.assertFalse([name for name in self.listing() if name.startswith("lowtide-")])
        said = self.expect(BAD_INPUT, *run, "none", *limit, "--swap-dir", "absent").stderr
        self.assertIn("absent: there can be no file of 4,096 B", said)
        said = self.expect(DONE, *run, "none", "--swap-dir", ".").stderr
        self.assertIn("nothing leaves the arena in this plan", said)


if __name__ == "__main__":
    unittest.main()

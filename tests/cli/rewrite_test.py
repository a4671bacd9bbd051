#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of TensorFlow are rewritten as its MemoryOptimizer does."""
import unittest

from json_output_test import documented_keys, keys_of
from program import BAD_INPUT, DONE, USAGE, ProgramTest

TRAINING = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "r" op: "Relu" input: "x" }
node { name: "loss" op: "Conv2D" input: "r" }
node { name: "tower/gradients/g" op: "ReluGrad" input: "loss" input: "r" }
versions { producer: 22 }
"""


class Rewrite(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("train.pbtxt", TRAINING)

    def test_cheap_nodes_run_again_for_gradients(self):
        said = self.expect(DONE, "rewrite", "train.pbtxt", "--level", "recomputation", "-o", "lean.pbtxt")
        self.assertIn("4 nodes, and 6 after the rewriting", said.stdout)
        text = (self.folder / "lean.pbtxt").read_text()
        self.assertIn('input: "loss"\n  input: "Recomputed/r"', text)
        self.assertIn('name: "RecomputeTrigger/r"\n  op: "NoOp"\n  input: "^loss"', text)
        self.assertIn("producer: 22", text)

    def test_json(self):
        found = self.json(DONE, "rewrite", "train.pbtxt", "--level", "heuristics")
        self.assertFalse(set(keys_of(found)) - documented_keys("rewrite"))
        self.assertEqual((found["nodes_before"], found["nodes"], found["groups"]), (4, 6, 1))
        self.assertEqual(found["recomputed"], ["r"])
        self.assertEqual(self.json(DONE, "rewrite", "train.pbtxt")["recomputed"], [])  # no hint
        other = self.json(DONE, "rewrite", "train.pbtxt", "--level", "heuristics", "--scope", "other/")
        self.assertEqual(other["recomputed"], [])

    def test_wrong_use(self):
        self.expect(USAGE, "rewrite", "train.pbtxt", "--level", "all")
        self.expect(USAGE, "rewrite", "train.pbtxt", "-o", "train.pbtxt")
        self.assertIn("'y'", self.expect(BAD_INPUT, "rewrite", "train.pbtxt", "--feed", "y").stderr)
        error = self.expect(BAD_INPUT, "rewrite", "model.onnx", "-o", "out.pb").stderr
        self.assertIn("the file is not a GraphDef", error)
        self.assertNotIn("out.pb", self.listing())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""reorder: the file with its nodes in an order that needs less memory, and nothing else changed."""
import subprocess
import unittest

import netdef_test
import small_models
from json_output_test import documented_keys, keys_of
from program import BAD_INPUT, DONE, PLAIN, PROGRAM, USAGE, ProgramTest, needs_earlier
from small_models import node, value_info


def branches():
    """x of 1 KiB. a and b are 64 KiB each, and p and q sums of each of them, of 4 bytes. y = p + q. In the order of
    the file, a and b are live together."""
    def wide(name):
        return node("Concat", ["x"] * 64, [name], f"make_{name}", [small_models.axis(0)])
    nodes = [wide("a"), wide("b"), node("ReduceSum", ["a"], ["p"], "sum_a"), node("ReduceSum", ["b"], ["q"], "sum_b"),
             node("Add", ["p", "q"], ["y"], "add")]
    return small_models.model(nodes, [value_info("x", [1, 256])], [value_info("y", [1, 1])])


@needs_earlier
class Reorder(ProgramTest):
    def test_nodes_move_and_all_else_stays(self):
        self.write("branches.onnx", branches())
        report = self.json(DONE, "reorder", "branches.onnx", "-o", "new.onnx")
        self.assertFalse(set(keys_of(report)) - documented_keys("reorder"))
        self.assertEqual(sorted(report["nodes"]), [0, 1, 2, 3, 4])
        self.assertLess(report["nodes"].index(2), 3)  # one sum before the other wide value
        # Two values of 65,536 bytes, or one of them and a sum in a block of 256 bytes.
        self.assertGreaterEqual(report["given"]["pattern_bytes"], 2 * 65536)
        self.assertLess(report["reordered"]["pattern_bytes"], 65536 + 1024)
        old, new = (self.folder / "branches.onnx").read_bytes(), (self.folder / "new.onnx").read_bytes()
        self.assertEqual((len(old), sorted(old)), (len(new), sorted(new)))
        self.assertNotEqual(old, new)
        again = self.json(DONE, "reorder", "new.onnx", "-o", "again.onnx")
        self.assertEqual(again["reordered"], report["reordered"])

    def test_predictions_of_open_sizes_are_those_of_compare(self):
        """a has 2 KiB, and u and b have 4 KiB. A session that does not know u does not write b over it."""
        nodes = [node("Exp", ["x"], ["a"]), node("Concat", ["a", "a"], ["u"], "u", [small_models.axis(0)]),
                 node("Relu", ["u"], ["b"]), node("ReduceSum", ["b"], ["y"])]
        for batch, live in (("batch", 8192), (1, 6144)):
            self.write("m.onnx", small_models.model(nodes, [value_info("x", [batch, 512])], [value_info("y", [1, 1])]))
            sizes = ("--dim", "batch=1") if batch != 1 else ()
            report = self.json(DONE, "reorder", "m.onnx", "-o", "new.onnx", *sizes)
            compared = self.json(DONE, "compare", "m.onnx", *sizes)["onnxruntime"]
            self.assertEqual(report["default"], {key: compared[key] for key in ("pattern_bytes", "live_bytes")})
            self.assertEqual(report["default"]["live_bytes"], live)

    def test_text_says_how_the_order_is_kept(self):
        self.write("branches.onnx", branches())
        said = self.expect(DONE, "reorder", "branches.onnx", "-o", "new.onnx").stdout
        for part in ("execution_order = PRIORITY_BASED", "ORT_DISABLE_ALL", "PRIORITY_BASED, reordered"):
            self.assertIn(part, said)

    def test_stdout_can_take_the_file(self):
        self.write("branches.onnx", branches())
        self.expect(DONE, "reorder", "branches.onnx", "-o", "new.onnx")
        result = self.run_raw("reorder", "branches.onnx", "-o", "-")
        self.assertEqual(result, (self.folder / "new.onnx").read_bytes())

    def run_raw(self, *words):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, env=PLAIN, capture_output=True, check=True,
                              timeout=60).stdout

    def test_what_is_refused(self):
        self.assertIn("-o FILE", self.expect(USAGE, "reorder", "model.onnx").stderr)
        self.assertIn("is the input", self.expect(USAGE, "reorder", "model.onnx", "-o", "model.onnx").stderr)
        self.write("net.pbtxt", netdef_test.NET)
        said = self.expect(BAD_INPUT, "reorder", "net.pbtxt", "-o", "new.onnx").stderr
        self.assertIn("net.pbtxt: ONNX Runtime runs ONNX models only", said)
        self.write("bad.onnx", branches()[:-9])
        self.expect(BAD_INPUT, "reorder", "bad.onnx", "-o", "new.onnx")
        self.assertNotIn("new.onnx", self.listing())


if __name__ == "__main__":
    unittest.main()

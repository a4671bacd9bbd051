#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of nodes of `inspect`: as JSON and as CSV."""
import unittest

import small_models
from json_output_test import NARROW, WIDE, documented_keys, keys_of
from program import DONE, USAGE, ProgramTest


class NodeTable(ProgramTest):
    def test_inspect_lists_the_nodes(self):
        self.assertNotIn("nodes", self.json(DONE, "inspect", "model.onnx"))
        report = self.json(DONE, "inspect", "model.onnx", "--operators", "--top", "0")
        self.assertLessEqual(set(keys_of(report)), documented_keys("inspect"))
        self.assertEqual([(node["step"], node["name"], node["op"]) for node in report["nodes"]],
                         [(0, "relu", "Relu"), (1, "sigmoid", "Sigmoid"), (2, "add", "Add"), (3, "pool", "MaxPool")])
        add, pool = report["nodes"][2:]
        self.assertEqual((add["read_bytes"], add["written_bytes"], add["macs"]), (2 * WIDE, WIDE, 0))
        self.assertEqual((pool["read_bytes"], pool["written_bytes"], pool["outer"]), (WIDE, NARROW, None))
        self.assertEqual(report["totals"]["read_bytes"], 5 * WIDE)
        self.assertEqual(report["totals"]["written_bytes"], report["bytes"]["temporaries_sum"])
        self.write("branches.onnx", small_models.stale_branch())
        report = self.json(DONE, "inspect", "branches.onnx", "--operators")
        self.assertLessEqual(set(keys_of(report)), documented_keys("inspect"))
        inside = {node["inside"] for node in report["nodes"]}
        self.assertEqual(inside, {None, "then_branch", "else_branch"})
        for node in report["nodes"]:
            if node["outer"] is not None:
                self.assertEqual(report["nodes"][node["outer"]]["op"], "If")

    def test_inspect_writes_the_nodes_as_csv(self):
        self.expect(DONE, "inspect", "model.onnx", "--csv", "nodes.csv")
        lines = (self.folder / "nodes.csv").read_text().splitlines()
        self.assertEqual(lines[0], "step,inside,name,operator,read_bytes,written_bytes,scratch_bytes,"
                         "constants_bytes,macs")
        self.assertEqual(lines[3], f"2,,add,Add,{2 * WIDE},{WIDE},0,0,0")
        self.assertEqual(len(lines), 5)
        shown = self.expect(DONE, "inspect", "model.onnx", "--csv", "-", "-q")
        self.assertTrue(shown.stdout.startswith("step,inside,"))
        self.expect(USAGE, "inspect", "model.onnx", "--csv", "-", "--json")
        self.expect(USAGE, "inspect", "model.onnx", "--csv", "model.onnx")


if __name__ == "__main__":
    unittest.main()

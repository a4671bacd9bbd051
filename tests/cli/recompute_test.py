#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans and runs a model in which a node runs again to keep a budget."""
import json
import re
import unittest

from program import DONE, NO, USAGE, ProgramTest
from small_models import FLOAT, field, graph, node, value_info

SIDE = 32
LARGE = 4 * SIDE * SIDE  # bytes of f0, f1 and f2


def absent(name, extents):
    """An initializer of floats whose file is absent, so that --synthetic makes it up."""
    dims = b"".join(field(1, extent) for extent in extents)
    place = field(13, field(1, "location") + field(2, "absent.bin"))
    return dims + field(2, FLOAT) + field(8, name) + place + field(14, 1)


def model():
    """f0 = x w, f1 = f0 w, f2 = f1 w; then b2 = u f2, b1 = b2 f1, b0 = b1 f0. While b2 runs, all f are live."""
    reads = {"f0": ["x", "w"], "f1": ["f0", "w"], "f2": ["f1", "w"], "b2": ["u", "f2"], "b1": ["b2", "f1"],
             "b0": ["b1", "f0"]}
    nodes = [node("MatMul", inputs, [output], "make_" + output) for output, inputs in reads.items()]
    weights = [absent("w", [SIDE, SIDE]), absent("u", [4, SIDE])]
    content = graph(nodes, [value_info("x", [SIDE, SIDE])], [value_info("b0", [4, SIDE])], weights)
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class Recompute(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", model())

    def plan_json(self, code, *words):
        said = self.expect(code, "plan", "model.onnx", "--target", "cpu", "--json", *words)
        return json.loads(said.stdout)

    def budget(self):
        """Too little by most of one large tensor."""
        return self.plan_json(DONE)["bytes"]["ram"] - LARGE + 64

    def test_one_node_runs_again(self):
        budget = self.budget()
        report = self.plan_json(DONE, "--budget", f"{budget}B", "-o", "plan.json")
        found = report["budget"]["recomputation"]
        self.assertLessEqual(report["bytes"]["ram"], budget)
        self.assertEqual(found["outcome"], "found")
        self.assertEqual([(one["node"]["op"], one["times"], one["bytes"]) for one in found["recomputed"]],
                         [("lowtide::PackedMatMul", 1, LARGE)])
        self.assertEqual(found["cost"], found["base_cost"] + found["recomputed"][0]["picoseconds"])
        self.assertGreaterEqual(found["cost"], found["cost_bound"])
        self.assertIn("recompute", json.loads((self.folder / "plan.json").read_text())["features"])
        self.expect(DONE, "verify", "model.onnx", "plan.json", "--target", "cpu")
        said = self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "--budget", f"{budget}B").stdout
        self.assertIn("1 node runs again to keep the budget", said)

    def test_it_says_what_stays_and_why(self):
        """With plain kernels, the peak is at b2, which reads f2; f1 stays for b1."""
        words = ("--target", "cpu", "--without", "formats")
        report = json.loads(self.expect(DONE, "plan", "model.onnx", "--json", *words).stdout)
        budget = f"{report['bytes']['ram'] - LARGE + 64}B"
        said = self.expect(DONE, "plan", "model.onnx", "--budget", budget, *words).stdout
        self.assertRegex(said, r"f1 .*its node would take .* again, and needs f0, which is not there")
        report = json.loads(self.expect(DONE, "plan", "model.onnx", "--budget", budget, "--json", *words).stdout)
        kept, = report["budget"]["recomputation"]["kept"]
        self.assertEqual((kept["tensor"], kept["bytes"], kept["reason"], kept["absent"]),
                         ("f1", LARGE, "costs_more", ["f0"]))
        self.assertGreater(kept["next_read"], kept["step"])
        self.assertGreater(kept["picoseconds"], 0)

    def test_a_run_gives_the_same_bits(self):
        budget = f"{self.budget()}B"
        outputs = []
        for threads in ("1", "2"):
            self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "--threads", threads, "--budget", budget,
                        "-o", "plan.json")
            run = ("run", "model.onnx", "--synthetic", "1", "--threads", threads, "--output-dir", ".")
            for words in ([], ["--budget", budget], ["--plan", "plan.json"]):
                said = self.expect(DONE, *run, "--poison", "--guard", "--compare", *words).stdout
                outputs.append((self.folder / "b0.npy").read_bytes())
                peak = re.search(r"peak ([\d,]+ B).* of ([\d,]+ B)", said)
                self.assertEqual(peak[1], peak[2], said)
        self.assertEqual(outputs, [outputs[0]] * 6)

    def test_an_impossible_budget_is_refused_with_a_proof(self):
        # The first node alone reads x and w and writes f0; x counts as memory of the caller.
        budget = f"{2 * LARGE}B"
        found = self.plan_json(NO, "--budget", budget)["budget"]["recomputation"]
        self.assertEqual(found["outcome"], "infeasible")
        self.assertEqual(found["recomputed"], [])
        self.assertIsNone(found["cost"])
        refused = self.expect(NO, "run", "model.onnx", "--synthetic", "1", "--budget", budget, "--output-dir", ".")
        self.assertIn("exceeds the budget by", refused.stderr)
        self.assertFalse((self.folder / "b0.npy").exists())

    def test_a_budget_does_not_change_a_given_plan(self):
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "-o", "plan.json")
        words = ("run", "model.onnx", "--synthetic", "1", "--plan", "plan.json", "--budget", "1MiB")
        self.assertIn("omit one of the two", self.expect(USAGE, *words).stderr)

    def test_the_stage_can_be_skipped(self):
        report = self.plan_json(NO, "--budget", f"{self.budget()}B", "--skip", "recompute")
        self.assertIsNone(report["budget"]["recomputation"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""plan --curve and --budget auto: what less memory costs, with the knee."""
import csv
import io
import json
import unittest

from json_output_test import documented_keys, keys_of
from program import DONE, NO, USAGE, ProgramTest
from recompute_test import LARGE, absent, model
from small_models import field, graph, node, value_info

SIDE = 56


def padded_model():
    """Three convolutions of 17 channels, which blocks pad, and products of which one can run again for less memory.

    With formats for this machine, the convolutions need most; without them, the products do.
    """
    convolutions = [node("Conv", [source, "w" + result], [result], "make_" + result)
                    for source, result in (("p", "a"), ("a", "b"), ("b", "c"))]
    products = [node("MatMul", [left, right], [result], "make_" + result)
                for left, right, result in (("x", "w", "f0"), ("f0", "w", "f1"), ("f1", "w", "f2"), ("u", "f2", "b2"),
                                            ("b2", "f1", "b1"), ("b1", "f0", "b0"))]
    weights = [absent("w" + name, [17, 17, 1, 1]) for name in "abc"]
    weights += [absent("w", [SIDE, SIDE]), absent("u", [4, SIDE])]
    content = graph([*convolutions, node("GlobalAveragePool", ["c"], ["y"], "pool"), *products],
                    [value_info("p", [1, 17, 16, 16]), value_info("x", [SIDE, SIDE])],
                    [value_info("y", [1, 17, 1, 1]), value_info("b0", [4, SIDE])], weights)
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class PlanCurve(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", model())

    def curve(self, *words):
        return self.json(DONE, "plan", "model.onnx", "--curve", *words)["curve"]

    def test_less_memory_never_takes_less_time(self):
        report = self.json(DONE, "plan", "model.onnx", "--curve", "--points", "6")
        self.assertFalse(set(keys_of(report)) - documented_keys("plan"))
        curve = report["curve"]
        points = curve["points"]
        self.assertEqual(len(points), 6)
        ram = self.json(DONE, "plan", "model.onnx")["bytes"]["ram"]
        self.assertEqual((points[0]["budget"], points[0]["ram"], points[0]["reruns"]), (ram, ram, 0))
        self.assertEqual((points[0]["cost"], points[-1]["budget"]), (curve["base_cost"], curve["floor"]))
        found = [point for point in points if point["outcome"] == "found"]
        self.assertGreater(len(found), 1)
        self.assertEqual([point["cost"] for point in found], sorted(point["cost"] for point in found))
        self.assertEqual([point["cost_bound"] for point in points], sorted(point["cost_bound"] for point in points))
        for point in found:
            self.assertLessEqual(point["ram"], point["budget"])
            self.assertLessEqual(point["cost_bound"], point["cost"])
        # A large tensor less needs one rerun.
        self.assertTrue(any(point["reruns"] == 1 and point["ram"] <= ram - LARGE + 64 for point in found))

    def test_the_knee_is_the_least_sum_of_shares(self):
        curve = self.curve("--points", "9")
        found = [(at, p["ram"], p["cost"]) for at, p in enumerate(curve["points"]) if p["outcome"] == "found"]
        rams = [ram for _, ram, _ in found]
        costs = [cost for _, _, cost in found]
        width = max(rams) - min(rams)
        height = max(costs) - min(costs)
        sums = [(ram - min(rams)) * height + (cost - min(costs)) * width for _, ram, cost in found]
        self.assertEqual(curve["knee"], found[sums.index(min(sums))][0])
        knee = curve["points"][curve["knee"]]
        report = self.json(DONE, "plan", "model.onnx", "--budget", "auto", "--points", "9", "-o", "plan.json")
        self.assertEqual((report["budget"]["capacity"], report["bytes"]["ram"]), (knee["planned_for"], knee["ram"]))
        self.expect(DONE, "verify", "model.onnx", "plan.json")
        self.assertIn("of the curve", self.expect(DONE, "plan", "model.onnx", "--budget", "auto").stderr)

    def test_an_automatic_budget_takes_the_graph_of_the_knee(self):
        self.write("model.onnx", padded_model())
        words = ("--target", "cpu", "--points", "8")
        curve = self.curve(*words)
        knee = curve["points"][curve["knee"]]
        self.expect(DONE, "plan", "model.onnx", *words, "--budget", "auto", "-o", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        # With blocks of 8 or 16 channels, this graph is not the one of the first point.
        self.assertEqual(plan["provenance"]["lowering"], knee["lowering"])
        report = self.json(DONE, "plan", "model.onnx", *words, "--budget", "auto")
        self.assertEqual((report["budget"]["capacity"], report["bytes"]["ram"]), (knee["planned_for"], knee["ram"]))

    def test_text_csv_and_page_have_the_same_points(self):
        points = self.curve("--points", "5")["points"]
        words = ("plan", "model.onnx", "--curve", "--points", "5", "--csv", "curve.csv", "--html", "curve.html")
        said = self.expect(DONE, *words).stdout
        self.assertIn("knee", said)
        rows = list(csv.DictReader(io.StringIO((self.folder / "curve.csv").read_text())))
        self.assertEqual([int(row["budget"]) for row in rows], [point["budget"] for point in points])
        self.assertEqual([row["ram"] for row in rows],
                         ["" if point["ram"] is None else str(point["ram"]) for point in points])
        self.assertEqual(sum(int(row["knee"]) for row in rows), 1)
        page = (self.folder / "curve.html").read_text()
        found = sum(point["outcome"] == "found" for point in points)
        self.assertEqual(page.count("<circle"), 2 * found, "each chart is there for wide and for narrow screens")
        self.assertEqual(page.count('class="knee'), 3)  # in both drawings and in the table
        self.assertEqual(page.count('<tr id="row-'), len(points))
        self.assertNotIn("<script", page)

    def test_no_budget_with_a_plan_is_a_no(self):
        # The regions of the target cannot hold the plan without a limit, and no plan needs less than the floor.
        self.write("small.toml", '''name = "small"
[[region]]
name = "sram"
capacity = "1KiB"
''')
        words = ("plan", "model.onnx", "--target", "small.toml")
        self.expect(NO, *words, "--budget", "2KiB")
        report = self.json(NO, *words, "--curve", "--points", "3")
        self.assertTrue(all(point["outcome"] != "found" for point in report["curve"]["points"]))

    def test_options_that_contradict_are_refused(self):
        for words in (("--curve", "--budget", "1MiB"), ("--points", "5"), ("--curve", "--points", "1"),
                      ("--curve", "--streams", "2"), ("--curve", "-o", "plan.json"), ("--budget", "automatic")):
            self.expect(USAGE, "plan", "model.onnx", *words)


if __name__ == "__main__":
    unittest.main()

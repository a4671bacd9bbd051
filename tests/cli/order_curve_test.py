#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""order --curve: less memory never costs less, and every point is as good as order --budget."""
import json
import random
import unittest

from json_output_test import documented_keys, keys_of
from order_budget_test import GRAPH
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest


def random_graph(draw, count):
    """A training step: the later half reads the earlier one backwards."""
    nodes = [{"bytes": draw.randrange(1, 9), "cost": draw.randrange(1, 9)} for _ in range(count)]
    edges = [[at - 1, at] for at in range(1, count)]
    edges += [[count - 1 - at, at] for at in range(count // 2 + 1, count)]
    return {"nodes": nodes, "edges": edges}


class OrderCurve(ProgramTest):
    def test_figures_by_hand(self):
        # The graph is that of order_budget_test.py: the order needs 9 bytes, with 8 node 0 runs again, and b needs 7.
        self.write("graph.json", GRAPH)
        report = self.json(DONE, "order", "graph.json", "--curve", "--points", "5")
        self.assertFalse(set(keys_of(report)) - documented_keys("order"))
        points = [[point[key] for key in ("budget", "cost", "cost_bound")] for point in report["points"]]
        self.assertEqual(points, [[19, 8, 8], [18, 13, 13], [17, 13, 13]])
        self.assertEqual((report["floor"], report["floor_reached"], report["base_cost"]), (17, True, 8))
        said = self.expect(DONE, "order", "graph.json", "--curve").stdout
        for part in ("overhead", "62.5000 %", "proven", "No sequence keeps a budget below 17 B"):
            self.assertIn(part, said)
        self.assertTrue(self.json(NO, "order", "graph.json", "--budget", "16")["proven_infeasible"])

    def test_points_are_monotone_and_as_good_as_budgets(self):
        draw = random.Random(31)
        for count in (8, 9, 10, 30):
            self.write("graph.json", json.dumps(random_graph(draw, count)))
            points = self.json(DONE, "order", "graph.json", "--curve", "--points", "5", "--effort",
                               "500000000")["points"]
            for larger, smaller in zip(points, points[1:]):
                self.assertGreater(larger["budget"], smaller["budget"])
                self.assertLessEqual(larger["cost_bound"], smaller["cost_bound"])
                if smaller["feasible"]:
                    self.assertTrue(larger["feasible"])
                    self.assertLessEqual(larger["cost"], smaller["cost"])
            for point in points:
                alone = self.run_program("order", "graph.json", "--budget", str(point["budget"]), "--effort",
                                         "100000000", "--json")
                alone = json.loads(alone.stdout)
                self.assertGreaterEqual(point["feasible"], alone["feasible"])
                self.assertLessEqual(point["cost"], alone["cost"])
                self.assertLessEqual(point["peak_bytes"], point["budget"])

    def test_csv(self):
        self.write("graph.json", GRAPH)
        rows = "budget,cost,base_cost,cost_bound,proven\n19,8,8,8,true\n18,13,8,13,true\n17,13,8,13,true\n"
        curve = ("order", "graph.json", "--curve", "--points", "5")
        self.assertEqual(self.expect(DONE, *curve, "--csv", "-").stdout, rows)
        self.assertIn("62.5000 %", self.expect(DONE, *curve, "--csv", "curve.csv").stdout)
        self.assertEqual((self.folder / "curve.csv").read_text(), rows)
        self.expect(USAGE, *curve, "--csv", "graph.json")
        self.expect(USAGE, *curve, "--csv", "-", "--json")
        self.expect(BAD_INPUT, *curve, "--csv", "no/such/folder.csv")
        self.assertIn("--curve", self.expect(USAGE, "order", "graph.json", "--budget", "18", "--csv", "a.csv").stderr)

    def test_wrong_words(self):
        self.write("graph.json", GRAPH)
        self.expect(USAGE, "order", "graph.json", "--curve", "--budget", "9")
        self.expect(USAGE, "order", "graph.json", "--points", "5")
        self.expect(USAGE, "order", "graph.json", "--curve", "--points", "1")
        self.write("graph.json", GRAPH.replace(', "cost": 5', ""))
        self.assertIn("no 'cost'", self.expect(BAD_INPUT, "order", "graph.json", "--curve").stderr)


if __name__ == "__main__":
    unittest.main()

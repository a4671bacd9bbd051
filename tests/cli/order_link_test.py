#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""order --budget --link: outputs leave and come back, and figures can be checked by hand."""
import json
import random
import unittest

from json_output_test import documented_keys, keys_of
from order_curve_test import random_graph
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

# a of 4 bytes -> b of 2 -> c of 5 -> d of 1, and a -> d. In order, a, b and c are 11 bytes. With 10, a leaves from 30
# to 34 ns, while b runs, and c ends at 90. a is back at 94, and d ends at 104. A second run of a would take 30 ns.
GRAPH = """{"nodes": [{"name": "a", "bytes": 4, "cost": 3}, {"name": "b", "bytes": 2, "cost": 2},
                      {"name": "c", "bytes": 5, "cost": 4}, {"name": "d", "bytes": 1, "cost": 1}],
            "edges": [[0, 1], [1, 2], [0, 3], [2, 3]], "fixed_bytes": 10, "units": {"cost": "10 ns on a machine"}}"""

# a has outputs x of 4 bytes and m of 2, which c reads after b of 5 bytes. With 9 bytes, m leaves from 3 to 5 ns, b runs
# from 5 to 9 beside x, m is back at 11, and c ends at 12.
PARTS = {"nodes": [{"name": "a", "outputs": [{"name": "x", "bytes": 4}, {"same_as": 0}, {"name": "m", "bytes": 2}],
                    "cost": 3, "once": True},
                   {"name": "b", "bytes": 5, "cost": 4}, {"name": "c", "bytes": 1, "cost": 1}],
         "edges": [["a", "b"], [["a", "m"], "c"], ["b", "c"]]}

# f of 4 bytes and 3 ns is read by g of 5 bytes and by h. f, g and r are 10 bytes beside the weight, and the budget
# leaves 9. All before u: f reads the weight that u overwrites.
STEP = {"states": [{"name": "w", "bytes": 8}],
        "nodes": [{"name": "f", "bytes": 4, "cost": 3}, {"name": "g", "bytes": 5, "cost": 4},
                  {"name": "r", "bytes": 1, "cost": 1}, {"name": "h", "bytes": 1, "cost": 1},
                  {"name": "u", "cost": 1, "overwrites": "w"}],
        "edges": [["w", "f"], ["f", "g"], ["g", "r"], ["f", "h"], ["r", "h"], ["h", "u"]], "groups": [["g", "h"]]}

# a of 3 bytes and c of 1 read v of 4 bytes from the disk, which takes 2 + 4 ns, and b of 1 byte reads w of 2 bytes from
# the peer, which takes 1 + 1 ns. While b runs beside a, w and b, v does not fit.
#   v 0 - 6 | a 6 - 11 | b 11 - 16 | v 16 - 22 | c 22 - 27
FETCHED = {"links": [{"name": "disk", "bytes_per_second": 10**9, "latency_ns": 2},
                     {"name": "peer", "bytes_per_second": 2 * 10**9, "latency_ns": 1}],
           "nodes": [{"name": "v", "bytes": 4, "cost": 6, "from": "disk"},
                     {"name": "w", "bytes": 2, "cost": 2, "from": "peer"}, {"name": "a", "bytes": 3, "cost": 5},
                     {"name": "b", "bytes": 1, "cost": 5}, {"name": "c", "bytes": 1, "cost": 5}],
           "edges": [["v", "a"], ["w", "b"], ["a", "b"], ["v", "c"], ["b", "c"]], "outputs": ["c"]}


class OrderLink(ProgramTest):
    def steps(self, expected, graph, budget, *more):
        self.write("step.json", json.dumps(graph))
        report = self.json(expected, "order", "step.json", "--budget", str(budget), "--link", "1e9", "--cost-unit",
                           "1ns", *more)
        self.assertFalse(set(keys_of(report)) - documented_keys("order"))
        return report

    def test_an_output_of_several_leaves(self):
        report = self.steps(DONE, PARTS, 9)
        self.assertEqual((report["time_ns"], report["stall_ns"], report["peak_bytes"]), (12, 4, 9))
        leaves, returns = report["transfers"]
        self.assertEqual(leaves, {"node": 0, "output": 2, "run": 0, "direction": "out", "issue": 0, "complete": 1,
                                  "bytes": 2, "begin": 3, "end": 5})
        self.assertEqual((returns["output"], returns["begin"], returns["end"]), (2, 9, 11))
        self.assertEqual((report["bytes_out"], report["bytes_in"]), (2, 2))
        said = self.expect(DONE, "order", "step.json", "--budget", "9", "--link", "1e9", "--cost-unit", "1ns").stdout
        self.assertIn("'a/m'", said)
        report = self.steps(NO, PARTS, 8)
        self.assertEqual((report["proven_infeasible"], report["infeasible_node"]), (True, 1))

    def test_a_step_with_an_update_a_group_and_a_seed(self):
        # f runs again from 8 to 11, before u. To bring it back takes 4 ns.
        report = self.steps(DONE, STEP, 17)
        self.assertEqual((report["time_ns"], report["order"], report["transfers"]), (13, [0, 1, 2, 0, 3, 4], []))
        self.assertEqual((report["fixed_bytes"], report["peak_bytes"]), (8, 17))
        # Its seed would be live beside f and g.
        seeded = STEP | {"nodes": [STEP["nodes"][0] | {"seed_bytes": 1}, *STEP["nodes"][1:]]}
        report = self.steps(DONE, seeded, 17)
        self.assertEqual((report["time_ns"], report["order"]), (14, [0, 1, 2, 3, 4]))
        self.assertEqual(len(report["transfers"]), 2)
        self.assertEqual(self.steps(DONE, seeded, 18)["time_ns"], 10)
        # With the hint, f may not run again either.
        self.write("hints.json", '{"hints": [{"name": "f", "hint": "swap"}]}')
        report = self.steps(DONE, STEP, 17, "--hints", "hints.json")
        self.assertEqual((report["time_ns"], report["hints"][0]["outcome"]), (14, "honoured"))

    def test_a_group_that_repeats_nodes(self):
        graph = {"nodes": [{"name": name, "bytes": 2, "cost": 1} for name in "abc"], "edges": [["a", "c"], ["b", "c"]],
                 "groups": [["a", "b", "a"]], "outputs": ["c"]}
        report = self.steps(DONE, graph, 6)
        self.assertEqual(([run for run in report["order"] if run != 2], report["time_ns"]), ([0, 1, 0], 4))
        graph |= {"edges": [["c", "b"]], "before": [["a", "c"]], "outputs": []}
        self.write("step.json", json.dumps(graph))
        said = self.expect(BAD_INPUT, "order", "step.json", "--budget", "6", "--link", "1e9", "--cost-unit", "1ns")
        self.assertIn("no sequence is known that has the runs of all groups", said.stderr)

    def test_values_from_outside_are_fetched(self):
        report = self.steps(DONE, FETCHED, 9)
        self.assertEqual((report["time_ns"], report["base_time_ns"], report["stall_ns"]), (27, 15, 12))
        self.assertEqual((report["order"], report["transfers"], report["bytes_fetched"]), ([2, 3, 4], [], 10))
        self.assertEqual([(fetch["node"], fetch["link"], fetch["begin"], fetch["end"]) for fetch in report["fetches"]
                          if fetch["node"] == 0], [(0, "disk", 0, 6), (0, "disk", 16, 22)])
        report = self.steps(DONE, FETCHED, 10)  # v stays
        self.assertEqual((report["time_ns"], report["bytes_fetched"]), (21, 6))
        said = self.expect(DONE, "order", "step.json", "--budget", "10", "--link", "1e9", "--cost-unit", "1ns").stdout
        self.assertIn("fetched 6 B in 2 transfers", said)
        self.assertEqual(self.steps(NO, FETCHED, 6)["infeasible_node"], 2)  # v and a

    def test_values_from_outside_have_no_rules(self):
        several = {"name": "v", "outputs": [{"bytes": 4}, {"bytes": 1}], "cost": 6, "from": "disk"}
        for more, what in (({"groups": [["v", "a"]]}, "is in a group"), ({"before": [["v", "c"]]}, "is in 'before'"),
                           ({"nodes": [several, *FETCHED["nodes"][1:]]}, "has several outputs")):
            self.write("step.json", json.dumps(FETCHED | more))
            said = self.expect(BAD_INPUT, "order", "step.json", "--budget", "20", "--link", "1e9", "--cost-unit",
                               "1ns")
            self.assertIn(f"node 'v' begins outside and {what}", said.stderr)
            self.assertEqual(said.stdout, "")
        graph = FETCHED | {"links": [link | {"latency_ns": 2**50 - 1} for link in FETCHED["links"]]}
        self.write("step.json", json.dumps(graph))
        said = self.expect(BAD_INPUT, "order", "step.json", "--budget", "20", "--link", "1e9", "--cost-unit", "1ns")
        self.assertIn("kMaxTime", said.stderr)

    def link(self, *more):
        return ("order", "graph.json", "--budget", "20", "--link", "1e9", *more)

    def test_json(self):
        self.write("graph.json", GRAPH)
        report = self.json(DONE, *self.link())
        self.assertFalse(set(keys_of(report)) - documented_keys("order"))
        self.assertEqual(report["link"], {"bytes_per_second": 1_000_000_000, "latency_ns": 0, "cost_unit_ns": 10})
        self.assertEqual([report[key] for key in ("time_ns", "base_time_ns", "stall_ns")], [104, 100, 4])
        self.assertEqual([report[key] for key in ("cost", "base_cost", "overhead")], [11, 10, 0.04])  # rounded up
        self.assertEqual([report[key] for key in ("budget", "peak_bytes", "feasible")], [20, 20, True])
        self.assertEqual((report["order"], report["recomputed"]), ([0, 1, 2, 3], []))
        self.assertEqual((report["bytes_out"], report["bytes_in"]), (4, 4))
        leaves, returns = report["transfers"]
        self.assertEqual(leaves, {"node": 0, "output": 0, "run": 0, "direction": "out", "issue": 0, "complete": 2,
                                  "bytes": 4, "begin": 30, "end": 34})
        self.assertEqual(returns, {"node": 0, "output": 0, "run": 0, "direction": "in", "issue": 2, "complete": 3,
                                   "bytes": 4, "begin": 90, "end": 94})
        self.assertEqual((report["fetches"], report["bytes_fetched"]), ([], 0))
        self.assertLessEqual(report["time_bound_ns"], 104)
        self.assertGreaterEqual(report["time_bound_ns"], 100)

    def test_options(self):
        self.write("graph.json", GRAPH)
        # 30 ns more for each transfer: a rerun of 30 ns is as fast as moving, and a link with 100 ns is slower.
        self.assertEqual(self.json(DONE, *self.link("--link-latency", "100ns"))["time_ns"], 130)
        self.assertEqual(self.json(DONE, *self.link("--cost-unit", "1us"))["base_time_ns"], 10_000)
        for rate in ("1e9", "1.0e9/s", "1E+9", "1000000000"):
            self.assertEqual(self.json(DONE, "order", "graph.json", "--budget", "20", "--link", rate)["time_ns"], 104)
        report = self.json(DONE, "order", "graph.json", "--budget", "21", "--link", "1GiB/s")
        self.assertEqual((report["time_ns"], report["cost_proven_optimal"]), (100, True))

    def test_text(self):
        self.write("graph.json", GRAPH)
        said = self.expect(DONE, *self.link()).stdout
        for part in ("overhead 4.0000 %", "stalls", "4 B out, 4 B in", "Outputs that leave and come back", "'a'"):
            self.assertIn(part, said)
        said = self.expect(NO, "order", "graph.json", "--budget", "16", "--link", "1e9").stdout
        self.assertIn("Nothing keeps the budget. Node 'c' needs 7 B", said)
        report = self.json(NO, "order", "graph.json", "--budget", "16", "--link", "1e9")
        self.assertEqual((report["proven_infeasible"], report["infeasible_node"], report["transfers"]), (True, 2, []))
        self.assertIn("fixed_bytes", self.expect(NO, "order", "graph.json", "--budget", "9", "--link", "1e9").stderr)

    def test_more_effort_is_never_worse(self):
        draw = random.Random(32)
        improved = 0
        for count in (12, 20, 30):
            self.write("graph.json", json.dumps(random_graph(draw, count) | {"units": {"cost": "1 ns"}}))
            peak = self.json(DONE, "order", "graph.json")["load"]
            for link in ([], ["--link", "1e9"]):
                last = None
                for effort in (0, 10**6, 4 * 10**6, 15 * 10**6, 60 * 10**6, 10**8):
                    said = self.run_program("order", "graph.json", "--budget", str(peak * 2 // 3), *link, "--effort",
                                            str(effort), "--json")
                    report = json.loads(said.stdout)
                    if last is not None:
                        self.assertGreaterEqual(report["feasible"], last["feasible"])
                        self.assertGreaterEqual(report["cost_bound"], last["cost_bound"])
                        if last["feasible"]:
                            self.assertLessEqual(report["cost"], last["cost"])
                            improved += report["cost"] < last["cost"]
                    last = report
                self.assertTrue(last["feasible"])
        self.assertGreaterEqual(improved, 2)

    def test_bad_options(self):
        self.write("graph.json", GRAPH)
        for rate in ("0", "-1", "nan", "inf", "", "1e", "1e99", "1e-3", "1.5", "fast", "1e16", "0x10", "1e9e9"):
            done = self.expect(USAGE, "order", "graph.json", "--budget", "20", f"--link={rate}")
            self.assertIn("'--link'", done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertIn("'--budget'", self.expect(USAGE, "order", "graph.json", "--link", "1e9").stderr)
        for option, value in (("--link-latency", "5"), ("--link-latency", "-5ns"), ("--cost-unit", "0ns"),
                              ("--cost-unit", "nan"), ("--cost-unit", "0.5ns"), ("--link-latency", "99999999s")):
            self.assertIn(option, self.expect(USAGE, *self.link(f"{option}={value}")).stderr)
            self.assertIn("'--link'", self.expect(USAGE, "order", "graph.json", f"{option}={value}").stderr)

    def test_bad_files(self):
        self.write("graph.json", GRAPH.replace("10 ns on a machine", "relative time"))
        said = self.expect(BAD_INPUT, *self.link())
        self.assertIn("--cost-unit", said.stderr)
        self.assertEqual(said.stdout, "")
        self.json(DONE, *self.link("--cost-unit", "10ns"))
        self.write("graph.json", GRAPH.replace('"10 ns on a machine"', "7"))
        self.assertIn("$.units.cost", self.expect(BAD_INPUT, *self.link()).stderr)
        self.json(DONE, "order", "graph.json", "--budget", "20")  # without a link, units do not matter
        self.write("graph.json", GRAPH.replace("10 ns", "13000 s"))  # 130,000 s in all
        self.json(DONE, *self.link())
        self.write("graph.json", GRAPH.replace("10 ns", "130000 s"))
        self.assertIn("kMaxTime", self.expect(BAD_INPUT, *self.link()).stderr)

    def test_a_link_that_is_too_slow_moves_nothing(self):
        graph = json.loads(GRAPH)
        for node in graph["nodes"]:
            node["bytes"] *= 2**30
        graph["fixed_bytes"] = 0
        self.write("graph.json", json.dumps(graph))
        report = self.json(DONE, "order", "graph.json", "--budget", "10GiB", "--link", "1")
        self.assertEqual((report["transfers"], report["recomputed"]), ([], [{"node": 0, "times": 1, "origin": ""}]))


if __name__ == "__main__":
    unittest.main()

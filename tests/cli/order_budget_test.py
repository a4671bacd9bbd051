#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""order --budget: nodes run again, and figures can be checked by hand."""
import unittest

from json_output_test import documented_keys, keys_of
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

# a of 4 bytes, b of 3, c of 2 reads b, d of 1 reads a and c. In order: a + b 7, a + b + c 9, a + c + d 7. With 8
# bytes, a is dropped while c runs, and runs again, which costs 5 more.
GRAPH = """{"nodes": [{"name": "a", "bytes": 4, "cost": 5}, {"name": "b", "bytes": 3, "cost": 1},
                      {"name": "c", "bytes": 2, "cost": 1}, {"name": "d", "bytes": 1, "cost": 1}],
            "edges": [[0, 1], [1, 2], [0, 3], [2, 3]], "fixed_bytes": 10}"""


# A step: f reads the weight w, g reads f, and u overwrites w. 8 bytes are always live. f and g: 6, g and u: 2.
STEP = """{"nodes": [{"name": "f", "bytes": 4, "cost": 3, "module": "net.layer"}, {"name": "g", "bytes": 2, "cost": 1},
                     {"name": "u", "cost": 1, "overwrites": "w"}],
           "edges": [["w", "f"], ["f", "g"], ["w", "u"], ["g", "u"]], "states": [{"name": "w", "bytes": 8}]}"""


class OrderBudget(ProgramTest):
    def expect_documented(self, report):
        self.assertFalse(set(keys_of(report)) - documented_keys("order"))

    def test_json(self):
        self.write("graph.json", GRAPH)
        report = self.json(DONE, "order", "graph.json", "--budget", "18")
        self.expect_documented(report)
        self.assertEqual([report[key] for key in ("budget", "fixed_bytes", "peak_bytes")], [18, 10, 17])
        self.assertEqual([report[key] for key in ("cost", "base_cost", "cost_bound")], [13, 8, 13])
        self.assertEqual((report["overhead"], report["feasible"], report["cost_proven_optimal"]), (0.625, True, True))
        self.assertEqual(report["order"], [0, 1, 2, 0, 3])
        self.assertEqual(report["recomputed"], [{"node": 0, "times": 1, "origin": ""}])
        self.assertEqual(self.json(DONE, "order", "graph.json", "--budget", "19")["order"], [0, 1, 2, 3])
        report = self.json(NO, "order", "graph.json", "--budget", "16")  # b needs a and itself
        self.expect_documented(report)
        self.assertEqual([report[key] for key in ("feasible", "proven_infeasible", "infeasible_node")],
                         [False, True, 1])
        self.assertIn("fixed_bytes", self.expect(NO, "order", "graph.json", "--budget", "9").stderr)
        report = self.json(NO, "order", "graph.json", "--budget", "9")
        self.expect_documented(report)
        self.assertEqual([report[key] for key in ("budget", "fixed_bytes", "feasible", "proven_infeasible")],
                         [9, 10, False, True])

    def test_text(self):
        self.write("graph.json", GRAPH)
        said = self.expect(DONE, "order", "graph.json", "--budget", "18").stdout
        for part in ("always live", "overhead 62.5000 %", "Proven optimal", "Nodes that run again"):
            self.assertIn(part, said)
        said = self.expect(NO, "order", "graph.json", "--budget", "16").stdout
        self.assertIn("No sequence keeps the budget. Node 'b' needs 7 B for its inputs and its output", said)

    def test_bad_input_names_its_place(self):
        for cost in ("-1", "1.5", "1e400", "NaN", "9223372036854775808", '"x"', "null"):
            self.write("wrong.json", GRAPH.replace('"cost": 5', f'"cost": {cost}'))
            said = self.expect(BAD_INPUT, "order", "wrong.json", "--budget", "18").stderr
            self.assertIn("$.nodes[0].cost" if cost != "NaN" else "wrong.json:1:", said)
        self.write("wrong.json", GRAPH.replace(', "cost": 5', ""))
        self.assertIn("no 'cost'", self.expect(BAD_INPUT, "order", "wrong.json", "--budget", "18").stderr)
        self.expect(DONE, "order", "wrong.json")  # without a budget, costs do not matter
        self.expect(USAGE, "order", "graph.json", "--budget", "0")
        self.expect(USAGE, "order", "graph.json", "--budget", "-1")

    def test_a_step_with_an_update(self):
        self.write("step.json", STEP)
        report = self.json(DONE, "order", "step.json", "--budget", "14")
        self.expect_documented(report)
        self.assertEqual((report["order"], report["fixed_bytes"], report["peak_bytes"]), ([0, 1, 2], 8, 14))
        report = self.json(NO, "order", "step.json", "--budget", "13")
        self.assertEqual((report["proven_infeasible"], report["infeasible_node"]), (True, 1))
        self.assertEqual(self.json(DONE, "order", "step.json")["order"], [0, 1, 2])
        # Without the update before it, g could be made again after u. With it, f would read the new weight.
        self.write("step.json", STEP.replace('["g", "u"]', '["g", "u"]], "before": [["u", "f"]'))
        said = self.expect(BAD_INPUT, "order", "step.json", "--budget", "14").stderr
        self.assertIn("must come before itself, because of reads, 'before' and 'overwrites'\n", said)

    def test_the_last_of_the_outputs_runs_beside_the_others(self):
        """b and c read 10 bytes, take 20 of scratch, and make outputs of 5. The last of them has the other's: 40."""
        self.write("last.json", """{"version": 1, "edges": [[0, 1], [0, 2]], "outputs": [1, 2], "nodes": [
            {"name": "a", "bytes": 10, "cost": 1}, {"name": "b", "bytes": 5, "scratch": 20, "cost": 1},
            {"name": "c", "bytes": 5, "scratch": 20, "cost": 1}]}""")
        report = self.json(NO, "order", "last.json", "--budget", "39")
        self.expect_documented(report)
        self.assertEqual((report["infeasible_node"], report["infeasible_beside"]), (2, [1]))
        said = " ".join(self.expect(NO, "order", "last.json", "--budget", "39").stdout.split())
        self.assertIn("Node 'c' needs 35 B for its inputs and its output, while 5 B of outputs are live that 1 other "
                      "node makes. If one of these runs later, more is live then, in any sequence.", said)
        self.assertEqual(self.json(DONE, "order", "last.json", "--budget", "40")["infeasible_beside"], [])

    def test_what_overwrites_an_output_counts_in_its_place(self):
        """a and b are 4 bytes each, and b is written over a: 4, where both would be 8. c reads b: 6."""
        self.write("step.json", """{"nodes": [{"name": "a", "bytes": 4, "cost": 1},
            {"name": "b", "bytes": 4, "cost": 1, "overwrites": "a"}, {"name": "c", "bytes": 2, "cost": 1}],
            "edges": [["b", "c"]]}""")
        said = self.expect(DONE, "order", "step.json", "--budget", "6").stdout
        self.assertRegex(said, r"peak without reruns +6 B +100.0 %")

    def test_an_answer_that_is_not_proven_says_so(self):
        """A group with 20 runs of each node, and a bound that counts one of each, because nothing is searched."""
        self.write("step.json", '{"nodes": [{"bytes": 1, "cost": 1}, {"bytes": 1, "cost": 1}], "edges": [],'
                                f' "groups": [{[0, 1] * 20}]}}')
        said = self.expect(DONE, "order", "step.json", "--budget", "9", "--effort", "0").stdout
        self.assertRegex(said, r"cost +40 ")
        self.assertRegex(said, r"bound +2 ")
        self.assertIn("Not proven optimal", said)

    def test_what_is_live_at_the_peak_is_named(self):
        self.write("step.json", STEP.replace('"module": "net.layer"', '"module": "net.layer", "source": "net.py:7"'))
        report = self.json(DONE, "order", "step.json", "--budget", "14")
        self.expect_documented(report)
        peak = report["peak"]  # 8 of w, 4 of f and 2 of g while g runs
        self.assertEqual([peak[key] for key in ("run", "node", "origin", "bytes")], [1, 1, "", 14])
        self.assertEqual(peak["values"], [
            {"node": 0, "output": 0, "kind": "output", "bytes": 4, "from_run": 0, "to_run": 1,
             "origin": "net.layer, net.py:7"},
            {"node": 1, "output": 0, "kind": "output", "bytes": 2, "from_run": 1, "to_run": 2, "origin": ""}])
        report = self.json(DONE, "order", "step.json")  # the state does not count
        self.expect_documented(report)
        self.assertEqual((report["peak"]["bytes"], report["load"]), (6, 6))
        said = self.expect(DONE, "order", "step.json", "--budget", "14").stdout
        self.assertIn("14 B at run 1 of 3, 'g':", said)
        self.assertRegex(said, r"'f' +output +4 B +28.6 % +0 +1 +'net.layer, net.py:7'")
        self.assertRegex(said, r"always live +states +8 B +57.1 %")

    def test_the_node_that_does_not_fit_says_where_it_is_from(self):
        self.write("step.json", STEP.replace('"bytes": 2, "cost": 1}', '"bytes": 2, "cost": 1, "source": "net.py:9"}'))
        report = self.json(NO, "order", "step.json", "--budget", "13")
        self.expect_documented(report)
        self.assertEqual((report["infeasible_node"], report["infeasible_origin"]), (1, "net.py:9"))
        said = self.expect(NO, "order", "step.json", "--budget", "13").stdout
        self.assertIn("Node 'g' ('net.py:9') needs 6 B for its inputs and its output, in any sequence, beside 8 B that "
                      "are always live.", said)

    def test_paths_with_backslashes_are_texts(self):
        self.write("step.json", STEP.replace('"module": "net.layer"', '"source": "C:\\\\new\\\\x.py:3"'))
        report = self.json(DONE, "order", "step.json")
        self.assertEqual(report["peak"]["values"][0]["origin"], "C:\\\\new\\\\x.py:3")  # as a name

    def test_the_page_draws_the_sequence(self):
        self.write("step.json", STEP)
        self.expect(DONE, "order", "step.json", "--budget", "14", "--html", "step.html")
        page = (self.folder / "step.html").read_text()
        for figure in ('{"label":"Budget","value":"14 B","detail":"kept: 100.0 % of it"}',
                       '{"label":"Always live","value":"8 B","detail":"not drawn; 14 B with the peak"}',
                       '{"label":"Runs","value":"3","detail":"none again"}'):
            self.assertIn(figure, page)
        self.assertIn("f (net.layer)", page)
        self.assertIn("</html>", page)
        self.assertIn("</html>", self.expect(DONE, "order", "step.json", "--html", "-").stdout)
        self.write("graph.json", GRAPH)  # a runs again: 5 of 8
        page = self.expect(DONE, "order", "graph.json", "--budget", "18", "--html", "-").stdout
        self.assertIn('{"label":"Runs","value":"5","detail":"1 again, +62.5 %"}', page)
        for words in (("--curve",), ("--budget", "14", "--link", "1e9")):
            self.assertIn("--html", self.expect(USAGE, "order", "step.json", "--html", "x.html", *words).stderr)
        self.expect(USAGE, "order", "step.json", "--html", "step.json")  # it would replace its input

    def test_the_page_has_the_phases_of_the_nodes(self):
        phases = {"a": "forward", "b": "forward", "c": "backward"}  # d has none
        graph = GRAPH
        for name, phase in phases.items():
            graph = graph.replace(f'"name": "{name}"', f'"name": "{name}", "phase": "{phase}"')
        self.write("graph.json", graph)
        page = self.expect(DONE, "order", "graph.json", "--budget", "18", "--html", "-").stdout
        # The runs are a, b, c, a, d.
        self.assertIn('"bands":{"names":["forward","backward"],"name":[0,1,0],"begin":[0,2,3],"end":[2,3,4],'
                      '"again":[0,0,1]}', page)
        page = self.expect(DONE, "order", "graph.json", "--html", "-").stdout  # without a budget, nothing runs again
        self.assertIn('"bands":{"names":["forward","backward"],"name":[0,1],"begin":[0,2],"end":[2,3],"again":[0,0]}',
                      page)
        self.write("graph.json", GRAPH)
        self.assertNotIn('"bands":', self.expect(DONE, "order", "graph.json", "--budget", "18", "--html", "-").stdout)

    def test_phases_that_cannot_be_shown_are_refused(self):
        for phase, message in (('"\\u001b[2J"', "only characters that can be seen; found '\\x1b[2J'"),
                               (f'"{"x" * 41}"', "has at most 40 characters, and this one has 41"),
                               ("7", "expected a string, found '7'")):
            self.write("wrong.json", GRAPH.replace('"name": "b"', f'"name": "b", "phase": {phase}'))
            for words in (("--budget", "18"), ()):
                said = self.expect(BAD_INPUT, "order", "wrong.json", *words).stderr
                self.assertIn("$.nodes[1].phase: ", said)
                self.assertIn(message, said)
                self.assertNotIn("\x1b", said)

    def test_groups_that_nothing_keeps_are_refused(self):
        nodes = ", ".join(f'{{"name": "{name}", "bytes": 1, "cost": 1}}' for name in "abc")
        self.write("group.json", f'{{"nodes": [{nodes}], "edges": [["c", "b"]], "before": [["a", "c"]], '
                                 '"groups": [["a", "b", "a"]]}')
        for words in (("--budget", "200"), ("--curve",), ("--budget", "200", "--effort", "0")):
            said = self.expect(BAD_INPUT, "order", "group.json", *words).stderr
            self.assertIn("no sequence is known that has the runs of all groups", said)
        self.write("hints.json", '{"hints": [{"name": "a", "hint": "keep"}]}')
        said = self.expect(BAD_INPUT, "order", "group.json", "--budget", "200", "--hints", "hints.json").stderr
        self.assertIn("a node that a group repeats", said)

    def test_sizes_above_the_limit_are_refused_together(self):
        largest = 2**62 - 1
        self.write("large.json", f'{{"nodes": [{{"bytes": 1, "cost": 1}}], "edges": [], "fixed_bytes": {largest}}}')
        said = self.expect(BAD_INPUT, "order", "large.json", "--budget", str(2**63 - 1)).stderr
        self.assertIn("together exceed", said)


if __name__ == "__main__":
    unittest.main()

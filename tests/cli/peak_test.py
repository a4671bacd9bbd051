#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The terminal, JSON, the page and the explanation show one peak: the same step, buffers, bytes and names."""
import json
import re
import unittest

import small_models
from program import DONE, ProgramTest
from small_models import model, node, value_info


def rows_after(text, title):
    """Returns (step, [(name, bytes)]), sorted by name, from the table under the line that begins with the title."""
    lines = iter(text.splitlines())
    head = next(line for line in lines if re.match(title + r".* step \d", line))
    step = int(re.search(r"step (\d+)", head).group(1))
    next(lines)
    rows = []
    for line in lines:
        if not re.match(r" +[\d,]+ B ", line):
            break
        size, _, name = re.split(r"\s{2,}", line.strip())[:3]
        rows.append((re.sub(r" \+\d+$", "", name), int(size.removesuffix(" B").replace(",", ""))))
    return step, sorted(rows)


class OnePeak(ProgramTest):
    def shown_by_terminal(self):
        return rows_after(self.expect(DONE, "plan", "graph.onnx", "--top", "99").stdout, "Peak: ")

    def shown_by_explanation(self):
        return rows_after(self.expect(DONE, "explain", "graph.onnx", "--top", "99").stdout, "Live buffers at")

    def shown_by_json(self):
        peak = self.json(DONE, "plan", "graph.onnx", "--top", "99")["peak"][0]
        names = [(one["tensor"]["name"] if one["tensor"] else "(scratch)", one["bytes"]) for one in peak["holders"]]
        return peak["step"], sorted(names)

    def shown_by_json_of_explanation(self):
        level = self.json(DONE, "explain", "graph.onnx", "--top", "99")["levels"][0]
        rows = [(one["name"] or "(scratch)", one["bytes"]) for one in level["buffers"]]
        return level["explained"]["step"], sorted(rows)

    def shown_by_page(self):
        html = self.expect(DONE, "plan", "graph.onnx", "-q", "--html", "-").stdout
        data = re.search(r'id="sheets">(.*?)</script>', html, re.DOTALL).group(1)
        sheet = json.loads(data)["sheets"][0]
        step, buffer = sheet["regions"][0]["peak"], sheet["buffer"]
        rows = []
        for at, value in enumerate(buffer["name"]):
            parts = [row for row, whose in enumerate(sheet.get("part", {"buffer": []})["buffer"]) if whose == at]
            spans = [(sheet["part"], row) for row in parts] or [(buffer, at)]
            live = sum(table["size"][row] for table, row in spans if table["begin"][row] <= step < table["end"][row])
            name = "(scratch)" if value < 0 else sheet["tensor"]["name"][sheet["value"]["tensor"][value]]
            if buffer["region"][at] == 0 and live > 0:
                rows.append((name, live))
        return step, sorted(rows)

    def expect_one_peak(self, graph, step, names):
        self.write("graph.onnx", graph)
        found = self.shown_by_terminal()
        self.assertEqual((found[0], [name for name, _ in found[1]]), (step, names))
        for shown in (self.shown_by_explanation, self.shown_by_json, self.shown_by_json_of_explanation,
                      self.shown_by_page):
            self.assertEqual(shown(), found, shown.__name__)

    def test_chain_in_place(self):
        """p to s are written over one another, and y over s. Step 2 computes t from q, which r still needs."""
        chain = [("Relu", ["x"], "p"), ("Relu", ["p"], "q"), ("Softmax", ["q"], "t"), ("Relu", ["q"], "r"),
                 ("Relu", ["r"], "s"), ("Add", ["s", "t"], "y")]
        nodes = [node(op, reads, [write], write) for op, reads, write in chain]
        info = [value_info(name, [256]) for name in ("x", "y")]
        self.expect_one_peak(model(nodes, info[:1], info[1:]), 2, ["t", "y"])

    def test_result_over_its_operand(self):
        self.expect_one_peak(small_models.small(), 1, ["b", "c"])

    def test_branches(self):
        self.expect_one_peak(small_models.parallel(), 4, ["c", "d", "e"])

    def test_parts_of_a_concat(self):
        """The first half of `both` is live while w is read. The second half is not written yet."""
        nodes = [node("Softmax", ["x"], ["a"], "a"), node("Add", ["rows", "a"], ["w"], "w"),
                 node("ReduceMax", ["w"], ["v"], "v"), node("Softmax", ["x"], ["b"], "b"),
                 node("Concat", ["a", "b"], ["both"], "both", [small_models.axis(0)])]
        inputs = [value_info("x", [64]), value_info("rows", [4, 64])]
        self.expect_one_peak(model(nodes, inputs, [value_info("both", [128]), value_info("v", [1, 1])]),
                             2, ["both", "v", "w"])

    def test_scratch_of_a_body(self):
        self.expect_one_peak(small_models.stale_branch(), 0, ["(scratch)", "y"])

    def test_counts_agree(self):
        """Steps are the nodes outside of bodies, and copies. The text and JSON say so with the same numbers."""
        for name, graph in (("small", small_models.small()), ("branches", small_models.branches()),
                            ("body", small_models.stale_branch())):
            self.write("graph.onnx", graph)
            nodes = self.json(DONE, "plan", "graph.onnx")["model"]
            for command in ("inspect", "plan", "explain"):
                with self.subTest(graph=name, command=command):
                    said = self.expect(DONE, command, "graph.onnx").stdout
                    head = said.splitlines()[0]
                    self.assertEqual(nodes["body_nodes"] > 0, f"{nodes['body_nodes']} of them in bodies" in head)
                    self.assertEqual(said.count("counted from 0"), 1)
                    steps = nodes["planned_nodes"] - nodes["body_nodes"]
                    self.assertRegex(said, rf"at step \d+ of {steps} \(counted|of {steps} steps? \(steps are counted")

    def test_explain_lists_remedies_in_json(self):
        wide, narrow = 16 * 32 * 32 * 4, 16 * 16 * 16 * 4  # a and b; d
        level, = self.json(DONE, "explain", "model.onnx")["levels"]
        self.assertEqual(level["load_bytes"], 2 * wide)
        self.assertEqual(level["smaller_type"], {"load_bytes_16_bits": wide, "load_bytes_8_bits": wide // 2})
        # Without b, only a and d are live at the last step.
        sigmoid, add = {"name": "sigmoid", "op": "Sigmoid"}, {"name": "add", "op": "Add"}
        self.assertEqual(level["fusion"], {
            "load_bytes": wide + narrow, "all_chains": 1, "all_chains_load_bytes": wide + narrow,
            "chains": [[{"step": 1, "node": sigmoid}, {"step": 2, "node": add}]]})


if __name__ == "__main__":
    unittest.main()

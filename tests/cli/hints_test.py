#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Hints say which results run again, stay or leave, or are refused by name with a reason."""
import json
import unittest

from json_output_test import documented_keys, keys_of
from order_budget_test import GRAPH
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest
from recompute_test import LARGE, model
from small_models import field


def hints(*pairs):
    return json.dumps({"hints": [{"name": name, "hint": hint} for name, hint in pairs]})


def with_metadata(text):
    """The model of recompute_test with hints in its metadata_props."""
    return model() + field(14, field(1, "lowtide.hints") + field(2, text))


class Hints(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", model())
        self.write("graph.json", GRAPH)
        ram = self.json(DONE, "plan", "model.onnx")["bytes"]["ram"]
        self.budget = f"{ram - LARGE + 64}B"

    def plan(self, *words):
        return self.json(DONE, "plan", "model.onnx", "--budget", self.budget, *words)

    def rerun_names(self, report):
        return [one["node"]["name"] for one in report["budget"]["recomputation"]["recomputed"]]

    def refusal(self, text, *words):
        self.write("hints.json", text)
        words = words or ("plan", "model.onnx", "--budget", self.budget)
        return self.expect(BAD_INPUT, *words, "--hints", "hints.json").stderr

    def test_a_plan_recomputes_what_the_hint_names(self):
        # While f2 runs, f1 is live too, so f0 must go. It runs again before b0, and nothing else needs to.
        self.assertEqual(self.rerun_names(self.plan()), ["make_f0"])
        self.write("hints.json", hints(("f1", "recompute"), ("make_f2", "keep")))
        report = self.plan("--hints", "hints.json", "-o", "plan.json")
        self.assertFalse(set(keys_of(report)) - documented_keys("plan"))
        self.assertEqual(self.rerun_names(report), ["make_f0", "make_f1"])
        self.assertEqual([(one["name"], one["hint"], one["outcome"], one["runs"]) for one in report["hints"]],
                         [("f1", "recompute", "honoured", 2), ("make_f2", "keep", "honoured", 1)])
        self.expect(DONE, "verify", "model.onnx", "plan.json")
        said = self.expect(DONE, "plan", "model.onnx", "--budget", self.budget, "--hints", "hints.json").stdout
        self.assertIn("honoured: it runs 2 times", said)
        self.write("hints.json", hints(("f0", "keep")))
        report = self.json(NO, "plan", "model.onnx", "--budget", self.budget, "--hints", "hints.json")
        self.assertEqual((report["budget"]["recomputation"]["outcome"], report["hints"][0]["outcome"]),
                         ("not_found", "not_kept"))

    def test_metadata_has_hints_and_a_file_replaces_them(self):
        self.write("model.onnx", with_metadata(hints(("f1", "recompute"), ("nothing", "keep"))))
        self.assertEqual(self.rerun_names(self.plan()), ["make_f0", "make_f1"])
        said = self.expect(DONE, "plan", "model.onnx", "--budget", self.budget)
        self.assertIn("the hint 'keep' for 'nothing' cannot be honoured: no node or tensor has this name", said.stderr)
        self.write("hints.json", hints(("f1", "keep")))
        self.assertEqual(self.rerun_names(self.plan("--hints", "hints.json")), ["make_f0"])
        self.write("model.onnx", with_metadata("{"))
        self.assertIn("are ignored", self.expect(DONE, "plan", "model.onnx", "--budget", self.budget).stderr)

    def test_a_run_and_a_benchmark_honour_hints(self):
        # Kernels for packed matrices have scratch, so with them other nodes would run again.
        plain = ("--without", "formats")
        ram = self.json(DONE, "plan", "model.onnx", "--target", "cpu", *plain)["bytes"]["ram"]
        budget = f"{ram - LARGE + 64}B"
        self.write("hints.json", hints(("f1", "recompute")))
        words = ("--budget", budget, "--hints", "hints.json", *plain)
        self.expect(DONE, "run", "model.onnx", "--synthetic", "1", *words, "--output-dir", ".")
        kept = (self.folder / "b0.npy").read_bytes()
        # Other kernels may give other bits, so this is compared with a run of the same plan.
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", *words, "-o", "plan.json")
        self.expect(DONE, "run", "model.onnx", "--synthetic", "1", "--plan", "plan.json", "--output-dir", ".")
        self.assertEqual(kept, (self.folder / "b0.npy").read_bytes())
        report = self.json(DONE, "bench", "model.onnx", "--runs", "2", *words)
        self.assertFalse(set(keys_of(report)) - documented_keys("bench"))
        # f0 runs again for f1, and once more for b0: it has no place beside the scratch of the library. Plain products
        # would keep it with one rerun less, and take twice as long each.
        self.assertEqual((report["budget"]["reruns"], report["budget"]["cost_model"]), (3, "plain"))
        self.assertGreater(report["budget"]["estimated_overhead"], 0)
        said = self.expect(DONE, "bench", "model.onnx", "--runs", "2", *words).stdout
        self.assertRegex(said, r"budget +estimated \+\d+\.\d % by the plain model of one core; measured [+-]\d")
        self.write("hints.json", hints(("f9", "keep")))
        self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1", *words, "--output-dir", ".")

    def test_what_cannot_be_honoured_is_refused_by_name(self):
        for pairs, reason in (((("f9", "keep"),), "no node or tensor has this name"),
                              ((("x", "recompute"),), "the caller or the model holds it"),
                              ((("f0", "keep"), ("f0", "recompute")), "an earlier hint for the same node says keep"),
                              ((("f0", "keep"), ("f0", "keep")), "says the same"),
                              ((("b1", "recompute"),), "has only one reader"),
                              ((("f0", "swap"),), "add --link")):
            said = self.refusal(hints(*pairs))
            self.assertIn(reason, said)
            self.assertIn(f"'{pairs[-1][0]}'", said)
        said = self.refusal(hints(("p", "keep"), ("q", "keep")))  # all at once
        self.assertIn("'p'", said)
        self.assertIn("'q'", said)

    def test_a_malformed_file_is_refused_with_its_place(self):
        for text, place in (("{", "hints.json:1:2"), ('{"hints": [{"name": "f0", "hint": "drop"}]}', "recompute, keep"),
                            ('{"hints": [{"name": "f0"}]}', "$.hints[0]"), ('{"other": []}', "other")):
            self.assertIn(place, self.refusal(text))
        self.write("hints.json", hints(("f0", "keep")))
        self.assertIn("add '--budget", self.expect(USAGE, "plan", "model.onnx", "--hints", "hints.json").stderr)

    def test_plain_graphs_have_hints_too(self):
        self.write("hints.json", hints(("a", "keep")))
        report = self.json(NO, "order", "graph.json", "--budget", "18", "--hints", "hints.json")
        self.assertEqual(report["hints"][0]["outcome"], "not_kept")  # only another run of a keeps 18
        self.write("hints.json", hints(("a", "recompute")))
        report = self.json(DONE, "order", "graph.json", "--budget", "18", "--hints", "hints.json")
        self.assertFalse(set(keys_of(report)) - documented_keys("order"))
        self.assertEqual((report["order"], report["base_cost"], report["cost"]), ([0, 1, 2, 0, 3], 8, 13))
        self.assertEqual(report["hints"], [{"name": "a", "hint": "recompute", "outcome": "honoured", "runs": 2}])
        # The budget is kept without it, and it runs again nevertheless.
        report = self.json(DONE, "order", "graph.json", "--budget", "40", "--hints", "hints.json")
        self.assertEqual(report["cost"], 13)
        order = ("order", "graph.json", "--budget", "18")
        self.assertIn("add --link", self.refusal(hints(("a", "swap")), *order))
        link = (*order, "--link", "1e9", "--cost-unit", "1us")
        self.assertIn("omit --link", self.refusal(hints(("a", "recompute")), *link))
        self.write("hints.json", hints(("a", "swap")))
        report = self.json(DONE, *link, "--hints", "hints.json")
        self.assertEqual((report["recomputed"], report["hints"][0]["outcome"]), ([], "honoured"))
        self.assertIn("leaves 1 time", self.expect(DONE, *link, "--hints", "hints.json").stdout)


if __name__ == "__main__":
    unittest.main()

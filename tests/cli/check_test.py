#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide check: a model is compared with a plan of an earlier version."""
import unittest

import small_models
from json_output_test import WIDE, documented_keys, keys_of
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest


class Check(ProgramTest):
    """A batch of 1 needs two tensors of WIDE bytes, a and b. A batch of 2 stands for a model that has grown."""

    def setUp(self):
        super().setUp()
        self.write("model.onnx", small_models.small())
        self.write("grown.onnx", small_models.small(2))
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")

    def test_the_same_model_is_within_the_baseline(self):
        said = self.expect(DONE, "check", "model.onnx", "--baseline", "plan.json").stdout
        self.assertEqual(said, "ok  model.onnx needs an arena of 131,072 B (128.00 KiB), as in plan.json\n")
        report = self.json(DONE, "check", "model.onnx", "--baseline", "plan.json")
        self.assertEqual(set(keys_of(report)) - documented_keys("check"), set())
        self.assertEqual(report["bytes"], {"arena": 2 * WIDE, "before": 2 * WIDE, "limit": 2 * WIDE})
        self.assertEqual((report["within"], report["grown"]), (True, []))

    def test_a_model_that_grew_is_refused_with_its_buffers(self):
        said = self.expect(NO, "check", "grown.onnx", "--baseline", "plan.json").stdout
        self.assertIn("grown  grown.onnx needs an arena of 262,144 B (256.00 KiB), 131,072 B (128.00 KiB) (100.0 %) "
                      "more than in plan.json\n", said)
        self.assertIn("  64.00 KiB  128.00 KiB  64.00 KiB  b\n", said)
        report = self.json(NO, "check", "grown.onnx", "--baseline", "plan.json")
        self.assertEqual(set(keys_of(report)) - documented_keys("check"), set())
        self.assertIs(report["within"], False)
        self.assertEqual({one["bytes"] - one["before"] for one in report["grown"]}, {WIDE})
        self.assertEqual(len(self.json(NO, "check", "grown.onnx", "--baseline", "plan.json", "--top", "1")["grown"]), 1)

    def test_less_is_always_within(self):
        self.expect(DONE, "plan", "grown.onnx", "-o", "old.json")
        said = self.expect(DONE, "check", "model.onnx", "--baseline", "old.json").stdout
        self.assertIn("131,072 B (128.00 KiB) (50.0 %) less than in old.json", said)

    def test_the_tolerance_is_a_share_or_a_size(self):
        for tolerance, code in (("100%", DONE), ("100 %", DONE), ("99.9%", NO), ("128KiB", DONE), ("131071", NO)):
            with self.subTest(tolerance=tolerance):
                self.expect(code, "check", "grown.onnx", "--baseline", "plan.json", "--tolerance", tolerance)
        for tolerance in ("-1%", "%", "2%%", "1001%", "nan%", "2", "some"):
            if tolerance != "2":
                self.expect(USAGE, "check", "model.onnx", "--baseline", "plan.json", "--tolerance", tolerance)

    def test_an_annotation_is_one_line_with_escapes(self):
        said = self.expect(NO, "check", "grown.onnx", "--baseline", "plan.json", "--annotate").stdout
        line = said.splitlines()[-1]
        self.assertTrue(line.startswith("::error file=grown.onnx,title=memory of a model::grown.onnx needs an arena of "
                                        "262,144 B (256.00 KiB), 131,072 B (128.00 KiB) (100.0 %25) more than in "
                                        "plan.json.%0A"), line)
        self.assertNotIn("::error", self.expect(DONE, "check", "model.onnx", "--baseline", "plan.json",
                                                "--annotate").stdout)

    def test_the_extents_of_the_baseline_are_used(self):
        self.write("open.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "open.onnx", "--dim", "batch=2", "-o", "two.json")
        self.expect(DONE, "check", "open.onnx", "--baseline", "two.json")
        self.expect(NO, "check", "open.onnx", "--baseline", "two.json", "--dim", "batch=3")

    def test_a_shape_replaces_the_symbols_of_the_baseline(self):
        """Each batch has 2 * WIDE = 131,072 B: 262,144 for two, as in the baseline, and 393,216 for three."""
        self.write("open.onnx", small_models.small("batch"))
        for sizes in (["--dim", "batch=2"], ["--shape", "x=2x16x32x32"]):
            self.expect(DONE, "plan", "open.onnx", *sizes, "-o", "two.json")
            for other in (["--dim", "batch=3"], ["--shape", "x=3x16x32x32"]):
                report = self.json(NO, "check", "open.onnx", "--baseline", "two.json", *other)
                self.assertEqual((report["bytes"]["before"], report["bytes"]["arena"]), (262144, 393216))

    def test_a_baseline_of_another_model_is_called_so(self):
        self.write("open.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "open.onnx", "--dim", "batch=2", "-o", "two.json")
        self.write("other.onnx", small_models.small("N"))
        self.assertIn("the model has no symbol 'batch', for which the plan was made, so the plan is of another model",
                      self.expect(BAD_INPUT, "check", "other.onnx", "--baseline", "two.json").stderr)

    def test_a_file_that_is_no_single_plan_is_explained(self):
        self.write("open.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "open.onnx", "--dim", "batch=1..3", "-o", "plans.json")
        several = "plans.json: the file has 3 plans, and this command takes one; 'lowtide plan' with one value of " \
            "each size writes one, such as for 'batch=1'"
        self.assertIn(several, self.expect(BAD_INPUT, "check", "open.onnx", "--baseline", "plans.json").stderr)
        self.assertIn(several, self.expect(BAD_INPUT, "view", "plans.json", "-o", "map.html").stderr)
        self.expect(DONE, "verify", "open.onnx", "plans.json")
        self.expect(DONE, "prepare", "model.onnx", "-o", "model.prep")
        prepared = "model.prep: this is a prepared file, which has its plan inside; 'run' and 'bench' take it"
        for words in (["check", "model.onnx", "--baseline", "model.prep"], ["verify", "model.onnx", "model.prep"],
                      ["view", "model.prep", "-o", "map.html"], ["run", "model.onnx", "--plan", "model.prep"]):
            self.assertIn(prepared, self.expect(BAD_INPUT, *words).stderr)

    def test_the_target_is_that_of_the_baseline(self):
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "-o", "cpu.json")
        self.expect(DONE, "check", "model.onnx", "--baseline", "cpu.json", "--target", "cpu")
        self.assertIn("the baseline is a plan for the target 'cpu', but the check is for 'dense'; add --target",
                      self.expect(BAD_INPUT, "check", "model.onnx", "--baseline", "cpu.json").stderr)

    def test_a_baseline_is_required_and_must_be_a_plan(self):
        self.assertIn("a check needs --baseline PLAN", self.expect(USAGE, "check", "model.onnx").stderr)
        self.expect(BAD_INPUT, "check", "model.onnx", "--baseline", "missing.json")
        self.expect(BAD_INPUT, "check", "model.onnx", "--baseline", "model.onnx")


if __name__ == "__main__":
    unittest.main()

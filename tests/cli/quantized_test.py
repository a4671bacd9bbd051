#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models with QuantizeLinear and DequantizeLinear: what the plan needs, and what integer kernels would need."""
import unittest

import small_models
from json_output_test import documented_keys, keys_of
from program import DONE, NO, ProgramTest

REAL = 16 * 32 * 32 * 4  # a, b, c and d of small_models.quantized
INTEGER = 16 * 32 * 32  # q, p and y


class Quantized(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("quantized.onnx", small_models.quantized())

    def test_plan_and_explain_estimate_the_graph_of_integers(self):
        for command in ("plan", "explain"):
            report = self.json(DONE, command, "quantized.onnx")
            self.assertLessEqual(set(keys_of(report)), documented_keys(command))
            # Each DequantizeLinear has its operand and its result, and the Sigmoid works in place.
            self.assertEqual(report["bytes"]["arena"], INTEGER + REAL, command)
            # With integers, each operator works in place.
            self.assertEqual(report["quantized"], {"operators": 2, "estimate": {
                "arena_bytes": INTEGER, "bound_bytes": INTEGER, "proven_optimal": True}}, command)

    def test_the_operands_of_an_integer_operator_may_have_two_types(self):
        self.write("product.onnx", small_models.quantized_product())
        for target in ((), ("--target", "cpu")):
            self.assertEqual(self.json(DONE, "plan", "product.onnx", *target)["quantized"]["operators"], 1)

    def test_the_summary_shows_both_figures(self):
        shown = " ".join(self.expect(DONE, "plan", "quantized.onnx").stdout.split())
        self.assertIn("Quantized: 2 operators are between DequantizeLinear and QuantizeLinear.", shown)
        self.assertIn("Its estimated arena is 16,384 B (16.00 KiB), which is optimal for that graph.", shown)
        shown = " ".join(self.expect(DONE, "explain", "quantized.onnx").stdout.split())
        self.assertIn("Quantized model 2 operators are between", shown)
        self.expect(DONE, "plan", "quantized.onnx", "--html", "map.html")
        self.assertIn('"quantized":"2 operators are between', (self.folder / "map.html").read_text())

    def test_options_of_the_plan_hold_for_the_estimate(self):
        report = self.json(DONE, "plan", "quantized.onnx", "--no-in-place")
        self.assertEqual(report["quantized"]["estimate"]["arena_bytes"], 2 * INTEGER)
        # The input is in the arena, together with q.
        report = self.json(DONE, "plan", "quantized.onnx", "--inputs", "arena")
        self.assertEqual(report["quantized"]["estimate"]["arena_bytes"], REAL + INTEGER)

    def test_branches_of_an_if_count(self):
        self.write("branches.onnx", small_models.quantized_branches())
        report = self.json(DONE, "plan", "branches.onnx")
        # A branch has its operand as floats and its result as integers, and the If has its own result.
        self.assertEqual(report["bytes"]["arena"], REAL + 2 * INTEGER)
        self.assertEqual(report["quantized"], {"operators": 2, "estimate": {
            "arena_bytes": 2 * INTEGER, "bound_bytes": 2 * INTEGER, "proven_optimal": True}})

    def test_nothing_is_proven_of_integers_that_are_planned_as_reals(self):
        """A target with integer kernels runs another graph, which fits where this one does not."""
        for capacity, words in ((INTEGER + 64, "which fits."), (INTEGER - 64, "which exceeds the limit by 64 B.")):
            budget = str(capacity + REAL) + "B"  # the input counts
            said = " ".join(self.expect(NO, "plan", "quantized.onnx", "--budget", budget).stdout.split())
            self.assertNotIn("Proven", said)
            self.assertIn("Not proven: this graph computes floating-point numbers between DequantizeLinear and "
                          "QuantizeLinear. With integer kernels, it would need about 81,920 B (80.00 KiB), " + words,
                          said)
            report = self.json(NO, "plan", "quantized.onnx", "--budget", budget)
            self.assertFalse(report["budget"]["proven_infeasible"])
            self.assertFalse(report["proven_optimal"])

    def test_a_target_file_may_have_integer_kernels(self):
        """q, p and y are all that is in the arena: Sigmoid and Neg with their conversions are nodes on integers."""
        for capacity, code in ((INTEGER, DONE), (INTEGER - 64, NO)):
            self.write("board.toml", b'name = "board"\ninteger_kernels = true\n[[region]]\nname = "ram"\n'
                       b'capacity = %d\n' % capacity)
            report = self.json(code, "plan", "quantized.onnx", "--target", "board.toml", "-o", "plan.json")
            self.assertEqual(report["bytes"]["arena"], INTEGER)
            self.assertIsNone(report["quantized"])
            self.assertTrue(report["proven_optimal"])
            self.assertEqual(report["budget"]["proven_infeasible"], code == NO)
            self.expect(DONE, "verify", "quantized.onnx", "plan.json", "--target", "board.toml")
        said = " ".join(self.expect(NO, "plan", "quantized.onnx", "--target", "board.toml").stdout.split())
        self.assertIn("Proven for the graph that target board runs: no plan", said)

    def test_the_target_cpu_does_not_say_that_integers_are_reals(self):
        report = self.json(DONE, "plan", "quantized.onnx", "--target", "cpu")
        self.assertIsNone(report["quantized"])
        self.assertNotIn("floating-point", self.expect(DONE, "plan", "quantized.onnx", "--target", "cpu").stdout)

    def test_other_models_have_no_estimate(self):
        for command in ("plan", "explain"):
            self.assertIsNone(self.json(DONE, command, "model.onnx")["quantized"])
            self.assertNotIn("Quantized", self.expect(DONE, command, "model.onnx").stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plan files with several plans, and options of verify."""
import json
import unittest

import small_models
from json_output_test import WIDE, documented_keys, keys_of
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest


class Verify(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", small_models.small("batch"))

    def test_verify_reads_a_file_with_several_plans(self):
        self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1,2,4", "-o", "plans.json")
        report = self.json(DONE, "verify", "model.onnx", "plans.json")
        plans = report.pop("plans")
        self.assertIs(report["verified"], True)
        self.assertEqual([one["plan"]["dims"] for one in plans], [["batch=1"], ["batch=2"], ["batch=4"]])
        self.assertEqual([one["bytes"]["arena"] for one in plans], [2 * WIDE, 4 * WIDE, 8 * WIDE])
        for one in plans:
            self.assertFalse(set(keys_of({**report, **one})) - documented_keys("verify"))
        self.assertEqual(self.expect(DONE, "verify", "model.onnx", "plans.json").stdout.count(" is correct for "), 3)
        chosen = self.json(DONE, "verify", "model.onnx", "plans.json", "--dim", "batch=2")
        self.assertEqual(chosen["plan"]["dims"], ["batch=2"])
        none = self.expect(BAD_INPUT, "verify", "model.onnx", "plans.json", "--dim", "batch=3").stderr
        self.assertIn("plans.json: the file has plans for 'batch=1', 'batch=2' and 'batch=4', but the command line "
                      "sets 'batch=3'", none)
        wrong = json.loads((self.folder / "plans.json").read_text())
        wrong["plans"][1]["claims"]["load"] += 64
        self.write("wrong.json", json.dumps(wrong).encode())
        report = self.json(NO, "verify", "model.onnx", "wrong.json")
        self.assertIs(report["verified"], False)
        self.assertEqual([one["verified"] for one in report["plans"]], [True, False, True])

    def test_verify_has_threads_for_kernels_of_this_machine_only(self):
        self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1", "-o", "plan.json")
        self.assertIn("--threads needs kernels of this machine; add --target cpu",
                      self.expect(USAGE, "verify", "model.onnx", "plan.json", "--threads", "2").stderr)

    def test_verify_takes_the_threads_of_the_plan(self):
        for words in (["--threads", "2"], ["--streams", "2", "--run", "waves"], []):
            self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1", "--target", "cpu", *words, "-o", "plan.json")
            self.expect(DONE, "verify", "model.onnx", "plan.json", "--target", "cpu")
        wrong = self.expect(NO, "verify", "model.onnx", "plan.json", "--target", "cpu", "--threads", "2").stdout
        self.assertIn("threads=1", wrong)

    def test_verify_says_what_it_does_not_check(self):
        """The kernels of a plan belong to its target. Those of built-in targets are known without --target."""
        self.write("board.toml", b'name = "board"\n[[region]]\nname = "ram"\n')
        for target, unchecked in ((), False), (("--target", "cpu"), False), (("--target", "board.toml"), True):
            self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1", *target, "-o", "plan.json")
            said = self.expect(DONE, "verify", "model.onnx", "plan.json").stdout
            self.assertEqual("not checked: scratch, in-place rules and constants of the kernels" in said, unchecked)
            self.assertEqual(self.json(DONE, "verify", "model.onnx", "plan.json")["unchecked"] is not None, unchecked)
        self.assertIn("target 'board' describes them; add --target FILE", said)
        self.assertNotIn("not checked", self.expect(DONE, "verify", "model.onnx", "plan.json", "--target",
                                                    "board.toml").stdout)

    def test_a_kernel_that_no_target_has_is_found(self):
        for target in (), ("--target", "cpu"):
            self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1", *target, "-o", "plan.json")
            plan = json.loads((self.folder / "plan.json").read_text())
            plan["kernels"] = ["other"] * len(plan["kernels"])
            self.write("wrong.json", json.dumps(plan).encode())
            self.assertIn("wrong_kernel", self.expect(NO, "verify", "model.onnx", "wrong.json").stdout)


if __name__ == "__main__":
    unittest.main()

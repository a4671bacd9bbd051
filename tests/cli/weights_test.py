#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Targets that say where the weights are: in read-only memory, or beside the arena."""
import json
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, ProgramTest

WEIGHTS = 8192
ARENA = 4096  # z is written over y


def with_flash(capacity):
    """SRAM for the arena and flash for the weights."""
    limit = "" if capacity is None else f"capacity = {capacity}\n"
    return ('name = "board"\nconstants = "flash"\n[[region]]\nname = "sram"\n'
            f'[[region]]\nname = "flash"\n{limit}read_only = true\n')


def in_one(capacity):
    """One memory for both."""
    return f'name = "one"\nconstants = "ram"\n[[region]]\nname = "ram"\ncapacity = {capacity}\n'


class WeightsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("weighted.onnx", small_models.weighted())

    def target(self, text):
        self.write("target.toml", text)
        return ("--target", "target.toml")

    def plan(self, code, text, *words):
        return self.expect(code, "plan", "weighted.onnx", *self.target(text), *words).stdout

    def plan_json(self, code, text, *words):
        return self.json(code, "plan", "weighted.onnx", *self.target(text), *words)

    def test_the_summary_names_the_region(self):
        self.assertRegex(self.plan(DONE, with_flash(None)), r"weights +8,192 B +8\.00 KiB +in flash\n")
        self.assertRegex(self.plan(DONE, with_flash(16384)), r"weights .* 8\.00 KiB of 16\.00 KiB in flash\n")
        for command in ("inspect", "explain"):
            said = self.expect(DONE, command, "weighted.onnx", *self.target(with_flash(16384))).stdout
            self.assertIn("8.00 KiB of 16.00 KiB in flash", " ".join(said.split()))

    def test_json_has_the_use_of_the_region(self):
        use = {"region": "flash", "bytes": WEIGHTS, "capacity": 16384, "shortfall": 0}
        for command in ("plan", "inspect", "explain"):
            report = self.json(DONE, command, "weighted.onnx", *self.target(with_flash(16384)))
            self.assertEqual(report["weights"], use)
            self.assertNotIn("weights", self.json(DONE, command, "weighted.onnx"))
        self.assertIsNone(self.plan_json(DONE, with_flash(None))["weights"]["capacity"])

    def test_one_byte_decides_whether_flash_is_large_enough(self):
        self.assertTrue(self.plan_json(DONE, with_flash(WEIGHTS))["budget"]["fits"])
        report = self.plan_json(NO, with_flash(WEIGHTS - 1))
        self.assertEqual(report["weights"]["shortfall"], 1)
        self.assertEqual([report["budget"][key] for key in ("fits", "shortfall", "proven_infeasible", "capacity")],
                         [False, 1, True, None])
        said = self.plan(NO, with_flash(WEIGHTS - 1))
        self.assertIn("Does not fit: the weights need 8,192 B (8.00 KiB) in flash, which has 8,191 B (8.00 KiB): "
                      "1 B too large.", said)
        self.assertIn("Proven: every plan", said)

    def test_weights_that_do_not_fit_may_fit_without_load_time_work(self):
        self.write("at_load.onnx", small_models.weights_from_weights())
        command = ("plan", "at_load.onnx", *self.target(with_flash(16)))
        said = self.expect(NO, *command).stdout
        self.assertIn("Proven: every plan with load-time work has these weights in this region. "
                      "With --no-load-time, the\n  weights may need less.\n", said)
        said = self.expect(NO, *command, "--no-load-time").stdout
        self.assertIn("Proven: every plan without load-time work has these weights in this region.\n", said)

    def test_one_byte_decides_whether_weights_and_arena_fit(self):
        budget = self.plan_json(DONE, in_one(WEIGHTS + ARENA))["budget"]
        self.assertEqual((budget["capacity"], budget["counted"]), (WEIGHTS + ARENA, WEIGHTS + ARENA))
        self.assertEqual(self.plan_json(NO, in_one(WEIGHTS + ARENA - 1))["budget"]["shortfall"], 1)
        # The bound is a multiple of the alignment of 64 bytes.
        self.assertTrue(self.plan_json(NO, in_one(WEIGHTS + ARENA - 64))["budget"]["proven_infeasible"])
        self.assertIn("with the weights", self.plan(NO, in_one(WEIGHTS)))

    def test_weights_do_not_count_against_a_budget(self):
        report = self.plan_json(DONE, in_one(WEIGHTS + ARENA), "--budget", "8KiB")
        self.assertEqual((report["budget"]["capacity"], report["budget"]["counted"]), (8192, 8192))

    def test_a_plan_file_says_where_constants_are(self):
        self.plan(DONE, with_flash(16384), "-o", "plan.json")
        machine = json.loads((self.folder / "plan.json").read_text())["machine"]
        self.assertEqual(machine["constants"], 1)
        self.assertEqual([region.get("read_only") for region in machine["regions"]], [None, True])
        self.expect(DONE, "view", "plan.json", "-o", "page.html")
        self.expect(DONE, "verify", "weighted.onnx", "plan.json", *self.target(with_flash(16384)))
        self.expect(DONE, "plan", "weighted.onnx", "-o", "plain.json")
        self.assertEqual(sorted(json.loads((self.folder / "plain.json").read_text())["machine"]),
                         ["links", "regions", "workers"])

    def test_verify_refuses_writes_into_read_only_memory(self):
        self.plan(DONE, with_flash(16384), "-o", "plan.json")
        text = (self.folder / "plan.json").read_text()
        self.assertIn('"name": "sram", "capacity": null, "alignment": 64', text)
        self.write("rom.json", text.replace('"alignment": 64}', '"alignment": 64, "read_only": true}', 1))
        said = self.expect(NO, "verify", "weighted.onnx", "rom.json").stdout
        self.assertRegex(said, r"read_only .*is in region 0 'sram', which is read-only, so step \d .* cannot write it")

    def test_verify_compares_the_plan_with_the_target(self):
        self.plan(DONE, with_flash(16384), "-o", "plan.json")
        check = ("verify", "weighted.onnx", "plan.json")
        said = self.expect(NO, *check, *self.target(with_flash(WEIGHTS - 1))).stdout
        self.assertIn("the constants end at byte 8192 of region 1 'flash', which has only 8191", said)
        said = self.expect(NO, *check, *self.target(with_flash(None).replace("read_only = true", ""))).stdout
        self.assertIn("'flash' is read-only in the plan, but not in the target", said)
        said = self.expect(NO, *check, *self.target(with_flash(None).replace('constants = "flash"', ""))).stdout
        self.assertIn("the target keeps constants in no region that it names, but the plan in region 1 'flash'", said)

    def test_a_target_that_cannot_be_used_is_refused_with_its_place(self):
        wrong = in_one(4096).replace('constants = "ram"', 'constants = "rom"')
        said = self.expect(BAD_INPUT, "plan", "weighted.onnx", *self.target(wrong)).stderr
        self.assertIn("target.toml:2:13: target: constants refers to the region 'rom', which does not exist", said)


if __name__ == "__main__":
    unittest.main()

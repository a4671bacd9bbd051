#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures kernels with `bench --profile`, and plans by the times with --costs."""
import json
import unittest

import small_models
from program import BAD_INPUT, DONE, USAGE, ProgramTest

CPU = ["--target", "cpu"]


class Costs(ProgramTest):
    def succeed(self, *words):
        return self.expect(DONE, *words).stdout

    def read(self, name):
        return (self.folder / name).read_text()

    def fail_with(self, code, message, *words):
        self.assertIn(message, self.expect(code, *words).stderr)

    def profile(self, *words):
        self.succeed("bench", "model.onnx", "--runs", "3", "--profile", "costs.json", *words)
        return json.loads(self.read("costs.json"))

    def test_measures_the_kernels_of_a_model(self):
        profile = self.profile()
        self.assertEqual(list(profile), ["format", "schema_version", "machine_key", "works"])
        self.assertEqual((profile["format"], profile["schema_version"]), ("lowtide-kernel-times", 1))
        works = [row["work"].split(" ")[0] for row in profile["works"]]
        # Relu, Sigmoid and Add are one chain, and three nodes for a budget that needs them.
        self.assertEqual(works, ["Add", "MaxPool", "Relu", "Sigmoid", "lowtide::Chain"])
        for row in profile["works"]:
            for kernel in row["kernels"]:
                self.assertGreater(kernel["picoseconds"], 0)
                self.assertTrue(1 <= kernel["samples"] <= 20)

    def test_plans_and_runs_say_what_their_times_are_from(self):
        profile = self.profile()
        total = sum(row["kernels"][0]["picoseconds"] for row in profile["works"]
                    if row["work"].split(" ")[0] in ("MaxPool", "lowtide::Chain"))
        expected = {"picoseconds": total, "kernels": 2, "measured": 2, "of_target": 0}
        plan = self.json(DONE, "plan", "model.onnx", *CPU, "--costs", "costs.json")
        self.assertEqual(plan["estimate"], expected)
        bench = self.json(DONE, "bench", "model.onnx", "--runs", "3", "--costs", "costs.json")
        self.assertEqual(bench["estimate"], expected)
        curve = self.json(DONE, "plan", "model.onnx", *CPU, "--costs", "costs.json", "--curve")["curve"]
        self.assertEqual((curve["estimate"], curve["base_cost"]), (expected, total))
        text = self.succeed("plan", "model.onnx", *CPU, "--costs", "costs.json")
        self.assertIn("by the measured times of all 2 kernels", text)
        plain = self.json(DONE, "plan", "model.onnx", *CPU)
        self.assertEqual((plain["estimate"]["kernels"], plain["estimate"]["measured"]), (2, 0))

    def test_a_budget_is_compared_by_the_same_costs(self):
        self.profile()
        budget = str(64 * 1024 + 2 * 80 * 1024)
        report = self.json(DONE, "bench", "model.onnx", "--runs", "3", "--costs", "costs.json", "--budget", budget)
        self.assertEqual(report["budget"]["cost_model"], "measured")
        self.assertEqual(report["budget"]["estimated_overhead"], 0)
        report = self.json(DONE, "bench", "model.onnx", "--runs", "3", "--budget", budget)
        self.assertEqual(report["budget"]["cost_model"], "plain")

    def test_names_do_not_matter(self):
        self.profile()
        renamed = small_models.small()
        for old, new in ((b"a", b"k"), (b"b", b"l"), (b"c", b"m")):  # the tensors between the nodes
            for tag in (b"\x0a\x01", b"\x12\x01"):  # inputs and outputs of nodes
                renamed = renamed.replace(tag + old, tag + new)
        self.assertNotEqual(renamed, small_models.small())
        self.write("model.onnx", renamed)
        plan = self.json(DONE, "plan", "model.onnx", *CPU, "--costs", "costs.json")
        self.assertEqual((plan["estimate"]["measured"], plan["estimate"]["kernels"]), (2, 2))

    def test_a_note_says_what_has_no_times(self):
        self.profile()
        self.write("model.onnx", small_models.weighted())
        for words in (["plan", "model.onnx", *CPU], ["plan", "model.onnx", *CPU, "--curve"],
                      ["bench", "model.onnx", "--runs", "1"], ["run", "model.onnx", "--synthetic", "1"]):
            said = self.expect(DONE, *words, "--costs", "costs.json").stderr
            self.assertIn("costs.json has times for 0 of 1 kernel of this plan", said)

    def test_names_of_outputs_are_not_empty(self):
        self.fail_with(USAGE, "the name of an output file is empty", "bench", "model.onnx", "--profile", "")
        self.fail_with(USAGE, "the name of an output file is empty", "plan", "model.onnx", "-o", "")

    def test_a_file_keeps_the_times_of_other_models(self):
        first = self.profile()
        self.write("model.onnx", small_models.weighted())
        both = {row["work"]: row for row in self.profile()["works"]}
        self.assertGreater(len(both), len(first["works"]))
        for row in first["works"]:
            self.assertEqual(both[row["work"]], row)

    def test_a_profile_is_deterministic_in_form(self):
        self.profile()
        text = self.read("costs.json")
        self.write("model.onnx", small_models.weighted())
        self.profile()
        lines = [line for line in self.read("costs.json").splitlines() if line.startswith('{"work"')]
        self.assertEqual(lines, sorted(lines))
        self.assertTrue(text.endswith("]\n}\n"))

    def test_prepared_files_have_plans_by_these_times(self):
        self.profile()
        self.succeed("prepare", "model.onnx", "--costs", "costs.json", "-o", "model.prepared")
        self.succeed("run", "model.onnx", "--costs", "costs.json", "--synthetic", "1")
        self.fail_with(USAGE, "--costs has no effect on a prepared file", "run", "model.prepared", "--costs",
                       "costs.json")
        self.fail_with(USAGE, "--profile measures the kernels of a model", "bench", "model.prepared", "--profile", "c")

    def test_other_machines_are_refused_and_files_stay(self):
        profile = self.profile()
        profile["machine_key"] = ["isa=other", "threads=1"]
        self.write("costs.json", json.dumps(profile).encode())
        before = self.read("costs.json")
        for words in (["plan", "model.onnx", *CPU, "--costs", "costs.json"],
                      ["run", "model.onnx", "--synthetic", "1", "--costs", "costs.json"],
                      ["bench", "model.onnx", "--costs", "costs.json"],
                      ["bench", "model.onnx", "--profile", "costs.json"]):
            self.fail_with(BAD_INPUT, "the times are of a machine with isa=other", *words)
        self.assertEqual(self.read("costs.json"), before)

    def test_threads_are_part_of_the_machine(self):
        self.profile()
        self.fail_with(BAD_INPUT, "threads=2", "bench", "model.onnx", "--threads", "2", "--costs", "costs.json")

    def test_other_files_are_refused_and_stay(self):
        self.write("notes.json", b'{"notes": 1}')
        for option in ("--costs", "--profile"):
            self.fail_with(BAD_INPUT, "notes.json", "bench", "model.onnx", option, "notes.json")
        self.assertEqual(self.read("notes.json"), '{"notes": 1}')
        self.fail_with(BAD_INPUT, "absent.json", "plan", "model.onnx", *CPU, "--costs", "absent.json")
        self.fail_with(BAD_INPUT, "absent/costs.json", "bench", "model.onnx", "--profile", "absent/costs.json")

    def test_options_that_contradict(self):
        self.profile()
        self.fail_with(USAGE, "add --target cpu", "plan", "model.onnx", "--costs", "costs.json")
        self.succeed("plan", "model.onnx", *CPU, "-o", "plan.json")
        self.fail_with(USAGE, "--costs has no effect with --plan", "run", "model.onnx", "--synthetic", "1",
                       "--plan", "plan.json", "--costs", "costs.json")
        self.fail_with(USAGE, "costs.json", "plan", "model.onnx", *CPU, "--costs", "costs.json", "-o", "costs.json")
        self.fail_with(USAGE, "model.onnx", "bench", "model.onnx", "--profile", "model.onnx")


if __name__ == "__main__":
    unittest.main()

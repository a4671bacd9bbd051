#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A program without kernels and without the runtime: it plans for other machines, and says how to get the rest."""
import json
import re
import unittest

from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

LEFT_OUT = ("run", "prepare", "bench")
PLANNING = ("inspect", "plan", "explain", "verify", "check", "view", "pack", "order")


class WithoutRuntime(ProgramTest):
    def test_help_lists_what_is_there(self):
        text = self.expect(DONE, "--help", environment={"COLUMNS": "1000"}).stdout
        block = re.search(r"^commands\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL).group(1)
        listed = [line.split()[0] for line in block.splitlines()]
        self.assertEqual([name for name in listed if name in PLANNING + LEFT_OUT], list(PLANNING))

    def test_no_text_mentions_what_is_not_there(self):
        texts = {"manual": self.expect(DONE, "help", "--man").stdout}
        for shell in ("bash", "zsh", "fish"):
            texts[shell] = self.expect(DONE, "completion", shell).stdout
        for command in PLANNING:
            if command != "pack":  # whose --threads are those of its search
                texts[command] = self.expect(DONE, command, "--help", environment={"COLUMNS": "1000"}).stdout
        for name, text in texts.items():
            plain = text.replace("\\-", "-")  # as the manual writes a hyphen
            words = ("target cpu", "or cpu", *(f"lowtide {one} " for one in LEFT_OUT), "--costs", "--without ")
            for word in words:
                self.assertNotIn(word, plain, name)

    def test_a_command_that_is_left_out_says_how_to_get_it(self):
        for command in LEFT_OUT:
            said = self.expect(USAGE, command, "model.onnx").stderr
            self.assertIn(f"leaves out the command '{command}'", said)
            self.assertIn("lowtide_WITH_RUNTIME=ON", said)

    def test_the_target_cpu_says_how_to_get_it(self):
        for words in (("plan", "model.onnx"), ("explain", "model.onnx"), ("inspect", "model.onnx")):
            said = self.expect(BAD_INPUT, *words, "--target", "cpu").stderr
            self.assertIn("lowtide_WITH_RUNTIME=ON", said)

    def test_export_of_an_onnx_model_says_how_to_get_it(self):
        said = self.expect(BAD_INPUT, "export", "model.onnx", "-o", "c").stderr
        self.assertIn("lowtide_WITH_RUNTIME=ON", said)

    def test_options_of_kernels_are_unknown(self):
        for option in ("--threads=2", "--without=formats", "--costs=costs.json"):
            said = self.expect(USAGE, "plan", "model.onnx", option).stderr
            self.assertIn(option.split("=")[0], said)

    def test_models_are_planned_and_verified(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json", "--html", "map.html")
        verified = json.loads(self.expect(DONE, "verify", "model.onnx", "plan.json", "--json").stdout)
        self.assertEqual(verified["violations"], [])
        self.expect(DONE, "view", "plan.json", "-o", "again.html")
        self.expect(DONE, "explain", "model.onnx")

    def test_a_budget_that_is_too_small_is_an_honest_no(self):
        said = self.expect(NO, "plan", "model.onnx", "--budget", "1").stderr
        self.assertIn("exceeds its memory limit", said)
        self.assertNotIn("--target cpu", said)

    def test_kernels_of_a_plan_for_a_machine_stay_unchecked(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        plan = json.loads((self.folder / "plan.json").read_text())
        plan["provenance"]["target"] = "cpu"
        plan["provenance"]["machine_key"] = ["caches=32K+1024K", "isa=avx2", "kernels=10", "library=none", "threads=1"]
        self.write("cpu.json", json.dumps(plan).encode())
        verified = json.loads(self.run_program("verify", "model.onnx", "cpu.json", "--json").stdout)
        self.assertIn("kernels", json.dumps(verified["unchecked"]))


if __name__ == "__main__":
    unittest.main()

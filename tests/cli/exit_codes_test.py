#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and what goes to stdout and what to stderr."""
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest


class ExitCodes(ProgramTest):
    def expect_one_line(self, code, part, *words):
        """A refusal: nothing on stdout, one line on stderr that holds `part`."""
        result = self.expect(code, *words)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Aerror: [^\n]*\n\Z")
        self.assertIn(part, result.stderr)

    def test_done_prints_the_result_on_stdout_and_remarks_on_stderr(self):
        result = self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertIn("arena", result.stdout)
        self.assertNotIn("wrote", result.stdout)
        self.assertIn("wrote plan.json", result.stderr)

    def test_quiet_leaves_stderr_empty(self):
        self.assertEqual(self.expect(DONE, "plan", "model.onnx", "-o", "plan.json", "-q").stderr, "")

    def test_a_budget_that_is_not_met_is_no_and_writes_nothing(self):
        result = self.expect(NO, "plan", "model.onnx", "--budget", "100KiB", "-o", "plan.json", "--html", "map.html")
        # 131,072 B are needed and proven, 102,400 B are there.
        self.assertIn("28,672 B", result.stdout)
        self.assertIn("Proven: no order fits", result.stdout)
        self.assertIn("sigmoid", result.stdout)  # what holds the peak
        self.assertIn("nothing was written", result.stderr)
        self.assertEqual(self.listing(), ["model.onnx"])

    def test_a_budget_that_is_met_to_the_byte_is_done(self):
        self.expect(DONE, "plan", "model.onnx", "--budget", "131072")
        self.expect(NO, "plan", "model.onnx", "--budget", "131071")

    def test_a_plan_for_another_model_is_no(self):
        self.write("other.onnx", small_models.chain(3))
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        result = self.expect(NO, "verify", "other.onnx", "plan.json")
        self.assertIn("wrong_model", result.stdout)

    def test_a_damaged_plan_is_no_with_its_violation(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        text = (self.folder / "plan.json").read_text()
        damaged = text.replace('"arena": [131072]', '"arena": [131008]').replace('"arena":[131072]', '"arena":[131008]')
        self.assertNotEqual(text, damaged)
        self.write("plan.json", damaged)
        report = self.json(NO, "verify", "model.onnx", "plan.json")
        self.assertFalse(report["verified"])
        self.assertIn("out_of_region", {violation["kind"] for violation in report["violations"]})

    def test_usage_errors_are_one_line_with_the_nearest_right_spelling(self):
        for part, words in {
            "did you mean 'plan'": ["plna", "model.onnx"],
            "did you mean '--budget'": ["plan", "model.onnx", "--budjet", "1MiB"],
            "did you mean 'always'": ["plan", "model.onnx", "--color=alway"],
            "did you mean 'depth_first'": ["plan", "model.onnx", "--order", "depth-first"],
            "needs MODEL": ["plan"],
            "needs PLAN": ["verify", "model.onnx"],
            "needs a value": ["plan", "model.onnx", "--dim"],
            "takes no value": ["plan", "model.onnx", "--json=3"],
            "unexpected argument 'more'": ["plan", "model.onnx", "more"],
            "given 2 times": ["plan", "model.onnx", "--budget", "1MiB", "--budget", "2MiB"],
            "needs '-o FILE'": ["view", "plan.json"],
            "twice, to 1 and to 2": ["plan", "model.onnx", "--dim", "a=1", "--dim", "a=2"],
            "like batch=8": ["plan", "model.onnx", "--dim", "a=-1"],
            "like image=": ["plan", "model.onnx", "--shape", "x=1xx3"],
            "two outputs": ["plan", "model.onnx", "-o", "same", "--html", "./same"],
            "both go to stdout": ["plan", "model.onnx", "-o", "-", "--json"],
        }.items():
            with self.subTest(words):
                self.expect_one_line(USAGE, part, *words)

    def test_sizes_that_are_none_are_refused_with_a_hint(self):
        for size, part in {
            "0": "holds nothing", "-1": "not negative", "18446744073709551616": "below 2^63",
            "9223372036854775808": "below 2^63", "8388608TiB": "below 2^63", "64MB": "did you mean '64MiB'",
            "64Gi": "did you mean '64GiB'", "1.5B": "whole number", "1e6": "is a size such as", "": "needs a value",
            "64 000": "is a size such as", "NaN": "is a size such as",
        }.items():
            with self.subTest(size):
                self.expect_one_line(USAGE, part, "plan", "model.onnx", f"--budget={size}")
                self.expect_one_line(USAGE, part, "pack", "buffers.csv", f"--capacity={size}")

    def test_the_largest_size_is_one(self):
        self.expect(DONE, "plan", "model.onnx", "--budget", "9223372036854775807")

    def test_bad_input_names_the_file(self):
        self.write("empty.onnx", b"")
        self.write("text.onnx", b"this is not a model")
        self.write("plan.json", b"{}")
        (self.folder / "folder").mkdir()
        for part, words in {
            "missing.onnx": ["inspect", "missing.onnx"],
            "empty.onnx": ["plan", "empty.onnx"],
            "text.onnx": ["plan", "text.onnx"],
            "plan.json": ["verify", "model.onnx", "plan.json"],
            "folder": ["view", "folder", "-o", "map.html"],
            "missing.toml": ["plan", "model.onnx", "--target", "missing.toml"],
            "/dev/zero": ["view", "/dev/zero", "-o", "map.html"],
        }.items():
            with self.subTest(words):
                result = self.expect(BAD_INPUT, *words)
                self.assertEqual(result.stdout, "")
                self.assertIn(part, result.stderr)

    def test_with_json_a_refusal_leaves_stdout_empty(self):
        self.assertEqual(self.expect(BAD_INPUT, "plan", "missing.onnx", "--json").stdout, "")
        self.assertEqual(self.expect(USAGE, "plan", "--json").stdout, "")

    def test_stdout_that_takes_no_more_is_an_error(self):
        with open("/dev/full", "wb") as full:
            import subprocess

            from program import PLAIN, PROGRAM
            result = subprocess.run([PROGRAM, "plan", "model.onnx"], cwd=self.folder, env=PLAIN, stdout=full,
                                    stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn(b"cannot write to stdout", result.stderr)

    def test_without_words_the_help_is_on_stderr(self):
        result = self.expect(USAGE)
        self.assertEqual(result.stdout, "")
        self.assertIn("usage:", result.stderr)

    def test_a_path_that_begins_with_a_dash_comes_after_two(self):
        self.write("-odd.onnx", small_models.small())
        self.expect(DONE, "inspect", "--", "-odd.onnx")
        self.expect(USAGE, "inspect", "-odd.onnx")


if __name__ == "__main__":
    unittest.main()

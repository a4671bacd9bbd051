#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exit codes, and what goes to stdout and what to stderr."""
import json
import os
import re
import shlex
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest, needs_earlier


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

    def test_a_budget_that_is_not_met_is_no_and_the_files_say_so(self):
        result = self.expect(NO, "plan", "model.onnx", "--budget", "100KiB", "-o", "plan.json", "--html", "map.html")
        # The arena needs 131,072 B, which is proven, and the input 65,536 B. 102,400 B are available.
        self.assertIn("94,208 B", result.stdout)
        self.assertIn("Proven for the model as written: no plan fits", result.stdout)
        self.assertIn("sigmoid", result.stdout)  # what holds the peak
        self.assertIn("the plan exceeds its memory limit by 94,208 B (92.00 KiB)", result.stderr)
        self.assertEqual(self.listing(), ["map.html", "model.onnx", "plan.json"])
        plan = json.loads((self.folder / "plan.json").read_text())
        self.assertEqual(plan["claims"]["shortfall"], 94208)
        self.assertIsNone(plan["machine"]["regions"][0]["capacity"])
        # The input leaves 36,864 B of the budget for the arena.
        self.assertIn('"missed_budget":36864', (self.folder / "map.html").read_text())
        self.expect(DONE, "view", "plan.json", "-o", "view.html")
        self.assertIn('"missed_budget":36864', (self.folder / "view.html").read_text())
        self.assertIn("the plan says that it exceeds its memory limit by 94,208 B (92.00 KiB)",
                      self.expect(DONE, "verify", "model.onnx", "plan.json").stdout)
        self.assertEqual(self.json(DONE, "verify", "model.onnx", "plan.json")["bytes"]["shortfall"], 94208)

    def test_a_budget_that_is_met_to_the_byte_is_done(self):
        self.expect(DONE, "plan", "model.onnx", "--budget", str(131072 + 65536))
        self.expect(NO, "plan", "model.onnx", "--budget", str(131072 + 65535))

    @needs_earlier
    def test_what_is_not_counted_is_not_proven_to_fit(self):
        self.write("gradient.onnx", small_models.gradient())
        free = self.expect(DONE, "plan", "gradient.onnx")
        self.assertIn("Not proven: The memory inside these operators is unknown", free.stdout)
        self.assertIn("ai.onnx.preview.training::Gradient.", free.stdout)
        self.assertNotIn("optimal", free.stdout)
        explained = self.expect(DONE, "explain", "gradient.onnx").stdout
        self.assertIn("Not proven: The memory inside these operators is unknown", explained)
        self.assertNotIn("Why no order needs less", explained)
        self.assertFalse(self.json(DONE, "explain", "gradient.onnx")["levels"][0]["proven_optimal"])
        compared = self.expect(DONE, "compare", "gradient.onnx").stdout
        self.assertNotIn("optimal", compared.splitlines()[3])
        self.assertIn("Not proven: The memory inside these operators is unknown", compared)
        self.assertEqual(self.json(DONE, "compare", "gradient.onnx")["uncounted"],
                         ["ai.onnx.preview.training::Gradient"])
        planned = self.json(DONE, "plan", "gradient.onnx", "-o", "free.json", "--html", "free.html")
        self.assertEqual(planned["uncounted"], ["ai.onnx.preview.training::Gradient"])
        self.assertFalse(planned["proven_optimal"] or planned["schedule"]["proven_optimal"] or
                         planned["allocate"]["proven_optimal"])
        # A page made from the plan file alone says so too.
        self.expect(DONE, "view", "free.json", "-o", "view.html")
        for page in ("free.html", "view.html"):
            self.assertIn('"uncounted":["ai.onnx.preview.training::Gradient"]', (self.folder / page).read_text())
        limited = self.expect(NO, "plan", "gradient.onnx", "--budget", "1MiB")
        self.assertIn("What is counted fits 1,048,576 B", limited.stdout)
        self.assertIn("whether the plan fits is not known", limited.stderr)
        self.assertIsNone(self.json(NO, "plan", "gradient.onnx", "--budget", "1MiB")["budget"]["fits"])
        # A target that describes the kernel says what it needs.
        self.write("board.toml", 'name = "board"\n[[region]]\nname = "ram"\n[[kernel]]\nname = "backward"\n'
                                 'operator = "ai.onnx.preview.training::Gradient"\nscratch = 4096\n')
        self.assertIn("Proven optimal", self.expect(DONE, "plan", "gradient.onnx", "--target", "board.toml").stdout)

    def test_errors_name_the_file_of_the_plan(self):
        self.expect(DONE, "plan", "model.onnx", "--inputs", "arena", "-o", "plan.json")
        plan = (self.folder / "plan.json").read_text()
        self.write("unknown.json", plan.replace('"inputs_in_arena"', '"fold"'))
        place = "unknown.json: $.provenance.lowering: this program has no lowering pass 'fold'"
        self.assertIn(place, self.expect(BAD_INPUT, "verify", "model.onnx", "unknown.json").stderr)
        for words in (["verify", "model.onnx", "-"], ["view", "-", "-o", "page.html"]):
            self.assertIn("stdin:1:1: not a plan file", self.expect(BAD_INPUT, *words, stdin=b"").stderr)

    def test_a_plan_for_another_model_is_no(self):
        self.write("other.onnx", small_models.chain(3))
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        result = self.expect(NO, "verify", "other.onnx", "plan.json")
        self.assertIn("wrong_model", result.stdout)

    def test_plan_for_another_model_with_open_sizes_is_refused(self):
        self.write("other.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertIn("wrong_model", self.expect(NO, "verify", "other.onnx", "plan.json").stdout)
        report = self.json(NO, "verify", "other.onnx", "plan.json")
        self.assertEqual([violation["kind"] for violation in report["violations"]], ["wrong_model"])
        self.assertEqual(len(report["model"]["sha256"]), 64)
        self.assertIsNone(report["model"]["nodes"])
        # The plan's bindings mean nothing to the other model.
        self.expect(DONE, "plan", "other.onnx", "--dim", "batch=2", "-o", "plan.json")
        self.assertIn("wrong_model", self.expect(NO, "verify", "model.onnx", "plan.json").stdout)
        # But a file that is not a model is bad input, not another model.
        self.write("text.onnx", b"this is not a model")
        self.expect(BAD_INPUT, "verify", "text.onnx", "plan.json")
        self.expect(BAD_INPUT, "verify", "missing.onnx", "plan.json")
        self.assertIn("not a plan file", self.expect(BAD_INPUT, "verify", "plan.json", "model.onnx").stderr)

    def test_other_sizes_than_the_plan_are_reported_first(self):
        self.write("open.onnx", small_models.small("batch"))
        self.expect(DONE, "plan", "open.onnx", "--dim", "batch=2", "-o", "plan.json")
        self.expect(DONE, "verify", "open.onnx", "plan.json")
        self.expect(DONE, "verify", "open.onnx", "plan.json", "--dim", "batch=2")
        report = self.json(NO, "verify", "open.onnx", "plan.json", "--dim", "batch=4")
        first, *rest = report["violations"]
        self.assertEqual(first["kind"], "wrong_model")
        self.assertEqual(first["message"], "the plan was made for 'batch=2', but the command line sets 'batch=4'")
        self.assertEqual({violation["kind"] for violation in rest}, {"wrong_model"})  # differences, and no replay
        shown = self.expect(NO, "verify", "open.onnx", "plan.json", "--dim", "batch=4").stdout.splitlines()
        self.assertIn("the plan was made for 'batch=2'", shown[1])
        self.assertEqual(len(shown), 5)  # the verdict, three lines, and the count of the others
        self.assertRegex(shown[4], f"^  and {len(report['violations']) - 3} more difference")
        # Also if the model cannot be read with the given sizes.
        self.assertRegex(self.expect(BAD_INPUT, "verify", "open.onnx", "plan.json", "--dim", "bach=4").stderr,
                         "error: the plan was made for 'batch=2', but the command line sets 'bach=4': .*"
                          "no symbol 'bach'")

    def test_suggestions_for_open_sizes_work(self):
        for name in ("ba\ntch", "it's", "a b", 'say "n"', "back\\slash", "ba\u202etch", b"\xff", "n=m"):
            with self.subTest(name):
                self.write("open.onnx", small_models.model([small_models.node("Relu", [name], ["y"])],
                                                           [small_models.value_info(name, ["n", 3])],
                                                           [small_models.value_info("y", ["m", 3])]))
                said = self.expect(BAD_INPUT, "plan", "open.onnx").stderr
                hint = re.search("give (--shape .*=[?]x3), with a number for each [?]$", said, re.MULTILINE)
                self.assertTrue(hint, said)
                words = shlex.split(hint[1].replace("?x3", "2x3"))  # as a shell splits it
                self.expect(DONE, "plan", "open.onnx", *words, "-o", "plan.json")
                self.expect(DONE, "verify", "open.onnx", "plan.json")

    def test_suggestions_for_sizes_that_depend_on_data_work(self):
        for name in ("po\ns", "it's", "a b", 'say "n"', "back\\slash", "po\u202es", b"\xff", "n=m", "p<"):
            with self.subTest(name):
                self.write("open.onnx", small_models.counting(name))
                said = self.expect(BAD_INPUT, "plan", "open.onnx").stderr
                hint = re.search("give (--at-most .*=)N, with a number that it never exceeds$", said, re.MULTILINE)
                self.assertTrue(hint, said)
                words = shlex.split(hint[1] + "20")
                self.expect(DONE, "plan", "open.onnx", *words, "-o", "plan.json")
                self.expect(DONE, "verify", "open.onnx", "plan.json")

    def test_numbers_above_64_bits_are_called_too_large(self):
        many = "99999999999999999999"
        for words in (["--dim", f"n={many}"], ["--shape", f"x=1x{many}"], ["--effort", many]):
            self.expect_one_line(USAGE, "too large", "plan", "model.onnx", *words)
        for size in (many, "8388608TiB", f"{many}B"):
            self.expect_one_line(USAGE, "must be below 2^63 bytes", "plan", "model.onnx", "--budget", size)

    def test_a_model_from_a_pipe_is_refused_with_a_way_out(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe", "-", "/dev/zero"):
            self.expect_one_line(BAD_INPUT, "write it to a file first", "plan", name)

    def test_a_damaged_plan_is_no_with_its_violation(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        text = (self.folder / "plan.json").read_text()
        damaged = text.replace('"arena": [131072]', '"arena": [131008]').replace('"arena":[131072]', '"arena":[131008]')
        self.assertNotEqual(text, damaged)
        self.write("plan.json", damaged)
        report = self.json(NO, "verify", "model.onnx", "plan.json")
        self.assertFalse(report["verified"])
        self.assertIn("out_of_region", {violation["kind"] for violation in report["violations"]})

    def test_a_plan_with_other_labels_is_no(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        text = (self.folder / "plan.json").read_text()
        sigmoid = '["sigmoid", "Sigmoid"]'
        for before, after in ((sigmoid, '["sigmoid", "Tanh"]'), (sigmoid, '["", "Sigmoid"]'),
                              ('["a", "f32', '["aa", "f32'), ('["a", "f32', '["a", "i32'),
                              ('"temporary", 65536]', '"output", 65536]')):
            damaged = text.replace(before, after, 1)
            self.assertNotEqual(text, damaged, before)
            self.write("plan.json", damaged)
            report = self.json(NO, "verify", "model.onnx", "plan.json")
            self.assertEqual([violation["kind"] for violation in report["violations"]], ["wrong_model"], before)

    def test_usage_errors_suggest_the_nearest_spelling(self):
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
            "to both 1 and 2": ["plan", "model.onnx", "--dim", "a=1", "--dim", "a=2"],
            "the form batch=8": ["plan", "model.onnx", "--dim", "a=-x"],
            "sets 'a' to -1; give an extent of at least 0": ["plan", "model.onnx", "--dim", "a=-1"],
            "the form image=": ["plan", "model.onnx", "--shape", "x=1xx3"],
            "two outputs": ["plan", "model.onnx", "-o", "same", "--html", "./same"],
            "both go to stdout": ["plan", "model.onnx", "-o", "-", "--json"],
            "cannot both go to stdout; name a file": ["plan", "model.onnx", "-o", "/dev/stdout", "--json"],
            "two outputs go to stdout": ["plan", "model.onnx", "-o", "/dev/fd/1", "--html", "-"],
            "which slots do not have": ["pack", "model.onnx", "--slots", "--html", "map.html"],
            "from 1 to 256, not '0'": ["pack", "model.onnx", "--threads", "0"],
            "from 1 to 256, not '257'": ["pack", "model.onnx", "--threads", "257"],
            "from 1 to 256, not '99999999999999999999'": ["pack", "model.onnx", "--threads", "99999999999999999999"],
        }.items():
            with self.subTest(words):
                self.expect_one_line(USAGE, part, *words)

    def test_invalid_sizes_are_refused_with_a_hint(self):
        for size, part in {
            "-1": "cannot be negative", "18446744073709551616": "below 2^63",
            "9223372036854775808": "below 2^63", "8388608TiB": "below 2^63", "64MB": "did you mean '64MiB'",
            "64Gi": "did you mean '64GiB'", "1.5B": "whole number", "": "needs a value",
            "1e6": "must be a size such as",
            "64 000": "must be a size such as", "NaN": "must be a size such as",
        }.items():
            with self.subTest(size):
                self.expect_one_line(USAGE, part, "plan", "model.onnx", f"--budget={size}")
                self.expect_one_line(USAGE, part, "pack", "buffers.csv", f"--capacity={size}")

    def test_a_budget_of_0_is_refused_but_a_capacity_of_0_is_not(self):
        self.expect_one_line(USAGE, "must be positive", "plan", "model.onnx", "--budget=0")
        self.write("small.csv", "id,lower,upper,size\na,0,2,8\nb,1,3,0\n")
        for words in ((), ("--slots",)):
            self.assertIn("Proven: no ", self.expect(NO, "pack", "small.csv", "--capacity=0", *words).stdout)
        witness = self.json(NO, "pack", "small.csv", "--capacity=0")["witness"]
        self.assertEqual((witness["buffers"], witness["bytes"]), (["a"], 8))
        self.write("nothing.csv", "id,lower,upper,size\na,0,2,0\nb,1,3,0\n")
        for words in ((), ("--slots",), ("--html", "map.html")):
            self.expect(DONE, "pack", "nothing.csv", "--capacity=0", *words)

    def test_the_largest_budget_is_the_largest_arena_of_a_plan(self):
        largest = 2**55 - 1  # kMaxArenaBytes
        self.expect(DONE, "plan", "model.onnx", "--budget", str(largest), "-o", "plan.json")
        self.expect(DONE, "verify", "model.onnx", "plan.json")
        for size in (largest + 1, 2**63 - 1):
            self.expect_one_line(USAGE, f"'--budget' must be at most {largest} bytes (kMaxArenaBytes)",
                                 "plan", "model.onnx", "--budget", str(size), "-o", "other.json")
        self.assertFalse((self.folder / "other.json").exists())

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

    def test_a_failed_write_to_stdout_is_an_error(self):
        with open("/dev/full", "wb") as full:
            import subprocess

            from program import PLAIN, PROGRAM
            result = subprocess.run([PROGRAM, "plan", "model.onnx"], cwd=self.folder, env=PLAIN, stdout=full,
                                    stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn(b"cannot write to stdout", result.stderr)

    def test_without_arguments_the_help_is_on_stderr(self):
        result = self.expect(USAGE)
        self.assertEqual(result.stdout, "")
        self.assertIn("usage:", result.stderr)

    def test_a_path_that_begins_with_a_dash_comes_after_two(self):
        self.write("-odd.onnx", small_models.small())
        self.expect(DONE, "inspect", "--", "-odd.onnx")
        self.expect(USAGE, "inspect", "-odd.onnx")


if __name__ == "__main__":
    unittest.main()

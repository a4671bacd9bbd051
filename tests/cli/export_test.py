#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide export: the files that it writes, and those that it leaves alone. tests/c_run compiles them."""
import pathlib
import unittest

import json_output_test
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

MODELS = pathlib.Path(__file__).resolve().parent.parent / "files/tflite"
ARENA = 16_000  # of the keyword model
FILES = ["model.c", "model.h", "weights.c"]


class Export(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("kws.tflite", (MODELS / "kws_dscnn_int8.tflite").read_bytes())

    def names(self, folder="out"):
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def text(self, name, folder="out"):
        return (self.folder / folder / name).read_text()

    def test_three_files_are_written(self):
        report = self.json(DONE, "export", "kws.tflite", "-o", "out")
        self.assertEqual(self.names(), FILES)
        self.assertEqual(report["files"], FILES)
        self.assertEqual((report["name"], report["arena_bytes"], report["bound_bytes"]), ("kws", ARENA, ARENA))
        self.assertTrue(report["proven_optimal"])
        self.assertIn("conv_2d_i8", report["kernels"])
        self.assertIn(f"#define KWS_ARENA_BYTES {ARENA}\n", self.text("model.h"))
        self.assertIn("void kws_run(void)", self.text("model.c"))

    def test_all_keys_are_documented(self):
        report = self.json(DONE, "export", "kws.tflite", "-o", "out")
        self.assertFalse(set(json_output_test.keys_of(report)) - json_output_test.documented_keys("export"))

    def test_the_summary_says_what_a_run_needs(self):
        text = self.expect(DONE, "export", "kws.tflite", "-o", "out").stdout
        self.assertIn("arena    16,000 B (15.62 KiB), and no order and no offsets need less", text)
        self.assertRegex(text, r"stack    at most [1-4]\d\d B")

    def test_the_same_command_writes_the_same_bytes(self):
        for folder in ("one", "two"):
            self.expect(DONE, "export", "kws.tflite", "-o", folder)
        for name in FILES:
            self.assertEqual(self.text(name, "one"), self.text(name, "two"))

    def test_a_name_begins_all_symbols(self):
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--name", "Word2")
        self.assertIn("void Word2_run(void);", self.text("model.h"))
        self.assertIn("#define WORD2_ARENA_BYTES", self.text("model.h"))
        for name in ("2x", "", "a-b", "a" * 101):
            result = self.expect(USAGE, "export", "kws.tflite", "-o", "other", "--name", name)
            self.assertIn("'--name' must be a letter, followed by letters, digits and underscores", result.stderr)
            self.assertIn(f"not '{name[:20]}", result.stderr)
        self.assertFalse((self.folder / "other").exists())

    def test_weights_may_be_a_blob(self):
        report = self.json(DONE, "export", "kws.tflite", "-o", "out", "--weights", "blob")
        self.assertEqual(self.names(), ["model.c", "model.h", "weights.bin"])
        self.assertEqual((self.folder / "out/weights.bin").stat().st_size, report["weights_bytes"])
        self.assertIn("void kws_init(const void *weights);", self.text("model.h"))

    def test_an_arena_above_the_budget_is_not_written(self):
        result = self.expect(NO, "export", "kws.tflite", "-o", "out", "--budget", str(ARENA - 16))
        self.assertIn("16 B more than the budget", result.stderr)
        self.assertFalse((self.folder / "out").exists())
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--budget", str(ARENA))
        self.assertIn(f"#define KWS_ARENA_BUDGET {ARENA}\n", self.text("model.h"))

    def test_files_of_others_are_kept(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/model.h").write_text("mine\n")
        result = self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "out")
        self.assertIn("lowtide did not write it", result.stderr)
        self.assertEqual(self.names(), ["model.h"])
        self.assertEqual(self.text("model.h"), "mine\n")
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--force")
        self.assertEqual(self.names(), FILES)

    def test_a_blob_of_others_is_kept(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/weights.bin").write_bytes(b"mine")
        self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "out", "--weights", "blob")
        self.assertEqual((self.folder / "out/weights.bin").read_bytes(), b"mine")

    def test_files_of_an_earlier_export_are_replaced(self):
        self.expect(DONE, "export", "kws.tflite", "-o", "out")
        (self.folder / "out/notes.txt").write_text("mine\n")
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--reentrant")
        self.assertIn("kws_context", self.text("model.h"))
        self.assertEqual(self.text("notes.txt"), "mine\n")

    def test_weights_of_a_user_are_kept(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/weights.bin").write_text("mine\n")
        self.expect(DONE, "export", "kws.tflite", "-o", "out")  # makes weights.c
        self.assertIn("lowtide did not write it",
                      self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "out", "--weights", "blob").stderr)
        self.assertEqual(self.text("weights.bin"), "mine\n")
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--weights", "blob", "--force")
        self.assertNotEqual((self.folder / "out/weights.bin").stat().st_size, 5)

    def test_weights_of_the_export_before_are_removed(self):
        self.expect(DONE, "export", "kws.tflite", "-o", "out")
        said = self.expect(DONE, "export", "kws.tflite", "-o", "out", "--weights", "blob").stderr
        self.assertIn("removed out/weights.c of the export before", said)
        self.assertEqual(self.names(), ["model.c", "model.h", "weights.bin"])
        self.expect(DONE, "export", "kws.tflite", "-o", "out", "--weights", "blob", "--name", "other")
        self.expect(DONE, "export", "kws.tflite", "-o", "out")
        self.assertEqual(self.names(), FILES)

    def test_nothing_changes_if_a_file_cannot_be_written(self):
        self.expect(DONE, "export", "kws.tflite", "-o", "out")
        old = self.text("model.c")
        (self.folder / "out/weights.c").unlink()
        (self.folder / "out/weights.c").mkdir()
        for words in ([], ["--force"]):
            self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "out", "--name", "other", *words)
        self.assertEqual(self.text("model.c"), old)
        self.assertEqual(self.names(), FILES)

    def test_a_link_is_not_followed(self):
        (self.folder / "out").mkdir()
        self.write("target.c", "/* written by lowtide */\n")
        (self.folder / "out/model.c").symlink_to(self.folder / "target.c")
        self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "out", "--force")
        self.assertEqual((self.folder / "target.c").read_text(), "/* written by lowtide */\n")

    def test_a_folder_is_needed(self):
        self.assertIn("-o DIR", self.expect(USAGE, "export", "kws.tflite").stderr)
        self.expect(USAGE, "export", "kws.tflite", "-o", "-")
        self.expect(BAD_INPUT, "export", "kws.tflite", "-o", "kws.tflite/out")

    def test_other_files_are_refused(self):
        self.write("bad.tflite", b"\x08\0\0\0TFL3" + bytes(64))
        self.assertIn("bad.tflite", self.expect(BAD_INPUT, "export", "bad.tflite", "-o", "out").stderr)
        self.assertIn("absent.tflite", self.expect(BAD_INPUT, "export", "absent.tflite", "-o", "out").stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_cmsis_nn_is_called(self):
        report = self.json(DONE, "export", "kws.tflite", "-o", "out", "--kernels", "cmsis-nn")
        self.assertIn("cmsis_conv_2d_i8", report["kernels"])
        self.assertIsNone(report["stack_bytes"])
        # The first convolution has 10 x 4 taps: two columns of 40 elements of 16 bits.
        self.assertIn(".scratch_bytes = 160,", self.text("model.c"))
        text = self.expect(DONE, "export", "kws.tflite", "-o", "out", "--kernels", "cmsis-nn-vector").stdout
        self.assertIn("not known, because kernels of CMSIS-NN are called", text)
        self.assertNotIn("arm_nnfunctions.h", self.export_text("kws.tflite", "plain"))

    def export_text(self, model, folder):
        self.expect(DONE, "export", model, "-o", folder)
        return self.text("model.c", folder)

    def test_json_says_what_exceeds_a_budget(self):
        report = self.json(NO, "export", "kws.tflite", "-o", "out", "--budget", str(ARENA - 1))
        self.assertEqual((report["arena_bytes"], report["budget_bytes"], report["fits"]), (ARENA, ARENA - 1, False))
        self.assertEqual(report["files"], [])
        self.assertFalse((self.folder / "out").exists())
        self.assertTrue(self.json(DONE, "export", "kws.tflite", "-o", "out", "--budget", str(ARENA))["fits"])

    def test_operators_without_a_kernel_are_named(self):
        self.write("lstm.tflite", (MODELS / "trained_lstm_int8.tflite").read_bytes())
        result = self.expect(BAD_INPUT, "export", "lstm.tflite", "-o", "out")
        self.assertIn("UNIDIRECTIONAL_SEQUENCE_LSTM", result.stderr)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()

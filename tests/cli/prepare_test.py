#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares small models, and runs the files."""
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, PROGRAM, USAGE, ProgramTest, needs_earlier
from small_models import field, graph, node, value_info

assert PROGRAM


class Prepare(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("x.npy", small_models.npy([-1, 2, 3]))
        nodes = [node("Neg", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Exp", ["b"], ["y"])]
        content = graph(nodes, [value_info("x", [3])], [value_info("y", [3])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))

    def test_a_prepared_file_runs_without_its_model(self):
        said = self.expect(DONE, "prepare", "model.onnx", "-o", "model.prepared").stdout
        self.assertIn("model.onnx is prepared: 1 step, arena", said)
        self.expect(DONE, "run", "model.onnx", "--input", "x=x.npy", "--output-dir", "model")
        (self.folder / "model.onnx").unlink()
        self.expect(DONE, "run", "model.prepared", "--input", "x=x.npy", "--output-dir", "prepared")
        outputs = [(self.folder / folder / "y.npy").read_bytes() for folder in ("model", "prepared")]
        self.assertEqual(*outputs)
        for option in ("--poison", "--guard", "--compare"):
            self.expect(DONE, "run", "model.prepared", "--input", "x=x.npy", option)
        report = self.json(DONE, "bench", "model.prepared", "--runs", "3")
        self.assertEqual(report["nodes"], {"model": 3, "lowered": 1})
        self.assertEqual(report["allocations_per_run"], 0)

    def test_equal_models_give_equal_bytes(self):
        for name in ("a", "b"):
            self.expect(DONE, "prepare", "model.onnx", "-o", name)
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())

    def test_stdout_has_the_file_and_nothing_else(self):
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        self.expect(DONE, "prepare", "model.onnx", "-o", "/dev/stdout")
        said = self.expect(DONE, "prepare", "model.onnx", "-o", "-")
        self.assertEqual(said.stdout.encode(), (self.folder / "file").read_bytes())
        self.assertIn("is prepared: ", said.stderr)

    def test_a_plan_decides(self):
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "--threads", "2", "-o", "plan.json")
        self.expect(DONE, "prepare", "model.onnx", "--plan", "plan.json", "-o", "two")
        self.assertIn(b"threads=2", (self.folder / "two").read_bytes())
        self.expect(DONE, "run", "two", "--input", "x=x.npy")

    def test_what_a_prepared_file_has_decided_is_refused(self):
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        for option in (["--threads", "2"], ["--budget", "1MiB"], ["--dim", "n=1"], ["--shape", "x=3"],
                       ["--without", "chains"]):
            for command in ("run", "bench"):
                said = self.expect(USAGE, command, "file", *option).stderr
                self.assertIn(f"{option[0]} has no effect on a prepared file; give it to 'lowtide prepare'", said)
        self.assertIn("is a prepared file already", self.expect(USAGE, "prepare", "file", "-o", "other").stderr)

    @needs_earlier
    def test_other_commands_say_what_the_file_is(self):
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        for command in ("plan", "explain", "inspect", "compare"):
            self.assertIn("'run' and 'bench' take it", self.expect(BAD_INPUT, command, "file").stderr)
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        self.assertIn("'run' and 'bench' take it", self.expect(BAD_INPUT, "verify", "file", "plan.json").stderr)
        self.assertIn("give the model", self.expect(USAGE, "bench", "file", "--profile", "costs.json").stderr)

    def test_what_cannot_be_prepared(self):
        self.expect(USAGE, "prepare", "model.onnx")
        self.expect(USAGE, "prepare", "model.onnx", "-o", "model.onnx")
        self.expect(BAD_INPUT, "prepare", "missing.onnx", "-o", "file")
        self.expect(BAD_INPUT, "prepare", "model.onnx", "-o", "missing/file")
        self.expect(NO, "prepare", "model.onnx", "--budget", "1B", "-o", "file")
        self.assertEqual(self.listing(), ["model.onnx", "x.npy"])

    def test_a_plan_for_no_machine_is_refused(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        said = self.expect(BAD_INPUT, "prepare", "model.onnx", "--plan", "plan.json", "-o", "file").stderr
        self.assertIn("plan with --target cpu", said)
        self.assertNotIn("file", self.listing())

    def test_an_override_names_an_input(self):
        said = self.expect(BAD_INPUT, "prepare", "model.onnx", "--override", "nope", "-o", "file").stderr
        self.assertIn("the model has no input 'nope' that a caller may give; no input has a default value", said)
        self.assertNotIn("file", self.listing())

    def test_the_plan_in_the_file_is_that_of_plan(self):
        content = graph([node("Relu", ["x"], ["y"])], [value_info("x", ["n"])], [value_info("y", ["n"])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        words = ("--dim", "n=3")
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", *words, "-o", "plan.json")
        self.expect(DONE, "prepare", "model.onnx", *words, "-o", "one")
        self.expect(DONE, "prepare", "model.onnx", "--plan", "plan.json", "-o", "two")
        self.assertEqual((self.folder / "one").read_bytes(), (self.folder / "two").read_bytes())
        content = (self.folder / "one").read_bytes()
        sizes = [int(word) for word in content.split(b" ")[2:5]]
        begin = content.index(b"\n") + 1 + sizes[0] + sizes[1]
        self.write("inside.json", content[begin:begin + sizes[2]])
        self.expect(DONE, "verify", "model.onnx", "inside.json")

    def test_one_plan_of_a_range(self):
        content = graph([node("Relu", ["x"], ["y"])], [value_info("x", ["n"])], [value_info("y", ["n"])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "--dim", "n=1..3", "-o", "plans.json")
        self.expect(DONE, "prepare", "model.onnx", "--plan", "plans.json", "--dim", "n=3", "-o", "one")
        self.expect(DONE, "prepare", "model.onnx", "--dim", "n=3", "-o", "file")
        self.assertEqual((self.folder / "one").read_bytes(), (self.folder / "file").read_bytes())
        self.assertTrue((self.folder / "one").read_bytes().startswith(b"lowtide-prepared 1 "))
        self.expect(DONE, "run", "file", "--input", "x=x.npy")

    def test_the_library_is_loaded_for_its_kernels_alone(self):
        def loads_library(*words):
            said = self.expect(DONE, *words, "--input", "x=x.npy", environment={"LD_DEBUG": "files"}).stderr
            self.assertIn("libcrypto", said)  # the loader says what it loads
            return "libdnnl" in said
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        has_library = b"library=onednn" in (self.folder / "file").read_bytes()
        self.assertEqual(loads_library("run", "model.onnx"), has_library)
        self.assertFalse(loads_library("run", "file"))
        # A product with an epilogue has kernels of two families.
        weights = field(1, 3) + field(1, 3) + field(2, small_models.FLOAT) + field(8, "w") + field(9, bytes(36))
        nodes = [node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"])]
        content = graph(nodes, [value_info("x", [3])], [value_info("y", [3])], [weights])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        content = (self.folder / "file").read_bytes()
        self.assertEqual(b"epilogue = " in content, b"isa=avx512" in content)  # else rows of 3 get a plain kernel
        self.assertFalse(loads_library("run", "file"))

    def test_a_damaged_file_is_refused(self):
        self.expect(DONE, "prepare", "model.onnx", "-o", "file")
        content = (self.folder / "file").read_bytes()
        self.write("damaged", content.replace(b"Chain", b"Chair", 1))
        said = self.expect(BAD_INPUT, "run", "damaged", "--input", "x=x.npy").stderr
        self.assertIn("damaged: the head of this prepared file is damaged; make it again with: lowtide prepare", said)
        self.write("short", content[:300])
        self.assertIn("not complete", self.expect(BAD_INPUT, "run", "short").stderr)


class PrepareRange(ProgramTest):
    """y = MatMul(x, w) of x f32[batch,64], with 16 KiB of weights."""

    def setUp(self):
        super().setUp()
        weights = struct.pack("<4096f", *range(4096))
        w = field(1, 64) + field(1, 64) + field(2, small_models.FLOAT) + field(8, "w") + field(9, weights)
        content = graph([node("MatMul", ["x", "w"], ["y"])], [value_info("x", ["batch", 64])],
                        [value_info("y", ["batch", 64])], [w])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        for rows in (1, 2, 3, 4):
            self.write(f"{rows}.npy", small_models.npy(range(64 * rows), (rows, 64)))

    def prepare_range(self, *words):
        return self.expect(DONE, "prepare", "model.onnx", *(words or ("--dim", "batch=1,2,4")), "-o", "file")

    def outputs(self, file, rows, *words):
        self.expect(DONE, "run", file, "--input", f"x={rows}.npy", "--output-dir", "out", *words)
        return (self.folder / "out" / "y.npy").read_bytes()

    def test_a_file_of_several_plans_runs_each_without_the_model(self):
        said = self.prepare_range().stdout
        arena = self.json(DONE, "bench", "model.onnx", "--dim", "batch=4", "--runs", "1")["bytes"]["arena"]
        self.assertIn(f"model.onnx is prepared: 3 plans, arena {arena:,} B", said)  # the largest
        self.assertIn(", constants 16,384 B", said)
        expected = [self.outputs("model.onnx", rows) for rows in (1, 2, 4)]
        (self.folder / "model.onnx").unlink()
        self.assertEqual([self.outputs("file", rows) for rows in (1, 2, 4)], expected)
        for option in ("--poison", "--guard", "--compare"):
            self.expect(DONE, "run", "file", "--input", "x=2.npy", option)
        said = self.expect(BAD_INPUT, "run", "file", "--input", "x=3.npy").stderr
        self.assertIn("there is no plan for 'x=[3,64]' in this prepared file, which has plans for 'batch=1', 'batch=2' "
                      "and 'batch=4'", said)

    def test_the_weights_are_there_once(self):
        self.prepare_range()
        several = (self.folder / "file").read_bytes()
        self.assertTrue(several.startswith(b"lowtide-prepared 2 3 "))
        self.prepare_range("--dim", "batch=4")
        one = (self.folder / "file").read_bytes()
        self.assertGreater(len(one), 16384)
        self.assertLess(len(several), 16384 + 3 * (len(one) - 16384))

    def test_equal_models_give_equal_bytes(self):
        files = []
        self.expect(DONE, "plan", "model.onnx", "--target", "cpu", "--dim", "batch=1,2,4", "-o", "plans.json")
        for words in (("--dim", "batch=1,2,4"), ("--dim", "batch=4,2,1"), ("--plan", "plans.json")):
            self.prepare_range(*words)
            files.append((self.folder / "file").read_bytes())
        self.assertEqual(files[1:], files[:1] * 2)

    def test_shapes_make_plans_too(self):
        expected = self.outputs("model.onnx", 3)
        for option in ("--shape", "--shapes"):
            self.prepare_range(option, "x=3x64,1x64")
            self.assertEqual(self.outputs("file", 3), expected)
            self.assertIn("f32[3,64]", self.expect(DONE, "run", "file", "--shape", "x=3x?", "--synthetic", "1").stdout)

    def test_sizes_choose_a_plan(self):
        self.prepare_range()
        self.assertIn("has several plans, and this command runs one; choose it with --dim, --shape or --input",
                      self.expect(USAGE, "bench", "file", "--runs", "2").stderr)
        expected = self.json(DONE, "bench", "model.onnx", "--runs", "2", "--dim", "batch=2")
        for choice in (("--dim", "batch=2"), ("--shape", "x=2x64"), ("--input", "x=2.npy")):
            report = self.json(DONE, "bench", "file", "--runs", "2", *choice)
            self.assertEqual(report["bytes"]["arena"], expected["bytes"]["arena"])
            self.assertEqual(report["allocations_per_run"], 0)
        self.expect(BAD_INPUT, "bench", "file", "--runs", "2", "--dim", "batch=3")
        self.expect(USAGE, "bench", "file", "--runs", "2", "--dim", "batch=1,2")
        run = ("run", "file", "--synthetic", "1")
        self.assertIn("f32[4,64]", self.expect(DONE, *run).stdout)  # the last one
        self.assertIn("f32[2,64]", self.expect(DONE, *run, "--dim", "batch=1,2").stdout)
        for option in (["--threads", "2"], ["--budget", "1MiB"], ["--at-most", "batch=2"], ["--without", "chains"]):
            for command in ("run", "bench"):
                said = self.expect(USAGE, command, "file", *option).stderr
                self.assertIn(f"{option[0]} has no effect on a prepared file; give it to 'lowtide prepare'", said)
        self.assertIn("is a prepared file already", self.expect(USAGE, "prepare", "file", "-o", "other").stderr)

    def test_a_file_for_shapes_says_that_symbols_choose_none(self):
        self.expect(DONE, "prepare", "model.onnx", "--shape", "x=1x64,5x64", "-o", "file")
        for command in ("run", "bench"):
            said = self.expect(BAD_INPUT, command, "file", "--dim", "batch=5").stderr
            self.assertIn("there is no plan for 'batch=5' in this prepared file, which has plans for 'x=[1,64]' and "
                          "'x=[5,64]'; it was not prepared for extents of 'batch'; choose by the shape of an input",
                          said)
            self.assertIn("give one of these sizes, or prepare",
                          self.expect(BAD_INPUT, command, "file", "--shape", "x=2x64").stderr)
        self.assertIn("f32[5,64]", self.expect(DONE, "run", "file", "--synthetic", "1", "--shape", "x=5x64").stdout)

    def test_names_with_escapes_choose_a_plan(self):
        symbol, name = "n'\n", "a'b\"c\\d\ne"
        shown_symbol, shown_name = r"n\'\x0a", r"a\'b" + '"' + r"c\\d\x0ae"
        content = graph([node("Relu", [name], ["y"])], [value_info(name, [symbol])], [value_info("y", [symbol])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.write("two.npy", small_models.npy([-1, 2]))
        for written in (symbol, shown_symbol):
            self.expect(DONE, "prepare", "model.onnx", "--dim", f"{written}=1,2", "-o", "file")
            for choice in (("--dim", f"{symbol}=2"), ("--dim", f"{shown_symbol}=2"), ("--shape", f"{name}=2"),
                           ("--shape", f"{shown_name}=2")):
                self.assertIn("f32[2]", self.expect(DONE, "run", "file", "--synthetic", "1", *choice).stdout, choice)
            for given in (name, shown_name):
                for file in ("file", "model.onnx"):
                    self.expect(DONE, "run", file, "--input", f"{given}=two.npy", "--output-dir", ".")
                    self.assertEqual((self.folder / "y.npy").read_bytes(), small_models.npy([0, 2]))
            said = self.expect(BAD_INPUT, "run", "file", "--dim", f"{written}=9", "--synthetic", "1").stderr
            self.assertIn(f"there is no plan for '{shown_symbol}=9' in this prepared file, which has plans for "
                          f"'{shown_symbol}=1' and '{shown_symbol}=2'; give one", said)
        self.assertIn(f"add --input {shown_name}=FILE.npy (f32[1])",
                      self.expect(BAD_INPUT, "run", "model.onnx", "--dim", f"{symbol}=1").stderr)

    def test_nothing_is_written_unless_all_plans_can_be(self):
        # A batch of 4 has 1 KiB of inputs, and as much of outputs.
        said = self.expect(NO, "prepare", "model.onnx", "--dim", "batch=1,4", "--budget", "1KiB", "-o", "file").stderr
        self.assertIn("nothing is written", said)
        self.assertIn("and a plan at most 16",
                      self.expect(USAGE, "prepare", "model.onnx", "--dim", "batch=1..17", "-o", "file").stderr)
        self.expect(DONE, "plan", "model.onnx", "--dim", "batch=1,2", "-o", "plans.json")
        said = self.expect(BAD_INPUT, "prepare", "model.onnx", "--plan", "plans.json", "-o", "file").stderr
        self.assertIn("plan with --target cpu", said)
        self.assertNotIn("file", self.listing())

    def test_a_damaged_file_is_refused(self):
        self.prepare_range()
        content = (self.folder / "file").read_bytes()
        at = content.rindex(b"MatMul")  # in the last plan
        for name, damaged, message in (("other", content[:at] + b"MatMal" + content[at + 6:], "is damaged"),
                                       ("short", content[:300], "not complete"),
                                       ("cut", content[:-1], "get the complete file"),
                                       ("many", content.replace(b" 2 3 ", b" 2 99 ", 1), "first line")):
            self.write(name, damaged)
            self.assertIn(message, self.expect(BAD_INPUT, "run", name, "--input", "x=1.npy").stderr)
            self.expect(BAD_INPUT, "bench", name, "--dim", "batch=4")


if __name__ == "__main__":
    unittest.main()

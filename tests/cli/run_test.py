#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs small models with files for inputs and outputs."""
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, USAGE, ProgramTest
from small_models import FLOAT, field, graph, node, value_info


def floats(content):
    """The numbers in such a file."""
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [number for number, in struct.iter_unpack("<f", content[begin:])]


def external(name, extents, location):
    """An initializer of floats whose data are in another file."""
    dims = b"".join(field(1, extent) for extent in extents)
    place = field(13, field(1, "location") + field(2, location))
    return dims + field(2, FLOAT) + field(8, name) + place + field(14, 1)


def model():
    """out/y = Add(Relu(in=x), w), all f32[3]; w is in weights.bin."""
    nodes = [node("Relu", ["in=x"], ["a"]), node("Add", ["a", "w"], ["out/y"])]
    content = graph(nodes, [value_info("in=x", [3])], [value_info("out/y", [3])], [external("w", [3], "weights.bin")])
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


class Run(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("model.onnx", model())
        self.write("weights.bin", struct.pack("<3f", 0.5, 0.25, 8))
        self.write("x.npy", small_models.npy([-1, 2, 3]))

    def test_inputs_and_outputs_are_files(self):
        result = self.expect(DONE, "run", "model.onnx", "--input", "in=x=x.npy", "--output-dir", ".")
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.assertIn("out/y", result.stdout)
        self.assertIn("f32[3]", result.stdout)

    def test_a_plan_file_is_followed(self):
        self.expect(DONE, "plan", "model.onnx", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--input", "in=x=x.npy", "--output-dir", ".")
        self.expect(DONE, *words)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.write("model.onnx", small_models.small())
        self.assertIn("the plan is for the model with sha256", self.expect(BAD_INPUT, *words).stderr)

    def test_outputs_at_the_caller_are_written(self):
        self.expect(DONE, "plan", "model.onnx", "--outputs", "caller", "-o", "plan.json")
        words = ("run", "model.onnx", "--plan", "plan.json", "--input", "in=x=x.npy", "--output-dir", ".")
        self.assertIn("out/y  f32[3]", self.expect(DONE, *words).stdout)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])
        self.expect(DONE, "plan", "model.onnx", "--outputs", "caller", "--inputs", "arena", "-o", "plan.json")
        self.expect(DONE, *words)
        self.assertEqual(floats((self.folder / "out_y.npy").read_bytes()), [0.5, 2.25, 11])

    def test_no_output_replaces_a_file_that_is_read(self):
        self.write("out_y.npy", small_models.npy([-1, 2, 3]))
        words = ("run", "model.onnx", "--input", "in=x=out_y.npy", "--output-dir", ".")
        self.assertIn("is the input out_y.npy itself", self.expect(USAGE, *words).stderr)
        for command in (("plan", "model.onnx", "-o", "weights.bin"), ("inspect", "model.onnx", "--csv", "weights.bin")):
            self.assertIn("is the input weights.bin itself", self.expect(USAGE, *command).stderr)
        self.assertEqual(len((self.folder / "weights.bin").read_bytes()), 12)
        self.expect(USAGE, "run", "model.onnx", "--input", "in=x=x.npy", "--output-dir", "")

    def test_absent_weights_and_inputs_are_made_up(self):
        (self.folder / "weights.bin").unlink()
        words = ("run", "model.onnx", "--output-dir", ".")
        self.assertIn("weights.bin: cannot be read", text := self.expect(BAD_INPUT, *words).stderr)
        self.assertIn("--synthetic 1 makes up the weights", text)
        outputs = []
        for seed in ("1", "1", "2"):
            self.expect(DONE, *words, "--synthetic", seed)
            outputs.append((self.folder / "out_y.npy").read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_wrong_inputs_are_refused(self):
        missing = self.expect(USAGE, "run", "model.onnx").stderr
        self.assertIn("inputs are missing; add --input in=x=FILE.npy (f32[3]), or --synthetic SEED", missing)
        unknown = self.expect(USAGE, "run", "model.onnx", "--input", "z=x.npy").stderr
        self.assertIn("with one of the inputs 'in=x', not 'z=x.npy'", unknown)
        twice = self.expect(USAGE, "run", "model.onnx", "--input", "in=x=x.npy", "--input", "in=x=x.npy").stderr
        self.assertIn("input 'in=x' is given twice", twice)
        self.write("x.npy", small_models.npy([1, 2]))
        self.assertIn("[2]", self.expect(BAD_INPUT, "run", "model.onnx", "--input", "in=x=x.npy").stderr)
        self.write("x.npy", b"no numbers")
        self.assertIn("x.npy", self.expect(BAD_INPUT, "run", "model.onnx", "--input", "in=x=x.npy").stderr)

    # The Add writes its result over that of the Relu, in a buffer of 64 bytes.
    def test_runs_that_look_for_defects_find_none(self):
        words = ("run", "model.onnx", "--input", "in=x=x.npy", "--poison", "--guard", "--compare")
        text = self.expect(DONE, *words).stdout
        self.assertIn("that no tensor has; peak 64 B of 64 B planned, arena 64 B of 64 B\n", text)
        self.assertIn("guard: no step accesses memory outside of its buffers\n", text)
        self.assertIn("compare: all values are equal to those of a run without reuse\n", text)

    def test_operators_without_kernel_are_named(self):
        nodes = [node("Det", ["x"], ["y"], "last")]
        content = graph(nodes, [value_info("x", [3, 3])], [value_info("y", [])])
        self.write("model.onnx", field(1, 8) + field(7, content) + field(8, field(2, 17)))
        self.assertIn("Det 'last'", self.expect(BAD_INPUT, "run", "model.onnx", "--synthetic", "1").stderr)


if __name__ == "__main__":
    unittest.main()

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Nets of Caffe2: read, planned, verified and compared as models are."""
import unittest

from program import BAD_INPUT, DONE, NO, ProgramTest

# data 1x3x32x32 (12,288 B) -> c1 16x32x32 (65,536 B), in place -> p1 16x16x16 (16,384 B) -> fc, prob (40 B)
NET = """name: "tiny"
op { type: "Conv" input: ["data", "w", "b"] output: "c1" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
op { type: "Relu" input: "c1" output: "c1" }
op { type: "MaxPool" input: "c1" output: "p1" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
op { type: "FC" input: ["p1", "fw", "fb"] output: "fc" }
op { type: "Softmax" input: "fc" output: "prob" }
external_input: ["data", "w", "b", "fw", "fb"]
external_output: "prob"
"""
INIT = """op { type: "XavierFill" output: "w" arg { name: "shape" ints: [16, 3, 3, 3] } }
op { type: "XavierFill" output: "fw" arg { name: "shape" ints: [10, 4096] } }
"""
# The same net in the binary form, field by field: the number of the field and its wire type, a length, the bytes.


def field(number, content):
    content = content if isinstance(content, bytes) else content.encode()
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def argument(name, value):
    return field(5, field(1, name) + bytes([3 << 3, value]))


def op(kind, inputs, output, arguments=b""):
    return field(2, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind) + arguments)


BINARY = (
    field(1, "tiny")
    + op("Conv", ["data", "w", "b"], "c1", argument("kernel", 3) + argument("pad", 1))
    + op("Relu", ["c1"], "c1")
    + op("MaxPool", ["c1"], "p1", argument("kernel", 2) + argument("stride", 2))
    + op("FC", ["p1", "fw", "fb"], "fc")
    + op("Softmax", ["fc"], "prob")
    + b"".join(field(7, name) for name in ["data", "w", "b", "fw", "fb"])
    + field(8, "prob")
)
SIZES = ("--shape", "data=1x3x32x32", "--init-net", "init.pbtxt")


class NetTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("net.pb", BINARY)
        self.write("init.pbtxt", INIT)

    def test_both_forms_have_one_plan(self):
        for name, form in (("net.pbtxt", "netdef_text"), ("net.pb", "netdef")):
            plan = self.json(DONE, "plan", name, *SIZES)
            self.assertEqual(plan["model"]["format"], form)
            # c1 in place of itself, beside p1
            self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)

    def test_the_name_does_not_matter(self):
        self.write("model.bin", BINARY)
        self.expect(DONE, "inspect", "model.bin", *SIZES)

    def test_a_plan_is_verified(self):
        self.expect(DONE, "plan", "net.pb", *SIZES, "-o", "plan.json")
        self.expect(DONE, "verify", "net.pb", "plan.json", *SIZES)
        self.write("net.pb", BINARY.replace(b"Softmax", b"Sigmoid"))
        self.expect(NO, "verify", "net.pb", "plan.json", *SIZES)

    def test_caffe2_writes_in_place_what_the_net_does(self):
        lines = {line["baseline"]: line for line in self.json(DONE, "compare", "net.pbtxt", *SIZES)["baselines"]}
        # c1, p1, fc; prob is returned. p1 is released when fc is there, so fc has its own. All rounded up to 64.
        self.assertEqual(lines["caffe2_simple"]["bytes"], 65_536 + 16_384 + 64)
        self.assertEqual(lines["caffe2_simple"]["blobs"], 9)

    def test_unknown_sizes_are_named(self):
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt").stderr
        self.assertIn("external inputs 'data', 'w', 'b', 'fw', 'fb'; set them with --shape", error)
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", "--shape", "data=1x3x32x32").stderr
        self.assertIn("external inputs 'w', 'b', 'fw', 'fb'", error)

    def test_unit_sizes_prove_nothing(self):
        result = self.expect(DONE, "plan", "net.pbtxt", "--unit-sizes")
        self.assertIn("10 tensors of unknown size count as one byte each", result.stderr)
        self.assertIn("Not proven", result.stdout)

    def test_shapes_come_from_a_file(self):
        self.write("shapes.csv", "name,shape,dtype\ndata,1x3x32x32,\nw,16x3x3x3,\nfw,10x4096,f32\n")
        plan = self.json(DONE, "plan", "net.pbtxt", "--shapes", "shapes.csv")
        self.assertEqual(plan["bytes"]["arena"], 65_536 + 16_384)

    def test_contradictions_are_refused(self):
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", *SIZES, "--shape", "p1=1x16x15x15").stderr
        self.assertIn("operator 2 ('MaxPool'): its output 'p1' is f32[1,16,16,16], but the given type is", error)
        error = self.expect(BAD_INPUT, "plan", "net.pbtxt", "--shape", "data=1x4x32x32", "--init-net", "init.pbtxt")
        self.assertIn("operator 0 ('Conv'): the input has 4 channels, but the weight takes 3", error.stderr)

    def test_options_are_checked(self):
        self.assertIn("has no symbol 'batch'", self.expect(BAD_INPUT, "plan", "net.pb", "--dim", "batch=8").stderr)
        error = self.expect(BAD_INPUT, "plan", "model.onnx", "--unit-sizes").stderr
        self.assertIn("only a Caffe2 net can have", error)
        error = self.expect(BAD_INPUT, "plan", "net.pb", "--shapes", "absent.csv").stderr
        self.assertIn("absent.csv", error)

    def test_faults_have_a_place(self):
        self.write("bad.pbtxt", NET.replace("kernel\" i: 3", "kernel\" i: three"))
        error = self.expect(BAD_INPUT, "plan", "bad.pbtxt").stderr
        self.assertIn("bad.pbtxt:2:82: 'three' is no value of the field 'i'", error)
        self.write("bad.pb", BINARY[:-3])
        self.assertIn("bad.pb: byte", self.expect(BAD_INPUT, "plan", "bad.pb").stderr)


if __name__ == "__main__":
    unittest.main()

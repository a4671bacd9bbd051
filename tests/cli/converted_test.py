#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What single operators of TensorFlow and Caffe2 compute, where a conversion that looks right is wrong."""
import ast
import math
import struct
import unittest

from program import BAD_INPUT, DONE, ProgramTest

INFINITY = math.inf
# The letter of struct, that of NumPy and the type of TensorFlow.
TYPES = {"f32": ("f", "<f4", "DT_FLOAT"), "i8": ("b", "|i1", "DT_INT8"), "i32": ("i", "<i4", "DT_INT32"),
         "i64": ("q", "<i8", "DT_INT64"), "u8": ("B", "|u1", "DT_UINT8"), "bool": ("?", "|b1", "DT_BOOL")}


def npy(numbers, dtype, shape=None):
    letter, descr, _ = TYPES[dtype]
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape or (len(numbers),)!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    content = struct.pack(f"<{len(numbers)}{letter}", *numbers)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


def numbers_of(content):
    """The shape, the type and the numbers of a .npy file."""
    size, = struct.unpack("<H", content[8:10])
    head = ast.literal_eval(content[10:10 + size].decode())
    dtype, letter = next((name, one[0]) for name, one in TYPES.items() if one[1] == head["descr"])
    return head["shape"], dtype, [one for one, in struct.iter_unpack(f"<{letter}", content[10 + size:])]


class ConvertedTest(ProgramTest):
    def outputs(self, model, inputs, *words):
        self.write("model.pbtxt", model)
        names = []
        for name, content in inputs.items():
            self.write(f"{name}.npy", content)
            names += ["--input", f"{name}={name}.npy"]
        self.expect(DONE, "run", "model.pbtxt", *names, "--output-dir", "out", *words)
        return {path.stem: numbers_of(path.read_bytes()) for path in (self.folder / "out").iterdir()}

    def why_refused(self, model, *words):
        self.write("model.pbtxt", model)
        return self.expect(BAD_INPUT, "run", "model.pbtxt", *words).stderr


class GraphDefTest(ConvertedTest):
    def computed(self, op, dtype, *operands):
        kind = TYPES[dtype][2]
        text, inputs = "", {}
        for at, operand in enumerate(operands):
            text += f"node {{ name: 'x{at}' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: {kind} }} }} }}\n"
            inputs[f"x{at}"] = npy(operand, dtype)
        listed = ", ".join(f"'x{at}'" for at in range(len(operands)))
        text += f"node {{ name: 'y' op: '{op}' input: [{listed}] attr {{ key: 'T' value {{ type: {kind} }} }} }}\n"
        return self.outputs(text, inputs)["y"][2]

    def test_a_remainder_has_the_sign_of_the_divisor(self):
        x = [7.0, -7.0, 7.0, -7.0, 0.5, -1.0, 1.0, 1e20, -6.0]
        y = [3.0, 3.0, -3.0, -3.0, INFINITY, INFINITY, -INFINITY, 3.0, 3.0]
        exact = math.fmod(struct.unpack("f", struct.pack("f", 1e20))[0], 3.0)
        self.assertEqual(self.computed("FloorMod", "f32", x, y),
                         [1.0, 2.0, -2.0, -1.0, 0.5, INFINITY, -INFINITY, exact, 0.0])
        self.assertEqual(self.computed("FloorMod", "i32", [7, -7, 7, -7], [3, 3, -3, -3]), [1, 2, -2, -1])

    def test_a_quotient_of_the_least_integer_is_right(self):
        self.assertEqual(self.computed("FloorDiv", "i8", [-128, -128, 127, -7, 7, -6], [3, 127, -2, 2, -2, 3]),
                         [-43, -2, -64, -4, -4, -2])
        self.assertEqual(self.computed("FloorDiv", "i32", [-2**31, -2**31], [3, 2]), [-715827883, -2**30])
        self.assertEqual(self.computed("FloorDiv", "u8", [255, 7], [2, 8]), [127, 0])

    def expect_close(self, op, operands, function):
        for found, operand in zip(self.computed(op, "f32", operands), operands, strict=True):
            self.assertAlmostEqual(found / function(operand), 1.0, 6, f"{op} of {operand}")

    def test_small_and_late_results_keep_their_digits(self):
        exact = [2.0**exponent for exponent in (-30, -20, -12, -4, 0, 1, 2)]
        self.expect_close("Log1p", [*exact, *[-one for one in exact[:4]], -0.75, 2.0**100], math.log1p)
        self.expect_close("Expm1", [*exact, *[-one for one in exact], -40.0, 80.0], math.expm1)
        self.expect_close("Erfc", [*exact, -1.0, -9.0, 4.25, 4.5, 6.0, 9.0], math.erfc)
        self.assertEqual(self.computed("Log1p", "f32", [INFINITY, -1.0, 0.0]), [INFINITY, -INFINITY, 0.0])
        self.assertEqual(self.computed("Expm1", "f32", [INFINITY, -INFINITY, 0.0]), [INFINITY, -1.0, 0.0])
        self.assertEqual(self.computed("Erfc", "f32", [INFINITY, -INFINITY, 0.0]), [0.0, 2.0, 1.0])

    def one_hot(self, dtype, depth):
        kind = TYPES[dtype][2]
        constant = ("node {{ name: '{0}' op: 'Const' attr {{ key: 'dtype' value {{ type: {1} }} }} "
                    "attr {{ key: 'value' value {{ tensor {{ dtype: {1} tensor_shape {{ }} {2} }} }} }} }}\n")
        return (f"node {{ name: 'x' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: {kind} }} }} }}\n"
                + constant.format("depth", "DT_INT32", f"int_val: {depth}")
                + constant.format("on", "DT_FLOAT", "float_val: 1")
                + constant.format("off", "DT_FLOAT", "float_val: 0")
                + "node { name: 'y' op: 'OneHot' input: ['x', 'depth', 'on', 'off'] attr { key: 'T' value "
                + f"{{ type: DT_FLOAT }} }} attr {{ key: 'TI' value {{ type: {kind} }} }} }}\n")

    def test_an_index_of_a_byte_chooses_one_element(self):
        for dtype, index in (("u8", 44), ("i8", -128)):
            shape, _, numbers = self.outputs(self.one_hot(dtype, 400), {"x": npy([index], dtype)})["y"]
            self.assertEqual(shape, (1, 400))
            self.assertEqual([at for at, one in enumerate(numbers) if one], [44] if index > 0 else [])

    def test_a_small_file_makes_no_large_list(self):
        error = self.why_refused(self.one_hot("i32", 2**30), "--shape", "x=1")
        self.assertIn("node 'y' ('OneHot'): this node cannot run here: it needs a list of 1073741824 numbers, and all "
                      "lists that are not in the file may have 268435456 bytes", error)

    def test_parts_are_as_many_as_results(self):
        unpack = ("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
                  "node { name: 'y' op: 'Unpack' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } "
                  "attr { key: 'num' value { i: 2 } } }\n")
        error = self.why_refused(unpack, "--shape", "x=4611686018427387904x0")
        self.assertIn("axis 0 of its operand has the extent 4611686018427387904, but it has 2 results", error)


class NetDefTest(ConvertedTest):
    def test_scales_of_a_blob_count_instead_of_arguments(self):
        net = ("op { type: 'ResizeNearest' input: ['x', 's'] output: 'y' arg { name: 'width_scale' f: 3 } }\n")
        words = ("--shape", "x=1x1x2x2", "--shape", "s=2")
        self.assertIn("'y' of operator 0 ('ResizeNearest')", self.why_refused(net, *words))
        for kind in ("ResizeNearest", "UpsampleBilinear"):
            error = self.why_refused(net.replace("ResizeNearest", kind), *words, "--shape", "y=1x1x2x6")
            self.assertIn(f"operator 0 ('{kind}'): this operator cannot run here: its scales are a blob that no "
                          "GivenTensorFill fills with two reals; give them with the arguments 'height_scale' and "
                          "'width_scale'", error)

        fill = ("op { type: 'GivenTensorFill' output: 's' arg { name: 'shape' ints: 2 } "
                "arg { name: 'values' floats: [1, 2] } }\n")
        inputs = {"x": npy([1.0, 2.0, 3.0, 4.0], "f32", (1, 1, 2, 2))}
        found = self.outputs(fill + net, inputs)["y"]
        self.assertEqual(found, ((1, 1, 2, 4), "f32", [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]))
        self.write("init.pbtxt", fill)
        self.assertEqual(self.outputs(net, inputs, "--init-net", "init.pbtxt")["y"], found)
        bilinear = self.outputs(net.replace("ResizeNearest", "UpsampleBilinear"), inputs, "--init-net", "init.pbtxt")
        self.assertEqual(bilinear["y"][0], (1, 1, 2, 4))
        # Another content of the file for the parameter is not known before the run.
        self.write("s.npy", npy([1.0, 3.0], "f32"))
        self.assertIn("'y' of operator 0", self.why_refused(
            net, "--init-net", "init.pbtxt", "--input", "x=x.npy", "--input", "s=s.npy"))

    def test_missing_elements_are_zeros(self):
        net = ("op { type: 'TopK' input: 'x' output: ['y', 'at'] arg { name: 'k' i: 4 } arg { name: 'axis' i: 0 } }\n"
               "external_output: ['y', 'at']\n")
        found = self.outputs(net, {"x": npy([-3.0, 5.0, -1.0, -2.0], "f32", (2, 2))})
        self.assertEqual(found["y"], ((4, 2), "f32", [-1.0, 5.0, -3.0, -2.0, 0.0, 0.0, 0.0, 0.0]))
        self.assertEqual(found["at"], ((4, 2), "i64", [1, 0, 0, 1, -1, -1, -1, -1]))
        empty = self.outputs(net, {"x": npy([], "f32", (0, 1))})
        self.assertEqual(empty["y"], ((4, 1), "f32", [0.0] * 4))
        self.assertEqual(empty["at"], ((4, 1), "i64", [-1] * 4))

    def filled(self, op, arguments):
        return self.outputs(f"op {{ type: '{op}' output: 'y' arg {{ name: 'shape' ints: 3 }} {arguments} }}", {})["y"]

    def test_fills_have_exact_values(self):
        def values(text):
            return f"arg {{ name: 'values' {text} }}"
        long = 2**53 + 1
        self.assertEqual(self.filled("ConstantFill", f"arg {{ name: 'value' i: {long} }}"), ((3,), "i64", [long] * 3))
        self.assertEqual(self.filled("ConstantFill", "arg { name: 'value' i: 2 } arg { name: 'dtype' i: 5 }"),
                         ((3,), "bool", [True] * 3))
        self.assertEqual(self.filled("ConstantFill", "arg { name: 'value' f: 3 } arg { name: 'dtype' i: 2 }"),
                         ((3,), "i32", [3] * 3))
        self.assertEqual(self.filled("GivenTensorFill", values("ints: [1, 2, -3]"))[2], [1.0, 2.0, -3.0])
        self.assertEqual(self.filled("GivenTensorInt64Fill", values(f"ints: [1, 2, {long}]"))[2], [1, 2, long])
        self.assertEqual(self.filled("GivenTensorBoolFill", values("ints: [0, 1, 256]"))[2], [False, True, True])

    def test_numbers_that_a_type_does_not_have_are_named(self):
        def refused(op, arguments, more=""):
            net = f"op {{ type: '{op}' {more} output: 'y' arg {{ name: 'shape' ints: 1 }} {arguments} }}"
            return self.why_refused(net, *(("--shape", "x=1") if more else ()))
        self.assertIn("its argument 'values' has 2.5, which is not a value of i32",
                      refused("GivenTensorIntFill", "arg { name: 'values' floats: 2.5 }"))
        self.assertIn("its argument 'values' has 16777217, which is not a value of f32",
                      refused("GivenTensorFill", "arg { name: 'values' ints: 16777217 }"))
        self.assertIn("its argument 'value' is 300, which is not a value of u8",
                      refused("ConstantFill", "arg { name: 'value' i: 300 } arg { name: 'dtype' i: 6 }"))
        self.assertIn("its argument 'min' is no number", refused("Clip", "arg { name: 'min' s: '0' }", "input: 'x'"))
        self.assertIn("its argument 'alpha' is no number", refused("Elu", "arg { name: 'alpha' s: '1' }", "input: 'x'"))

    def test_a_file_says_the_element_type_of_an_input(self):
        net = "op { type: 'Gather' input: ['x', 'at'] output: 'y' }\n"
        for dtype in ("i32", "i64"):
            found = self.outputs(net, {"x": npy([1.5, 2.5, 3.5], "f32"), "at": npy([2, 0], dtype)})
            self.assertEqual(found["y"], ((2,), "f32", [3.5, 1.5]))

    def test_a_cast_may_name_its_type(self):
        for name in ("INT32", "int32"):
            net = f"op {{ type: 'Cast' input: 'x' output: 'y' arg {{ name: 'to' s: '{name}' }} }}\n"
            self.assertEqual(self.outputs(net, {"x": npy([1.75, -2.0], "f32")})["y"], ((2,), "i32", [1, -2]))

    def test_a_given_parameter_is_also_read_by_the_init_net(self):
        self.write("init.pbtxt", "op { type: 'XavierFill' output: 'w' arg { name: 'shape' ints: 2 } }\n"
                                 "op { type: 'Negative' input: 'w' output: 'v' }\n")
        net = "op { type: 'Scale' input: 'w' output: 'a' }\nop { type: 'Scale' input: 'v' output: 'b' }\n"
        inputs = {"w": npy([1.0, 2.0], "f32")}
        found = self.outputs(net, inputs, "--init-net", "init.pbtxt")
        self.assertEqual((found["a"][2], found["b"][2]), ([1.0, 2.0], [-1.0, -2.0]))
        self.expect(DONE, "run", "model.pbtxt", "--init-net", "init.pbtxt", "--synthetic", "1")


if __name__ == "__main__":
    unittest.main()

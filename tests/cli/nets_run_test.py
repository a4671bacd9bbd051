#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Nets of Caffe2 and graphs of TensorFlow run, are prepared, and are planned for this machine."""
import struct
import unittest

import small_models
from program import BAD_INPUT, DONE, ProgramTest

# fc = x w^T + b, in place relu, and the largest of each row
NET = """name: "tiny"
op { type: "FC" input: ["x", "w", "b"] output: "fc" }
op { type: "Relu" input: "fc" output: "fc" }
op { type: "Scale" input: "fc" output: "y" arg { name: "scale" f: 2 } }
external_input: ["x", "w", "b"]
external_output: ["y", "fc"]
"""
INIT = """op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [2, 3] }
  arg { name: "values" floats: [1, 0, 2, 0, -1, 0] } }
op { type: "ConstantFill" output: "b" arg { name: "shape" ints: [2] } arg { name: "value" f: 0.5 } }
"""
RANDOM = INIT.replace("GivenTensorFill", "XavierFill")
X = [1.0, 2.0, 3.0]
FC = [7.5, 0.0]  # 1 + 6 + 0.5, and -2 + 0.5 below 0


def attribute(key, value):
    return f"attr {{ key: '{key}' value {{ {value} }} }} "


FLOAT = attribute("T", "type: DT_FLOAT")
# y = max(x, 1), and z is the mean of its elements
GRAPH = (
    "node { name: 'x' op: 'Placeholder' " + attribute("dtype", "type: DT_FLOAT")
    + attribute("shape", "shape { dim { size: -1 } }") + "}\n"
    + "node { name: 'one' op: 'Const' " + attribute("dtype", "type: DT_FLOAT")
    + attribute("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 }") + "}\n"
    + "node { name: 'axis' op: 'Const' " + attribute("dtype", "type: DT_INT32")
    + attribute("value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 }") + "}\n"
    + "node { name: 'scope/y' op: 'Maximum' input: ['x', 'one'] " + FLOAT + "}\n"
    + "node { name: 'z' op: 'Mean' input: ['scope/y', 'axis'] " + FLOAT + "}\n"
)


def floats(content):
    """The numbers of a .npy file."""
    begin = 10 + struct.unpack("<H", content[8:10])[0]
    return [number for number, in struct.iter_unpack("<f", content[begin:])]


class RunsTest(ProgramTest):
    def outputs(self):
        return {path.stem: floats(path.read_bytes()) for path in (self.folder / "out").iterdir()}


class NetRunTest(RunsTest):
    def setUp(self):
        super().setUp()
        self.write("net.pbtxt", NET)
        self.write("init.pbtxt", INIT)
        self.write("x.npy", npy_row(X))

    def test_a_net_runs_on_a_file(self):
        self.expect(DONE, "run", "net.pbtxt", "--init-net", "init.pbtxt", "--input", "x=x.npy", "--output-dir", "out")
        self.assertEqual(self.outputs(), {"y": [15.0, 0.0], "fc@1": FC})

    def test_files_state_the_types_of_inputs(self):
        self.write("net.pbtxt", """external_input: ["t", "i"] external_output: "y"
            op { type: "Gather" input: ["t", "i"] output: "y" }""")
        self.write("t.npy", npy_row([1, 2, 3, 4, 5, 6], 3))
        for name, dtype, code in (("i32", "<i4", "<2i"), ("i64", "<i8", "<2q")):
            self.write("i.npy", small_models.npy_of(dtype, (2,), struct.pack(code, 2, 0)))
            words = ("run", "net.pbtxt", "--input", "t=t.npy", "--input", "i=i.npy", "--output-dir", "out")
            # The files alone, shapes beside them, several shapes, and a plan.
            for sizes in ((), ("--shape", "t=3x2", "--shape", "i=2"), ("--shape", "t=3x2,4x2", "--shape", "i=2,3")):
                self.expect(DONE, *words, *sizes)
                self.assertEqual(self.outputs(), {"y": [5.0, 6.0, 1.0, 2.0]})
            self.write("types.csv", f"name,shape,dtype\nt,3x2,f32\ni,2,{name}\n")
            self.expect(DONE, "plan", "net.pbtxt", "--shapes", "types.csv", "--target", "cpu", "-o", "plan.json")
            self.expect(DONE, *words, "--plan", "plan.json", "--shape", "t=3x2", "--shape", "i=2")

    def test_parameters_may_be_inputs(self):
        words = ("run", "net.pbtxt", "--shape", "x=1x3", "--shape", "w=2x3")
        self.assertIn("--input w=FILE.npy (f32[2,3])", self.expect(BAD_INPUT, *words).stderr)
        said = self.expect(DONE, *words, "--synthetic", "1").stderr
        self.assertIn("no init net fills 2 parameters, which the caller gives as inputs: 'w', 'b'", said)

    def test_random_parameters_are_refused_by_name(self):
        self.write("init.pbtxt", RANDOM)
        words = ("run", "net.pbtxt", "--init-net", "init.pbtxt", "--input", "x=x.npy", "--output-dir", "out")
        error = self.expect(BAD_INPUT, *words).stderr
        self.assertIn("the init net, operator 0 ('XavierFill') is random; give the init net that the training", error)
        self.assertNotIn("out", self.listing())
        self.expect(DONE, *words, "--synthetic", "1")
        self.write("w.npy", npy_row([1, 0, 2, 0, -1, 0], 2))
        self.expect(DONE, *words, "--input", "w=w.npy")
        self.assertEqual(self.outputs()["fc@1"], FC)
        self.expect(DONE, "bench", "net.pbtxt", "--init-net", "init.pbtxt", "--shape", "x=1x3", "--runs", "2")

    def test_a_plan_for_this_machine_runs(self):
        sizes = ("--init-net", "init.pbtxt", "--shape", "x=1x3")
        run = ("run", "net.pbtxt", *sizes, "--input", "x=x.npy", "--output-dir", "out", "--plan", "plan.json")
        self.expect(DONE, "plan", "net.pbtxt", *sizes, "--target", "cpu", "-o", "plan.json")
        self.expect(DONE, "verify", "net.pbtxt", "plan.json", *sizes)
        self.expect(DONE, "explain", "net.pbtxt", *sizes, "--target", "cpu")
        self.expect(DONE, *run)
        self.assertEqual(self.outputs()["y"], [15.0, 0.0])
        self.expect(DONE, "plan", "net.pbtxt", *sizes, "-o", "plan.json")
        self.expect(DONE, "verify", "net.pbtxt", "plan.json", *sizes)
        self.assertIn("plan again with --target cpu", self.expect(BAD_INPUT, *run).stderr)

    def test_a_prepared_net_has_its_weights(self):
        self.expect(DONE, "prepare", "net.pbtxt", "--init-net", "init.pbtxt", "--shape", "x=1x3", "-o", "net.prepared")
        (self.folder / "init.pbtxt").unlink()
        (self.folder / "net.pbtxt").unlink()
        self.expect(DONE, "run", "net.prepared", "--input", "x=x.npy", "--output-dir", "out")
        self.assertEqual(self.outputs()["fc@1"], FC)

    def test_operators_that_do_not_run_are_named(self):
        self.write("net.pbtxt", NET.replace('"Scale"', '"RoIPool"'))
        words = ("net.pbtxt", "--init-net", "init.pbtxt", "--shape", "x=1x3")
        for command in (("run",), ("bench",), ("plan", "--target", "cpu")):
            error = self.expect(BAD_INPUT, command[0], *words, *command[1:]).stderr
            self.assertIn("operator 2 ('RoIPool') has no conversion to operators of ONNX; replace it", error)
        self.assertIn("not known", self.expect(BAD_INPUT, "plan", *words).stderr)
        self.expect(DONE, "plan", *words, "--shape", "y=1x2")


class GraphDefRunTest(RunsTest):
    def setUp(self):
        super().setUp()
        self.write("graph.pbtxt", GRAPH)
        self.write("v.npy", small_models.npy([1, 4, 3]))

    def test_quotients_of_reals_are_truncated(self):
        def source(name):
            return (f"node {{ name: '{name}' op: 'Placeholder' " + attribute("dtype", "type: DT_FLOAT")
                    + attribute("shape", "shape { dim { size: 6 } }") + "}\n")
        self.write("graph.pbtxt", source("x") + source("y")
                   + "node { name: 'z' op: 'TruncateDiv' input: ['x', 'y'] " + FLOAT + "}\n")
        self.write("x.npy", small_models.npy([7, -7, 7, -7, 1, 6]))
        self.write("y.npy", small_models.npy([2, 2, -2, -2, 4, 3]))
        self.expect(DONE, "run", "graph.pbtxt", "--input", "x=x.npy", "--input", "y=y.npy", "--output-dir", "out")
        self.assertEqual(self.outputs(), {"z": [3.0, -3.0, -3.0, 3.0, 0.0, 2.0]})

    def test_images_of_any_type_are_interpolated_as_f32(self):
        # Two pixels become four: at 0, 0.5, 1 and, beyond the last one, 1.
        for dtype, name, code in (("|u1", "UINT8", "2B"), ("<i4", "INT32", "<2i"), ("<f8", "DOUBLE", "<2d"),
                                  ("<f2", "HALF", "<2e"), ("<f4", "FLOAT", "<2f")):
            self.write("graph.pbtxt", "node { name: 'x' op: 'Placeholder' " + attribute("dtype", f"type: DT_{name}")
                       + attribute("shape", "shape { " + " ".join(f"dim {{ size: {n} }}" for n in (1, 1, 2, 1)) + " }")
                       + "}\nnode { name: 's' op: 'Const' " + attribute("dtype", "type: DT_INT32")
                       + attribute("value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
                                   "int_val: 1 int_val: 4 }")
                       + "}\nnode { name: 'y' op: 'ResizeBilinear' input: ['x', 's'] "
                       + attribute("T", f"type: DT_{name}") + "}\n")
            self.write("x.npy", small_models.npy_of(dtype, (1, 1, 2, 1), struct.pack(code, 1, 2)))
            self.expect(DONE, "run", "graph.pbtxt", "--input", "x=x.npy", "--output-dir", "out")
            self.assertEqual(self.outputs(), {"y": [1.0, 1.5, 2.0, 2.0]}, name)

    def test_a_graph_runs_on_a_file(self):
        self.expect(DONE, "run", "graph.pbtxt", "--input", "x=v.npy", "--output-dir", "out")
        self.assertEqual(self.outputs(), {"z": [3.0]})
        error = self.expect(BAD_INPUT, "run", "graph.pbtxt", "--synthetic", "1").stderr
        self.assertIn("'x' of node 'x' ('Placeholder'); set shapes with --shape", error)

    def test_a_graph_is_planned_for_this_machine(self):
        sizes = ("--shape", "x=3")
        self.expect(DONE, "plan", "graph.pbtxt", *sizes, "--target", "cpu", "-o", "plan.json")
        self.expect(DONE, "verify", "graph.pbtxt", "plan.json", *sizes)
        self.expect(DONE, "run", "graph.pbtxt", "--plan", "plan.json", "--input", "x=v.npy", "--output-dir", "out")
        self.assertEqual(self.outputs(), {"z": [3.0]})

    def test_variables_are_refused_by_name(self):
        random = "node { name: 'r' op: 'RandomUniform' input: 'axis' " + attribute("dtype", "type: DT_FLOAT") + "}\n"
        self.write("graph.pbtxt", GRAPH.replace("'one' op: 'Const'", "'one' op: 'VariableV2'") + random)
        error = self.expect(BAD_INPUT, "run", "graph.pbtxt", "--input", "x=v.npy").stderr
        self.assertIn("node 'one' ('VariableV2') reads or writes a variable; freeze the graph", error)
        self.assertIn("node 'r' ('RandomUniform') is random", error)


def npy_row(numbers, rows=1):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {len(numbers) // rows}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(
        f"<{len(numbers)}f", *numbers)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs become files of any format, for inspection, and come back from them."""
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, USAGE, ProgramTest

TENSORFLOW = """graph "" {
  input x : f32[1,9,9,3]
  constant w : f32[3,3,3,8]
  constant axes : i32[2] = [1, 2]
  conv = tensorflow::Conv2D(x, w) "conv" {padding = "SAME", strides = [1, 2, 2, 1]} : f32[1,5,5,8]
  mean = tensorflow::Mean(conv, axes) "mean" {keep_dims = 0} : f32[1,8]
  tensorflow::NoOp() "init" after (conv)
  y = tensorflow::LeakyRelu(mean) "y" after (node 2) {alpha = 0.5} : f32[1,8]
  output y
}
"""
MIXED = """graph "g" {
  input "a b" : f32[2,3]
  constant w : f32[3,4]
  z = MatMul("a b", w) : f32[2,4]
  c = caffe2::Relu(z) : f32[2,4]
  t = tensorflow::Relu6(c) : f32[2,<=4]
  output t, z
}
"""
BRANCH = """graph "branch" {
  input cond : bool[]
  input x : f32[8]
  y = Relu(x) : f32[8]
  z = If(cond) {
    then_branch = graph "then" captures (y) {
      captured input y : f32[8]
      constant k : f32[8]
      a = Add(y, k) : f32[8]
      output a
    },
    else_branch = graph "else" captures (near = y) {
      captured input near : f32[8]
      b = Neg(near) : f32[8]
      output b
    }
  } : f32[8]
  output z
}
"""
FOREIGN = "for inspection only: "
LOST = "the new file does not have: "


class Convert(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("tf.graph", TENSORFLOW)
        self.write("mixed.graph", MIXED)

    def text(self, name):
        return (self.folder / name).read_text()

    def test_operators_of_tensorflow_become_a_graphdef_and_come_back(self):
        for name in ("new.pb", "new.pbtxt"):
            said = self.expect(DONE, "convert", "tf.graph", name).stderr
            self.assertNotIn(FOREIGN, said)
            self.assertIn(LOST + "the content of constants\n", said)
            self.expect(DONE, "diff", "tf.graph", name)
        text = self.text("new.pbtxt")
        self.assertIn('op: "LeakyRelu"\n  input: "mean"\n  input: "^init"', text)
        self.assertIn("f: 0.5", text)
        self.expect(DONE, "convert", "new.pb", "back.graph")
        self.assertIn("constant axes : i32[2] = [1, 2]", self.text("back.graph"))
        self.expect(DONE, "convert", "new.pbtxt", "other.pb")
        self.assertEqual((self.folder / "new.pb").read_bytes(), (self.folder / "other.pb").read_bytes())

    def test_a_model_becomes_a_graphdef(self):
        said = self.expect(DONE, "convert", "model.onnx", "model.pb", "--to", "graphdef").stderr
        self.assertIn(FOREIGN, said)
        self.assertIn("have no meaning in TensorFlow", said)
        self.expect(DONE, "diff", "model.onnx", "model.pb")

    def test_a_model_becomes_a_net(self):
        said = self.expect(DONE, "convert", "model.onnx", "net.pbtxt", "--to", "netdef_text").stderr
        self.assertIn("have no meaning in Caffe2", said)
        self.assertIn(LOST + "metadata, the content of constants, sizes\n", said)
        self.assertIn('type: "onnx::Relu"', self.text("net.pbtxt"))
        self.expect(DONE, "inspect", "net.pbtxt", "--unit-sizes")

    def test_any_graph_becomes_a_model(self):
        said = self.expect(DONE, "convert", "mixed.graph", "new.onnx").stderr
        self.assertIn("'caffe2::Relu', 'tensorflow::Relu6' have no meaning in ONNX", said.replace(" and ", ", "))
        self.assertIn("the content of constants", said)
        self.expect(DONE, "diff", "mixed.graph", "new.onnx")
        self.expect(DONE, "convert", "new.onnx", "again.graph")
        self.assertIn("t = tensorflow::Relu6(c) : f32[2,<=4]", self.text("again.graph"))

    def test_a_model_does_not_become_a_model(self):
        error = self.expect(BAD_INPUT, "convert", "model.onnx", "other.onnx").stderr
        self.assertIn("is a model of ONNX already", error)
        self.assertNotIn("other.onnx", self.listing())
        self.expect(USAGE, "convert", "model.onnx", "model.onnx")

    def test_any_graph_becomes_a_graphdef_and_a_net(self):
        self.expect(DONE, "convert", "mixed.graph", "new.pb", "--to", "graphdef")
        self.expect(DONE, "diff", "mixed.graph", "new.pb")
        self.expect(DONE, "convert", "mixed.graph", "-", "--to", "graphdef_text")
        self.expect(DONE, "convert", "mixed.graph", "net.pb", "--to", "netdef")
        self.expect(DONE, "inspect", "net.pb", "--unit-sizes")
        self.expect(USAGE, "convert", "mixed.graph", "new.pbtxt")

    def test_a_net_becomes_a_model_and_a_graphdef(self):
        self.write("net.pbtxt", 'op { type: "Relu" input: "x" output: "y" }')
        self.expect(BAD_INPUT, "convert", "net.pbtxt", "net.onnx")  # its sizes are not known
        self.expect(DONE, "convert", "net.pbtxt", "net.graph", "--shape", "x=2x3")
        for name, form in (("net.onnx", "onnx"), ("graph.pb", "graphdef")):
            said = self.expect(DONE, "convert", "net.pbtxt", name, "--to", form, "--shape", "x=2x3").stderr
            self.assertIn("'caffe2::Relu' has no meaning in", said)
            self.expect(DONE, "diff", "net.graph", name)

    def test_bodies(self):
        self.write("branch.graph", BRANCH)
        said = self.expect(DONE, "convert", "branch.graph", "branch.onnx").stderr
        self.assertIn("the content of constants", said)
        # The constant of the branch is an input of the model.
        self.expect(DONE, "convert", "branch.onnx", "back.graph")
        self.assertIn("else_branch = graph", self.text("back.graph"))
        said = self.expect(DONE, "convert", "branch.graph", "branch.pb", "--to", "graphdef").stderr
        self.assertIn("the graphs inside operators", said)
        found = self.json(NO, "diff", "branch.graph", "branch.pb")["differences"]
        self.assertTrue(all("_branch" in one or "waits" in one for one in found), found)

    def test_symbols_are_bound_first(self):
        self.write("batch.onnx", small_models.small("batch"))
        self.assertIn("batch", self.expect(BAD_INPUT, "convert", "batch.onnx", "b.pb", "--to", "graphdef").stderr)
        self.expect(DONE, "convert", "batch.onnx", "b.pb", "--to", "graphdef", "--dim", "batch=3")
        self.expect(DONE, "convert", "b.pb", "b.graph")
        self.assertIn("f32[3,16,32,32]", self.text("b.graph"))
        self.assertNotIn("<=", self.text("b.graph"))

    def test_names_that_no_graph_has(self):
        self.write("hostile.graph", 'graph "" {\n  input "" : f32[2]\n}\n')
        self.expect(BAD_INPUT, "convert", "hostile.graph", "h.onnx")
        long = "n" * 65537
        self.write("long.graph", f'graph "" {{\n  input {long} : f32[2]\n  output {long}\n}}\n')
        self.assertIn("65536", self.expect(BAD_INPUT, "convert", "long.graph", "l.onnx").stderr)

    def test_hostile_names(self):
        long = "n" * 4096
        self.write("names.graph", 'graph "" {\n  input "a b" : f32[2]\n  input "a:b" : f32[]\n'
                   f'  input "\\xff" : f32[0]\n  input {long} : i8[3]\n'
                   '  y, _ = "my op"::"x y"("a b", _, "a:b") "" {"\\xff" = 1} : f32[2]\n'
                   f'  z = Relu("\\xff") : f32[0]\n  output y, {long}, z, y\n}}\n')
        for name, form in (("n.pb", "graphdef"), ("t.pbtxt", "graphdef_text")):
            said = self.expect(DONE, "convert", "names.graph", name, "--to", form).stderr
            self.assertIn("attributes whose names are not UTF-8", said)
            self.expect(DONE, "convert", name, "back.graph")
            back = self.text("back.graph")
            self.assertIn('y, _ = "my op"::"x y"("a b", _, "a:b") : f32[2]', back)
            self.assertIn(f"output y, {long}, z, y", back)
        self.assertIn('name: "a_b_2"', self.text("t.pbtxt"))
        self.assertIn("some names", self.expect(DONE, "convert", "names.graph", "n.onnx").stderr)
        self.expect(DONE, "convert", "names.graph", "n2.pb", "--to", "netdef")


if __name__ == "__main__":
    unittest.main()

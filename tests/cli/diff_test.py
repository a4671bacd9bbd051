#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide diff: operators that may give another result each time are not one value."""
import unittest

import small_models
from program import BAD_INPUT, DONE, NO, ProgramTest


class Diff(ProgramTest):
    def test_a_reader_gives_another_batch_each_time(self):
        """a - b are two batches; a - a is zero."""
        read = 'op {{ type: "{0}" input: "x" output: "{1}" }} '
        net = read + 'op {{ type: "{0}" input: "x" output: "b" }} ' \
            'op {{ type: "Sub" input: ["a", "{2}"] output: "o" }} external_input: "x" external_output: "o"'
        for kind in ("TensorProtosDBInput", "Dropout", "UniformFill", "AtomicIter", "Python", "Unknown"):
            self.write("first.pbtxt", net.format(kind, "a", "b"))
            self.write("second.pbtxt", net.format(kind, "a", "a"))
            self.assertEqual(self.json(NO, "diff", "first.pbtxt", "second.pbtxt")["differences"],
                             ["input 1 of operator 2 ('Sub') is output 0 of operator 1, but in the second net output 0 "
                              "of operator 0"])
            self.write("turned.pbtxt", net.format(kind, "a", "b").replace('["a", "b"]', '["b", "a"]'))
            self.expect(NO, "diff", "first.pbtxt", "turned.pbtxt")
        self.write("first.pbtxt", net.format("Relu", "a", "b"))
        self.write("second.pbtxt", net.format("Relu", "a", "a"))
        self.expect(DONE, "diff", "first.pbtxt", "second.pbtxt")

    def test_random_nodes_of_graphs_are_no_twins(self):
        graph = 'graph "g" {{\n  input x : f32[4]\n  y = {0}(x) : f32[4]\n  z = {0}(x) : f32[4]\n' \
            '  o = Add(y, {1}) : f32[4]\n  output o\n}}\n'
        for kind, code in (("RandomUniformLike", NO), ("Dropout", NO), ("tensorflow::Unknown", NO), ("Relu", DONE)):
            self.write("a.graph", graph.format(kind, "z"))
            self.write("b.graph", graph.format(kind, "y"))
            self.expect(code, "diff", "a.graph", "b.graph")

    def test_sizes_that_are_not_known_have_options(self):
        """The message names an option, and with it the models are the same."""
        self.write("counted.onnx", small_models.counting())
        both = ["diff", "counted.onnx", "counted.onnx"]
        self.assertIn("give --at-most pos=N", self.expect(BAD_INPUT, *both).stderr)
        self.expect(DONE, *both, "--at-most", "pos=9")
        unknown = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } ' \
            'node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
        self.write("graph.pbtxt", unknown)
        both = ["diff", "graph.pbtxt", "graph.pbtxt"]
        self.assertIn("--unit-sizes", self.expect(BAD_INPUT, *both).stderr)
        self.expect(DONE, *both, "--unit-sizes")

    def test_files_that_it_does_not_take_are_named(self):
        self.expect(DONE, "prepare", "model.onnx", "-o", "model.prep")
        self.assertIn("model.prep: this is a prepared file; 'run' and 'bench' take it",
                      self.expect(BAD_INPUT, "diff", "model.prep", "model.onnx").stderr)
        self.write("small.graph", 'graph "g" {\n  input x : f32[4]\n  y = Neg(x) : f32[4]\n  output y\n}\n')
        for command in ("plan", "run", "inspect"):
            self.assertIn("it looks like a graph in Lowtide's text form; 'lowtide convert' makes an ONNX model of it",
                          self.expect(BAD_INPUT, command, "small.graph").stderr)
        self.expect(DONE, "convert", "small.graph", "small.onnx")
        self.assertIn("arena", self.expect(DONE, "plan", "small.onnx").stdout)

    def test_updates_of_states_are_compared(self):
        graph = 'graph "g" {{\n  input x : f32[4]\n  state s : f32[4]\n  y = Add(x, s) : f32[4]\n' \
            '  z = Mul(x, s) : f32[4]\n  output y\n  output z\n  update s = {0}\n}}\n'
        self.write("a.graph", graph.format("y"))
        self.write("b.graph", graph.format("z"))
        self.assertIn("operator 2 ('(next state)')", self.expect(NO, "diff", "a.graph", "b.graph").stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts allocations, system calls and page faults in the runs of small models. There are none, even in run 1."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import small_models
from small_models import FLOAT, axis, field, graph, ints, node, value_info

PROGRAM = os.environ.get("LOWTIDE_RUN_TRAP", "")
if not PROGRAM:
    raise SystemExit("set LOWTIDE_RUN_TRAP to the path of run_trap")
INT64 = 7
FUTEX = 202  # number of the system call on x86-64
NONE = {"allocations": 0, "system_calls": 0, "page_faults": 0, "first_call": -1}


def floats(name, extents):
    """An initializer of small numbers."""
    count = 1
    for extent in extents:
        count *= extent
    values = struct.pack(f"<{count}f", *(((i * 7919) % 23 - 11) / 64 for i in range(count)))
    return b"".join(field(1, e) for e in extents) + field(2, FLOAT) + field(8, name) + field(9, values)


def integers(name, values):
    """An initializer of INT64."""
    return field(1, len(values)) + field(2, INT64) + field(8, name) + field(9, struct.pack(f"<{len(values)}q", *values))


def integer(name, value):
    return field(1, name) + field(3, value) + field(20, 2)


def model(nodes, inputs, outputs, initializers=(), opset=17):
    content = graph(nodes, [value_info(*one) for one in inputs], [value_info(*one) for one in outputs], initializers)
    return field(1, 8) + field(7, content) + field(8, field(2, opset))


def convolutions():
    """Two convolutions, the second one in groups, pools, and a product at the end."""
    same = [ints("kernel_shape", [3, 3]), ints("pads", [1, 1, 1, 1])]
    half = [ints("kernel_shape", [2, 2]), ints("strides", [2, 2])]
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], "c1", same), node("Relu", ["c1"], ["r1"]),
             node("MaxPool", ["r1"], ["p1"], "p1", half),
             node("Conv", ["p1", "w2"], ["c2"], "c2", [*same, integer("group", 16)]), node("Sigmoid", ["c2"], ["s2"]),
             node("Mul", ["c2", "s2"], ["m2"]), node("GlobalAveragePool", ["m2"], ["g"]),
             node("Flatten", ["g"], ["f"]), node("Gemm", ["f", "w3", "b3"], ["y"])]
    weights = [floats("w1", [16, 3, 3, 3]), floats("b1", [16]), floats("w2", [16, 1, 3, 3]), floats("w3", [16, 10]),
               floats("b3", [10])]
    return model(nodes, [("x", [1, 3, 32, 32])], [("y", [1, 10])], weights)


def transposed():
    """A transposed convolution, as decoders have it."""
    half = [ints("kernel_shape", [2, 2]), ints("strides", [2, 2])]
    nodes = [node("ConvTranspose", ["x", "w", "b"], ["y"], "y", half)]
    return model(nodes, [("x", [1, 4, 8, 8])], [("y", [1, 3, 16, 16])], [floats("w", [4, 3, 2, 2]), floats("b", [3])])


def products():
    """Products with weights and without, as in a layer of attention."""
    nodes = [node("MatMul", ["x", "w"], ["q"]), node("Transpose", ["q"], ["t"]), node("MatMul", ["q", "t"], ["s"]),
             node("Softmax", ["s"], ["p"]), node("MatMul", ["p", "q"], ["y"])]
    return model(nodes, [("x", [48, 64])], [("y", [48, 64])], [floats("w", [64, 64])])


def attention():
    """Scores of 200 queries and 700 keys, which run in tiles, with a mask."""
    nodes = [node("MatMul", ["q", "k"], ["s"]), node("Add", ["s", "m"], ["t"]), node("Softmax", ["t"], ["w"]),
             node("MatMul", ["w", "v"], ["y"])]
    inputs = [("q", [2, 200, 8]), ("k", [2, 8, 700]), ("v", [2, 700, 8]), ("m", [1, 1, 700])]
    return model(nodes, inputs, [("y", [2, 200, 8])])


def elementwise():
    """Operators that broadcast, that change the type, and that choose."""
    nodes = [node("Add", ["x", "b"], ["a"]), node("Clip", ["a"], ["c"]), node("Exp", ["c"], ["e"]),
             node("Div", ["a", "e"], ["d"]), node("Greater", ["d", "b"], ["g"]), node("Where", ["g", "d", "x"], ["h"]),
             node("Tanh", ["h"], ["k"]), node("Cast", ["k"], ["i"], "i", [integer("to", INT64)]),
             node("Cast", ["i"], ["y"], "y", [integer("to", FLOAT)])]
    return model(nodes, [("x", [4, 8, 33])], [("y", [4, 8, 33])], [floats("b", [8, 1])])


def movement():
    """Views, copies, and lists that are inputs."""
    nodes = [node("Concat", ["x", "x"], ["a"], "a", [axis(1)]), node("Split", ["a"], ["s", "t"], "st", [axis(0)]),
             node("Slice", ["t", "starts", "ends"], ["u"]), node("Pad", ["u", "pads"], ["v"]),
             node("Transpose", ["v"], ["w"], "w", [ints("perm", [1, 0])]), node("Tile", ["w", "twice"], ["z"]),
             node("Gather", ["z", "some"], ["y"]), node("Unsqueeze", ["s", "last"], ["q"])]
    lists = [integers("starts", [0, 1]), integers("ends", [2, 9]), integers("pads", [1, 0, 0, 2]),
             integers("twice", [1, 2]), integers("some", [3, 0]), integers("last", [2])]
    return model(nodes, [("x", [4, 6])], [("y", [2, 6]), ("q", [2, 12, 1])], lists)


def old_movement():
    """The same lists as attributes, which older models have."""
    nodes = [node("Slice", ["x"], ["a"], "a", [ints("starts", [0, 1]), ints("ends", [2, 9])]),
             node("Pad", ["a"], ["b"], "b", [ints("pads", [1, 0, 0, 2])]),
             node("Split", ["b"], ["c", "d"], "cd", [integer("axis", 1), ints("split", [3, 4])]),
             node("Unsqueeze", ["c"], ["y"], "y", [ints("axes", [0, 3])]),
             node("ReduceSum", ["d"], ["z"], "z", [ints("axes", [1]), integer("keepdims", 0)])]
    return model(nodes, [("x", [4, 6])], [("y", [1, 3, 3, 1]), ("z", [3])], opset=9)


def reductions():
    nodes = [node("ReduceMean", ["x"], ["a"], "a", [ints("axes", [2])]), node("Sub", ["x", "a"], ["b"]),
             node("ReduceMax", ["b"], ["c"], "c", [ints("axes", [0, 1])]),
             node("ReduceSumSquare", ["b"], ["d"], "d", [ints("axes", [1])]),
             node("ArgMax", ["b"], ["i"], "i", [axis(1)]), node("Softmax", ["b"], ["s"], "s", [axis(1)])]
    outputs = [("c", [1, 1, 20]), ("d", [6, 1, 20]), ("i", [6, 1, 20], INT64), ("s", [6, 5, 20])]
    return model(nodes, [("x", [6, 5, 20])], outputs)


def skips():
    """Products whose results of 16 KiB are read again in the reverse order. No budget below four of them is kept
    without transfers or reruns."""
    pairs = [("x", "w", "a"), ("a", "w", "b"), ("b", "w", "c"), ("c", "w", "d"), ("d", "c", "e"), ("e", "b", "f"),
             ("f", "a", "y")]
    nodes = [node("MatMul", [left, right], [result]) for left, right, result in pairs]
    return model(nodes, [("x", [64, 64])], [("y", [64, 64])], [floats("w", [64, 64])])


class RunTrap(unittest.TestCase):
    def count(self, models, *words):
        """The lines of the program, in the order of the models."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in models.items():
                (pathlib.Path(folder) / f"{name}.onnx").write_bytes(content)
            command = [PROGRAM, *words, *(f"{name}.onnx" for name in models)]
            result = subprocess.run(command, cwd=folder, capture_output=True, timeout=600, text=True)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["model"] for line in lines], [f"{name}.onnx" for name in models])
        return lines

    def test_no_run_allocates_calls_or_faults(self):
        builders = (convolutions, transposed, products, attention, elementwise, movement, old_movement, reductions,
                    small_models.small, small_models.weighted, small_models.parallel)
        models = {builder.__name__: builder() for builder in builders}
        for words in ([], ["--other-thread"]):
            for line in self.count(models, "--runs", "200", *words):
                with self.subTest(model=line["model"], words=words):
                    self.assertNotIn("refused", line)
                    self.assertEqual((line["runs"], line["first"], line["others"]), (200, NONE, NONE))

    def test_a_run_of_several_threads_only_wakes_the_others(self):
        builders = (convolutions, products, elementwise, reductions, small_models.parallel)
        models = {builder.__name__: builder() for builder in builders}
        for threads, streams in ((2, 1), (2, 2), (4, 1), (4, 3)):
            words = ["--threads", str(threads), "--streams", str(streams)]
            for line in self.count(models, "--runs", "200", *words):
                with self.subTest(model=line["model"], words=words):
                    self.assertNotIn("refused", line)
                    for costs in (line["first"], line["others"]):
                        self.assertEqual((costs["allocations"], costs["page_faults"]), (0, 0))
                        self.assertIn(costs["first_call"], (-1, FUTEX))
                    # One call wakes the other threads, and each makes one, if it was about to sleep.
                    self.assertLessEqual(line["most_calls"], threads)
                    self.assertGreater(line["without_calls"], 0)  # the other threads were awake

    def test_a_run_with_copies_only_wakes_the_other_thread(self):
        # The input and three results; scratch of the products is smaller than the fourth one.
        line, = self.count({"skips": skips()}, "--runs", "200", "--budget", str(4 * 16384 + 8192))
        self.assertNotIn("refused", line)
        self.assertGreater(line["outside"], 0)
        for costs in (line["first"], line["others"]):
            self.assertEqual((costs["allocations"], costs["page_faults"]), (0, 0))
            self.assertIn(costs["first_call"], (-1, FUTEX))
        self.assertLessEqual(line["most_calls"], 2)
        self.assertGreater(line["without_calls"], 0)

    def test_models_that_cannot_run_are_named(self):
        line, = self.count({"broken": b"no model"})
        self.assertIn("broken.onnx", line["refused"])


if __name__ == "__main__":
    self_test = subprocess.run([PROGRAM, "--self-test"], capture_output=True, text=True)
    if self_test.returncode == 2:
        print(f"skipped: {self_test.stderr}")
        sys.exit(77)
    unittest.main()

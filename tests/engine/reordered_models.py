#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""`lowtide reorder`: ONNX Runtime keeps the order of the new file and computes the same bits.

Draws networks with branches of convolutions, some with an If, lets ONNX Runtime save them with its optimizations, and
reorders these files. Each new file has the same nodes and all else as the old one. In both, ONNX Runtime runs the nodes
in the order of the file, by its profile, and gives equal bits. The predicted block is never larger than that of the
order of the file.

    reordered_models.py --lowtide PROGRAM [--seed N] [--models N]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

EXTENT = 12


def constant(random, name, shape):
    return numpy_helper.from_array((random.standard_normal(shape) * 0.2).astype(np.float32), name)


class Drawn:
    """A network of convolutions with branches, whose order matters."""

    def __init__(self, random):
        self.random = random
        self.nodes, self.weights = [], []
        self.values = {"x": 4}  # channels by name

    def add(self, op, reads, channels, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, reads, [name], name=f"n{len(self.nodes)}", **attributes))
        self.values[name] = channels
        return name

    def convolution(self, read, channels):
        weight = f"w{len(self.weights)}"
        self.weights.append(constant(self.random, weight, (channels, self.values[read], 3, 3)))
        return self.add("Conv", [read, weight], channels, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def conditional(self, read):
        """An If whose bodies read a value from outside."""
        channels = self.values[read]
        number = len(self.nodes)
        bodies = {}
        for branch, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
            out = f"{branch}{number}"
            info = helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, channels, EXTENT, EXTENT])
            inside = helper.make_node(op, [read], [out], name=f"inside{number}")
            bodies[branch] = helper.make_graph([inside], branch, [], [info])
        return self.add("If", ["condition"], channels, **bodies)

    def model(self, steps):
        for _ in range(steps):
            read = str(self.random.choice(list(self.values)))
            kind = self.random.integers(0, 10)
            if kind < 5:
                self.convolution(read, int(self.random.integers(1, 17)))
            elif kind < 7:
                self.add("Relu" if kind == 5 else "Sigmoid", [read], self.values[read])
            elif kind < 9:
                other = str(self.random.choice(list(self.values)))
                self.add("Concat", [read, other], self.values[read] + self.values[other], axis=1)
            else:
                self.conditional(read)
        ends = [name for name in self.values if name != "x" and not any(name in node.input for node in self.nodes)]
        self.add("Concat", ends, sum(self.values[name] for name in ends), axis=1)
        out = self.convolution(f"v{len(self.nodes) - 1}", 3)
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, EXTENT, EXTENT]),
                  helper.make_tensor_value_info("condition", TensorProto.BOOL, [])]
        outputs = [helper.make_tensor_value_info(out, TensorProto.FLOAT, [1, 3, EXTENT, EXTENT])]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(path, profile=None, **options):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 3
    if profile:
        settings.enable_profiling = True
        settings.profile_file_prefix = str(profile)
    for name, value in options.items():
        setattr(settings, name, value)
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


def run_in_file_order(path, feeds, folder):
    """The output, and the nodes in the order in which they ran, without those of bodies."""
    made = session(path, folder / "profile", execution_order=onnxruntime.ExecutionOrder.PRIORITY_BASED,
                   graph_optimization_level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    output = made.run(None, feeds)[0]
    events = json.loads(pathlib.Path(made.end_profiling()).read_text())
    ran = [event["args"]["node_index"] for event in events
           if event.get("cat") == "Node" and event["name"].endswith("_kernel_time") and
           not event["name"].startswith("inside")]
    return output, [int(at) for at in ran]


def in_any_order(model):
    """The model without the order of its nodes, as text."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = sorted(node.SerializeToString() for node in copy.graph.node)
    del copy.graph.node[:]
    return nodes, copy.SerializeToString()


def check(lowtide, folder, random):
    drawn, saved, reordered = (folder / f"{name}.onnx" for name in ("drawn", "saved", "reordered"))
    onnx.save(Drawn(random).model(int(random.integers(8, 40))), drawn)
    level = random.choice(["ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED"])
    session(drawn, optimized_model_filepath=str(saved),
            graph_optimization_level=getattr(onnxruntime.GraphOptimizationLevel, level))
    said = subprocess.run([lowtide, "reorder", saved, "-o", reordered, "--json"], capture_output=True, text=True,
                          check=False)
    if said.returncode != 0:
        raise SystemExit(f"reorder: {said.stderr}")
    report = json.loads(said.stdout)
    assert report["reordered"]["pattern_bytes"] <= report["given"]["pattern_bytes"], report
    old, new = onnx.load(saved), onnx.load(reordered)
    assert in_any_order(old) == in_any_order(new), "the new file has other content"
    assert [old.graph.node[at].SerializeToString() for at in report["nodes"]] == [
        node.SerializeToString() for node in new.graph.node], "the order is not the one that is listed"
    feeds = {"x": random.standard_normal((1, 4, EXTENT, EXTENT)).astype(np.float32),
             "condition": np.array(bool(random.integers(0, 2)))}
    feeds = {one.name: feeds[one.name] for one in session(saved).get_inputs()}
    before, _ = run_in_file_order(saved, feeds, folder)
    after, ran = run_in_file_order(reordered, feeds, folder)
    assert np.array_equal(before, after, equal_nan=True), "other bits"
    assert ran == list(range(len(new.graph.node))), f"ONNX Runtime ran another order: {ran}"
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=12)
    arguments = parser.parse_args()
    less = 0
    for number in range(arguments.models):
        random = np.random.default_rng(arguments.seed * 1000 + number)
        with tempfile.TemporaryDirectory() as folder:
            try:
                report = check(arguments.lowtide, pathlib.Path(folder), random)
            except AssertionError as problem:
                raise SystemExit(f"seed {arguments.seed}, model {number}: {problem}") from problem
        less += report["reordered"]["pattern_bytes"] < report["default"]["pattern_bytes"]
    print(f"{arguments.models} models: equal bits; {less} need less than in the order of ONNX Runtime")
    if less < arguments.models // 4:
        raise SystemExit("few models need less")
    return 0


if __name__ == "__main__":
    sys.exit(main())

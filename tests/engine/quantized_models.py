#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random quantized models as written and with integer kernels, and compares both with ONNX Runtime.

    tests/engine/quantized_models.py --runner build/dev/tests/tools/case_runner [--models N]

The models have convolutions, products, pools, sums and concats between DequantizeLinear and QuantizeLinear. In half of
them all scales are powers of two. Then no step rounds before QuantizeLinear, and all integers must be equal. The others
have one product at most per path, and integers may differ by one.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Model:
    """A random model that grows node by node."""

    def __init__(self, random, is_exact):
        self.random = random
        self.is_exact = is_exact
        self.nodes = []
        self.constants = []
        self.outputs = []
        self.tensors = []  # quantized: (name, extents, (scale, zero point), products on the longest path)

    def name(self):
        return f"t{len(self.nodes)}_{len(self.constants)}"

    def constant(self, values):
        name = "c" + self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def scale(self, shape=(), least=-4, most=1):
        if self.is_exact:
            return np.float32(2.0) ** self.random.integers(least, most + 1, shape).astype(np.float32)
        return (2.0 ** self.random.uniform(least, most, shape)).astype(np.float32)

    def parameters(self, least, most):
        """A scale and a zero point for activations."""
        dtype = np.uint8 if self.random.random() < 0.7 else np.int8
        zero = self.random.choice([np.iinfo(dtype).min, 7, 100])
        return self.constant(self.scale((), least, most)), self.constant(np.array(zero, dtype)), dtype

    def node(self, kind, inputs, **attributes):
        result = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        return result

    def real(self, tensor):
        return self.node("DequantizeLinear", [tensor[0], *tensor[2][:2]])

    def quantized(self, real, extents, products, parameters=None):
        parameters = parameters or self.parameters(-2, 6)
        name = self.node("QuantizeLinear", [real, *parameters[:2]])
        self.tensors.append((name, extents, parameters, products))

    def pick(self):
        return self.tensors[self.random.integers(len(self.tensors))]

    def weights(self, extents, axis):
        """Integers with one scale, or one per entry of an axis."""
        shape = (extents[axis],) if self.random.random() < 0.5 else ()
        integers = self.constant(self.random.integers(-127, 128, extents).astype(np.int8))
        scale = self.constant(self.scale(shape))
        zero = self.constant(np.zeros(shape, np.int8))
        return self.node("DequantizeLinear", [integers, scale, zero], **({"axis": axis} if shape else {}))

    def bias(self, channels):
        return self.constant((self.random.integers(-99, 99, channels) * 4).astype(np.float32))

    def grow(self):
        """Adds one operator between conversions."""
        tensor = self.pick()
        _, extents, parameters, products = tensor
        x = self.real(tensor)
        kind = self.random.choice(["conv", "pool", "add", "concat", "move", "relu", "depthwise"])
        if kind in ("conv", "depthwise") and not self.is_exact and products > 0:
            kind = "pool"
        if kind in ("conv", "depthwise"):
            groups = extents[1] if kind == "depthwise" else 1
            out = groups if kind == "depthwise" else int(self.random.choice([3, 8]))
            size = int(self.random.choice([1, 3]))
            inputs = [x, self.weights((out, extents[1] // groups, size, size), 0)]
            if self.random.random() < 0.5:
                inputs.append(self.bias(out))
            x = self.node("Conv", inputs, pads=[size // 2] * 4, group=groups)
            extents = (extents[0], out, *extents[2:])
            if self.random.random() < 0.5:
                x = self.node("Relu", [x])
            if self.random.random() < 0.3:
                x = self.node("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4)
            return self.quantized(x, extents, products + 1)
        if kind == "pool":
            x = self.node("MaxPool", [x], kernel_shape=[2, 2], pads=[0, 0, 1, 1])
        if kind == "move":
            x = self.node("Transpose", [x], perm=[0, 1, 3, 2])
            extents = (*extents[:2], extents[3], extents[2])
        if kind in ("add", "concat"):
            others = [one for one in self.tensors if one[1] == extents]
            other = others[self.random.integers(len(others))]
            products = max(products, other[3])
            if kind == "add":
                x = self.node("Add", [x, self.real(other)])
            else:
                x = self.node("Concat", [x, self.real(other)], axis=1)
                extents = (extents[0], extents[1] * 2, *extents[2:])
        if kind == "relu" or self.random.random() < 0.2:
            x = self.node("Relu", [x])
        if kind in ("add", "concat") and not self.is_exact and products > 0:
            parameters = None  # a coarser scale; both operands may be off by one already
            return self.quantized(x, extents, 9, self.coarse())
        return self.quantized(x, extents, products, parameters if self.random.random() < 0.5 else self.coarse())

    def coarse(self):
        return self.parameters(6, 8)

    def finish(self):
        tensor = self.pick()
        flat = self.node("Flatten", [self.real(tensor)])
        count = int(np.prod(tensor[1][1:]))
        if self.is_exact or tensor[3] == 0:
            is_transposed = bool(self.random.random() < 0.5)
            w = self.weights((5, count) if is_transposed else (count, 5), 0 if is_transposed else 1)
            y = self.node("Gemm", [flat, w, self.bias(5)], transB=int(is_transposed))
            self.quantized(y, (1, 5), 1, self.coarse())
        names = {one for node in self.nodes for one in node.input}
        made = self.tensors[1:]
        results = [one for one in made if one[0] not in names or self.random.random() < 0.2] or made
        types = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}
        ends = [helper.make_tensor_value_info(name, types[parameters[2]], extents)
                for name, extents, parameters, _ in results]
        first = helper.make_tensor_value_info("x", TensorProto.UINT8, self.tensors[0][1])
        graph = helper.make_graph(self.nodes, "g", [first], ends, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model


def random_model(seed):
    random = np.random.default_rng(seed)
    model = Model(random, is_exact=seed % 2 == 0)
    scale, zero = model.constant(model.scale()), model.constant(np.array(random.choice([0, 128]), np.uint8))
    model.tensors.append(("x", (1, int(random.choice([2, 8])), 5, 6), (scale, zero, np.uint8), 0))
    for _ in range(random.integers(1, 6)):
        model.grow()
    return model.finish()


def run(runner, words, folders):
    lines = subprocess.run([runner, *words], input="".join(f"{folder}\n" for folder in folders), capture_output=True,
                           text=True, check=True).stdout.splitlines()
    return dict(zip(folders, lines, strict=True))


def outputs(folder, count):
    return [np.load(folder / f"output_{at}.npy").astype(np.int32) for at in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--models", type=int, default=150)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        expected = {}
        for seed in range(arguments.first, arguments.first + arguments.models):
            model = random_model(seed)
            folder = pathlib.Path(name) / str(seed)
            folder.mkdir()
            onnx.save(model, folder / "model.onnx")
            x = np.random.default_rng(seed + 1000).integers(
                0, 256, [one.dim_value for one in model.graph.input[0].type.tensor_type.shape.dim]).astype(np.uint8)
            np.save(folder / "input_0.npy", x)
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            expected[folder] = [one.astype(np.int32) for one in session.run(None, {"x": x})]
        for words in ([], ["--lowered"]):
            for folder, line in run(arguments.runner, words, expected).items():
                most = 0 if int(folder.name) % 2 == 0 else 1
                own = outputs(folder, len(expected[folder])) if line == "ok" else []
                apart = max((int(np.abs(a - b).max()) for a, b in zip(own, expected[folder], strict=bool(own))),
                            default=0)
                if line != "ok" or apart > most:
                    wrong += 1
                    print(f"model {folder.name} {' '.join(words)}: {line}; {apart} quanta apart, {most} allowed")
    print(f"{2 * arguments.models - wrong} of {2 * arguments.models} runs agree with ONNX Runtime")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

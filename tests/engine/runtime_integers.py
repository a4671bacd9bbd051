#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs operators on integers of domain com.microsoft, and compares them with ONNX Runtime.

    tests/engine/runtime_integers.py --runner build/dev/tests/tools/case_runner [--cases N] [--first SEED]

Integers may differ by one. An LSTM with a dynamically quantized input may differ by a few percent of the largest value,
because ONNX Runtime rounds the input and the state to 8 bits, and Lowtide does not.
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

TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.float32: TensorProto.FLOAT,
         np.bool_: TensorProto.BOOL}
LARGEST_LSTM_ERROR = 0.05
# Without instructions for products of bytes, ONNX Runtime adds two products in 16 bits, where 255 * 127 * 2 saturates.
MOST_WEIGHT = 127 if "vnni" in pathlib.Path("/proc/cpuinfo").read_text() else 64


class Case:
    """A model of one node, and its inputs."""

    def __init__(self, seed, kind):
        self.random = np.random.default_rng(seed)
        self.kind = kind
        self.dtype = self.random.choice([np.uint8, np.int8])
        self.result = self.dtype
        self.results = 1
        self.constants = []
        self.inputs = []
        self.attributes = {}
        self.words = getattr(self, kind)()

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def parameters(self):
        """A scale and a zero point."""
        limits = np.iinfo(self.dtype)
        zero = self.dtype(self.random.integers(limits.min // 2 + (limits.max + 1) // 4, limits.max // 2))
        return [self.constant(np.float32(self.random.uniform(0.01, 0.1))), self.constant(zero)]

    def integers(self, *shape, dtype=None):
        dtype = dtype or self.dtype
        limits = np.iinfo(dtype)
        return self.input(self.random.integers(limits.min, limits.max + 1, shape).astype(dtype))

    def input(self, value):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, value))
        return name

    def bias(self, count):
        return self.constant(self.random.normal(size=count).astype(np.float32)) if self.random.random() < 0.5 else ""

    def binary(self):
        b = self.integers(*((2, 3, 4) if self.random.random() < 0.5 else (4,)))
        return [self.integers(2, 3, 4), *self.parameters(), b, *self.parameters(), *self.parameters()]

    QLinearAdd = binary
    QLinearMul = binary

    def unary(self):
        """The zero point of the result may be omitted, and is 0 of the operand's type then."""
        words = [self.integers(3, 5), *self.parameters(), *self.parameters()]
        return words if self.random.random() < 0.7 else [*words[:-1], ""]

    QLinearSigmoid = unary

    def QLinearLeakyRelu(self):
        self.attributes = {"alpha": 0.2}
        return self.unary()

    def QLinearSoftmax(self):
        self.attributes = {"axis": -1, "opset": int(self.random.choice([11, 13]))}
        least = self.dtype(np.iinfo(self.dtype).min)
        return [*self.unary()[:3], self.constant(np.float32(1 / 256)), self.constant(least)]

    def QLinearGlobalAveragePool(self):
        return [self.integers(1, 3, 5, 6), *self.parameters(), *self.parameters()]

    def QLinearAveragePool(self):
        self.attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1],
                           "count_include_pad": int(self.random.integers(2))}
        return [self.integers(1, 3, 6, 6), *self.parameters(), *self.parameters()]

    def QLinearConcat(self):
        self.attributes = {"axis": 1}
        words = self.parameters()
        for _ in range(self.random.integers(1, 4)):
            words += [self.integers(2, int(self.random.integers(1, 5))), *self.parameters()]
        return words

    def QLinearWhere(self):
        condition = self.input(self.random.random((2, 3)) < 0.5)
        return [condition, self.integers(2, 3), *self.parameters(), self.integers(2, 3), *self.parameters(),
                *self.parameters()]

    def QGemm(self):
        m, k, n = self.random.integers(1, 7, 3)
        a_turned, b_turned, by_column = self.random.integers(0, 2, 3)
        alpha = float(self.random.choice([1, 0.5]))
        self.attributes = {"transA": int(a_turned), "transB": int(b_turned), "alpha": alpha}
        a = [self.integers(*((k, m) if a_turned else (m, k))), *self.parameters()]
        b = self.random.integers(-MOST_WEIGHT, MOST_WEIGHT + 1, (n, k) if b_turned else (k, n)).astype(np.int8)
        scale = self.random.uniform(0.01, 0.1, n).astype(np.float32) if by_column else np.float32(0.03)
        zero = np.zeros(n if by_column else (), np.int8)
        bias = self.constant(self.random.integers(-500, 500, n).astype(np.int32)) if self.random.random() < 0.7 else ""
        words = [*a, self.constant(b), self.constant(scale), self.constant(zero), bias]
        if self.random.random() < 0.5:
            self.result = np.float32
            return words
        return [*words, self.constant(np.float32(0.2)), self.constant(self.dtype(3))]

    def DynamicQuantizeMatMul(self):
        self.result = np.float32
        x = self.input(self.random.normal(size=(3, 4)).astype(np.float32))
        b = self.constant(self.random.integers(0, 256, (4, 5)).astype(np.uint8))
        return [x, b, self.constant(np.float32(0.02)), self.constant(np.uint8(120)), self.bias(5)]

    def MatMulIntegerToFloat(self):
        self.result = np.float32
        b = self.constant(self.random.integers(-MOST_WEIGHT, MOST_WEIGHT + 1, (4, 5)).astype(np.int8))
        scales = [self.constant(np.float32(0.05)), self.constant(np.float32(0.02))]
        zeros = [self.constant(np.uint8(100)), self.constant(np.int8(0))]
        return [self.integers(3, 4, dtype=np.uint8), b, *scales, *zeros, self.bias(5)]

    def DynamicQuantizeLSTM(self):
        self.result, self.results = np.float32, 3
        steps, inputs, hidden = (int(one) for one in self.random.integers(2, 9, 3))
        directions = int(self.random.integers(1, 3))
        self.attributes = {"hidden_size": hidden, "direction": ("forward", "bidirectional")[directions - 1]}
        by_column = self.random.random() < 0.5
        x = self.input(self.random.normal(size=(steps, 1, inputs)).astype(np.float32))
        words = [x]
        for extent in (inputs, hidden):
            words.append(self.constant(
                self.random.integers(-MOST_WEIGHT, MOST_WEIGHT + 1, (directions, extent, 4 * hidden)).astype(np.int8)))
        words += [self.constant(self.random.normal(size=(directions, 8 * hidden)).astype(np.float32)), "", "", "", ""]
        shape = (directions, 4 * hidden) if by_column else (directions,)
        for _ in range(2):
            words.append(self.constant(self.random.uniform(0.002, 0.006, shape).astype(np.float32)))
            words.append(self.constant(np.zeros(shape, np.int8)))
        return words

    def model(self):
        # ONNX Runtime reads behind the inputs of an operator on integers whose last one is absent instead of empty.
        while self.words[-1] == "" and not self.kind.startswith("QLinear"):
            self.words.pop()
        outputs = [f"y{at}" for at in range(self.results)]
        node = helper.make_node(self.kind, self.words, outputs, domain="com.microsoft", **self.attributes)
        graph = helper.make_graph(
            [node], "g",
            [helper.make_tensor_value_info(name, TYPES[value.dtype.type], value.shape) for name, value in self.inputs],
            [helper.make_tensor_value_info(name, TYPES[self.result], None) for name in outputs], self.constants)
        opset = int(self.random.choice([11, 13, 17]))
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


KINDS = ("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
         "QLinearGlobalAveragePool", "QLinearAveragePool", "QLinearConcat", "QLinearWhere", "QGemm",
         "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "DynamicQuantizeLSTM")


def problem(case, folder, line, expected):
    """What is wrong with a run, or nothing."""
    if line != "ok":
        return line
    for at, other in enumerate(expected):
        own = np.load(folder / f"output_{at}.npy").astype(np.float64)
        if own.shape != other.shape:
            return f"output {at} has extents {own.shape}, expected {other.shape}"
        apart = np.abs(own - other).max()
        allowed = 1 if np.issubdtype(other.dtype, np.integer) else 1e-4 * max(1, np.abs(other).max())
        if case.kind == "DynamicQuantizeLSTM":
            allowed = LARGEST_LSTM_ERROR * np.abs(other).max()
        if apart > allowed:
            return f"output {at} is {apart} apart, {allowed} allowed"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--cases", type=int, default=130)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    cases = {}
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(arguments.first, arguments.first + arguments.cases):
            case = Case(seed, KINDS[seed % len(KINDS)])
            folder = pathlib.Path(name) / f"{seed}_{case.kind}"
            folder.mkdir()
            model = case.model()
            onnx.save(model, folder / "model.onnx")
            for at, (_, value) in enumerate(case.inputs):
                np.save(folder / f"input_{at}.npy", value)
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            cases[folder] = (case, session.run(None, dict(case.inputs)))
        for words in ([], ["--lowered"]):
            lines = subprocess.run([arguments.runner, *words], input="".join(f"{folder}\n" for folder in cases),
                                   capture_output=True, text=True, check=True).stdout.splitlines()
            for (folder, (case, expected)), line in zip(cases.items(), lines, strict=True):
                if found := problem(case, folder, line, expected):
                    wrong += 1
                    print(f"case {folder.name} {' '.join(words)}: {found}")
    print(f"{2 * len(cases) - wrong} of {2 * len(cases)} runs agree with ONNX Runtime")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

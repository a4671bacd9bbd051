#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random networks of convolutions in the formats of the kernels, and compares them with ONNX Runtime.

usage: formats.py --lowtide PROGRAM [--networks N]

Each network also runs without the formats, without epilogues, and without Winograd's algorithm. Its runs with
--poison, --guard and --compare must find nothing.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIZE = 8  # of every image


class Network:
    """A random network, whose images have 3 to 48 channels."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []
        self.images = [("x", self.random.choice([3, 16, 24]))]
        for _ in range(self.random.randint(4, 14)):
            self.add_node()
        self.nodes.append(helper.make_node("Identity", [self.images[-1][0]], ["y"]))

    def constant(self, *extents: int) -> str:
        name = f"w{len(self.weights)}"
        values = self.numbers.uniform(-0.5, 0.5, extents).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def write(self, kind: str, reads: list[str], channels: int, **attributes: object) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, reads, [name], name=f"node_{name}", **attributes))
        self.images.append((name, channels))

    def add_node(self) -> None:
        image, channels = self.random.choice(self.images[-3:])
        kind = self.random.choice(["Conv", "Conv", "Conv", "act", "act", "Mul", "Add", "Concat", "pool", "Softmax"])
        if kind == "Conv":
            return self.add_convolution(image, channels)
        if kind == "act":
            return self.write(self.random.choice(["Relu", "Exp", "Sigmoid", "HardSwish", "Cos"]), [image], channels)
        if kind == "Mul":
            return self.write(kind, [image, self.constant(1, channels, 1, 1)], channels)
        if kind == "Add":
            other = self.random.choice([name for name, count in self.images if count == channels])
            return self.write(kind, [image, other], channels)
        if kind == "Concat":
            other, more = self.random.choice(self.images)
            return self.write(kind, [image, other], channels + more, axis=self.random.choice([1, -3]))
        if kind == "pool":
            kind = self.random.choice(["MaxPool", "AveragePool"])
            return self.write(kind, [image], channels, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        return self.write(kind, [image], channels, axis=1)

    def add_convolution(self, image: str, channels: int) -> None:
        window = self.random.choice([1, 3])
        pads = [window // 2] * 4
        if self.random.random() < 0.3:
            weights, group, results = self.constant(channels, 1, window, window), channels, channels
        else:
            results, group = self.random.choice([8, 16, 24, 32, 48]), 1
            weights = self.constant(results, channels, window, window)
        reads = [image, weights] + ([self.constant(results)] if self.random.random() < 0.5 else [])
        self.write("Conv", reads, results, pads=pads, group=group)
        if self.random.random() < 0.5:
            scale = [self.constant(results) for _ in range(3)]
            name = f"v{len(self.nodes)}"
            variance = self.numbers.uniform(0.5, 2, [results]).astype(np.float32)
            self.weights.append(numpy_helper.from_array(variance, name))
            self.write("BatchNormalization", [self.images[-1][0], *scale, name], results)

    def model(self) -> onnx.ModelProto:
        def port(name: str, channels: int) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, SIZE, SIZE])

        graph = helper.make_graph(self.nodes, "random", [port(*self.images[0])], [port("y", self.images[-1][1])],
                                  self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def difference(own: np.ndarray, other: np.ndarray) -> str:
    """What differs, or an empty text."""
    if np.allclose(own, other, rtol=1e-3, atol=1e-4 * max(1.0, float(np.nanmax(np.abs(other), initial=0))),
                   equal_nan=True):
        return ""
    return f"the largest difference is {np.nanmax(np.abs(own - other))}"


def check(lowtide: str, seed: int, folder: pathlib.Path) -> list[str]:
    """What is wrong with one network."""
    network = Network(seed)
    content = network.model().SerializeToString()
    (folder / "m.onnx").write_bytes(content)
    x = network.numbers.uniform(-1, 1, [1, network.images[0][1], SIZE, SIZE]).astype(np.float32)
    np.save(folder / "x.npy", x)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    expected = session.run(["y"], {"x": x})[0]
    faults = []
    for words in (["--poison", "--guard", "--compare"], ["--without", "formats"], ["--without", "epilogues"],
                  ["--without", "winograd"]):
        command = [lowtide, "run", str(folder / "m.onnx"), "--input", f"x={folder / 'x.npy'}", "--output-dir",
                   str(folder), "-q", *words]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        fault = result.stderr.strip() if result.returncode else difference(np.load(folder / "y.npy"), expected)
        if fault:
            faults.append(f"network {seed} {' '.join(words)}: {fault}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--networks", type=int, default=40)
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(options.networks)
        faults = [text for seed in seeds for text in check(options.lowtide, seed, pathlib.Path(folder))]
    for text in faults:
        print(text)
    print(f"{options.networks} networks, {len(faults)} differences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

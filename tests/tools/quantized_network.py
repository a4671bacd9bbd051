#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a quantized copy of a network, and compares `lowtide run` of it with ONNX Runtime.

usage: quantized_network.py --lowtide PROGRAM [--seed N] [--shape INPUT=AxB] [--keep FOLDER] MODEL

Absent weights are synthetic. onnxruntime.quantization chooses the scales: weights are i8 with a scale per channel,
activations are u8. Of each output of the network, at least 99.9 % of the elements must differ by at most one quantum
from those of ONNX Runtime without its optimizations, which runs the graph as written. The script also prints what plans
with and without integer kernels need.
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
import synthetic
from compare_with_onnxruntime import DTYPES, extents_of
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

LEAST_SHARE = 0.999
CALIBRATION_RUNS = 2


class SyntheticReader(CalibrationDataReader):
    """Inputs for the calibration, with the seeds from `seed` on."""

    def __init__(self, feeds: list[dict[str, np.ndarray]]) -> None:
        self.left = list(feeds)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next inputs, or None at the end."""
        return self.left.pop(0) if self.left else None


def session_of(path: pathlib.Path) -> onnxruntime.InferenceSession:
    """A session that runs the graph as written."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def quantize(model: pathlib.Path, options: argparse.Namespace, folder: pathlib.Path) -> tuple[pathlib.Path, dict]:
    """Writes the quantized model, and returns its path and the inputs of the comparison."""
    filled = synthetic.fill(model, options.seed, folder / "filled")
    session = session_of(filled)

    def feed(seed: int) -> dict[str, np.ndarray]:
        return {port.name: synthetic.synthetic(port.name, np.dtype(DTYPES[port.type]),
                                               extents_of(port, [], options.shape), seed)
                for port in session.get_inputs()}

    # The values of its inputs alone decide a scale, so the inputs of the comparison are among those of the calibration.
    feeds = [feed(options.seed + run) for run in range(CALIBRATION_RUNS)]
    path = folder / "quantized.onnx"
    quantize_static(filled, path, SyntheticReader(feeds), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    return path, feeds[0]


def with_integer_outputs(path: pathlib.Path) -> list[tuple[str, float]]:
    """The float outputs, with their quanta."""
    graph = onnx.load(path).graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    producers = {name: node for node in graph.node for name in node.output}
    return [(output.name, float(values[producers[output.name].input[1]])) for output in graph.output
            if producers[output.name].op_type == "DequantizeLinear"]


def planned(program: str, path: pathlib.Path, *words: str) -> str:
    """The arena and the constants of a plan."""
    command = [program, "plan", str(path), "--target", "cpu", "--json", *words]
    figures = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["bytes"]
    return f"arena {figures['arena']:,} bytes, constants {figures['constants']:,} bytes"


def main() -> int:
    """Quantizes one model and compares its results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shape", action="append", default=[], metavar="INPUT=AxB")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        path, feed = quantize(arguments.model, arguments, folder)
        expected = session_of(path)
        names = [port.name for port in expected.get_outputs()]
        other = dict(zip(names, expected.run(names, feed), strict=True))
        command = [arguments.lowtide, "run", str(path), "--output-dir", str(folder), "-q"]
        for port, value in feed.items():
            np.save(folder / "input.npy", value)
            command += ["--input", f"{port}={folder / 'input.npy'}"]
        subprocess.run(command, check=True)
        print(f"without integer kernels: {planned(arguments.lowtide, path, '--without', 'quantized')}")
        print(f"with integer kernels: {planned(arguments.lowtide, path)}")
        is_near = True
        for output, quantum in with_integer_outputs(path):
            own = np.load(folder / f"{output.replace('/', '_')}.npy")
            quanta = np.rint(np.abs(own - other[output]) / quantum)
            share = float(np.mean(quanta <= 1))
            is_near = is_near and share >= LEAST_SHARE
            print(f"{output}: {100 * share:.2f} % within one quantum, {100 * float(np.mean(quanta == 0)):.2f} % equal, "
                  f"at most {int(quanta.max())} quanta of {int(np.ptp(other[output]) / quantum)} apart")
        return 0 if is_near else 1


if __name__ == "__main__":
    sys.exit(main())

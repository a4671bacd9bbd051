#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random models as written and rewritten, and compares both with ONNX Runtime.

    tests/engine/random_models.py --runner build/dev/tests/tools/case_runner [--models N] [--first SEED] [--keep FOLDER]

Every fifth model computes in f16. Integers and truth values are equal. Real numbers may differ by 1e-3 of their value
and 1e-4 of the largest magnitude of the tensor; in a model with f16 by 3e-2 and 2e-2.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state
from random_graphs import Growth, Tensor, finish, first_tensors, input_value
from random_movement import MOVEMENT
from random_operators import COMPUTE


def random_model(seed: int, most_steps: int = 12) -> tuple[onnx.ModelProto, list[Tensor]]:
    """A model that grows in up to `most_steps` steps of a few nodes, and its possible inputs."""
    random = np.random.default_rng(seed)
    growth = Growth(random, np.float16 if seed % 5 == 0 else np.float32)
    inputs = first_tensors(growth)
    for _ in range(growth.number(2, most_steps)):
        growth.choose(COMPUTE if growth.chance(0.6) else MOVEMENT)(growth)
    if not growth.own:
        growth.one("Relu", ["rows"], inputs[1], True)
    return finish(growth, inputs), inputs


def write_case(folder: pathlib.Path, seed: int) -> list[np.ndarray] | None:
    """Writes a model and its inputs, and returns what ONNX Runtime computes; None if it cannot run the model."""
    model, inputs = random_model(seed)
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    values = {one.name: input_value(one, np.random.default_rng((seed, at))) for at, one in enumerate(inputs)}
    feeds = {one.name: values[one.name] for one in model.graph.input}
    for at, value in enumerate(feeds.values()):
        np.save(folder / f"input_{at}.npy", value)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except (state.NotImplemented, state.Fail):
        return None


def has_halves(path: pathlib.Path) -> bool:
    """Whether any tensor of a model is f16."""
    graph = onnx.load(path).graph
    casts = [attribute.i for node in graph.node if node.op_type == "Cast" for attribute in node.attribute]
    return onnx.TensorProto.FLOAT16 in [*casts, *(one.type.tensor_type.elem_type for one in graph.input),
                                        *(one.data_type for one in graph.initializer)]


def difference(name: str, own: np.ndarray, other: np.ndarray, is_half: bool) -> str:
    """What differs more than roundings do, or an empty text."""
    if own.shape != other.shape or own.dtype != other.dtype:
        return f"{name} is {own.dtype}{own.shape}, and not {other.dtype}{other.shape}"
    if other.dtype.kind != "f":
        if np.array_equal(own, other):
            return ""
        return f"{name} differs in {np.count_nonzero(own != other)} of {other.size} values"
    relative, absolute = (3e-2, 2e-2) if is_half else (1e-3, 1e-4)
    scale = float(np.nanmax(np.abs(other, dtype=np.float64), initial=0))
    if np.allclose(own, other, rtol=relative, atol=absolute * max(1.0, scale), equal_nan=True):
        return ""
    return f"{name} differs by {np.nanmax(np.abs(own.astype(np.float64) - other))}, the largest is {scale}"


def fault_of(folder: pathlib.Path, line: str, expected: list[np.ndarray]) -> str:
    """What is wrong with the outputs of a model, or an empty text."""
    if line != "ok":
        return line
    is_half = has_halves(folder / "model.onnx")
    values = ((at, np.load(folder / f"output_{at}.npy"), other) for at, other in enumerate(expected))
    return next((fault for at, own, other in values if (fault := difference(f"output {at}", own, other, is_half))), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--models", type=int, default=600)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the models that differ")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    faults, skipped = [], 0
    with tempfile.TemporaryDirectory() as name:
        cases = {}
        for seed in range(options.first, options.first + options.models):
            folder = pathlib.Path(name) / str(seed)
            expected = write_case(folder, seed)
            skipped += expected is None
            if expected is not None:
                cases[folder] = expected
        for words in ([], ["--lowered"]):
            lines = subprocess.run([options.runner, *words], input="".join(f"{folder}\n" for folder in cases),
                                   capture_output=True, text=True, check=True).stdout.splitlines()
            for (folder, expected), line in zip(cases.items(), lines, strict=True):
                if fault := fault_of(folder, line, expected):
                    faults.append(f"model {folder.name} {' '.join(words)}: {fault}")
                    if options.keep:
                        shutil.copytree(folder, options.keep / folder.name, dirs_exist_ok=True)
    for text in faults:
        print(text)
    print(f"{options.models} models, {skipped} that ONNX Runtime cannot run, {len(faults)} differences")
    return 1 if faults or skipped * 4 > options.models else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of `lowtide run --synthetic` with those of ONNX Runtime for the same weights and inputs.

usage: compare_with_onnxruntime.py --lowtide PROGRAM [--seed N] [--dim NAME=N] [--shape INPUT=AxB] MODEL...

--dim and --shape set unknown extents of inputs, as those of `lowtide run` do.

Floats may differ by 1e-3 of their value, plus 1e-4 of the largest magnitude of the tensor, plus 1e-7, because ONNX
Runtime's Sigmoid is 0 where it should be 1e-8. Integers are equal.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import synthetic

DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
          "tensor(int32)": np.int32, "tensor(bool)": np.bool_}


def extents_of(port, dims: list[str], shapes: list[str]) -> tuple[int, ...]:
    """The extents of an input, with those that the options give."""
    given = dict(one.split("=") for one in dims)
    shape = dict(one.split("=") for one in shapes).get(port.name)
    parts = shape.split("x") if shape else ["?"] * len(port.shape)
    return tuple(
        int(part) if part != "?" else int(given.get(extent, extent))
        for part, extent in zip(parts, port.shape, strict=True)
    )


def expected_outputs(model: pathlib.Path, options: argparse.Namespace, folder: pathlib.Path) -> dict[str, np.ndarray]:
    """The outputs of ONNX Runtime, by name."""
    seed = options.seed
    session = onnxruntime.InferenceSession(synthetic.fill(model, seed, folder), providers=["CPUExecutionProvider"])
    inputs = {}
    for port in session.get_inputs():
        extents = extents_of(port, options.dim, options.shape)
        inputs[port.name] = synthetic.synthetic(port.name, np.dtype(DTYPES[port.type]), extents, seed)
    names = [port.name for port in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def difference(name: str, own: np.ndarray, other: np.ndarray) -> str:
    """What differs, or an empty text."""
    if own.dtype != other.dtype or own.shape != other.shape:
        return f"{name}: {own.dtype}{own.shape} is not {other.dtype}{other.shape}"
    if not np.issubdtype(own.dtype, np.floating):
        return "" if np.array_equal(own, other) else f"{name}: integers differ"
    limit = 1e-3 * np.abs(other) + 1e-4 * np.max(np.abs(other), initial=0) + 1e-7
    with np.errstate(invalid="ignore"):  # the difference of two infinities is a NaN, and they are equal
        excess = np.where(own == other, 0, np.abs(own - other) - limit)
    excess[np.isnan(own) != np.isnan(other)] = np.inf
    if not np.any(excess > 0):
        return ""
    worst = np.unravel_index(np.nanargmax(excess), own.shape)
    return f"{name}{list(map(int, worst))}: {own[worst]} is not {other[worst]}"


def compare(model: pathlib.Path, options: argparse.Namespace) -> list[str]:
    """All differences of one model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [options.lowtide, "run", str(model), "--synthetic", str(options.seed)]
        command += ["--output-dir", str(folder), "-q"]
        command += [word for dim in options.dim for word in ("--dim", dim)]
        command += [word for shape in options.shape for word in ("--shape", shape)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            return [result.stderr.strip()]
        other = expected_outputs(model, options, folder / "model")
        return [
            text
            for output, value in other.items()
            if (text := difference(output, np.load(folder / f"{output.replace('/', '_')}.npy"), value))
        ]


def main() -> int:
    """Compares all models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N")
    parser.add_argument("--shape", action="append", default=[], metavar="INPUT=AxB")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    wrong = 0
    for model in arguments.models:
        differences = compare(model, arguments)
        wrong += bool(differences)
        print(f"{model.name}: {'equal' if not differences else '; '.join(differences)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

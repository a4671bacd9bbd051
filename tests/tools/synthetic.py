#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a copy of an ONNX model in which absent external data are filled with synthetic values.

The values are those of Lowtide (src/lowtide/weights/synthetic.h), so that another runtime computes the same as
`lowtide` does with the same seed. All of them go to one file beside the copy.

usage: synthetic.py MODEL SEED FOLDER
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto

DATA_FILE = "synthetic.bin"
# Element i of a constant takes a random number of its own, so a large constant can be computed in parts.
PART = 1 << 20


def splitmix64(state: np.ndarray) -> np.ndarray:
    """Steele, Lea and Flood, 2014. Unsigned arithmetic wraps."""
    with np.errstate(over="ignore"):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))


def fnv1a(name: bytes) -> int:
    """Fowler, Noll and Vo, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name:
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def synthetic(name: str, dtype: np.dtype, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """The values of the constant `name`."""
    count = int(np.prod(shape, dtype=np.int64))
    values = np.zeros(count, dtype)
    if np.issubdtype(dtype, np.integer) or dtype == np.bool_:
        return values.reshape(shape)
    if dtype not in (np.float16, np.float32, np.float64):
        raise ValueError(f"constant {name}: there are no synthetic values of type {dtype}")
    first = np.uint64(seed ^ fnv1a(name.encode()))
    is_around_one = name.endswith(("var", "variance")) or (len(shape) < 2 and name.endswith("weight"))
    scale = 0.1 if len(shape) < 2 else np.sqrt(3.0 / max(float(np.prod(shape[1:], dtype=np.int64)), 1.0))
    for begin in range(0, count, PART):
        index = np.arange(begin, min(begin + PART, count), dtype=np.uint64)
        with np.errstate(over="ignore"):
            u = (splitmix64(first + index) >> np.uint64(40)).astype(np.float64) / 2**24
        part = 0.5 + u if is_around_one else scale * (2 * u - 1)
        values[begin : begin + PART] = part.astype(np.float32) if dtype == np.float16 else part
    return values.reshape(shape)


def constants(graph: onnx.GraphProto):
    """Yields (name, tensor) for all initializers and values of Constant nodes, also in bodies."""
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                yield node.output[0], attribute.t
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from constants(body)


def location_of(tensor: TensorProto) -> str | None:
    """The file of external data, or None."""
    if tensor.data_location != TensorProto.EXTERNAL:
        return None
    return next(entry.value for entry in tensor.external_data if entry.key == "location")


def fill(model: pathlib.Path, seed: int, folder: pathlib.Path) -> pathlib.Path:
    """Writes the copy and its data into `folder`, and returns the path of the copy."""
    proto = onnx.load(model, load_external_data=False)
    folder.mkdir(parents=True, exist_ok=True)
    offset = 0
    with (folder / DATA_FILE).open("wb") as data:
        for name, tensor in constants(proto.graph):
            location = location_of(tensor)
            if location is None:
                continue
            if (model.parent / location).exists():
                raise ValueError(f"{model}: {location} is not absent")
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
            content = synthetic(name, dtype, tuple(tensor.dims), seed).tobytes()
            del tensor.external_data[:]
            for key, value in (("location", DATA_FILE), ("offset", offset), ("length", len(content))):
                tensor.external_data.add(key=key, value=str(value))
            data.write(content)
            data.write(bytes(-len(content) % 64))
            offset += len(content) + -len(content) % 64
    copy = folder / model.name
    onnx.save(proto, copy)
    return copy


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    print(fill(arguments.model, arguments.seed, arguments.folder))


if __name__ == "__main__":
    main()

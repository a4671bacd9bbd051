# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder that any runtime can run: a model with all weights and with fixed extents, and its inputs.

The folder has `model.onnx`, and `input_0.npy`, `input_1.npy` and so on, in the order of the model. Weights that are not
beside the model are synthetic, and so are the inputs. If the model has open extents, `open.onnx` keeps them: a runtime
may refuse fixed extents because of a branch that never runs.
"""
import math
import pathlib

import numpy as np
import onnx
import synthetic

# By input name: the value that a model requires there. silero_vad takes the sampling rate as an input.
VALUES = {"sr": 16_000}


def size_of(tensor: onnx.TensorProto) -> int:
    """The bytes of a constant."""
    return math.prod(tensor.dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def inputs_of(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """The inputs that have no default value."""
    constants = {tensor.name for tensor in graph.initializer}
    return [port for port in graph.input if port.name not in constants]


def input_names(path: pathlib.Path) -> list[str]:
    """The inputs of a model, in the order of the files."""
    return [port.name for port in inputs_of(onnx.load(path, load_external_data=False).graph)]


def extents_of(port: onnx.ValueInfoProto, words: list[str]) -> list[int]:
    """The extents of an input, with those that the options --dim NAME=N and --shape INPUT=AxB give."""
    given = {"--dim": {}, "--shape": {}}
    for option, word in zip(words[::2], words[1::2], strict=True):
        name, value = word.split("=")
        given[option][name] = value
    if port.name in given["--shape"]:
        return [int(extent) for extent in given["--shape"][port.name].split("x")]
    return [int(given["--dim"].get(dim.dim_param, dim.dim_value)) for dim in port.type.tensor_type.shape.dim]


def input_value(port: onnx.ValueInfoProto, seed: int) -> np.ndarray:
    """The value of an input with fixed extents."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type)
    extents = tuple(dim.dim_value for dim in port.type.tensor_type.shape.dim)
    if port.name in VALUES:
        return np.full(extents, VALUES[port.name], dtype)
    return synthetic.synthetic(port.name, dtype, extents, seed)


def write_case(source: pathlib.Path, words: list[str], folder: pathlib.Path, seed: int = 1) -> int:
    """Writes the folder, and returns the bytes of the weights."""
    copy = synthetic.fill(source, seed, folder)
    model = onnx.load(copy, load_external_data=False)
    copy.unlink()
    if words:
        onnx.save(model, folder / "open.onnx")
    for at, port in enumerate(inputs_of(model.graph)):
        for dim, extent in zip(port.type.tensor_type.shape.dim, extents_of(port, words), strict=True):
            dim.dim_value = extent
        np.save(folder / f"input_{at}.npy", input_value(port, seed))
    onnx.save(model, folder / "model.onnx")
    return sum(size_of(tensor) for _, tensor in synthetic.constants(model.graph))

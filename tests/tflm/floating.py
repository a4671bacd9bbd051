# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The same models in floating point: every quantized tensor becomes one of float32, and its constants real values."""
import files
import numpy as np
import schema
from schema import FLOAT32, Table

QUANTIZED = {schema.INT8: np.int8, schema.INT16: np.int16, schema.INT32: np.int32}


def to_float(data):
    """The file in floating point, or None if it has an operator that exists for integers alone."""
    model = files.read(data)
    names = {schema.operator_name(model, operator) for graph in model.subgraphs for operator in graph.operators}
    if names & {"QUANTIZE", "DEQUANTIZE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"}:
        return None
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            if tensor.quantization is not None and tensor.type in QUANTIZED:
                make_float(model, tensor)
    return files.write(model)


def make_float(model, tensor):
    """Changes one tensor. A constant gets a buffer of its own, because others may share the old one."""
    data = model.buffers[tensor.buffer].data
    if data is not None and len(data):
        stored = np.asarray(data, "u1").view(QUANTIZED[tensor.type]).reshape(tensor.shape)
        along = [-1 if i == tensor.quantization.dimension else 1 for i in range(stored.ndim)]
        scales, zeros = (np.asarray(one).reshape(along if len(one) > 1 else [1] * stored.ndim)
                         for one in (tensor.quantization.scale, tensor.quantization.zero_point))
        values = ((stored.astype(np.float64) - zeros) * scales).astype(np.float32)
        model.buffers.append(Table("Buffer", data=values.ravel().view("u1")))
        tensor.buffer = len(model.buffers) - 1
    tensor.type, tensor.quantization = FLOAT32, None

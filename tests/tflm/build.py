# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds quantized .tflite models operator by operator.

Each value has an estimate: what it is for one drawn input, in floating point. The scale and the zero point of a result
come from its estimate, so that values use the range of int8.
"""
import dataclasses

import files
import numpy as np
import schema
from schema import INT8, INT16, INT32, OPERATORS, Table

FLOAT_ACCURACY = 1e-5
LIMITS = {INT8: (-128, 127), INT16: (-32768, 32767)}
NUMPY = {INT8: np.int8, INT16: np.int16, INT32: np.int32, schema.FLOAT32: np.float32, schema.BOOL: np.bool_}


@dataclasses.dataclass
class Value:
    """A tensor of the model with its estimate. real = scale * (integer - zero)."""
    tensor: int
    estimate: np.ndarray
    scale: float
    zero: int
    type: int
    fixed: bool  # its quantization cannot change, because it has been read or follows from another
    made_by: int | None  # the position of its operator

    @property
    def shape(self):
        return self.estimate.shape


@dataclasses.dataclass(frozen=True)
class Model:
    """A file with the input for which it was estimated."""
    name: str
    data: bytes
    inputs: list  # arrays of integers
    expected: list  # the estimates of the outputs
    scales: list  # those of the outputs; of one in floating point, the accuracy of its estimate

    def distances(self, values, descriptions):
        """How far the outputs of a run are from their estimates, each in steps of its scale."""
        for value, expected, scale, output in zip(values, self.expected, self.scales, descriptions, strict=True):
            if value.shape != expected.shape:
                raise ValueError(f"{self.name}: an output has shape {value.shape} in place of {expected.shape}")
            real = value if value.dtype.kind == "f" else (value.astype(float) - output["zero_points"][0]) * scale
            yield float(np.abs(real - expected).max()) / scale


class Builder:
    """Collects tensors and operators of one subgraph, and of others that the caller adds."""

    def __init__(self, generator):
        self.generator = generator
        self.model = Table("Model", version=3, operator_codes=[], subgraphs=[], buffers=[Table("Buffer")],
                           description="made by a test")
        self.graph = self.add_graph("main")
        self.inputs = []

    def add_graph(self, name):
        """A new subgraph. Operators go to self.graph."""
        graph = Table("SubGraph", tensors=[], operators=[], inputs=[], outputs=[], name=name)
        self.model.subgraphs.append(graph)
        return graph

    # Tensors.

    def tensor(self, shape, kind, scale=None, zero=0, data=None, axis=0, **more):
        """Adds a tensor and returns its number. data makes it a constant; scale may be an array, along the axis."""
        buffer = 0
        if data is not None:
            self.model.buffers.append(Table("Buffer", data=np.frombuffer(np.ascontiguousarray(data).tobytes(), "u1")))
            buffer = len(self.model.buffers) - 1
        quantization = None
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            quantization = Table("Quantization", scale=scales, zero_point=np.full(scales.size, zero), dimension=axis)
        self.graph.tensors.append(Table("Tensor", shape=[int(one) for one in shape], type=kind, buffer=buffer,
                                        name=f"t{len(self.graph.tensors)}", quantization=quantization, **more))
        return len(self.graph.tensors) - 1

    def integers(self, values):
        """A constant of int32, such as a shape."""
        values = np.asarray(values, np.int32)
        return self.tensor(values.shape, INT32, data=values)

    def weights(self, values, axis=None, kind=INT8):
        """A symmetric constant, by channel of an axis or as a whole. Returns its number, its scales and its values."""
        others = tuple(i for i in range(values.ndim) if i != axis) if axis is not None else None
        top = np.maximum(np.abs(values).max(axis=others, keepdims=True), 1e-6)
        scale = (top / 127).astype(np.float32)
        stored = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
        number = self.tensor(values.shape, kind, scale.ravel(), 0, stored, axis or 0)
        return number, scale.ravel().astype(np.float64), stored * scale.astype(np.float64)

    def bias(self, values, scales):
        """A constant of int32 whose scale is that of the products. Returns its number and its values."""
        stored = np.round(values / scales).astype(np.int32)
        return self.tensor(values.shape, INT32, scales, 0, stored), stored * scales

    def input(self, shape, kind=INT8, scale=None, zero=None):
        """An input of the model, drawn from the whole range of its type."""
        low, high = LIMITS[kind]
        scale = float(np.float32(self.generator.uniform(0.01, 0.05) if scale is None else scale))
        if zero is None:
            zero = int(self.generator.integers(-20, 20)) if kind == INT8 else 0
        drawn = self.generator.integers(low, high, shape, endpoint=True).astype(NUMPY[kind])
        number = self.tensor(shape, kind, scale, zero)
        self.graph.inputs.append(number)
        self.inputs.append(drawn)
        return Value(number, (drawn.astype(float) - zero) * scale, scale, zero, kind, True, None)

    def float_input(self, shape):
        """An input in floating point, without a scale."""
        drawn = self.generator.normal(0, 1, shape).astype(np.float32)
        number = self.tensor(shape, schema.FLOAT32)
        self.graph.inputs.append(number)
        self.inputs.append(drawn)
        return Value(number, drawn.astype(float), FLOAT_ACCURACY, 0, schema.FLOAT32, True, None)

    def constant(self, shape):
        """A constant of int8 that an operator reads in place of an activation."""
        values = self.generator.normal(0, 1, shape)
        scale, zero = quantization(values)
        stored = quantize(values, scale, zero)
        return Value(self.tensor(shape, INT8, scale, zero, stored), (stored.astype(float) - zero) * scale, scale, zero,
                     INT8, True, None)

    # Operators.

    def code(self, name):
        """The number of an operator among those of the file. It is added if it is new."""
        code = OPERATORS[name][0]
        for number, entry in enumerate(self.model.operator_codes):
            if entry.code == code:
                return number
        self.model.operator_codes.append(Table("OperatorCode", deprecated_code=min(code, 127), code=code))
        return len(self.model.operator_codes) - 1

    def emit(self, name, inputs, outputs, **options):
        """Adds an operator with numbers of tensors, and returns its position."""
        table = OPERATORS[name][1]
        more = {key: options.pop(key) for key in ("intermediates",) if key in options}
        self.graph.operators.append(Table("Operator", opcode=self.code(name), inputs=inputs, outputs=outputs,
                                          options=Table(table, **options) if table else None, **more))
        return len(self.graph.operators) - 1

    def apply(self, name, inputs, estimates, *, like=None, fixed=None, **options):
        """Adds an operator and returns its results, one per estimate.

        inputs: values, numbers of constants, or -1 for one that is absent.
        like: a value whose quantization the results have. fixed: their scale and zero point.
        """
        results = []
        for estimate in estimates:
            if like is not None:
                scale, zero, kind = like.scale, like.zero, like.type
            else:
                kind = next((one.type for one in inputs if isinstance(one, Value)), INT8)
                scale, zero = fixed or quantization(estimate, kind)
            number = self.tensor(estimate.shape, kind, scale, zero)
            results.append(Value(number, round_trip(estimate, scale, zero, kind), scale, zero, kind,
                                 like is not None or fixed is not None, len(self.graph.operators)))
        for one in inputs:
            if isinstance(one, Value):
                one.fixed = True
        self.emit(name, [one.tensor if isinstance(one, Value) else one for one in inputs],
                  [one.tensor for one in results], **options)
        return results

    def set_quantization(self, value, scale, zero):
        """Changes that of a result which no operator has read yet."""
        assert not value.fixed
        value.scale, value.zero = scale, zero
        value.estimate = round_trip(value.estimate, scale, zero, value.type)
        self.graph.tensors[value.tensor].quantization = Table("Quantization", scale=[scale], zero_point=[zero])

    def finish(self, name, outputs, shuffle=True):
        """The model. With shuffle, tensors get drawn numbers, on which the runtime's plan depends."""
        self.graph.outputs = [one.tensor for one in outputs]
        if shuffle:
            for graph in self.model.subgraphs:
                renumber(graph, self.generator.permutation(len(graph.tensors)))
        return Model(name, files.write(self.model), self.inputs, [one.estimate for one in outputs],
                     [one.scale for one in outputs])


def quantization(estimate, kind=INT8):
    """The scale and the zero point with which the range of an estimate fills the type. The scale is a float32."""
    low, high = min(float(estimate.min()), 0), max(float(estimate.max()), 0)
    if kind == INT16:
        return float(np.float32(max(-low, high, 1e-3) / 32767)), 0
    scale = float(np.float32(max(high - low, 1e-3) / 255))
    return scale, int(np.clip(round(-128 - low / scale), -128, 127))


def quantize(values, scale, zero, kind=INT8):
    low, high = LIMITS[kind]
    return np.clip(np.round(values / scale) + zero, low, high).astype(NUMPY[kind])


def round_trip(values, scale, zero, kind):
    return (quantize(values, scale, zero, kind).astype(float) - zero) * scale


def renumber(graph, order):
    """Gives tensor i the number order[i]."""
    tensors = [None] * len(order)
    for number, tensor in zip(order, graph.tensors):
        tensors[number] = tensor
    graph.tensors = tensors
    change = lambda values: None if values is None else [int(order[one]) if one >= 0 else -1 for one in values]
    graph.inputs, graph.outputs = change(graph.inputs), change(graph.outputs)
    for operator in graph.operators:
        operator.inputs, operator.outputs = change(operator.inputs), change(operator.outputs)
        operator.intermediates = change(operator.intermediates)

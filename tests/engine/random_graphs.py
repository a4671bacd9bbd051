# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes random ONNX models out of most operators, with the idioms that rewrites look for.

A tensor is exact if no rounding depends on the order of its operations. Operators whose result jumps (Floor, ArgMax,
Greater) read exact tensors only. So a right runtime differs from another right one by roundings, never by a jump.
"""
import dataclasses
import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 20
MOST_ELEMENTS = 4096  # of one tensor


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A value of the graph."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    is_exact: bool

    @property
    def is_real(self) -> bool:
        return self.dtype in (np.float32, np.float16)


SMOOTH = ("Sigmoid", "Tanh", "Erf", "HardSwish", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign", "Gelu",
          "Mish", "Sin", "Cos", "Softmax", "LogSoftmax", "Atan")
EXACT = ("Relu", "Neg", "Abs", "Identity", "Clip", "Sign", "Floor", "Ceil", "Round")


class Growth:
    """A graph that grows node by node. Bodies of If and Loop are other growths, which also read the tensors outside."""

    def __init__(self, random: np.random.Generator, real: type, outside: list[Tensor] = (), prefix: str = "") -> None:
        self.random = random
        self.real = np.dtype(real)
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.tensors: list[Tensor] = list(outside)
        self.own: list[Tensor] = []

    # Choices.

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def choose(self, options):
        return options[int(self.random.integers(len(options)))]

    def number(self, least: int, most: int) -> int:
        return int(self.random.integers(least, most + 1))

    def pick(self, where=lambda tensor: True) -> Tensor | None:
        """A tensor, rather a late one."""
        fitting = [tensor for tensor in self.tensors if where(tensor)]
        if not fitting:
            return None
        return self.choose(fitting[-4:] if self.chance(0.7) else fitting)

    def pick_real(self, rank: int = 0) -> Tensor | None:
        """A tensor of real numbers with a rank, or of any rank if `rank` is 0."""
        return self.pick(lambda tensor: tensor.is_real and (rank == 0 or len(tensor.shape) == rank))

    # Parts of the graph.

    def name(self) -> str:
        return f"{self.prefix}t{len(self.nodes)}_{len(self.constants)}"

    def constant(self, values: np.ndarray) -> str:
        name = f"{self.prefix}c{len(self.nodes)}_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def reals(self, *shape: int, least: float = -1.0, most: float = 1.0) -> str:
        return self.constant(self.random.uniform(least, most, shape).astype(self.real))

    def integers(self, values: list[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def node(self, kind: str, reads: list[str], count: int = 1, **attributes: object) -> list[str]:
        results = [f"{self.name()}_{at}" for at in range(count)]
        self.nodes.append(helper.make_node(kind, reads, results, name=f"{self.prefix}n{len(self.nodes)}", **attributes))
        return results

    def add(self, name: str, dtype: np.dtype, shape: tuple[int, ...], is_exact: bool) -> Tensor:
        tensor = Tensor(name, np.dtype(dtype), tuple(int(extent) for extent in shape), is_exact)
        self.tensors.append(tensor)
        self.own.append(tensor)
        return tensor

    def one(self, kind: str, reads: list[str], like: Tensor, is_exact: bool = False,
            shape: tuple[int, ...] | None = None, dtype: np.dtype | None = None, **attributes: object) -> Tensor:
        """A node with one result, of the type and shape of `like` if nothing else is said."""
        return self.add(self.node(kind, reads, **attributes)[0], dtype or like.dtype,
                        like.shape if shape is None else shape, is_exact)

    def bounded(self, tensor: Tensor) -> Tensor:
        """The same shape with values in -1 to 1, so that long chains neither overflow nor lose all digits."""
        return self.one("Tanh", [tensor.name], tensor) if self.chance(0.5) else tensor


def port(name: str, tensor: Tensor) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)


def elements(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def first_tensors(growth: Growth) -> list[Tensor]:
    """The inputs: images, rows, a condition and indices."""
    channels = growth.choose([3, 4, 8, 16])
    tensors = [Tensor("image", growth.real, (growth.number(1, 2), channels, 6, growth.number(5, 7)), True),
               Tensor("rows", growth.real, (growth.number(1, 2), growth.number(2, 5), 8), True),
               Tensor("flag", np.dtype(bool), (), True),
               Tensor("index", np.dtype(np.int64), (growth.number(1, 3),), True)]
    growth.tensors.extend(tensors)
    return tensors


def input_value(tensor: Tensor, random: np.random.Generator) -> np.ndarray:
    if tensor.dtype == bool:
        return np.array(random.random() < 0.5)
    if tensor.dtype == np.int64:
        return random.integers(0, 2, tensor.shape)  # a valid index of every axis with two entries
    return random.uniform(-1, 1, tensor.shape).astype(tensor.dtype)


def finish(growth: Growth, inputs: list[Tensor]) -> onnx.ModelProto:
    """The model. Its outputs are the tensors that nothing reads, and some others."""
    read = {name for node in growth.nodes for name in names_read(node)}
    ends = [one for one in growth.own if one.name not in read or growth.chance(0.15)] or growth.own[-1:]
    graph = helper.make_graph(growth.nodes, "random", [port(one.name, one) for one in inputs if one.name in read],
                              [port(one.name, one) for one in ends], growth.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model


def names_read(node: onnx.NodeProto) -> list[str]:
    """The names that a node and its bodies read."""
    names = list(node.input)
    bodies = [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
    while bodies:
        body = bodies.pop()
        for inner in body.node:
            names.extend(inner.input)
            bodies.extend(one.g for one in inner.attribute if one.type == onnx.AttributeProto.GRAPH)
        names.extend(output.name for output in body.output)
    return names


def keep_last_outputs(model: onnx.ModelProto, most: int = 1) -> None:
    """Removes all outputs but the last ones, and what only the others needed. Then less has to be live at the end."""
    outputs = model.graph.output
    del outputs[: max(len(outputs) - most, 0)]
    needed = {one.name for one in outputs}
    kept = []
    for node in reversed(model.graph.node):
        if not needed.isdisjoint(node.output):
            needed.update(names_read(node))
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(kept))
    for values in (model.graph.input, model.graph.initializer):
        rest = [one for one in values if one.name in needed]
        del values[:]
        values.extend(rest)

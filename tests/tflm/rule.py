# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A model of how TFLite Micro plans the head of its arena, independent of Lowtide's.

A buffer is a tensor of any subgraph, or scratch that a kernel requests. Its lifetime is a pair of steps, both
inclusive. One counter of steps runs through all operators, and through the subgraphs that they call.
"""
import dataclasses

import numpy as np
import schema

ALIGNMENT = 16
NEVER = -1  # the step of buffers that no operator of a called subgraph uses
ONLINE = -1  # the offset, in the metadata, of a tensor that the runtime places itself
CALLS = {118: ("then", "otherwise"), 119: ("condition", "body"), 129: ("subgraph",)}  # IF, WHILE, CALL_ONCE
VAR_HANDLE = 142


@dataclasses.dataclass
class Buffer:
    """One buffer of the head. A tensor has the number that it has among those of all subgraphs."""
    tensor: int | None
    size: int  # a multiple of ALIGNMENT
    first: int
    last: int
    given: int = ONLINE  # the offset in the metadata
    offset: int | None = None

    def overlaps(self, other):
        """Both are live at some step."""
        return self.first <= other.last and other.first <= self.last

    @property
    def end(self):
        return self.offset + self.size


def align(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def numbers(values):
    """A vector of the file as a list of int."""
    return [] if values is None else [int(one) for one in values]


def tensor_bytes(tensor):
    """The bytes of a tensor, without rounding. Raises KeyError for an element type that the runtime refuses."""
    return int(np.prod(numbers(tensor.shape), dtype=np.int64)) * schema.ELEMENT_BYTES[tensor.type]


def is_constant(model, tensor):
    data = model.buffers[tensor.buffer].data
    return data is not None and len(data) > 0


def handles(model, graph):
    """The tensors of a subgraph that hold a resource; the kernel points them at its own memory."""
    return {numbers(operator.outputs)[0] for operator in graph.operators or []
            if schema.operator_code(model, operator) == VAR_HANDLE}


def buffers(model, scratch, offsets=None):
    """The buffers of the head in the order in which the runtime lists them, without their place.

    scratch: the bytes of each request of an operator, by (subgraph, operator).
    offsets: those of the metadata, one for each tensor of all subgraphs, or None.
    """
    lifetimes, spans = Lifetimes(model).of_all()
    found, base = [], 0
    for number, graph in enumerate(model.subgraphs):
        resources = handles(model, graph)
        for local, tensor in enumerate(graph.tensors):
            given = ONLINE if offsets is None else offsets[base + local]
            elsewhere = tensor.is_variable and given == ONLINE
            if is_constant(model, tensor) or elsewhere or local in resources or not tensor_bytes(tensor):
                continue
            first, last = lifetimes.get((number, local), (NEVER, NEVER))
            found.append(Buffer(base + local, align(tensor_bytes(tensor)), first, last, given))
        base += len(graph.tensors)
    for place in sorted(scratch):
        for size in scratch[place]:
            found.append(Buffer(None, align(size), *spans.get(place, (NEVER, NEVER))))
    return found


class Lifetimes:
    """Walks the operators of a model in the order in which they run."""

    def __init__(self, model):
        self.model = model
        self.step = 0
        self.tensors = {}  # by (subgraph, tensor), [first, last]
        self.operators = {}  # by (subgraph, operator), [first, last]; the span of its scratch

    def of_all(self):
        self.walk(0)
        return self.tensors, self.operators

    def create(self, key):
        if self.tensors.setdefault(key, [NEVER, NEVER])[0] == NEVER:
            self.tensors[key][0] = self.step

    def use(self, key):
        self.tensors.setdefault(key, [NEVER, NEVER])[1] = self.step

    def walk(self, number):
        """Walks one subgraph and, inside the step of an operator that calls others, those."""
        graph = self.model.subgraphs[number]
        for tensor in numbers(graph.inputs):
            self.create((number, tensor))
            self.use((number, tensor))
        for position, operator in enumerate(graph.operators or []):
            self.step += 1
            for tensor in numbers(operator.outputs):
                self.create((number, tensor))
            start = self.step
            for name in CALLS.get(schema.operator_code(self.model, operator), ()):
                self.step += 1
                self.walk(getattr(operator.options, name))
            for tensor in numbers(operator.inputs) + numbers(operator.outputs):
                if tensor >= 0:
                    self.use((number, tensor))
            span = self.operators.setdefault((number, position), [start, self.step])
            span[1] = self.step
        for tensor in numbers(graph.outputs):
            self.create((number, tensor))
            self.use((number, tensor))


def place(found):
    """Gives each buffer its offset, and returns the bytes of the head."""
    placed = []
    for buffer in found:
        if buffer.given != ONLINE:
            buffer.offset = buffer.given
            insert(placed, buffer)
    # Among buffers of one size, the later one in the list comes first.
    online = [(one.size, number) for number, one in enumerate(found) if one.given == ONLINE]
    for _, number in sorted(online, reverse=True):
        buffer = found[number]
        buffer.offset = 0
        for other in placed:
            if other.overlaps(buffer):
                if other.offset - buffer.offset >= buffer.size:
                    break
                buffer.offset = max(buffer.offset, other.end)
        insert(placed, buffer)
    return max((one.end for one in found), default=0)


def insert(placed, buffer):
    """Keeps the list in order of offsets; a new buffer goes behind those of its offset."""
    position = len(placed)
    while position and placed[position - 1].offset > buffer.offset:
        position -= 1
    placed.insert(position, buffer)


def head(model, scratch, offsets=None):
    """The bytes of the head that the runtime prints."""
    return place(buffers(model, scratch, offsets))


def live_bound(found):
    """The most bytes that are live at one step: no plan of this order has a smaller head."""
    steps = {one.first for one in found}
    return max((sum(one.size for one in found if one.first <= step <= one.last) for step in steps), default=0)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX models written byte by byte, so that they can be wrong in every way."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from small_models import field, ints, node, varint  # noqa: F401

FLOAT, INT64, STRING, BOOL, COMPLEX64, INT4 = 1, 7, 8, 9, 14, 22
MOST = 2**63 - 1
LEAST = -(2**63)


def tag(number, wire_type):
    return varint(number << 3 | wire_type)


def value(name, extents, dtype=FLOAT):
    """A graph input, output or value_info. Extents None: the rank is open; an extent that is text is a symbol."""
    shape = b""
    if extents is not None:
        dims = b"".join(field(1, field(2, e) if isinstance(e, (str, bytes)) else field(1, e)) for e in extents)
        shape = field(2, dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + shape))


def i64(name, numbers, dims=None):
    """An initializer of int64."""
    dims = [len(numbers)] if dims is None else dims
    return tensor(name, dims, INT64, raw=struct.pack(f"<{len(numbers)}q", *numbers))


def f32(name, numbers, dims=None):
    dims = [len(numbers)] if dims is None else dims
    return tensor(name, dims, FLOAT, raw=struct.pack(f"<{len(numbers)}f", *numbers))


def tensor(name, dims, dtype=FLOAT, raw=None, more=b""):
    out = b"".join(field(1, d) for d in dims) + field(2, dtype) + field(8, name)
    return out + (field(9, raw) if raw is not None else b"") + more


def external(name, dims, entries, dtype=FLOAT):
    """An initializer whose data is elsewhere; the entries are pairs of key and value."""
    pairs = b"".join(field(13, field(1, key) + field(2, text)) for key, text in entries)
    return tensor(name, dims, dtype, more=pairs + field(14, 1))


def integer(name, number):
    """An attribute that is an integer."""
    return field(1, name) + field(3, number) + field(20, 2)


def text(name, content):
    return field(1, name) + field(4, content) + field(20, 3)


def of_graph(name, body):
    return field(1, name) + field(6, body) + field(20, 5)


def of_tensor(name, content):
    return field(1, name) + field(5, content) + field(20, 4)


def graph(nodes, inputs=(), outputs=(), tensors=(), values=(), sparse=(), name="g"):
    out = b"".join(field(1, n) for n in nodes) + field(2, name)
    for number, items in ((5, tensors), (11, inputs), (12, outputs), (13, values), (15, sparse)):
        out += b"".join(field(number, item) for item in items)
    return out


def opset(version, domain=""):
    return field(8, (field(1, domain) if domain else b"") + field(2, version))


def wrap(graph_bytes, opsets=None, functions=(), ir=9):
    """A model around a graph. The graph comes last, so that a truncated file is never a whole model."""
    header = field(1, ir) + (opset(17) if opsets is None else opsets)
    return header + b"".join(field(25, f) for f in functions) + field(7, graph_bytes)


def net(nodes, tensors=(), x=(2, 3), y=None, functions=(), opsets=None, **others):
    """A model with an input x and an output y, both float; y None: of any shape."""
    others.setdefault("inputs", [value("x", x)])
    others.setdefault("outputs", [value("y", y)])
    return wrap(graph(nodes, tensors=tensors, **others), opsets=opsets, functions=functions)


def function(name, inputs, outputs, nodes):
    out = field(1, name) + b"".join(field(4, i) for i in inputs) + b"".join(field(5, o) for o in outputs)
    out += b"".join(field(7, n) for n in nodes) + field(9, field(2, 17))
    return out + field(9, field(1, "local") + field(2, 1)) + field(10, "local")


def call(name, inputs, outputs):
    return node(name, inputs, outputs) + field(7, "local")


LOCAL = opset(17) + opset(1, "local")


def chain(length, op="Relu", last=b"y"):
    """x -> t0000001 -> ... -> y. All names have one length, so that a million nodes are made in a second."""
    op = op.encode()

    def one(before, after):
        body = b"\x0a" + varint(len(before)) + before + b"\x12" + varint(len(after)) + after
        body += b"\x22" + varint(len(op)) + op
        return body

    names = [b"x"] + [b"t%07d" % at for at in range(1, length)] + [last]
    return [one(names[at], names[at + 1]) for at in range(length)]

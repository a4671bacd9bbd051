# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Small valid files, and random damage to them."""

from corpus import MODEL, NET, NET_BINARY, PLAN, TARGET, Kind
from onnx_bytes import BOOL, f32, field, graph, i64, node, of_graph, tensor, value, wrap

# Many mutants are problems that can be solved. The search takes a second by default and is not tested here.
QUICK_PACKING = Kind(
    "bad.csv",
    (
        ("pack", "bad.csv", "--effort", "1000000", "-o", "out", "--html", "new.html"),
        ("pack", "bad.csv", "--effort", "1000000", "--slots", "-o", "out"),
    ),
)

# A cluster and a graph of TensorFlow that fetches a.
GPU = """{"devices": [{"name": "/gpu:0", "type": "GPU", "memory": 1073741824, "cores": 1, "frequency": 1,
                        "bandwidth": 2000000, "architecture": "6"}]}
"""
GRAPH = 'node { name: "x" op: "Placeholder" } node { name: "a" op: "Relu" input: "x" }\n'

PROBLEM = """id,lower,upper,size,alignment,offset,gaps
a,0,9,64,1,,
b,2,10,128,64,128,4-6 8-9
c,3,5,4096,8,,
d,10,11,1,1,,
"""

MACHINE = """# A small machine.
name = "microcontroller"
schema_version = 1

[[region]]
name = "sram"
capacity = "256KiB"
alignment = 16

[[region]]
name = "flash"

[[link]]
from = "sram"
to = "flash"
bytes_per_second = 1e6
latency_seconds = 0.5

[[worker]]
name = "core"
count = 2

[[kernel]]
operator = "Conv"
name = "im2col"
scratch = "1KiB"
scratch_per_input_byte = 9
in_place = false
"""


CAFFE2_NET = """name: "small"
op { type: "Conv" input: ["x", "w", "b"] output: "a" arg { name: "kernel" i: 3 } arg { name: "pads" ints: [1] } }
op { type: "Relu" input: "a" output: "a" engine: "CUDNN" device_option { device_type: 1 device_id: 1 } }
op { type: "Concat" input: ["a", "a"] output: ["c", "parts"] control_input: "a" }
op { type: "RecurrentNetwork" input: "c" output: "d"
     arg { name: "step_net" s: "op { type: 'Sum' input: 'c' output: 'e' }" } }
op { type: "If" input: "d" output: "y" arg { name: "then_net" n { op { type: "Copy" input: "c" output: "y" } } } }
type: "dag"
external_input: ["x", "w", "b"]
external_output: "y"
"""

BINARY_NET = (
    field(1, "small")
    + field(2, field(1, "x") + field(2, "a") + field(4, "Relu"))
    + field(2, field(1, "a") + field(2, "a") + field(4, "Sigmoid") + field(5, field(1, "n") + field(8, field(1, "in"))))
    + field(2, field(1, "a") + field(1, "x") + field(2, "y") + field(4, "Sum") + field(5, field(1, "i") + field(6, 7)))
    + field(7, "x")
    + field(8, "y")
)


def good_model():
    """Convolution, views, shape arithmetic, and an If with two branches."""
    then_branch = graph([node("Sigmoid", ["c"], ["t"], "in_then")], outputs=[value("t", None)], name="then")
    else_branch = graph(
        [node("Relu", ["c"], ["u"], "in_else"), node("Neg", ["u"], ["e"])], outputs=[value("e", None)], name="else"
    )
    choice = [of_graph("then_branch", then_branch), of_graph("else_branch", else_branch)]
    nodes = [
        node("Conv", ["x", "w"], ["a"], "conv"),
        node("Relu", ["a"], ["b"], "relu"),
        node("Shape", ["b"], ["s"], "shape"),
        node("Gather", ["s", "zero"], ["n"], "gather"),
        node("Concat", ["n", "rest"], ["to"], "concat", [field(1, "axis") + field(3, 0) + field(20, 2)]),
        node("Reshape", ["b", "to"], ["c"], "reshape"),
        node("If", ["flag"], ["d"], "choose", choice),
        node("Add", ["c", "d"], ["y"], "add"),
    ]
    tensors = [
        f32("w", [0.5] * 36, [4, 1, 3, 3]),
        i64("zero", [0]),
        i64("rest", [-1]),
        tensor("spare", [3], raw=b"\0" * 12),
    ]
    inputs = [value("x", [2, 1, 8, 8]), value("flag", [], BOOL)]
    return wrap(graph(nodes, inputs, [value("y", None)], tensors))


def of(base):
    """(what it is, how it is read, its bytes)"""
    return [
        ("models", MODEL, base.model),
        ("nets", NET, CAFFE2_NET.encode()),
        ("binary_nets", NET_BINARY, BINARY_NET),
        ("plans", PLAN, base.plan_text.encode()),
        ("packings", QUICK_PACKING, PROBLEM.encode()),
        ("targets", TARGET, MACHINE.encode()),
    ]


def damaged(content, source):
    """Damages the content one to four times: changes a bit or byte; cuts, doubles or moves a piece; inserts an extreme
    number; or drops the end."""
    content = bytearray(content)
    for _ in range(source.choice((1, 1, 1, 2, 4))):
        at = source.randrange(len(content) + 1)
        end = min(len(content), at + source.choice((1, 1, 2, 4, 16, 64)))
        way = source.randrange(8)
        if way == 0 and at < len(content):
            content[at] ^= 1 << source.randrange(8)
        elif way == 1 and at < len(content):
            content[at] = source.randrange(256)
        elif way == 2:
            del content[at:end]
        elif way == 3:
            content[at:at] = content[at:end] * source.choice((1, 2, 50))
        elif way == 4:
            piece = bytes(content[at:end])
            content[at:end] = b""
            to = source.randrange(len(content) + 1)
            content[to:to] = piece
        elif way == 5:
            content[at:at] = source.choice(
                (
                    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                    b"\0",
                    b"9223372036854775807",
                    b"-1",
                    b"1e400",
                    b"[" * 100,
                    b'"',
                    b"\n",
                )
            )
        elif way == 6:
            content[at:end] = source.choice((b"0", b"\x80", b"\xff" * 9 + b"\x01", b"18446744073709551616"))
        else:
            del content[at:]
    return bytes(content)

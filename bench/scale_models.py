# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a generated ONNX model that is large in one respect: width, fan-out, operands, length, depth, or functions.

    bench/scale_models.py GRAPH FILE      GRAPH is one of CASES
"""
import pathlib
import random
import struct
import sys

import record

sys.path.insert(0, str(record.ROOT / "tests/cli"))
from small_models import BOOL, axis, body, chain, field, graph, model, node, value_info

WIDTH = 256  # elements of most tensors


def tensor(name, count=WIDTH):
    return value_info(name, [count])


def int64s(name, numbers):
    """An initializer of integers."""
    numbers = list(numbers)
    return field(1, len(numbers)) + field(2, 7) + field(8, name) + field(9, struct.pack(f"<{len(numbers)}q", *numbers))


def joined(parts, result, extents):
    """Concat of all parts along the first axis, and the model's output."""
    return node("Concat", parts, [result], result, [axis(0)]), value_info(result, extents)


def wide_layers(nodes, width):
    """Layers of `width` independent nodes. Each reads a node of the layer before, and one of any earlier layer."""
    chance = random.Random(1)
    layers = [["x"]]
    made = []
    for begin in range(0, nodes, width):
        layer = []
        for index in range(begin, min(begin + width, nodes)):
            reads = [chance.choice(layers[-1]), chance.choice(chance.choice(layers))]
            made.append(node("Add", reads, [f"t{index}"], f"add{index}"))
            layer.append(f"t{index}")
        layers.append(layer)
    made.append(node("Sum", layers[-1], ["y"], "sum"))
    return model(made, [tensor("x")], [tensor("y")])


def dense_layers(nodes, width, reads):
    """Layers of `width` independent nodes. Each reads `reads` nodes of the layer before."""
    chance = random.Random(1)
    layer = [f"x{index}" for index in range(width)]
    made = [node("Softmax", ["x"], [name], name) for name in layer]
    for begin in range(0, nodes - width, width):
        before, layer = layer, [f"t{begin + index}" for index in range(width)]
        made += [node("Sum", chance.sample(before, reads), [name], name) for name in layer]
    made.append(node("Sum", layer, ["y"], "sum"))
    return model(made, [tensor("x")], [tensor("y")])


def slices_into_concat(count):
    """One tensor in `count` slices, which a Concat joins again."""
    names = [f"s{i}" for i in range(count)]
    made = [node("Slice", ["a", f"b{i}", f"b{i + 1}"], [name], name) for i, name in enumerate(names)]
    join, output = joined(names, "y", [count * 16])
    limits = [int64s(f"b{i}", [16 * i]) for i in range(count + 1)]
    made = [node("Relu", ["x"], ["a"], "relu"), *made, join]
    return field(1, 8) + field(7, graph(made, [tensor("x", 16 * count)], [output], limits)) + field(8, field(2, 17))


def fan_out(readers):
    """One tensor that `readers` nodes read, one after another, into a running sum."""
    made = [node("Softmax", ["x"], ["a"], "first"), node("Softmax", ["x"], ["r0"], "start")]
    made += [node("Add", ["a", f"r{i}"], [f"r{i + 1}"], f"add{i}") for i in range(readers)]
    return model(made, [value_info("x", [1, WIDTH])], [value_info(f"r{readers}", [1, WIDTH])])


def wide_fan_out(readers):
    """One tensor that `readers` independent nodes read, whose results one Sum reads."""
    made = [node("Softmax", ["x"], ["a"], "first")]
    made += [node("Softmax", ["a"], [f"r{i}"], f"softmax{i}") for i in range(readers)]
    made.append(node("Sum", [f"r{i}" for i in range(readers)], ["y"], "sum"))
    return model(made, [value_info("x", [1, WIDTH])], [value_info("y", [1, WIDTH])])


def concat(operands):
    """Independent nodes whose results one Concat joins."""
    names = [f"r{i}" for i in range(operands)]
    made = [node("Softmax", ["x"], [name], name) for name in names]
    join, output = joined(names, "y", [operands, WIDTH])
    return model([*made, join], [value_info("x", [1, WIDTH])], [output])


def split_into_concat(parts, between=None):
    """A Split of `parts` outputs that a Concat joins, with a node of type `between` on each edge if one is given."""
    names = [f"p{i}" for i in range(parts)]
    made = [node("Relu", ["x"], ["a"], "relu"), node("Split", ["a"], names, "split", [axis(0)])]
    if between:
        made += [node(between, [name], [f"q{i}"], f"q{i}") for i, name in enumerate(names)]
        names = [f"q{i}" for i in range(parts)]
    join, output = joined(names, "y", [parts, 16])
    return model([*made, join], [value_info("x", [parts, 16])], [output])


def nested_ifs(depth):
    """Ifs inside each other. Each level adds x to the result of the If inside it."""
    content = graph([node("Softmax", ["x"], ["b0"], "inmost")], [], [tensor("b0")], name="inmost")
    for level in range(1, depth + 1):
        other = graph([node("Relu", ["x"], [f"e{level}"])], [], [tensor(f"e{level}")], name="else")
        branches = [body("then_branch", content), body("else_branch", other)]
        nodes = [node("If", ["c"], [f"i{level}"], f"if{level}", branches),
                 node("Add", [f"i{level}", "x"], [f"b{level}"], f"add{level}")]
        content = graph(nodes, [], [tensor(f"b{level}")], name=f"level{level}")
    last = node("If", ["c"], ["y"], "outmost", [body("then_branch", content), body("else_branch", content)])
    return model([last], [tensor("x"), value_info("c", [], BOOL)], [tensor("y")])


def many_ifs(count):
    """A chain of Ifs with small branches."""
    made = []
    for i in range(count):
        branches = []
        for way, op in (("then", "Relu"), ("else", "Sigmoid")):
            branch = graph([node(op, [f"t{i}"], [f"{way}{i}"])], [], [tensor(f"{way}{i}")], name=way)
            branches.append(body(f"{way}_branch", branch))
        made.append(node("If", ["c"], [f"t{i + 1}"], f"if{i}", branches))
    return model(made, [tensor("t0"), value_info("c", [], BOOL)], [tensor(f"t{count}")])


def nested_loops(depth):
    """Loops inside each other, which carry one tensor."""
    def loop(level, content):
        carried = f"in{level}"
        inner = [node("Identity", [f"c{level}"], [f"k{level}"])]
        if content is None:
            inner.append(node("Softmax", [carried], [f"out{level}"]))
        else:
            inner += [node("Softmax", [carried], [f"soft{level}"]),
                      node("Loop", ["trips", "", f"soft{level}"], [f"out{level}"], f"loop{level}",
                           [body("body", content)])]
        inputs = [value_info(f"n{level}", [], 7), value_info(f"c{level}", [], BOOL), tensor(carried)]
        return graph(inner, inputs, [value_info(f"k{level}", [], BOOL), tensor(f"out{level}")], name=f"level{level}")

    content = None
    for level in range(depth):
        content = loop(level, content)
    last = node("Loop", ["trips", "", "x"], ["y"], "outmost", [body("body", content)])
    trips = field(2, 7) + field(8, "trips") + field(9, struct.pack("<q", 3))
    return (field(1, 8) + field(7, graph([last], [tensor("x")], [tensor("y")], [trips])) + field(8, field(2, 17)))


def functions(count, nodes):
    """A chain of calls of `count` local functions of `nodes` nodes."""
    made = [node(f"F{i}", [f"t{i}"], [f"t{i + 1}"], f"call{i}") + field(7, "local") for i in range(count)]
    out = field(1, 8) + field(7, graph(made, [tensor("t0")], [tensor(f"t{count}")]))
    out += field(8, field(2, 17)) + field(8, field(1, "local") + field(2, 1))
    for i in range(count):
        inner = b"".join(field(7, node("Softmax", [f"v{k}"], [f"v{k + 1}"])) for k in range(nodes))
        out += field(25, field(1, f"F{i}") + field(4, "v0") + field(5, f"v{nodes}") + inner + field(9, field(2, 17)) +
                     field(10, "local"))
    return out


CASES = {
    "layers of 2,000 nodes, 20,000 in all": lambda: wide_layers(20_000, 2_000),
    "layers of 400 nodes that read 20, 20,000 in all": lambda: dense_layers(20_000, 400, 20),
    "chain of 100,000 nodes": lambda: chain(100_000, batch=1),
    "tensor read by 50,000 nodes of a chain": lambda: fan_out(50_000),
    "tensor read by 50,000 independent nodes": lambda: wide_fan_out(50_000),
    "10,000 slices into one Concat": lambda: slices_into_concat(10_000),
    "Concat of 20,000 operands": lambda: concat(20_000),
    "Split of 5,000 parts into one Concat": lambda: split_into_concat(5_000),
    "Split of 5,000 parts, 5,000 nodes, one Concat": lambda: split_into_concat(5_000, "Tanh"),
    "30 Ifs inside each other": lambda: nested_ifs(30),
    "30 Loops inside each other": lambda: nested_loops(30),
    "5,000 Ifs one after another": lambda: many_ifs(5_000),
    "200 functions of 50 nodes": lambda: functions(200, 50),
}

if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(CASES[sys.argv[1]]())

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models, written byte by byte, so that the tests of the command line need nothing but Python."""
import struct


def varint(number):
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, content):
    """A field of a message: integers as varints, text and messages with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


FLOAT, UINT8, INT64, BOOL = 1, 2, 7, 9


def value_info(name, extents, dtype=FLOAT):
    dims = b"".join(field(1, field(1, e) if isinstance(e, int) else field(2, e)) for e in extents)
    tensor_type = field(1, dtype) + field(2, dims)
    return field(1, name) + field(2, field(1, tensor_type))


def ints(name, numbers):
    """An attribute that is a list of integers."""
    return field(1, name) + b"".join(field(8, n) for n in numbers) + field(20, 7)


def axis(number):
    """The attribute `axis` of a Concat."""
    return field(1, "axis") + field(3, number) + field(20, 2)


def body(name, graph):
    """An attribute that is a graph."""
    return field(1, name) + field(6, graph) + field(20, 5)


def zeros(name, count):
    """An initializer of floats."""
    return field(1, count) + field(2, FLOAT) + field(8, name) + field(9, bytes(4 * count))


def node(op, inputs, outputs, name="", attributes=()):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    out += (field(3, name) if name else b"") + field(4, op)
    return out + b"".join(field(5, a) for a in attributes)


def graph(nodes, inputs, outputs, initializers=(), name="graph"):
    out = b"".join(field(1, n) for n in nodes) + field(2, name) + b"".join(field(5, i) for i in initializers)
    return out + b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs)


def model(nodes, inputs, outputs, opset=17):
    return field(1, 8) + field(7, graph(nodes, inputs, outputs)) + field(8, field(2, opset))


def small(batch=1):
    """Three tensors of 64 KiB and one of 16 KiB for a batch of 1; the batch may be a symbol.

    a = Relu(x); b = Sigmoid(a); c = a + b, which may overwrite a; d = MaxPool(c).
    """
    wide, narrow = [batch, 16, 32, 32], [batch, 16, 16, 16]
    pool = [ints("kernel_shape", [2, 2]), ints("strides", [2, 2])]
    return model(
        [
            node("Relu", ["x"], ["a"], "relu"),
            node("Sigmoid", ["a"], ["b"], "sigmoid"),
            node("Add", ["a", "b"], ["c"], "add"),
            node("MaxPool", ["c"], ["d"], "pool", pool),
        ],
        [value_info("x", wide)],
        [value_info("d", narrow)],
    )


def counting(name="pos"):
    """y = f32 of the whole numbers below n, which a Range makes under a name. How many there are depends on data."""
    numbers = [field(2, INT64) + field(8, key) + field(9, struct.pack("<q", number))
               for key, number in (("zero", 0), ("one", 1))]
    nodes = [node("Range", ["zero", "n", "one"], [name], "range"),
             node("Cast", [name], ["y"], attributes=[field(1, "to") + field(3, FLOAT) + field(20, 2)])]
    content = graph(nodes, [value_info("n", [], INT64)], [value_info("y", ["length"])], numbers)
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


def scale_and_zero():
    """The initializers s and z of the models with QuantizeLinear."""
    return [field(2, FLOAT) + field(8, "s") + field(9, bytes([0, 0, 128, 63])),
            field(2, UINT8) + field(8, "z") + field(9, bytes([128]))]


def quantized():
    """QuantizeLinear, Sigmoid and Neg between DequantizeLinear and QuantizeLinear: 64 KiB as floats, 16 KiB as u8."""
    extents = [1, 16, 32, 32]
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["a"]),
        node("Sigmoid", ["a"], ["b"]),
        node("QuantizeLinear", ["b", "s", "z"], ["p"]),
        node("DequantizeLinear", ["p", "s", "z"], ["c"]),
        node("Neg", ["c"], ["d"]),
        node("QuantizeLinear", ["d", "s", "z"], ["y"]),
    ]
    inputs, outputs = [value_info("x", extents)], [value_info("y", extents, UINT8)]
    return field(1, 8) + field(7, graph(nodes, inputs, outputs, scale_and_zero())) + field(8, field(2, 17))


def quantized_product():
    """A product of u8 and i8, as quantizers write it for activations and weights."""
    extents, signed = [4, 4], 3
    nodes = [node("DequantizeLinear", ["q", "s", "z"], ["a"]), node("DequantizeLinear", ["w", "s"], ["b"]),
             node("MatMul", ["a", "b"], ["c"]), node("QuantizeLinear", ["c", "s", "z"], ["y"])]
    inputs = [value_info("q", extents, UINT8), value_info("w", extents, signed)]
    content = graph(nodes, inputs, [value_info("y", extents, UINT8)], scale_and_zero())
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


def quantized_branches():
    """One operator between DequantizeLinear and QuantizeLinear in each branch of an If, and none outside."""
    extents = [1, 16, 32, 32]

    def branch(op, y):
        nodes = [node("DequantizeLinear", ["q", "s", "z"], [f"a{y}"]), node(op, [f"a{y}"], [f"b{y}"]),
                 node("QuantizeLinear", [f"b{y}", "s", "z"], [y])]
        return graph(nodes, [], [value_info(y, extents, UINT8)], name=op)

    bodies = [body("then_branch", branch("Sigmoid", "t")), body("else_branch", branch("Neg", "e"))]
    inputs = [value_info("c", [], BOOL), value_info("q", extents, UINT8)]
    content = graph([node("If", ["c"], ["y"], "choose", bodies)], inputs, [value_info("y", extents, UINT8)],
                    scale_and_zero())
    return field(1, 8) + field(7, content) + field(8, field(2, 17))


def parallel():
    """Two branches of two nodes, each result of 4 KiB, that a MatMul joins.

    a = Transpose(x); c = Transpose(a); b = Transpose(x); d = Transpose(b); e = c * d.
    """
    square = [32, 32]
    return model(
        [node("Transpose", [read], [write], write) for read, write in (("x", "a"), ("a", "c"), ("x", "b"), ("b", "d"))]
        + [node("MatMul", ["c", "d"], ["e"], "e")],
        [value_info("x", square)],
        [value_info("e", square)],
    )


def chain(length, name="t", batch=4):
    """Softmax after Softmax; names grow with the length, so the plan file does too."""
    nodes = [node("Softmax", [f"{name}{i}"], [f"{name}{i + 1}"], f"softmax{i}") for i in range(length)]
    return model(nodes, [value_info(f"{name}0", [batch, 256])], [value_info(f"{name}{length}", [batch, 256])])


def weights_from_weights():
    """w = Neg(Concat(k, k)) depends on constants alone: 2 x 32 floats. y = Add(x, w)."""
    concat = node("Concat", ["k", "k"], ["kk"], "join", [axis(0)])
    nodes = [concat, node("Neg", ["kk"], ["w"], "negate"), node("Add", ["x", "w"], ["y"], "add")]
    inputs, outputs = [value_info("x", [64])], [value_info("y", [64])]
    return field(1, 8) + field(7, graph(nodes, inputs, outputs, [zeros("k", 32)])) + field(8, field(2, 17))


def weighted(count=1024):
    """y = Add(x, k), z = Mul(y, h): 4 KiB each, so the weights are 8 KiB."""
    nodes = [node("Add", ["x", "k"], ["y"], "add"), node("Mul", ["y", "h"], ["z"], "mul")]
    inputs, outputs = [value_info("x", [count])], [value_info("z", [count])]
    weights = [zeros("k", count), zeros("h", count)]
    return field(1, 8) + field(7, graph(nodes, inputs, outputs, weights)) + field(8, field(2, 17))


def gradient():
    """y = x * x, and its gradient by the training operator that runs a graph of its own."""
    def text(name, *values):
        return field(1, name) + b"".join(field(9, v) for v in values) + field(20, 8)

    target = field(1, "y") + field(4, "y") + field(20, 3)
    attributes = b"".join(field(5, a) for a in (text("xs", "x"), target))
    nodes = [node("Mul", ["x", "x"], ["y"], "square"),
             node("Gradient", ["x"], ["d"], "backward") + field(7, "ai.onnx.preview.training") + attributes]
    content = graph(nodes, [value_info("x", [16])], [value_info("y", [16]), value_info("d", [16])])
    opsets = field(8, field(2, 17)) + field(8, field(1, "ai.onnx.preview.training") + field(2, 1))
    return field(1, 8) + field(7, content) + opsets


def without_nodes():
    """A model whose output is its input."""
    return model([], [value_info("x", [16])], [value_info("x", [16])])


def branches():
    """One branch returns a tensor of the outer graph, the other its own constant. Neither has a node."""
    branch = {
        "then_branch": graph([], [], [value_info("x", [16])], name="then"),
        "else_branch": graph([], [], [value_info("k", [16])], [zeros("k", 16)], name="else"),
    }
    choose = node("If", ["c"], ["y"], "choose", [body(name, content) for name, content in branch.items()])
    return model([choose], [value_info("c", [], BOOL), value_info("x", [16])], [value_info("y", [16])])


def stale_branch(declared=9):
    """The else branch joins x three times (192 elements), declares `declared` elements, and reduces the result."""
    join = node("Concat", ["x", "x", "x"], ["big"], "join", [axis(0)])
    nodes = [join, node("Exp", ["big"], ["e"], "exp"), node("ReduceMax", ["e"], ["r"], "most")]
    branch = {
        "then_branch": graph([node("ReduceMax", ["x"], ["t"])], [], [value_info("t", [1])], name="then"),
        "else_branch": graph(nodes, [], [value_info("r", [1])], name="else") + field(13, value_info("big", [declared])),
    }
    choose = node("If", ["c"], ["y"], "choose", [body(name, content) for name, content in branch.items()])
    return model([choose], [value_info("c", [], BOOL), value_info("x", [64])], [value_info("y", [1])])


def dead_branch(where):
    """A model with an If that never takes one of its branches. Only this branch would keep `big` (16 KiB) to the end.

    total = ReduceMax(big); s2 = s + total; q = s2 three times; then an If reads s. `where` is "inside" if the dead
    branch is in a branch of another If, or "nowhere" if there is no dead branch.
    """

    def join(count, source, name):
        return node("Concat", [source] * count, [name], name, [axis(0)])

    def most(source, name):
        return graph([node("ReduceMax", [source], [name], name)], [], [value_info(name, [1])], name=name)

    def choose(condition, then_branch, else_branch, result):
        branch = [body("then_branch", then_branch), body("else_branch", else_branch)]
        return node("If", [condition], [result], result, branch)

    never = field(2, BOOL) + field(8, "never") + field(9, bytes(1))
    inner = graph([choose("never", most("big", "dead"), most("s", "lives"), "r")], [], [value_info("r", [1])], [never])
    taken = {"inside": inner, "nowhere": most("s", "lives")}[where]
    nodes = [
        join(16, "x", "big"),
        node("ReduceMax", ["big"], ["total"], "total"),
        join(4, "x", "s"),
        node("Add", ["s", "total"], ["s2"], "s2"),
        join(3, "s2", "q"),
        choose("c", taken, most("s", "other"), "y"),
    ]
    return model(
        nodes, [value_info("x", [256]), value_info("c", [], BOOL)], [value_info("y", [1]), value_info("q", [3072])]
    )


def npy(numbers, shape=None):
    """A file of floats in NumPy's format, version 1."""
    shape = (len(numbers),) if shape is None else shape
    return npy_of("<f4", shape, struct.pack(f"<{len(numbers)}f", *numbers))


def npy_of(dtype, shape, content):
    """A file with these bytes, of elements such as "<i4"."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content


def hostile_names():
    """Escapes, a line end with a false line after it, a very long name; a backslash and a byte that is not UTF-8."""
    names = ["x", "\x1b[31mred\x1b[0m", "a\nerror: false", "n" * 3000, b"\\\xfe"]
    return model(
        [node("Softmax", [names[i]], [names[i + 1]], names[i + 1]) for i in range(len(names) - 1)],
        [value_info("x", [64])],
        [value_info(names[-1], [64])],
    )

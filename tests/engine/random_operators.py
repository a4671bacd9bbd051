# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators and idioms of random models. Each function adds a few nodes to a graph, or none if nothing fits."""
import numpy as np
import onnx
from onnx import helper
from random_graphs import EXACT, MOST_ELEMENTS, SMOOTH, Growth, Tensor, elements, port

BOOL = np.dtype(bool)


def smooth(g: Growth) -> None:
    x = g.pick_real()
    kind = g.choose(SMOOTH)
    words = {"axis": g.number(-1, len(x.shape) - 1)} if kind in ("Softmax", "LogSoftmax") and x.shape else {}
    if kind in ("Softmax", "LogSoftmax") and not x.shape:
        return
    g.one(kind, [x.name], x, **words)


def exact(g: Growth) -> None:
    kind = g.choose(EXACT)
    x = g.pick(lambda tensor: tensor.is_real and (tensor.is_exact or kind in EXACT[:5]))
    if kind == "Clip":
        low, high = g.constant(np.array(-0.75, x.dtype)), g.constant(np.array(0.5, x.dtype))
        g.one(kind, [x.name, *g.choose([[low, high], [low], ["", high]])], x, x.is_exact)
    else:
        g.one(kind, [x.name], x, x.is_exact)


def other_operand(g: Growth, x: Tensor) -> tuple[str, tuple[int, ...]] | None:
    """A second operand that can be broadcast with `x`, and the shape of the result."""
    if g.chance(0.4):
        shape = [extent if g.chance(0.6) else 1 for extent in x.shape][g.number(0, len(x.shape)):]
        return g.reals(*shape, least=0.5, most=1.5), x.shape
    fitting = []
    for tensor in g.tensors:
        try:
            shape = np.broadcast_shapes(x.shape, tensor.shape)
        except ValueError:
            continue
        if tensor.dtype == x.dtype and elements(shape) <= MOST_ELEMENTS:
            fitting.append((tensor.name, shape))
    return g.choose(fitting) if fitting else None


def binary(g: Growth) -> None:
    x = g.bounded(g.pick_real())
    other = other_operand(g, x)
    if other is None:
        return
    reads = [x.name, other[0]] if g.chance(0.6) else [other[0], x.name]
    g.one(g.choose(["Add", "Add", "Sub", "Mul", "Mul", "Max", "Min"]), reads, x, shape=other[1])


def divide(g: Growth) -> None:
    x = g.pick_real()
    under = g.one("Exp", [g.one("Tanh", [x.name], x).name], x)
    if g.chance(0.5):
        g.one("Div", [x.name, under.name], x)
    else:
        g.one("Pow", [under.name, g.constant(np.array(g.choose([2, 0.5, 3, -1]), x.dtype))], x)


def sum_of_several(g: Growth) -> None:
    x = g.pick_real()
    same = [tensor.name for tensor in g.tensors if tensor.shape == x.shape and tensor.dtype == x.dtype]
    g.one(g.choose(["Sum", "Mean", "Max"]), [g.choose(same) for _ in range(g.number(1, 4))], x)


def select(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.is_real and tensor.is_exact)
    if x is None:
        return
    condition = g.one(g.choose(["Greater", "LessOrEqual"]), [x.name, g.constant(np.array(0.1, x.dtype))], x, True,
                      dtype=BOOL)
    if g.chance(0.3):
        condition = g.one("Not", [condition.name], condition, True)
    y = g.pick(lambda tensor: tensor.dtype == x.dtype and tensor.shape == x.shape)
    g.one("Where", [condition.name, x.name, y.name] if g.chance(0.5) else [condition.name, y.name, x.name], x)


def reduce(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.is_real and len(tensor.shape) > 0 and elements(tensor.shape) > 0)
    axes = sorted(g.random.choice(len(x.shape), g.number(1, len(x.shape)), replace=False).tolist())
    keep = g.number(0, 1)
    shape = [1 if at in axes else extent for at, extent in enumerate(x.shape) if keep or at not in axes]
    kind = g.choose(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare"])
    if kind in ("ReduceMean", "ReduceL2"):
        g.one(kind, [x.name, g.integers(axes)], x, shape=tuple(shape), keepdims=keep)
    else:
        g.one(kind, [g.bounded(x).name, g.integers(axes)], x, shape=tuple(shape), keepdims=keep)


def product(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.is_real and len(tensor.shape) >= 2)
    columns = g.number(1, 9)
    if g.chance(0.3):
        turned = (*x.shape[:-2], x.shape[-1], x.shape[-2])
        order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
        y = g.one("Transpose", [x.name], x, x.is_exact, shape=turned, perm=order)
        g.one("MatMul", [x.name, y.name], x, shape=(*x.shape[:-1], x.shape[-2]))
    else:
        y = g.one("MatMul", [x.name, g.reals(x.shape[-1], columns)], x, shape=(*x.shape[:-1], columns))
        if g.chance(0.6):
            y = g.one("Add", [y.name, g.reals(columns)], y)
        if g.chance(0.5):
            g.one(g.choose(["Relu", "Sigmoid", "Tanh", "Gelu"]), [y.name], y)


def gemm(g: Growth) -> None:
    x = g.pick_real(2)
    if x is None:
        return
    turn_a, turn_b, columns = g.number(0, 1), g.number(0, 1), g.number(1, 9)
    rows, depth = x.shape[::-1] if turn_a else x.shape
    b = g.reals(columns, depth) if turn_b else g.reals(depth, columns)
    third = g.choose([[], [g.reals(columns)], [g.reals(rows, 1)], [g.reals(rows, columns)]])
    g.one("Gemm", [x.name, b, *third], x, shape=(rows, columns), transA=turn_a, transB=turn_b,
          alpha=g.choose([1.0, 0.5]), beta=g.choose([1.0, 2.0]))


def convolution(g: Growth) -> None:
    x = g.pick_real(4)
    if x is None or min(x.shape[2:]) < 3:
        return
    window, stride, dilation = g.choose([1, 3]), g.choose([1, 1, 2]), g.choose([1, 1, 2])
    dilation = 1 if window == 1 else dilation
    channels = x.shape[1]
    group = channels if g.chance(0.3) else 1
    results = channels if group > 1 else g.choose([3, 8, 16])
    around = window // 2 * dilation
    sizes = [(extent - 1) // stride + 1 for extent in x.shape[2:]]
    reads = [x.name, g.reals(results, channels // group, window, window, least=-0.5, most=0.5)]
    if g.chance(0.5):
        reads.append(g.reals(results))
    y = g.one("Conv", reads, x, shape=(x.shape[0], results, *sizes), pads=[around] * 4, strides=[stride] * 2,
              dilations=[dilation] * 2, group=group)
    if g.chance(0.4):
        scale = [g.reals(results) for _ in range(3)]
        y = g.one("BatchNormalization", [y.name, *scale, g.reals(results, least=0.5, most=2)], y)
    if g.chance(0.4):
        y = g.one(g.choose(["Relu", "HardSwish", "Sigmoid", "Clip"]), [y.name], y)
    if g.chance(0.3):
        same = g.pick(lambda tensor: tensor.shape == y.shape and tensor.dtype == y.dtype)
        g.one("Add", [y.name, same.name], y)


def transposed_convolution(g: Growth) -> None:
    x = g.pick_real(4)
    if x is None or elements(x.shape) > 1000:
        return
    results = g.choose([2, 4])
    shape = (x.shape[0], results, x.shape[2] * 2, x.shape[3] * 2)
    g.one("ConvTranspose", [x.name, g.reals(x.shape[1], results, 2, 2)], x, shape=shape, strides=[2, 2])


def pool(g: Growth) -> None:
    x = g.pick_real(4)
    if x is None or min(x.shape[2:]) < 2:
        return
    kind = g.choose(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
    if kind.startswith("Global"):
        g.one(kind, [x.name], x, x.is_exact and kind == "GlobalMaxPool", shape=(*x.shape[:2], 1, 1))
    elif g.chance(0.5):
        g.one(kind, [x.name], x, x.is_exact and kind == "MaxPool", kernel_shape=[3, 3], pads=[1] * 4)
    else:
        shape = (*x.shape[:2], x.shape[2] // 2, x.shape[3] // 2)
        g.one(kind, [x.name], x, x.is_exact and kind == "MaxPool", shape=shape, kernel_shape=[2, 2], strides=[2, 2])


def can_be_normalized(g: Growth, x: Tensor) -> bool:
    """Dividing by the deviation of almost equal values enlarges the roundings of f16 without limit. ONNX Runtime has
    its own rules for the mean of nothing."""
    return x.is_real and (x.is_exact or g.real == np.float32) and elements(x.shape) > 0


def normalize(g: Growth) -> None:
    x = g.pick(lambda tensor: can_be_normalized(g, tensor) and len(tensor.shape) >= 3)
    if x is None:
        return
    last, channels = x.shape[-1], x.shape[1]
    kind = g.choose(["LayerNormalization", "InstanceNormalization", "LpNormalization", "LRN"])
    if kind == "LayerNormalization":
        g.one(kind, [x.name, g.reals(last), g.reals(last)], x)
    elif kind == "InstanceNormalization":
        g.one(kind, [x.name, g.reals(channels), g.reals(channels)], x)
    elif kind == "LpNormalization":
        g.one(kind, [g.one("Exp", [g.one("Tanh", [x.name], x).name], x).name], x, axis=-1)
    elif kind == "LRN" and len(x.shape) == 4:
        g.one(kind, [x.name], x, size=3)


def written_normalization(g: Growth) -> None:
    """A LayerNormalization of nine operators."""
    x = g.pick(lambda tensor: can_be_normalized(g, tensor) and len(tensor.shape) >= 2)
    if x is None:
        return
    flat = (*x.shape[:-1], 1)
    axes = g.integers([-1])
    mean = g.one("ReduceMean", [x.name, axes], x, shape=flat)
    apart = g.one("Sub", [x.name, mean.name], x)
    power = g.one("Pow", [apart.name, g.constant(np.array(2, x.dtype))], x)
    variance = g.one("ReduceMean", [power.name, axes], x, shape=flat)
    root = g.one("Sqrt", [g.one("Add", [variance.name, g.constant(np.array(1e-3, x.dtype))], variance).name], variance)
    y = g.one("Div", [apart.name, root.name], x)
    y = g.one("Mul", [y.name, g.reals(x.shape[-1])], y)
    g.one("Add", [y.name, g.reals(x.shape[-1])], y)


def attention(g: Growth) -> None:
    """Scaled products of rows, as exporters write them."""
    x = g.pick_real(3)
    if x is None:
        return
    batch, rows, width = x.shape
    size = g.choose([2, 4])
    wide = (batch, rows, 2 * size)
    heads, turned = (batch, rows, 2, size), (batch, 2, rows, size)
    sides = []
    for at in range(3):
        y = g.one("MatMul", [x.name, g.reals(width, 2 * size)], x, shape=wide)
        y = g.one("Reshape", [y.name, g.integers([0, 0, 2, size])], x, shape=heads)
        order, shape = ([0, 2, 3, 1], (batch, 2, size, rows)) if at == 1 else ([0, 2, 1, 3], turned)
        sides.append(g.one("Transpose", [y.name], x, shape=shape, perm=order))
    y = g.one("MatMul", [sides[0].name, sides[1].name], x, shape=(batch, 2, rows, rows))
    y = g.one("Mul", [y.name, g.constant(np.array(size**-0.5, x.dtype))], y)
    if g.chance(0.4):
        y = g.one("Add", [y.name, g.reals(rows, rows)], y)
    y = g.one("Softmax", [y.name], y, axis=-1)
    y = g.one("MatMul", [y.name, sides[2].name], x, shape=turned)
    y = g.one("Transpose", [y.name], x, shape=heads, perm=[0, 2, 1, 3])
    g.one("Reshape", [y.name, g.integers([batch, rows, 2 * size])], x, shape=wide)


def hard_swish(g: Growth) -> None:
    """x * clip(x + 3, 0, 6) / 6, in operators."""
    x = g.pick_real()
    y = g.one("Add", [x.name, g.constant(np.array(3, x.dtype))], x)
    y = g.one("Clip", [y.name, g.constant(np.array(0, x.dtype)), g.constant(np.array(6, x.dtype))], y)
    y = g.one("Mul", [x.name, y.name], y)
    g.one("Div", [y.name, g.constant(np.array(6, x.dtype))], y)


def recurrent(g: Growth) -> None:
    x = g.pick_real(3)
    if x is None or x.dtype != np.float32:
        return
    steps, batch, width = x.shape
    kind, gates = g.choose([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden, directions = g.number(1, 5), g.number(1, 2)
    reads = [x.name, g.reals(directions, gates * hidden, width), g.reals(directions, gates * hidden, hidden)]
    if g.chance(0.5):
        reads.append(g.reals(directions, 2 * gates * hidden))
    names = g.node(kind, reads, 2, hidden_size=hidden, direction=["forward", "bidirectional"][directions - 1])
    g.add(names[0], x.dtype, (steps, directions, batch, hidden), False)
    g.add(names[1], x.dtype, (directions, batch, hidden), False)


def loop(g: Growth) -> None:
    x = g.pick(lambda tensor: tensor.is_real and elements(tensor.shape) < 500)
    body = Growth(g.random, g.real, [x], f"{g.name()}_")
    step, keep_going, state = (body.prefix + name for name in ("step", "go", "state"))
    inner = body.add(state, x.dtype, x.shape, False)
    y = body.one(g.choose(["Mul", "Add", "Max"]), [inner.name, x.name], x)
    y = body.one(g.choose(["Tanh", "Sigmoid", "Relu"]), [y.name], y)
    body.node("Identity", [keep_going])
    still = body.nodes[-1].output[0]
    scan = y if g.chance(0.5) else body.one("Neg", [y.name], y)
    graph = helper.make_graph(
        body.nodes, "body", [helper.make_tensor_value_info(step, onnx.TensorProto.INT64, []),
                             helper.make_tensor_value_info(keep_going, onnx.TensorProto.BOOL, []), port(state, x)],
        [helper.make_tensor_value_info(still, onnx.TensorProto.BOOL, []), port(y.name, y), port(scan.name, scan)],
        body.constants)
    if y is scan:
        graph.node.append(helper.make_node("Identity", [y.name], [y.name + "_again"]))
        graph.output[2].name = y.name + "_again"
    count = g.number(0, 3)
    names = g.node("Loop", [g.constant(np.array(count, np.int64)), "", x.name], 2, body=graph)
    g.add(names[0], x.dtype, x.shape, False)
    g.add(names[1], x.dtype, (count, *x.shape), False)


def branch(g: Growth) -> None:
    x = g.pick_real()
    graphs = []
    for at in range(2):
        body = Growth(g.random, g.real, [one for one in g.tensors if elements(one.shape) > 0], f"{g.name()}_{at}_")
        for _ in range(g.number(0, 3)):
            g_kind = g.choose([smooth, exact, hard_swish, binary])
            g_kind(body)
        y = body.one(g.choose(["Relu", "Tanh", "Identity", "Neg"]), [x.name], x)
        others = [one for one in body.own if one.shape == x.shape and one.dtype == x.dtype]
        y = body.one("Add", [y.name, g.choose(others).name], x)
        graphs.append(helper.make_graph(body.nodes, f"side{at}", [], [port(y.name, y)], body.constants))
    g.one("If", ["flag"], x, then_branch=graphs[0], else_branch=graphs[1])


def half_and_back(g: Growth) -> None:
    x = g.pick_real()
    other = np.float16 if x.dtype == np.float32 else np.float32
    y = g.one("Cast", [x.name], x, dtype=np.dtype(other), to=helper.np_dtype_to_tensor_dtype(np.dtype(other)))
    g.tensors.remove(y)  # all others are of one type
    if g.chance(0.5):
        y = g.one("Tanh", [y.name], y)
        g.tensors.remove(y)
    g.one("Cast", [y.name], y, dtype=x.dtype, to=helper.np_dtype_to_tensor_dtype(x.dtype))


COMPUTE = (smooth, smooth, exact, binary, binary, binary, divide, sum_of_several, select, reduce, product, product,
           gemm,
           convolution, convolution, convolution, transposed_convolution, pool, normalize, written_normalization,
           attention, hard_swish, recurrent, loop, branch, half_and_back)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX for each operator that C source has a kernel for, drawn with a seed."""
import numpy as np
from net import Net
from onnx import TensorProto


def conv(net):
    """Convolutions over one and two axes."""
    random = net.random
    axes = int(random.integers(1, 3))
    group = int(random.choice([1, 1, 2, 3]))
    inputs, outputs = group * int(random.integers(1, 6)), group * int(random.integers(1, 6))
    if random.random() < 0.3:
        group = outputs = inputs
    window = [int(random.integers(1, 4)) for _ in range(axes)]
    extents = [int(random.integers(5, 20)) for _ in range(axes)]
    attributes = {"strides": [int(random.integers(1, 3)) for _ in range(axes)],
                  "dilations": [int(random.integers(1, 3)) for _ in range(axes)], "group": group}
    if random.random() < 0.3:
        attributes["auto_pad"] = str(random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
        attributes["dilations"] = [1] * axes
    else:
        attributes["pads"] = [int(random.integers(0, 3)) for _ in range(2 * axes)]
    operands = [net.input([int(random.integers(1, 3)), inputs, *extents]),
                net.weights(outputs, inputs // group, *window)]
    if random.random() < 0.7:
        operands.append(net.weights(outputs))
    return net.node("Conv", *operands, **attributes)


def conv_transpose(net):
    """Transposed convolutions."""
    random = net.random
    axes = int(random.integers(1, 3))
    group = int(random.choice([1, 2]))
    inputs, outputs = group * int(random.integers(1, 4)), int(random.integers(1, 4))
    strides = [int(random.integers(1, 4)) for _ in range(axes)]
    operands = [net.input([1, inputs, *[int(random.integers(3, 8)) for _ in range(axes)]]),
                net.weights(inputs, outputs, *[3] * axes)]
    if random.random() < 0.6:
        operands.append(net.weights(outputs * group))
    return net.node("ConvTranspose", *operands, group=group, strides=strides,
                    pads=[int(random.integers(0, 2)) for _ in range(2 * axes)],
                    output_padding=[int(random.integers(0, stride)) for stride in strides],
                    dilations=[int(random.integers(1, 3)) for _ in range(axes)])


def pool(net):
    """Pools, local and global."""
    random = net.random
    axes = int(random.integers(1, 3))
    source = net.input([int(random.integers(1, 3)), 3, *[int(random.integers(5, 12)) for _ in range(axes)]])
    kind = str(random.choice(["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"]))
    if kind.startswith("Global"):
        return net.node(kind, source)
    attributes = {"kernel_shape": [int(random.integers(2, 4)) for _ in range(axes)],
                  "strides": [int(random.integers(1, 4)) for _ in range(axes)],
                  "pads": [int(random.integers(0, 2)) for _ in range(2 * axes)]}
    if kind == "AveragePool":
        attributes["count_include_pad"] = int(random.integers(0, 2))
        net.opset = int(random.choice([11, 18, 19]))
    if kind == "MaxPool" or net.opset == 19:
        attributes["ceil_mode"] = int(random.integers(0, 2))
    return net.node(kind, source, **attributes)


def gemm(net):
    """Products of two matrices and an addend."""
    random = net.random
    rows, inner, columns = (int(random.integers(1, 20)) for _ in range(3))
    trans_a, trans_b = (int(random.integers(0, 2)) for _ in range(2))
    a = net.input([inner, rows] if trans_a else [rows, inner])
    shape = [columns, inner] if trans_b else [inner, columns]
    b = net.weights(*shape) if random.random() < 0.6 else net.input(shape)
    operands = [a, b]
    addend = [[], [columns], [rows, columns], [rows, 1], [1]][int(random.integers(0, 5))]
    if random.random() < 0.8:
        operands.append(net.weights(*addend))
    return net.node("Gemm", *operands, transA=trans_a, transB=trans_b, alpha=0.5, beta=1.5)


def matmul(net):
    """Products of stacks of matrices."""
    random = net.random
    rows, inner, columns = (int(random.integers(1, 12)) for _ in range(3))
    left = [[], [3], [2, 3], [2, 1], [1, 3]][int(random.integers(0, 5))]
    right = [[], [], [3], [2, 3]][int(random.integers(0, 4))]
    a = [inner] if not left and random.random() < 0.3 else [*left, rows, inner]
    b = [inner] if not right and random.random() < 0.3 else [*right, inner, columns]
    return net.node("MatMul", net.input(a), net.weights(*b) if random.random() < 0.5 else net.input(b))


UNARY = ["Abs", "Atan", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",
         "Neg", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tanh",
         "ThresholdedRelu", "Celu", "Shrink", "Cosh", "Identity"]
POSITIVE = ["Log", "Reciprocal", "Sqrt"]
NARROW = ["Acos", "Asin", "Tan"]


def unary(net):
    """Functions of one element, in a row, so that some work in place."""
    shape = [int(net.random.integers(1, 5)) for _ in range(int(net.random.integers(1, 4)))]
    value = net.input(shape)
    for kind in net.random.choice(UNARY, 3):
        value = net.node(str(kind), net.node("Clip", value, net.constant(np.float32(-3)), net.constant(np.float32(3))))
    positive = net.node(str(net.random.choice(POSITIVE)), net.input(shape, 0.1, 3.0))
    narrow = net.node(str(net.random.choice(NARROW)), net.input(shape, -0.9, 0.9))
    return net.node("Add", net.node("Mul", value, positive), narrow)


def gelu(net):
    """Gelu of both forms."""
    net.opset = 20
    return net.node("Gelu", net.input([3, 7]), approximate=str(net.random.choice(["none", "tanh"])))


def broadcast_shapes(random, operands=2):
    """Shapes that are broadcast to each other."""
    rank = int(random.integers(1, 5))
    result = [int(random.integers(1, 5)) for _ in range(rank)]
    shapes = [[1 if random.random() < 0.3 else extent for extent in result][int(random.integers(0, rank)):]
              for _ in range(operands)]
    return [result, *shapes[1:]]


def binary(net):
    """Functions of two elements, which are broadcast."""
    random = net.random
    kind = str(random.choice(["Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod", "PRelu"]))
    left, right = broadcast_shapes(random)
    if kind != "PRelu" and random.random() < 0.5:
        left, right = right, left
    low = 0.5 if kind in ("Div", "Pow", "Mod") else -2.0
    a = net.input(left, 0.5 if kind == "Pow" else -2.0)
    b = net.input(right, low) if random.random() < 0.5 else net.weights(*right, low=low, high=2.0)
    return net.node(kind, a, b, **({"fmod": 1} if kind == "Mod" else {}))


def variadic(net):
    """Sums and extremes of several operands."""
    shapes = broadcast_shapes(net.random, int(net.random.integers(2, 5)))
    values = [net.input(shape) for shape in shapes]
    values[0] = net.node("Relu", values[0])
    return net.node(str(net.random.choice(["Sum", "Max", "Min", "Mean"])), *values)


def compare(net):
    """Comparisons, logic and choices."""
    random = net.random
    left, right = broadcast_shapes(random)
    a, b = net.input(left), net.input(right)
    kinds = ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"]
    first = net.node(str(random.choice(kinds)), a, b)
    second = net.node(str(random.choice(kinds)), b, a)
    both = net.node(str(random.choice(["And", "Or", "Xor"])), first, net.node("Not", second))
    chosen = net.node("Where", both, a, b)
    return net.node("Add", chosen, net.node("Cast", both, to=TensorProto.FLOAT))


def square(net):
    """Powers with frequent exponents."""
    value = net.input([3, 5], 0.1, 2.0)
    exponent = net.constant(np.float32(net.random.choice([2.0, 0.5, 3.0])))
    return net.node("Pow", value, exponent)


def concat(net):
    """Concats of results, inputs and constants."""
    random = net.random
    shape = [int(random.integers(1, 5)) for _ in range(int(random.integers(1, 5)))]
    axis = int(random.integers(0, len(shape)))

    def extent():
        return [*shape[:axis], int(random.integers(1, 5)), *shape[axis + 1:]]
    parts = [net.node("Relu", net.input(extent())), net.input(extent()), net.weights(*extent()),
             net.node("Neg", net.input(extent()))]
    random.shuffle(parts)
    return net.node("Concat", *parts, axis=axis - len(shape) if random.random() < 0.5 else axis)


def split(net):
    """Splits, whose parts are used on."""
    random = net.random
    lengths = [int(random.integers(1, 4)) for _ in range(3)]
    shape = [int(random.integers(1, 4)) for _ in range(3)]
    axis = int(random.integers(0, 3))
    shape[axis] = sum(lengths)
    source = net.node("Relu", net.input(shape))
    parts = net.node("Split", source, net.numbers(*lengths), results=3, axis=axis)
    net.output(net.node("Neg", parts[1]))
    return net.node("Concat", parts[2], parts[0], axis=axis)


def cut(net):
    """Slices with any steps."""
    random = net.random
    shape = [int(random.integers(3, 8)) for _ in range(int(random.integers(1, 4)))]
    starts, ends, steps = [], [], []
    for extent in shape:
        step = int(random.choice([1, 1, 2, -1, -2]))
        begin, end = sorted(random.choice(extent + 1, 2, replace=False))
        starts.append(int(begin if step > 0 else end - 1))
        ends.append(int(end if step > 0 else begin - 1 if begin else -extent - 1))
        steps.append(step)
    source = net.node("Relu", net.input(shape))
    return net.node("Slice", source, net.numbers(*starts), net.numbers(*ends), net.numbers(*range(len(shape))),
                    net.numbers(*steps))


def permute(net):
    """Transposes and other shapes."""
    random = net.random
    shape = [int(random.integers(1, 5)) for _ in range(int(random.integers(1, 6)))]
    value = net.node("Transpose", net.input(shape), perm=[int(axis) for axis in random.permutation(len(shape))])
    return net.node("Reshape", net.node("Neg", value), net.numbers(-1, 1))


def blocks(net):
    """Blocks of space that become channels, and back."""
    random = net.random
    if random.random() < 0.5:
        return net.node("SpaceToDepth", net.input([1, 2, 4, 6]), blocksize=2)
    return net.node("DepthToSpace", net.input([1, 8, 3, 2]), blocksize=2, mode=str(random.choice(["DCR", "CRD"])))


def repeat(net):
    """Expand and Tile."""
    random = net.random
    result, shape = broadcast_shapes(random)
    if random.random() < 0.5:
        return net.node("Expand", net.input(shape), net.numbers(*result))
    return net.node("Tile", net.input(shape), net.numbers(*[int(random.integers(1, 4)) for _ in shape]))


def pad(net):
    """Pads of all modes."""
    random = net.random
    shape = [int(random.integers(3, 6)) for _ in range(int(random.integers(1, 5)))]
    pads = [int(random.integers(0, 3)) for _ in range(2 * len(shape))]
    mode = str(random.choice(["constant", "edge", "reflect"]))
    operands = [net.input(shape), net.numbers(*pads)]
    if mode == "constant" and random.random() < 0.5:
        operands.append(net.constant(np.float32(1.5)))
    return net.node("Pad", *operands, mode=mode)


def gather(net):
    """Rows at places of an input or of constants."""
    random = net.random
    shape = [int(random.integers(2, 6)) for _ in range(int(random.integers(1, 4)))]
    axis = int(random.integers(0, len(shape)))
    dtype = [np.int64, np.int32][int(random.integers(0, 2))]
    places = net.input([2, 3], -shape[axis], shape[axis], dtype)
    return net.node("Gather", net.input(shape) if random.random() < 0.5 else net.weights(*shape), places, axis=axis)


def resize(net):
    """Resizes of images."""
    random = net.random
    mode = str(random.choice(["nearest", "linear"]))
    scales = [float(random.choice([0.5, 1.0, 1.5, 2.0, 3.0])) for _ in range(2)]
    coordinates = str(random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                     "half_pixel_symmetric", "tf_half_pixel_for_nn"]))
    if coordinates == "tf_half_pixel_for_nn":
        mode = "nearest"
    if coordinates == "half_pixel_symmetric":
        net.opset = 19
    attributes = {"nearest_mode": str(random.choice(["floor", "ceil", "round_prefer_floor"]))} if mode == "nearest" \
        else {}
    return net.node("Resize", net.input([1, 2, 6, 4]), "", net.constant(np.array([1, 1, *scales], np.float32)),
                    mode=mode, coordinate_transformation_mode=coordinates, **attributes)


def normalize(net):
    """Normalizations of all kinds."""
    random = net.random
    channels = 4
    shape = [2, channels, int(random.integers(2, 6)), int(random.integers(2, 6))]
    value = net.node("Relu", net.input(shape)) if random.random() < 0.5 else net.input(shape)
    kind = int(random.integers(0, 4))
    if kind == 0:
        return net.node("BatchNormalization", value, net.weights(channels), net.weights(channels),
                        net.weights(channels), net.weights(channels, low=0.5, high=2.0))
    if kind == 1:
        return net.node("InstanceNormalization", value, net.weights(channels), net.weights(channels))
    if kind == 2:
        net.opset = 21
        value = net.node("GroupNormalization", value, net.weights(channels), net.weights(channels), num_groups=2)
        return net.node("Reshape", value, net.numbers(*shape))
    axis = int(random.integers(1, 4))
    operands = [value, net.weights(*shape[axis:])]
    if random.random() < 0.5:
        operands.append(net.weights(*shape[axis:]))
    return net.node("LayerNormalization", *operands, axis=axis)


def softmax(net):
    """Softmax and its logarithm."""
    shape = [int(net.random.integers(1, 6)) for _ in range(3)]
    net.opset = int(net.random.choice([11, 13]))
    return net.node(str(net.random.choice(["Softmax", "LogSoftmax"])), net.input(shape, -20, 20),
                    axis=int(net.random.integers(-3, 3)) if net.opset > 11 else int(net.random.integers(0, 3)))


def reduce(net):
    """Reductions of any axes."""
    random = net.random
    shape = [int(random.integers(1, 5)) for _ in range(int(random.integers(1, 5)))]
    kind = str(random.choice(["ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                              "ReduceSum", "ReduceSumSquare", "ReduceLogSum"]))
    axes = sorted(int(axis) for axis in random.choice(len(shape), int(random.integers(1, len(shape) + 1)), False))
    source = net.input(shape, 0.1, 2.0)
    operands = [source] if random.random() < 0.2 else [source, net.numbers(*axes)]
    return net.node(kind, *operands, keepdims=int(random.integers(0, 2)))


def arg(net):
    """Places of extremes."""
    shape = [int(net.random.integers(1, 5)) for _ in range(3)]
    source = net.node("Round", net.input(shape))
    return net.node(str(net.random.choice(["ArgMax", "ArgMin"])), source, axis=int(net.random.integers(-3, 3)),
                    select_last_index=int(net.random.integers(0, 2)))


def casts(net):
    """Conversions of elements."""
    value = net.node("Cast", net.input([3, 4], -5, 5), to=int(net.random.choice([6, 7, 9])))
    return net.node("Cast", value, to=TensorProto.FLOAT)


def counts(net):
    """Arithmetic on integers of 64 bits."""
    a, b = net.input([2, 3], -9, 9, np.int64), net.input([3], -9, 9, np.int64)
    total = net.node("Add", net.node("Mul", a, b), net.node("Sub", a, b))
    net.output(net.node("Less", a, b))
    return net.node("Where", net.node("Equal", a, b), total, a)


# Where functions of numbers have borders.
SPECIAL = np.array([0, -0.0, 1e-42, -1e-42, 0.3, -0.3, 1, -1, 2.5, -2.5, 90, -90, 3e38, -3e38, np.inf, -np.inf, np.nan],
                   np.float32)


def special(net):
    """Functions of infinite numbers, of those that are none, and of very small ones."""
    value = net.input(SPECIAL.shape)
    net.inputs[value] = SPECIAL
    infinite, lowest = net.constant(np.float32(np.inf)), net.constant(np.float32(-np.inf))
    results = [net.node("Clip", value, net.constant(np.float32(-1)), net.constant(np.float32(1))),
               net.node("Clip", value, lowest, net.constant(np.float32(2))), net.node("Clip", value, lowest, infinite),
               net.node("LeakyRelu", value, alpha=0.1), net.node("Pow", value, net.constant(np.float32(0.5))),
               net.node("Gemm", net.input([2, 3]), net.weights(3, 2), net.constant(np.full(2, np.inf, np.float32)),
                        beta=0.0)]
    for kind in ("Abs", "Ceil", "Elu", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Relu", "Sign", "Sqrt", "Tanh",
                 "HardSigmoid", "HardSwish", "Sigmoid", "Softplus"):
        results.append(net.node(kind, value))
    for kind in ("Max", "Min", "Add", "Mul", "Div"):
        results.append(net.node(kind, value, net.constant(SPECIAL[::-1].copy())))
    net.output(*results[:-1])
    return results[-1]


OPERATORS = [conv, conv_transpose, pool, gemm, matmul, unary, gelu, binary, variadic, compare, square, concat, split,
             cut, permute, blocks, repeat, pad, gather, resize, normalize, softmax, reduce, arg, casts, counts,
             special]


def drawn(operator, seed):
    """A model of one operator and its inputs."""
    net = Net(seed)
    net.output(operator(net))
    return net

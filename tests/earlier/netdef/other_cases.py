# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws nets of Caffe2 with one operator that is no layer, and what they compute."""
import caffe2_reference as caffe2
import numpy as np
from drawn_net import image, spelled_pads

ORDERS = ("NCHW", "NHWC")
ACTIVATIONS = {
    "Abs": np.abs, "Cos": np.cos, "Exp": np.exp, "Negative": np.negative, "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": caffe2.sigmoid, "Sign": np.sign, "Sin": np.sin, "Softplus": lambda x: np.log1p(np.exp(x)),
    "Softsign": lambda x: x / (1 + np.abs(x)), "Sqr": np.square, "Swish": lambda x: x * caffe2.sigmoid(x),
    "Tanh": np.tanh, "Ceil": np.ceil, "Floor": np.floor, "Copy": lambda x: x, "Alias": lambda x: x,
    "StopGradient": lambda x: x,
}


def activation(net):
    x = net.values(net.shape())
    others = ["LeakyRelu", "Elu", "Selu", "Clip", "Scale", "Log", "Sqrt", "Rsqrt", "Pow"]
    kind = net.choice(sorted([*ACTIVATIONS, *others]))
    if kind in ACTIVATIONS:
        return net.returns(net.op(kind, [net.input(x)]), ACTIVATIONS[kind](x))
    number = net.choice([0.25, 0.5, 1.5])
    if kind == "LeakyRelu":
        given = {"alpha": number} if net.chance() else {}
        net.returns(net.op(kind, [net.input(x)], **given), np.where(x > 0, x, x * given.get("alpha", 0.01)))
    elif kind == "Elu":
        net.returns(net.op(kind, [net.input(x)], alpha=number), caffe2.elu(x, number))
    elif kind == "Selu":
        net.returns(net.op(kind, [net.input(x)]), 1.0507009873554804934 * caffe2.elu(x, 1.6732632423543772848))
    elif kind == "Clip":
        given = {"min": -0.5} if net.chance() else {"max": 0.5} if net.chance() else {"min": -0.5, "max": 1.0}
        net.returns(net.op(kind, [net.input(x)], **given),
                    np.clip(x, given.get("min", -np.inf), given.get("max", np.inf)))
    elif kind == "Scale":
        net.returns(net.op(kind, [net.input(x)], scale=number), x * number)
    else:
        x = np.abs(x) + np.float32(0.1)
        more = {"exponent": number} if kind == "Pow" else {}
        net.returns(net.op(kind, [net.input(x)], **more),
                    {"Log": np.log(x), "Sqrt": np.sqrt(x), "Rsqrt": 1 / np.sqrt(x), "Pow": x ** number}[kind])
    return None


def prelu(net):
    order = net.choice(ORDERS)
    x = net.values([2, 3, 4, 3] if order == "NCHW" else [2, 4, 2, 3])
    slopes = net.values([net.choice([1, 3])])
    shaped = slopes.reshape(1, -1, 1, 1) if order == "NCHW" else slopes
    net.returns(net.op("PRelu", [net.input(x), net.parameter(slopes)], order=order), np.where(x > 0, x, x * shaped))


def arithmetic(net):
    kind, compute = net.choice([
        ("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("LT", np.less),
        ("LE", np.less_equal), ("GT", np.greater), ("GE", np.greater_equal), ("EQ", np.equal), ("NE", np.not_equal)])
    shape = net.shape(2)
    a = np.round(net.values(shape) * 2)
    if kind == "Div" or net.chance():
        a = net.values(shape)
    if net.chance():  # in the way of older nets
        begin = net.integer(0, len(shape) - 1)
        end = net.integer(begin + 1, len(shape))
        b = net.values(shape[begin:end])
        given = {"broadcast": 1}
        if end < len(shape) or net.chance():
            given["axis"] = begin
    else:  # as NumPy does
        b = net.values([1 if net.chance(0.3) else extent for extent in shape[net.integer(0, len(shape) - 1):]])
        given = {}
    if kind in ("EQ", "NE", "LE", "GE"):
        a, b = np.round(a), np.round(b)
    second = net.parameter(b) if net.chance() else net.input(b)
    axis = given.get("axis", -1)
    net.returns(net.op(kind, [net.input(a), second], **given),
                compute(a, caffe2.placed(a, b, axis) if given else b))


def logic(net):
    kind, compute = net.choice([("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)])
    a, b = net.values([3, 4], "bool"), net.values([3, 4], "bool")
    net.returns(net.op("Not", [net.op(kind, [net.input(a), net.input(b)])]), np.logical_not(compute(a, b)))


def several(net):
    kind, compute = net.choice([("Sum", np.sum), ("Max", np.max), ("Min", np.min), ("Mean", np.mean)])
    shape = net.shape()
    parts = [net.values(shape) for _ in range(net.integer(1, 4))]
    net.returns(net.op(kind, [net.input(part) for part in parts]), compute(np.stack(parts), 0))


def weighted_sum(net):
    parts, weights = [net.values([3, 4]) for _ in range(2)], [net.values([1]) for _ in range(2)]
    names = [name for part, weight in zip(parts, weights, strict=True)
             for name in (net.input(part), net.parameter(weight))]
    net.returns(net.op("WeightedSum", names), sum(p * w for p, w in zip(parts, weights, strict=True)))


def shapes(net):
    x = net.values([2, 3, 4, 5])
    kind = net.integer(0, 8)
    if kind == 0:
        y, old = net.op("Reshape", [net.input(x)], 2, shape=[0, -1, 10])
        net.returns(y, x.reshape(2, -1, 10))
        net.returns(old, np.array(x.shape))
    elif kind == 1:
        axis = net.integer(0, 4)
        net.returns(net.op("Flatten", [net.input(x)], axis=axis), x.reshape(int(np.prod(x.shape[:axis])), -1))
    elif kind == 2:
        net.returns(net.op("FlattenToVec", [net.input(x)]), x.reshape(-1))
    elif kind == 3:
        name = net.op("ExpandDims", [net.input(x)], dims=[1, 3])
        net.returns(name, x.reshape(2, 1, 3, 1, 4, 5))
        net.returns(net.op("Squeeze", [name], dims=[1]), x.reshape(2, 3, 1, 4, 5))
    elif kind == 4:
        axes = [int(one) for one in net.random.permutation(4)]
        net.returns(net.op("Transpose", [net.input(x)], axes=axes), x.transpose(axes))
    elif kind == 5:
        net.returns(net.op("Transpose", [net.input(x)]), x.transpose())
    elif kind == 6:
        net.returns(net.op("NCHW2NHWC", [net.input(x)]), np.moveaxis(x, 1, -1))
    elif kind == 7:
        net.returns(net.op("NHWC2NCHW", [net.input(x)]), np.moveaxis(x, -1, 1))
    else:
        net.returns(net.op("Shape", [net.input(x)]), np.array(x.shape))
        whole = np.trunc(x * 4)
        net.returns(net.op("Cast", [net.input(whole)], to=net.choice([2, 10])), whole.astype("int64"))


def parts(net):
    order = net.choice(ORDERS)
    shape, axis = [2, 3, 4, 4], net.integer(0, 3)
    given = {"axis": axis}
    if net.chance():
        given, axis = {"order": order}, 1 if order == "NCHW" else 3
    kind = net.integer(0, 2)
    if kind == 0:
        blobs = []
        for _ in range(net.integer(1, 3)):
            shape[axis] = net.integer(1, 4)
            blobs.append(net.values(shape))
        y, sizes = net.op("Concat", [net.input(one) for one in blobs], 2, **given)
        net.returns(y, np.concatenate(blobs, axis))
        net.returns(sizes, np.array([one.shape[axis] for one in blobs], "int32"))
    elif kind == 1:
        blobs = [net.values(shape) for _ in range(2)]
        y, _ = net.op("Concat", [net.input(one) for one in blobs], 2, axis=axis, add_axis=1)
        net.returns(y, np.stack(blobs, axis))
    else:
        sizes = [1, net.integer(1, 2)]
        shape[axis] = sum(sizes)
        x = net.values(shape)
        if sizes[1] == 2 or net.chance():
            given["split"] = sizes
        for name, value in zip(net.op("Split", [net.input(x)], 2, **given), np.split(x, [1], axis), strict=True):
            net.returns(name, value)


def slices(net):
    x = net.values(net.shape())
    starts = [net.integer(0, extent - 1) for extent in x.shape]
    ends = [net.choice([-1, net.integer(start, extent)]) for start, extent in zip(starts, x.shape, strict=True)]
    net.returns(net.op("Slice", [net.input(x)], starts=starts, ends=ends), caffe2.sliced(x, starts, ends))


def pad_image(net):
    order, mode = net.choice(ORDERS), net.choice(["constant", "reflect", "edge"])
    x, pads = image(net, 2, order), [net.integer(0, 2) for _ in range(4)]
    first = 2 if order == "NCHW" else 1
    widths = [(0, 0)] * 4
    widths[first], widths[first + 1] = (pads[0], pads[2]), (pads[1], pads[3])
    given = {"value": 1.5} if mode == "constant" else {}
    net.returns(net.op("PadImage", [net.input(x)], mode=mode, order=order, **spelled_pads(net, pads), **given),
                np.pad(x, widths, mode, **({"constant_values": 1.5} if given else {})))


def resized(net):
    kind = net.integer(0, 2)
    if kind == 0:
        order = net.choice(ORDERS)
        x, scale = image(net, 2, order, 2), net.integer(1, 3)
        return net.returns(net.op("UpsampleNearest", [net.input(x)], scale=scale, order=order),
                           caffe2.nearest(x, scale, scale, order))
    rows, columns = net.choice([0.5, 1.0, 1.5, 2.0, 2.3]), net.choice([0.7, 1.0, 2.0, 3.0])
    if kind == 1:
        order = net.choice(ORDERS)
        x = image(net, 2, order, 2)
        return net.returns(net.op("ResizeNearest", [net.input(x)], height_scale=rows, width_scale=columns, order=order),
                           caffe2.nearest(x, rows, columns, order))
    x = image(net, 2, "NCHW", 2)
    return net.returns(net.op("UpsampleBilinear", [net.input(x)], height_scale=2.0, width_scale=3.0),
                       caffe2.bilinear(x, 2, 3))


def shuffles(net):
    order, group = net.choice(ORDERS), net.choice([1, 2, 3])
    x = image(net, 6, order)
    net.returns(net.op("ChannelShuffle", [net.input(x)], group=group, order=order),
                caffe2.channel_shuffle(x, group, order))


def choices(net):
    x = net.values(net.shape(2, 3))
    axis = net.integer(0, x.ndim - 1)
    kind = net.integer(0, 4)
    if kind == 0:
        net.returns(net.op("Tile", [net.input(x)], tiles=2, axis=axis), np.concatenate([x, x], axis))
    elif kind == 1:
        indices = net.random.integers(0, x.shape[0], [2, 2]).astype("int32")
        net.returns(net.op("Gather", [net.input(x), net.input(indices)]), x[indices])
    elif kind == 2:
        op, compute = net.choice([("ArgMax", np.argmax), ("ArgMin", np.argmin)])
        keeps = net.integer(0, 1)
        net.returns(net.op(op, [net.input(x)], axis=axis, keepdims=keeps),
                    compute(x, axis, keepdims=bool(keeps)).astype("int64"))
    elif kind == 3:
        values, indices = net.op("TopK", [net.input(x)], 2, k=1)
        net.returns(values, x.max(-1, keepdims=True))
        net.returns(indices, x.argmax(-1, keepdims=True).astype("int64"))
    else:
        op, compute = net.choice([("ReduceMean", np.mean), ("ReduceSum", np.sum), ("ReduceMax", np.max),
                                  ("ReduceMin", np.min)])
        keeps, axes = net.integer(0, 1), sorted({axis, net.integer(0, x.ndim - 1)})
        net.returns(net.op(op, [net.input(x)], axes=axes, keepdims=keeps),
                    compute(x, tuple(axes), keepdims=bool(keeps)))


OTHERS = [activation, prelu, arithmetic, logic, several, weighted_sum, shapes, parts, slices, pad_image, resized,
          shuffles, choices]

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws nets of Caffe2 with one layer each, and what they compute."""
import caffe2_reference as caffe2
import numpy as np
from drawn_net import argument, image, spelled, spelled_pads

ORDERS = ("NCHW", "NHWC")


def conv(net):
    order, group = net.choice(ORDERS), net.choice([1, 1, 2, 3])
    kernels, strides = [net.integer(1, 3), net.integer(1, 3)], [net.integer(1, 3), net.integer(1, 3)]
    legacy = net.choice([0, 0, 0, 1, 2])
    dilations = [1, 1] if legacy else [net.integer(1, 2), net.integer(1, 2)]
    pads = [0] * 4 if legacy else [net.integer(0, 2) for _ in range(4)]
    channels = group * net.integer(1, 2)
    x = image(net, channels, order)
    w = caffe2.from_first(net.values([group * net.integer(1, 2), channels // group, *kernels]), order)
    b = net.values([w.shape[0]]) if net.chance() else None
    given = {**spelled(net, "kernel", kernels), **spelled(net, "stride", strides),
             **spelled(net, "dilation", dilations), **spelled_pads(net, pads), "order": order, "group": group,
             "legacy_pad": legacy}
    names = [net.input(x), net.parameter(w)] + ([net.parameter(b)] if b is not None else [])
    net.returns(net.op("Conv" if net.chance() else "Conv2D", names, **given),
                caffe2.conv(x, w, b, kernels, strides, dilations, pads, group, order, legacy))


def conv_of_other_ranks(net):
    count = net.choice([1, 3])
    kernels, strides = [2] * count, [net.integer(1, 2) for _ in range(count)]
    pads = [net.integer(0, 1) for _ in range(2 * count)]
    x, w = net.values([1, 2, *[5] * count]), net.values([3, 2, *kernels])
    net.returns(net.op("Conv", [net.input(x), net.parameter(w)], kernels=kernels, strides=strides, pads=pads),
                caffe2.conv(x, w, None, kernels, strides, [1] * count, pads))


def conv_transpose(net):
    order = net.choice(ORDERS)
    kernels, strides = [net.integer(2, 3), net.integer(2, 3)], [net.integer(1, 3), net.integer(1, 3)]
    pads, adjust = [net.integer(0, 1) for _ in range(4)], [net.integer(0, stride - 1) for stride in strides]
    x = image(net, 2, order, 3)
    w = caffe2.from_first(net.values([2, 3, *kernels]), order)
    b = net.values([3]) if net.chance() else None
    names = [net.input(x), net.parameter(w)] + ([net.parameter(b)] if b is not None else [])
    net.returns(net.op("ConvTranspose", names, kernels=kernels, strides=strides, pads=pads, adjs=adjust, order=order),
                caffe2.conv_transpose(x, w, b, kernels, strides, pads, adjust, order))


def pool(net):
    order, legacy = net.choice(ORDERS), net.choice([0, 0, 1, 2, 3, 3])
    is_maximum = net.chance()
    kernels, strides = [net.integer(2, 3), net.integer(2, 3)], [net.integer(1, 3), net.integer(1, 3)]
    pads = [net.integer(0, 1) for _ in range(4)] if legacy == 0 else [net.integer(0, 1)] * 4 if legacy == 3 else [0] * 4
    if legacy == 3:  # otherwise the last window may be behind the image
        strides = [min(pair) for pair in zip(kernels, strides, strict=True)]
    x = image(net, net.integer(1, 3), order)
    given = {**spelled(net, "kernel", kernels), **spelled(net, "stride", strides), **spelled_pads(net, pads),
             "order": order, "legacy_pad": legacy}
    counts = not is_maximum and legacy == 0 and net.chance(0.3)
    if counts:
        given["count_include_pad"] = 1
    net.returns(net.op("MaxPool" if is_maximum else "AveragePool", [net.input(x)], **given),
                caffe2.pool(x, is_maximum, kernels, strides, pads, order, legacy, counts))


def global_pool(net):
    order, is_maximum = net.choice(ORDERS), net.chance()
    x = image(net, 3, order)
    axes = (2, 3) if order == "NCHW" else (1, 2)
    net.returns(net.op("MaxPool" if is_maximum else "AveragePool", [net.input(x)], global_pooling=1, order=order),
                x.max(axes, keepdims=True) if is_maximum else x.mean(axes, keepdims=True))


def norms(net):
    order = net.choice(ORDERS)
    x = image(net, 3, order)
    scale, bias, mean = (net.values([3]) for _ in range(3))
    variance = np.abs(net.values([3])) + np.float32(0.1)
    parameters = [net.parameter(one) for one in (scale, bias)]
    kind = net.integer(0, 3)
    if kind == 0:
        names = [net.input(x), *parameters, net.parameter(mean), net.parameter(variance)]
        net.returns(net.op("SpatialBN", names, is_test=1, epsilon=1e-3, order=order),
                    caffe2.spatial_bn(x, scale, bias, mean, variance, 1e-3, order))
    elif kind == 1:
        net.returns(net.op("InstanceNorm", [net.input(x), *parameters], epsilon=1e-3, order=order),
                    caffe2.instance_norm(x, scale, bias, 1e-3, order))
    elif kind == 2:
        net.returns(net.op("AffineChannel", [net.input(x), *parameters], order=order),
                    caffe2.spatial_bn(x, scale, bias, scale * 0, scale * 0 + 1, 0, order))
    else:
        given = {"size": net.choice([3, 5]), "alpha": 0.3, "beta": 0.75, "bias": net.choice([1.0, 2.0])}
        net.returns(net.op("LRN", [net.input(x)], order=order, **given),
                    caffe2.lrn(x, given["size"], 0.3, 0.75, given["bias"], order))


def other_norms(net):
    x = net.values(net.shape(2))
    if net.chance():
        axis = net.integer(0, x.ndim - 1)
        return net.returns(net.op("Normalize", [net.input(x)], axis=axis),
                           x / np.sqrt((x.astype("f8") ** 2).sum(axis, keepdims=True)))
    rows = x.reshape(x.shape[0], -1)
    made = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-3)
    return net.returns(net.op("LayerNorm", [net.input(x)], epsilon=1e-3), made.reshape(x.shape))


def softmax(net):
    x = net.values(net.shape(2))
    axis = net.integer(0, x.ndim - 1)
    given = {} if axis == 1 and net.chance() else {"axis": axis}
    net.returns(net.op("Softmax", [net.input(x)], **given), caffe2.softmax(x, axis))


def fc(net):
    x = net.values(net.shape(2))
    axis = net.integer(1, x.ndim - 1)
    taken = int(np.prod(x.shape[axis:]))
    w, b = net.values([net.integer(1, 5), taken]), None
    given = {} if axis == 1 else {"axis": axis}
    if net.chance(0.3):
        w = net.values([2, 3, taken])
        given["axis_w"] = 2
    b = net.values([int(np.prod(w.shape[:-1]))])
    net.returns(net.op("FC", [net.input(x), net.parameter(w), net.parameter(b)], **given),
                caffe2.fc(x, w, b, axis, given.get("axis_w", 1)))


def products(net):
    m, k, n = net.integer(1, 5), net.integer(1, 5), net.integer(1, 5)
    first, second = net.chance(), net.chance()
    batch = [] if net.chance() else net.shape(1, 2)
    a, b = net.values([*batch, *([k, m] if first else [m, k])]), net.values([*batch, *([n, k] if second else [k, n])])
    net.returns(net.op("BatchMatMul" if batch else "MatMul", [net.input(a), net.input(b)], trans_a=int(first),
                       trans_b=int(second)),
                (a.swapaxes(-1, -2) if first else a) @ (b.swapaxes(-1, -2) if second else b))


def network(net):
    """Layers that write in place, constants of the net itself, and parameters that the init net computes."""
    x = net.values([2, 3, 9, 9])
    blob, value = net.input(x), x
    for _ in range(net.integer(1, 3)):
        w, b = net.values([4, value.shape[1], 3, 3]) * np.float32(0.4), net.values([4])
        blob = net.op("Conv", [blob, net.parameter(w), net.parameter(b)], kernel=3, pad=1)
        value = caffe2.conv(value, w, b, [3, 3], [1, 1], [1, 1], [1] * 4)
        net.write("Relu", [blob], [blob])
        value = np.maximum(value, 0)
        net.write("Dropout", [blob], [blob, net.name()], is_test=1, ratio=0.5)
    half = net.op("ConstantFill", [], shape=[1], value=0.5)
    blob = net.op("Mul", [blob, half], broadcast=1)
    value = value * np.float32(0.5)
    blob = net.op("AveragePool", [blob], global_pooling=1)
    value = value.mean((2, 3), keepdims=True)
    w, b = net.values([5, 4]), net.values([5])
    name = net.parameter(w)
    net.init.append(f'op {{ type: "Scale" input: "{name}" output: "{name}" {argument("scale", 2.0)} }}')
    blob = net.op("FC", [blob, name, net.parameter(b)])
    value = caffe2.softmax(caffe2.fc(value, 2 * w, b), 1)
    net.write("Softmax", [blob], [blob])
    net.returns(blob, value)


LAYERS = [conv, conv_of_other_ranks, conv_transpose, pool, global_pool, norms, other_norms, softmax, fc, products,
          network]

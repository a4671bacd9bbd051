# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws graphs of TensorFlow that 'lowtide run' converts, with one kind of operator each."""
import elementwise_cases
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops

REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm", "All", "Any"]


def conv(d):
    kernel = [d.integer(1, 4), d.integer(1, 4)]
    padding = d.choice(["SAME", "VALID", "EXPLICIT"])
    dilation = d.integer(1, 2)
    stride = 1 if dilation > 1 else d.integer(1, 3)
    x = d.image(least=8)
    channels = x.shape[3]
    explicit = [0, 0, *[d.integer(0, 2) for _ in range(4)], 0, 0] if padding == "EXPLICIT" else []
    common = {"strides": [1, stride, stride, 1], "padding": padding, "dilations": [1, dilation, dilation, 1],
              "explicit_paddings": explicit}
    if d.chance(0.4):
        y = raw.DepthwiseConv2dNative(input=x, filter=d.weight([*kernel, channels, d.integer(1, 3)]), **common)
    else:
        group = d.choice([one for one in (1, 2, 3) if channels % one == 0])
        filters = d.weight([*kernel, channels // group, group * d.integer(1, 4)])
        common["strides"][2] = d.integer(1, 2) if dilation == 1 else 1
        y = raw.Conv2D(input=x, filter=filters, **common)
    if d.chance():
        y = raw.BiasAdd(value=y, bias=d.weight([y.shape[3]]))
    if d.chance():
        raw.Relu(features=y)


def conv_transpose(d):
    stride, size = d.integer(1, 3), [d.integer(1, 4), d.integer(1, 4)]
    padding = d.choice(["SAME", "VALID"])
    y = [1, d.integer(5, 9), d.integer(5, 9), d.integer(1, 4)]
    out = [-(-extent // stride) if padding == "SAME" else (extent - kernel) // stride + 1
           for extent, kernel in zip(y[1:3], size, strict=True)]
    channels = d.integer(1, 4)
    raw.Conv2DBackpropInput(input_sizes=tf1.constant(y), filter=d.weight([*size, y[3], channels]),
                            out_backprop=d.input(d.values([1, *out, channels])), strides=[1, stride, stride, 1],
                            padding=padding)


def conv3d(d):
    x = d.input(d.values([1, d.integer(4, 6), d.integer(4, 6), d.integer(4, 6), 2]))
    stride = d.integer(1, 2)
    raw.Conv3D(input=x, filter=d.weight([d.integer(1, 3), d.integer(1, 3), 2, 2, 3]), strides=[1, stride, 1, stride, 1],
               padding=d.choice(["SAME", "VALID"]))


def pool(d):
    size, stride = [1, d.integer(1, 4), d.integer(1, 4), 1], [1, d.integer(1, 3), d.integer(1, 3), 1]
    x = d.image(least=5)
    padding = d.choice(["SAME", "VALID"])
    kind = d.integer(0, 2)
    if kind == 0:
        raw.MaxPool(input=x, ksize=size, strides=stride, padding=padding)
    elif kind == 1:
        raw.AvgPool(value=x, ksize=size, strides=stride, padding=padding)
    else:
        raw.MaxPoolV2(input=x, ksize=size, strides=stride, padding=padding)


def pool3d(d):
    x = d.input(d.values([1, 5, 6, 4, 2]))
    op = d.choice([raw.MaxPool3D, raw.AvgPool3D])
    op(input=x, ksize=[1, 2, 3, d.integer(1, 2), 1], strides=[1, 2, d.integer(1, 2), 1, 1],
       padding=d.choice(["SAME", "VALID"]))


def norm(d):
    x = d.image()
    channels = x.shape[3]
    scale, offset, mean = (d.weight([channels]) for _ in range(3))
    variance = tf1.constant(np.abs(d.values([channels])) + np.float32(0.2))
    op = d.choice([raw.FusedBatchNorm, raw.FusedBatchNormV2, raw.FusedBatchNormV3])
    y = op(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=d.choice([1e-3, 1e-4]),
           is_training=False)
    raw.Relu(features=y.y)


def lrn(d):
    raw.LRN(input=d.image(), depth_radius=d.integer(1, 5), bias=1.0, alpha=d.choice([1.0, 0.1]), beta=0.75)


def reduction(d):
    op = d.choice(REDUCTIONS)
    shape = d.shape()
    dtype = "bool" if op in ("All", "Any") else "float32" if op in ("Mean", "EuclideanNorm") else d.choice(
        ["float32", "int32"])
    axes = [axis if d.chance() else axis - len(shape) for axis in range(len(shape)) if d.chance()]
    values = d.values(shape, dtype)
    if op == "Prod" and dtype == "int32":
        values = np.clip(values, -2, 2)
    getattr(raw, op)(input=d.input(values), axis=np.array(axes, "int32"), keep_dims=d.chance())


def arg_reduction(d):
    shape = d.shape()
    op = d.choice([raw.ArgMax, raw.ArgMin])
    op(input=d.input(d.values(shape, d.choice(["float32", "int32"]))), dimension=d.integer(-len(shape), len(shape) - 1),
       output_type=d.choice([tf.int32, tf.int64]))


def softmax(d):
    d.choice([raw.Softmax, raw.LogSoftmax])(logits=d.input(d.values(d.shape())))


def cumsum(d):
    shape = d.shape()
    raw.Cumsum(x=d.input(d.values(shape)), axis=d.integer(-len(shape), len(shape) - 1), exclusive=d.chance(),
               reverse=d.chance())


def top_k(d):
    x = d.random.permutation(24).astype("float32").reshape(2, 3, 4)
    raw.TopKV2(input=d.input(x), k=d.integer(1, 4))


def products(d):
    kind = d.integer(0, 3)
    m, k, n = d.integer(1, 7), d.integer(1, 7), d.integer(1, 7)
    first, second = d.chance(), d.chance()
    if kind == 0:
        raw.MatMul(a=d.input(d.values([k, m] if first else [m, k])), b=d.weight([n, k] if second else [k, n]),
                   transpose_a=first, transpose_b=second)
    elif kind < 3:
        batch = d.shape(1, 2, 3)  # of both, because TensorFlow 2.21 with oneDNN gives wrong rows where one is broadcast
        raw.BatchMatMulV2(x=d.input(d.values([*batch, *([k, m] if first else [m, k])])),
                          y=d.input(d.values([*batch, *([n, k] if second else [k, n])])), adj_x=first, adj_y=second)
    else:
        raw.Einsum(inputs=[d.input(d.values([2, m, k])), d.input(d.values([2, k, n]))],
                   equation=d.choice(["bmk,bkn->bmn", "bmk,bkn->bnm", "bmk,bkn->mn"]))


def reshape(d):
    shape = d.shape(2)
    x = d.input(d.values(shape))
    kind = d.integer(0, 4)
    if kind == 0:
        raw.Reshape(tensor=x, shape=[shape[0], -1])
    elif kind == 1:
        raw.ExpandDims(input=x, axis=d.integer(-len(shape) - 1, len(shape)))
    elif kind == 2:
        raw.Squeeze(input=raw.ExpandDims(input=x, axis=1), axis=d.choice([[1], []]))
    elif kind == 3:  # the shape is computed
        extents = raw.Shape(input=x)
        first = raw.StridedSlice(input=extents, begin=[0], end=[1], strides=[1], shrink_axis_mask=1)
        raw.Reshape(tensor=x, shape=raw.Pack(values=[first, -1]))
    else:
        axes = d.random.permutation(len(shape)).astype("int32")
        raw.Transpose(x=x, perm=axes)


def joined(d):
    shape = d.shape()
    axis = d.integer(0, len(shape) - 1)
    parts = []
    for _ in range(d.integer(1, 3)):
        extents = list(shape)
        extents[axis] = d.integer(1, 4)
        parts.append(d.input(d.values(extents)))
    negative = axis - len(shape) if d.chance() else axis
    if d.chance(0.6):
        raw.ConcatV2(values=parts, axis=negative) if len(parts) > 1 else raw.Identity(input=parts[0])
    else:
        same = [d.input(d.values(shape)) for _ in range(d.integer(1, 3))]
        raw.Pack(values=same, axis=d.integer(-len(shape) - 1, len(shape)))


def parted(d):
    shape = d.shape()
    axis = d.integer(0, len(shape) - 1)
    kind = d.integer(0, 2)
    if kind == 0:
        shape[axis] = 2 * d.integer(1, 3)
        parts = raw.Split(axis=axis - len(shape) if d.chance() else axis, value=d.input(d.values(shape)), num_split=2)
    elif kind == 1:
        shape[axis] = 6
        parts = raw.SplitV(value=d.input(d.values(shape)), size_splits=[1, d.choice([3, -1]), 2], axis=axis,
                           num_split=3)
    else:
        parts = raw.Unpack(value=d.input(d.values(shape)), num=shape[axis], axis=axis)
    for part in parts[:2] if d.chance() else parts:
        raw.Neg(x=part)


def sliced(d):
    shape = d.shape()
    x = d.input(d.values(shape))
    if d.chance(0.3):
        begin = [d.integer(0, extent - 1) for extent in shape]
        size = [-1 if d.chance(0.3) else d.integer(0, extent - at) for extent, at in zip(shape, begin, strict=True)]
        raw.Slice(input=x, begin=begin, size=size)
        return
    entries, taken = [], d.integer(1, len(shape))
    for extent in shape[:taken]:
        kind = d.integer(0, 3)
        if kind == 0:
            entries.append(d.integer(-extent, extent - 1))
        else:
            step = d.choice([1, 1, 2, -1, -2])
            begin = None if d.chance() else d.integer(-extent, extent - 1)
            end = None if d.chance() else d.integer(-extent - 1, extent + 1)
            entries.append(slice(begin, end, step))
    for _ in range(d.choice([0, 0, 1, 1, 2])):  # with as many indices, the rank stays as it is
        entries.insert(d.integer(0, len(entries)), tf.newaxis)
    if d.chance(0.3):
        entries.append(Ellipsis)
    tf.identity(x[tuple(entries)])


def padded(d):
    shape = [extent + 2 for extent in d.shape()]
    paddings = [[d.integer(0, 2), d.integer(0, 2)] for _ in shape]
    x = d.input(d.values(shape))
    kind = d.integer(0, 2)
    if kind == 0:
        raw.Pad(input=x, paddings=paddings)
    elif kind == 1:
        raw.PadV2(input=x, paddings=paddings, constant_values=np.float32(1.5))
    else:
        raw.MirrorPad(input=x, paddings=paddings, mode=d.choice(["REFLECT", "SYMMETRIC"]))


def tiled(d):
    shape = d.shape()
    kind = d.integer(0, 2)
    if kind == 0:
        raw.Tile(input=d.input(d.values(shape)), multiples=[d.integer(1, 3) for _ in shape])
    elif kind == 1:
        axes = [axis for axis in range(len(shape)) if d.chance()]
        raw.ReverseV2(tensor=d.input(d.values(shape)), axis=np.array(axes, "int32"))
    else:
        raw.BroadcastTo(input=d.input(d.values([1, *shape[1:]])), shape=[3, *shape])


def gathered(d):
    shape = d.shape(1, 3)
    x = d.input(d.values(shape))
    axis = d.integer(0, len(shape) - 1)
    kind = d.integer(0, 2)
    if kind == 0:
        raw.GatherV2(params=x, indices=d.input(d.random.integers(0, shape[axis], d.shape(0, 2)).astype("int32")),
                     axis=axis)
    elif kind == 1:
        raw.GatherNd(params=x, indices=d.input(d.random.integers(0, shape[0], [4, 1]).astype(d.choice(
            ["int32", "int64"]))))
    else:
        raw.OneHot(indices=d.input(d.random.integers(-2, 6, d.shape(1, 2)).astype("int32")), depth=5,
                   on_value=np.float32(2), off_value=np.float32(-1), axis=d.choice([-1, 0, 1]))


def resized(d):
    x = d.image()
    size = [d.integer(1, 15), d.integer(1, 15)]
    if d.chance(0.3):
        size = [x.shape[1] * 2, x.shape[2] * 3]
    flags = d.choice([{}, {"align_corners": True}, {"half_pixel_centers": True}])
    if d.chance():
        raw.ResizeBilinear(images=x, size=size, **flags)
    else:
        raw.ResizeNearestNeighbor(images=x, size=size, **flags)


def blocks(d):
    size = d.integer(2, 3)
    kind = d.integer(0, 3)
    if kind == 0:
        raw.DepthToSpace(input=d.image(size * size * 2), block_size=size)
    elif kind == 1:
        raw.SpaceToDepth(input=d.input(d.values([1, 2 * size, 3 * size, 2])), block_size=size)
    elif kind == 2:
        raw.SpaceToBatchND(input=d.input(d.values([2, 4, 6, 3])), block_shape=[2, 3],
                           paddings=[[d.choice([0, 2]), 2], [0, d.choice([0, 3])]])
    else:
        raw.BatchToSpaceND(input=d.input(d.values([12, 3, 2, 2])), block_shape=[2, 3],
                           crops=[[d.integer(0, 2), 1], [0, d.integer(0, 2)]])


def fills(d):
    shape = d.shape()
    x = d.input(d.values(shape))
    kind = d.integer(0, 1)
    made = raw.Fill(dims=raw.Shape(input=x), value=np.float32(0.5)) if kind else raw.ZerosLike(x=x)
    raw.AddV2(x=made, y=x)


CASES = elementwise_cases.CASES + [
    conv, conv_transpose, conv3d, pool, pool3d, norm, lrn, reduction, arg_reduction, softmax, cumsum, top_k, products,
    reshape, joined, parted, sliced, padded, tiled, gathered, resized, blocks, fills]

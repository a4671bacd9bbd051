# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Random nodes of single operators for record_shapes.py.

A case is a function that adds nodes to the default graph. TensorFlow may refuse them; then there is no such case.
"""
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops
PADDINGS = ("SAME", "VALID")


def extents(chance, rank, most=6):
    return [chance.randint(1, most) for _ in range(rank)]


def tensor(chance, *shape, dtype=tf.float32):
    return tf1.placeholder(dtype, list(shape))


def some(chance, low=0, high=5):
    return tensor(chance, *extents(chance, chance.randint(low, high)))


def image(chance, channels=None, edge=12):
    """A batch of images, and whether channels are first."""
    is_first = chance.random() < 0.3
    batch, height, width = chance.randint(1, 3), chance.randint(5, edge), chance.randint(5, edge)
    depth = channels or chance.randint(1, 5)
    shape = [batch, depth, height, width] if is_first else [batch, height, width, depth]
    return tensor(chance, *shape), is_first, shape


def by_axis(height, width, is_first, rest=1):
    return [rest, rest, height, width] if is_first else [rest, height, width, rest]


def ints(values, dtype=tf.int32):
    return tf.constant(values, dtype)


def any_ints(chance, values):
    return ints(values, chance.choice((tf.int32, tf.int64)))


def axis_of(chance, rank):
    return chance.randint(-rank, rank - 1)


def window_attributes(chance, is_first, may_dilate=True, may_be_explicit=True):
    attributes = {"strides": by_axis(chance.randint(1, 3), chance.randint(1, 3), is_first),
                  "padding": chance.choice(PADDINGS), "data_format": "NCHW" if is_first else "NHWC"}
    if may_dilate and chance.random() < 0.3:
        attributes["dilations"] = by_axis(chance.randint(1, 2), chance.randint(1, 2), is_first)
    if may_be_explicit and chance.random() < 0.4:
        attributes["padding"] = "EXPLICIT"
        sides = [chance.randint(0, 2) for _ in range(4)]
        attributes["explicit_paddings"] = [0] * 4 + sides if is_first else [0] * 2 + sides + [0] * 2
    return attributes


def convolve(chance, op):
    x, is_first, shape = image(chance)
    channels = shape[1 if is_first else 3]
    weights = tensor(chance, chance.randint(1, 4), chance.randint(1, 4), channels, chance.randint(1, 4))
    return op(input=x, filter=weights, **window_attributes(chance, is_first)), x, weights


def conv(chance):
    convolve(chance, raw.Conv2D)


def conv_gradients(chance):
    is_depthwise = chance.random() < 0.5
    op = raw.DepthwiseConv2dNative if is_depthwise else raw.Conv2D
    y, x, weights = convolve(chance, op)
    tf.gradients(tf.reduce_sum(y), [x, weights])


def pool(chance):
    x, is_first, _ = image(chance)
    kind = chance.choice((raw.MaxPool, raw.AvgPool))
    given = {"input": x} if kind is raw.MaxPool else {"value": x}
    ksize = by_axis(chance.randint(1, 4), chance.randint(1, 4), is_first)
    y = kind(**given, ksize=ksize, **window_attributes(chance, is_first, False, kind is raw.MaxPool))
    tf.gradients(y, x)


def max_pool_of_inputs(chance):
    x, is_first, _ = image(chance)
    raw.MaxPoolV2(input=x, ksize=ints(by_axis(2, 3, is_first)), strides=ints(by_axis(2, 1, is_first)),
                  padding=chance.choice(PADDINGS), data_format="NCHW" if is_first else "NHWC")


def max_pool_with_argmax(chance):
    x = tensor(chance, *extents(chance, 4, 9))
    y = raw.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, chance.randint(1, 2), 1, 1],
                              padding=chance.choice(PADDINGS), Targmax=chance.choice((tf.int32, tf.int64)))
    tf.gradients(y.output, x)


def volume(chance):
    x = tensor(chance, 2, *[chance.randint(4, 8) for _ in range(3)], 3)
    weights = tensor(chance, *extents(chance, 3, 3), 3, 4)
    strides = [1, *extents(chance, 3, 2), 1]
    y = raw.Conv3D(input=x, filter=weights, strides=strides, padding=chance.choice(PADDINGS))
    pooled = raw.MaxPool3D(input=y, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding="SAME")
    pooled = raw.AvgPool3D(input=pooled, ksize=[1, 1, 2, 2, 1], strides=strides, padding="SAME")
    tf.gradients(tf.reduce_sum(pooled), [x, weights])


def norms(chance):
    x, is_first, shape = image(chance)
    row = tensor(chance, shape[1 if is_first else 3])
    form = "NCHW" if is_first else "NHWC"
    op = chance.choice((raw.FusedBatchNorm, raw.FusedBatchNormV2, raw.FusedBatchNormV3))
    y = op(x=x, scale=row, offset=row, mean=ints([], tf.float32), variance=ints([], tf.float32), data_format=form)
    tf.gradients(y.y, [x, row])


def resize(chance):
    x = tensor(chance, *extents(chance, 4, 9), dtype=chance.choice((tf.float32, tf.float16)))
    size = ints(extents(chance, 2, 20))
    nearest = raw.ResizeNearestNeighbor(images=x, size=size)
    bilinear = raw.ResizeBilinear(images=x, size=size)
    raw.ResizeArea(images=x, size=size)
    raw.ResizeBicubic(images=x, size=size)
    tf.gradients(tf.cast(nearest, tf.float32) + bilinear, x)


def crop(chance):
    raw.CropAndResize(image=tensor(chance, 2, 8, 8, 3), boxes=tensor(chance, 5, 4),
                      box_ind=tensor(chance, 5, dtype=tf.int32), crop_size=ints(extents(chance, 2)))


def blocks(chance):
    block = chance.randint(2, 3)
    is_first = chance.random() < 0.3
    form = "NCHW" if is_first else "NHWC"
    height, width = (block * one for one in extents(chance, 2, 3))
    depth = chance.randint(1, 3)
    x = tensor(chance, *([2, depth, height, width] if is_first else [2, height, width, depth]))
    y = raw.SpaceToDepth(input=x, block_size=block, data_format=form)
    raw.DepthToSpace(input=y, block_size=block, data_format=form)


def batches(chance):
    x = tensor(chance, *extents(chance, 2, 3), *extents(chance, chance.randint(2, 3), 9))
    sizes = extents(chance, 2, 3)
    paddings = [extents(chance, 2, 4) for _ in range(2)]
    y = raw.SpaceToBatchND(input=x, block_shape=any_ints(chance, sizes), paddings=any_ints(chance, paddings))
    raw.BatchToSpaceND(input=y, block_shape=ints(sizes), crops=ints(paddings))


def patches(chance):
    raw.ExtractImagePatches(images=tensor(chance, 2, *[chance.randint(6, 9) for _ in range(2)], 3),
                            ksizes=[1, *extents(chance, 2, 3), 1], strides=[1, *extents(chance, 2, 3), 1],
                            rates=[1, *extents(chance, 2, 2), 1], padding=chance.choice(PADDINGS))


def tile(chance):
    x = some(chance)
    raw.Tile(input=x, multiples=any_ints(chance, [chance.randint(0, 3) for _ in x.shape]))


def slices(chance):
    x = some(chance, 1)
    begin = [chance.randint(0, extent) for extent in x.shape]
    size = [chance.choice((-1, chance.randint(0, extent - at))) for at, extent in zip(begin, x.shape)]
    raw.Slice(input=x, begin=ints(begin), size=ints(size))


def slice_bounds(chance, count):
    """The inputs and attributes of a StridedSlice with some entries."""
    mask = {f"{name}_mask": sum(1 << at for at in range(count) if chance.random() < share)
            for name, share in (("begin", 0.3), ("end", 0.3), ("new_axis", 0.15), ("shrink_axis", 0.2))}
    mask["ellipsis_mask"] = 1 << chance.randrange(count) if count and chance.random() < 0.3 else 0
    lists = [[chance.randint(-7, 7) for _ in range(count)] for _ in range(2)]
    lists.append([chance.choice((1, 1, 1, 2, 3, -1, -2)) for _ in range(count)])
    return {name: ints(one) for name, one in zip(("begin", "end", "strides"), lists)}, mask


def strided_slice(chance):
    x = some(chance, 1)
    given, masks = slice_bounds(chance, chance.randint(0, len(x.shape) + 1))
    y = raw.StridedSlice(input=x, **given, **masks)
    tf.gradients(y, x)


def pack(chance):
    x = [some(chance, 0, 4)]
    x += [tensor(chance, *x[0].shape) for _ in range(chance.randint(0, 3))]
    y = raw.Pack(values=x, axis=axis_of(chance, len(x[0].shape) + 1))
    raw.Unpack(value=y, num=y.shape[0], axis=0)
    axis = axis_of(chance, len(y.shape))
    raw.Unpack(value=y, num=y.shape[axis], axis=axis)


def concat(chance):
    shape = extents(chance, chance.randint(1, 4))
    axis = axis_of(chance, len(shape))
    parts = []
    for _ in range(chance.randint(2, 4)):
        shape[axis] = chance.randint(0, 4)
        parts.append(tensor(chance, *shape))
    raw.ConcatV2(values=parts, axis=axis)
    y = raw.Concat(concat_dim=axis % len(shape), values=parts)
    tf.gradients(y, parts)


def split(chance):
    x = some(chance, 1)
    axis = axis_of(chance, len(x.shape))
    extent = x.shape[axis]
    raw.Split(axis=axis, value=x, num_split=chance.choice([one for one in range(1, extent + 1) if extent % one == 0]))
    sizes = [chance.randint(0, extent), -1] if chance.random() < 0.5 else [1, extent - 1]
    raw.SplitV(value=x, size_splits=any_ints(chance, sizes), axis=axis, num_split=2)


def pad(chance):
    x = some(chance, 1)
    paddings = ints([[chance.randint(0, 2), chance.randint(0, 2)] for _ in x.shape])
    raw.Pad(input=x, paddings=paddings)
    raw.PadV2(input=x, paddings=paddings, constant_values=1.0)
    y = raw.MirrorPad(input=x, paddings=paddings, mode=chance.choice(("REFLECT", "SYMMETRIC")))
    tf.gradients(y, x)


def gather(chance):
    x = some(chance, 1)
    indices = tensor(chance, *extents(chance, chance.randint(0, 2)), dtype=tf.int32)
    raw.Gather(params=x, indices=indices)
    y = raw.GatherV2(params=x, indices=indices, axis=axis_of(chance, len(x.shape)))
    tf.gradients(y, x)


def batched_gather(chance):
    shape = extents(chance, 4)
    batch = chance.randint(1, 2)
    indices = tensor(chance, *shape[:batch], *extents(chance, chance.randint(0, 2)), dtype=tf.int32)
    axis = chance.randint(batch, 3)
    raw.GatherV2(params=tensor(chance, *shape), indices=indices, axis=axis, batch_dims=batch)


def gather_places(chance):
    x = some(chance, 1)
    depth = chance.randint(1, len(x.shape))
    y = raw.GatherNd(params=x, indices=tensor(chance, *extents(chance, 2), depth, dtype=tf.int32))
    tf.gradients(y, x)


def segments(chance):
    x = some(chance, 1)
    ids = tensor(chance, *x.shape[:chance.randint(1, len(x.shape))], dtype=tf.int32)
    raw.UnsortedSegmentSum(data=x, segment_ids=ids, num_segments=chance.randint(1, 9))


def one_hot(chance):
    dtype = chance.choice((tf.int32, tf.int64, tf.uint8))
    indices = tensor(chance, *extents(chance, chance.randint(0, 3)), dtype=dtype)
    raw.OneHot(indices=indices, depth=chance.randint(1, 9), on_value=1.0, off_value=0.0,
               axis=chance.randint(-1, len(indices.shape)))


def arg_reduce(chance):
    x = some(chance, 1)
    for op in (raw.ArgMax, raw.ArgMin):
        op(input=x, dimension=axis_of(chance, len(x.shape)), output_type=chance.choice((tf.int32, tf.int64)))


def reduce(chance):
    x = some(chance)
    axes = sorted(chance.sample(range(len(x.shape)), chance.randint(0, len(x.shape))))
    keeps = chance.random() < 0.5
    for op in (raw.Sum, raw.Mean, raw.Max, raw.EuclideanNorm):
        op(input=x, axis=ints(axes), keep_dims=keeps)
    for op in (raw.All, raw.Any):
        op(input=tf.less(x, 1), axis=ints(axes), keep_dims=keeps)
    tf.gradients(tf.reduce_prod(x, axes or None), x)


def broadcasts(chance):
    shape = extents(chance, chance.randint(0, 4))
    operands = []
    for _ in range(3):
        skipped = chance.randint(0, len(shape))
        operands.append(tensor(chance, *[chance.choice((1, extent)) for extent in shape[skipped:]]))
    a, b, c = operands
    y = raw.SelectV2(condition=tf.less(a, 1), t=b, e=c)
    for op in (raw.DivNoNan, raw.Xdivy, raw.SquaredDifference):
        y += op(x=a, y=b)
    raw.LogicalAnd(x=tf.greater_equal(a, 1), y=raw.ApproximateEqual(x=c, y=c))
    tf.gradients(y, operands)
    raw.BroadcastTo(input=b, shape=any_ints(chance, shape))
    tf1.where(tf.math.is_finite(a), a, a)


def top_k(chance):
    x = some(chance, 1)
    k = chance.randint(0, x.shape[-1])
    raw.TopKV2(input=x, k=k)
    rows = tensor(chance, 5, 7)
    raw.InTopK(predictions=rows, targets=tensor(chance, 5, dtype=tf.int32), k=k)
    raw.InTopKV2(predictions=rows, targets=tensor(chance, 5, dtype=tf.int64), k=ints(k, tf.int64))


def scans(chance):
    x = some(chance, 1)
    axis = axis_of(chance, len(x.shape))
    tf.gradients(raw.Cumsum(x=x, axis=axis) + raw.Cumprod(x=x, axis=axis), x)
    raw.ReverseV2(tensor=x, axis=[axis])
    raw.Roll(input=x, shift=[1], axis=[axis])
    raw.ClipByValue(t=x, clip_value_min=0.0, clip_value_max=1.0)
    raw.EnsureShape(input=x, shape=x.shape)
    raw.IdentityN(input=[x, ints([1, 2]), tf.less(x, 1)])
    raw.ShapeN(input=[x, x])


def bits(chance):
    x = tensor(chance, *extents(chance, 2), 2, dtype=chance.choice((tf.float32, tf.float16, tf.int64)))
    raw.Bitcast(input=x, type=chance.choice((tf.uint8, tf.int32, tf.float16, tf.float64)))


def randoms(chance):
    shape = any_ints(chance, extents(chance, chance.randint(0, 4)))
    raw.RandomUniform(shape=shape, dtype=tf.float32)
    raw.TruncatedNormal(shape=shape, dtype=tf.float16)
    raw.RandomUniformInt(shape=shape, minval=0, maxval=9)
    raw.StatelessRandomUniform(shape=shape, seed=[1, 2])
    raw.Multinomial(logits=tensor(chance, 3, 5), num_samples=chance.randint(1, 9))
    raw.RandomShuffle(value=some(chance, 1))
    raw.Empty(shape=tf.cast(shape, tf.int32), dtype=tf.float32)
    raw.PlaceholderWithDefault(input=tf.zeros([2, 3]), shape=[2, 3])
    raw.LinSpace(start=0.0, stop=1.0, num=chance.randint(1, 9))


def products(chance):
    batch = extents(chance, chance.randint(0, 2))
    rows, inner, columns = extents(chance, 3)
    adjoint = [chance.random() < 0.5 for _ in range(2)]
    a = tensor(chance, *[chance.choice((1, one)) for one in batch], *([inner, rows] if adjoint[0] else [rows, inner]))
    b = tensor(chance, *batch[chance.randint(0, len(batch)):], *([columns, inner] if adjoint[1] else [inner, columns]))
    y = raw.BatchMatMulV2(x=a, y=b, adj_x=adjoint[0], adj_y=adjoint[1])
    tf.gradients(y, [a, b])


def losses(chance):
    logits = tensor(chance, *extents(chance, chance.randint(2, 4)))
    labels = tensor(chance, *logits.shape[:-1], dtype=tf.int32)
    y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    y += tf1.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(logits), logits=logits)
    tf.gradients(y, logits)


def quantized(chance):
    x = some(chance, 1)
    y = raw.FakeQuantWithMinMaxVars(inputs=x, min=0.0, max=1.0) + raw.FakeQuantWithMinMaxArgs(inputs=x)
    tf.gradients(y, x)


def optimizers(chance):
    """Updates of variables that are references, and of resources."""
    shape = extents(chance, 2)
    for uses_resources in (False, True):
        with tf1.variable_scope(f"scope{uses_resources}", use_resource=uses_resources):
            variable = tf1.get_variable("v", shape)
            loss = tf.reduce_sum(tf.square(variable))
            train = tf1.train
            all_kinds = (train.AdagradOptimizer(1.0), train.AdadeltaOptimizer(), train.FtrlOptimizer(1.0),
                         train.RMSPropOptimizer(1.0, centered=chance.random() < 0.5),
                         train.ProximalGradientDescentOptimizer(1.0))
            for at, optimizer in enumerate(all_kinds):
                with tf1.variable_scope(f"o{at}"):
                    optimizer.minimize(loss)
            rows = tf.gather(variable, tensor(chance, 3, dtype=tf.int32))
            train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows), var_list=[variable])


CASES = (
    conv, conv_gradients, pool, max_pool_of_inputs, max_pool_with_argmax, volume, norms, resize, crop, blocks, batches,
    patches, tile, slices, strided_slice, pack, concat, split, pad, gather, batched_gather, gather_places, segments,
    one_hot, arg_reduce, reduce, broadcasts, top_k, scans, bits, randoms, products, losses, quantized, optimizers)

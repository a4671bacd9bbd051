# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What operators of Caffe2 compute, written from their documentation with NumPy, in the slow obvious way."""
import itertools
import math

import numpy as np


def to_first(x, order):
    return x if order == "NCHW" else np.moveaxis(x, -1, 1)


def from_first(x, order):
    return x if order == "NCHW" else np.moveaxis(x, 1, -1)


def legacy_extent(extent, kernel, stride, begin, legacy):
    """The extent behind a window and the pads of VALID (1), SAME (2) and Caffe's pools (3)."""
    if legacy == 1:
        return (extent - kernel) // stride + 1, 0, 0
    if legacy == 2:
        made = math.ceil(extent / stride)
        needed = max((made - 1) * stride + kernel - extent, 0)
        return made, needed // 2, needed - needed // 2
    made = math.ceil((extent + 2 * begin - kernel) / stride) + 1
    if begin > 0 and (made - 1) * stride >= extent + begin:
        made -= 1
    return made, begin, max((made - 1) * stride + kernel - extent - begin, 0)


def window_places(x, kernels, strides, dilations, pads, legacy):
    """[(begin, made)] by spatial axis of an image with its channels first."""
    places = []
    for axis, kernel in enumerate(kernels):
        covered = (kernel - 1) * dilations[axis] + 1
        begin, end = pads[axis], pads[axis + len(kernels)]
        extent = x.shape[2 + axis]
        if legacy:
            made, begin, _ = legacy_extent(extent, covered, strides[axis], begin, legacy)
        else:
            made = (extent + begin + end - covered) // strides[axis] + 1
        places.append((begin, made))
    return places


def taps(x, kernels, strides, dilations, places, at):
    """The elements that the window at one place covers, with None for those outside: [(tap, slice or None)]."""
    for tap in itertools.product(*[range(kernel) for kernel in kernels]):
        where = [at[axis] * strides[axis] - places[axis][0] + tap[axis] * dilations[axis]
                 for axis in range(len(kernels))]
        inside = all(0 <= one < extent for one, extent in zip(where, x.shape[2:], strict=True))
        yield tap, (x[(slice(None), slice(None), *where)] if inside else None)


def conv(x, w, b, kernels, strides, dilations, pads, group=1, order="NCHW", legacy=0):
    x, w = to_first(x, order), to_first(w, order)
    places = window_places(x, kernels, strides, dilations, pads, legacy)
    made = np.zeros((x.shape[0], w.shape[0], *[place[1] for place in places]), "f8")
    channels, filters = x.shape[1] // group, w.shape[0] // group
    for at in itertools.product(*[range(place[1]) for place in places]):
        for tap, values in taps(x, kernels, strides, dilations, places, at):
            if values is None:
                continue
            for one in range(group):
                part = values[:, one * channels:(one + 1) * channels].astype("f8")
                weight = w[(slice(one * filters, (one + 1) * filters), slice(None), *tap)].astype("f8")
                made[(slice(None), slice(one * filters, (one + 1) * filters), *at)] += part @ weight.T
    if b is not None:
        made += b.reshape(1, -1, *[1] * len(kernels))
    return from_first(made, order).astype("f4")


def conv_transpose(x, w, b, kernels, strides, pads, adjust, order="NCHW"):
    x, w = to_first(x, order), to_first(w, order)
    extents = [(x.shape[2 + axis] - 1) * strides[axis] + kernels[axis] + adjust[axis] - pads[axis] - pads[axis + 2]
               for axis in range(2)]
    made = np.zeros((x.shape[0], w.shape[1], *extents), "f8")
    for at in itertools.product(*[range(extent) for extent in x.shape[2:]]):
        for tap in itertools.product(*[range(kernel) for kernel in kernels]):
            where = [at[axis] * strides[axis] + tap[axis] - pads[axis] for axis in range(2)]
            if all(0 <= one < extent for one, extent in zip(where, extents, strict=True)):
                made[(slice(None), slice(None), *where)] += x[(slice(None), slice(None), *at)].astype("f8") @ w[
                    (slice(None), slice(None), *tap)].astype("f8")
    if b is not None:
        made += b.reshape(1, -1, 1, 1)
    return from_first(made, order).astype("f4")


def pool(x, is_maximum, kernels, strides, pads, order="NCHW", legacy=0, counts_pads=False):
    x = to_first(x, order)
    ones = [1] * len(kernels)
    places = window_places(x, kernels, strides, ones, pads, legacy)
    made = np.zeros((*x.shape[:2], *[place[1] for place in places]), "f8")
    for at in itertools.product(*[range(place[1]) for place in places]):
        values = [value.astype("f8") for _, value in taps(x, kernels, strides, ones, places, at) if value is not None]
        count = math.prod(kernels) if counts_pads else len(values)
        made[(slice(None), slice(None), *at)] = np.max(values, 0) if is_maximum else np.sum(values, 0) / count
    return from_first(made, order).astype("f4")


def lrn(x, size, alpha, beta, bias, order="NCHW"):
    x = to_first(x, order).astype("f8")
    made = np.empty_like(x)
    for channel in range(x.shape[1]):
        near = x[:, max(channel - size // 2, 0):channel + size // 2 + 1]
        made[:, channel] = x[:, channel] / (bias + alpha / size * (near ** 2).sum(1)) ** beta
    return from_first(made, order).astype("f4")


def spatial_bn(x, scale, bias, mean, variance, epsilon, order="NCHW"):
    x = to_first(x, order)
    shape = (1, -1, *[1] * (x.ndim - 2))
    made = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + epsilon) * scale.reshape(shape)
    return from_first(made + bias.reshape(shape), order)


def instance_norm(x, scale, bias, epsilon, order="NCHW"):
    x = to_first(x, order)
    axes = tuple(range(2, x.ndim))
    shape = (1, -1, *[1] * (x.ndim - 2))
    made = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)
    return from_first(made * scale.reshape(shape) + bias.reshape(shape), order)


def softmax(x, axis):
    rows = x.reshape(math.prod(x.shape[:axis]), -1)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).reshape(x.shape)


def fc(x, w, b, axis=1, axis_w=1):
    rows = x.reshape(math.prod(x.shape[:axis]), -1)
    columns = w.reshape(math.prod(w.shape[:axis_w]), -1)
    return (rows @ columns.T + b.reshape(-1)).reshape(*x.shape[:axis], -1)


def placed(a, b, axis):
    """The second operand of an operator with `broadcast`: from `axis` on, or as the last axes of the first."""
    axis = a.ndim - b.ndim if axis < 0 else axis
    return b.reshape(*b.shape, *[1] * (a.ndim - axis - b.ndim))


def channel_shuffle(x, group, order="NCHW"):
    x = to_first(x, order)
    made = x.reshape(x.shape[0], group, x.shape[1] // group, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)
    return from_first(made, order)


def sliced(x, starts, ends):
    """A negative begin or end counts from behind the last element."""
    where = []
    for extent, start, end in zip(x.shape, starts, ends, strict=True):
        where.append(slice(start if start >= 0 else extent + 1 + start, end if end >= 0 else extent + 1 + end))
    return x[tuple(where)]


def nearest(x, rows, columns, order="NCHW"):
    x = to_first(x, order)
    extents = [int(np.float32(x.shape[2 + axis]) * np.float32(scale)) for axis, scale in enumerate((rows, columns))]
    at = [[min(int(np.float32(one) / np.float32(scale)), given - 1) for one in range(made)]
          for scale, made, given in zip((rows, columns), extents, x.shape[2:], strict=True)]
    return from_first(x[:, :, at[0]][:, :, :, at[1]], order)


def bilinear(x, rows, columns):
    """Corners are aligned."""
    for axis, scale in ((2, rows), (3, columns)):
        given, made = x.shape[axis], int(x.shape[axis] * scale)
        at = np.arange(made) * ((given - 1) / (made - 1) if made > 1 else 0)
        low = np.minimum(np.floor(at).astype(int), given - 1)
        high = np.minimum(low + 1, given - 1)
        share = (at - low).reshape([-1 if one == axis else 1 for one in range(4)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x


def elu(x, alpha):
    return np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))

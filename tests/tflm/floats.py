# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators of the generated networks in floating point, on arrays of NHWC. They estimate what a network computes,
from which its quantization follows, and they show whether the network that was written is the one that was meant.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from schema import RELU, RELU6, RELU_N1, SAME, TANH


def activate(values, fused):
    """The activation that an operator applies to its result."""
    if fused == RELU:
        return np.maximum(values, 0)
    if fused == RELU6:
        return np.clip(values, 0, 6)
    if fused == RELU_N1:
        return np.clip(values, -1, 1)
    return np.tanh(values) if fused == TANH else values


def window_size(kernel, dilation):
    return (kernel - 1) * dilation + 1


def result_extent(extent, window, stride, padding):
    return -(-extent // stride) if padding == SAME else (extent - window) // stride + 1


def pads(extent, window, stride, padding):
    """The rows before and behind the input."""
    if padding != SAME:
        return 0, 0
    total = max((result_extent(extent, window, stride, padding) - 1) * stride + window - extent, 0)
    return total // 2, total - total // 2


def windows(values, kernel, strides, dilations, padding, fill):
    """An array [batch, rows, columns, channels, kernel rows, kernel columns] of all windows."""
    sizes = [window_size(k, d) for k, d in zip(kernel, dilations)]
    around = [pads(values.shape[1 + i], sizes[i], strides[i], padding) for i in range(2)]
    padded = np.pad(values, [(0, 0), *around, (0, 0)], constant_values=fill)
    view = sliding_window_view(padded, sizes, axis=(1, 2))
    return view[:, ::strides[0], ::strides[1], :, ::dilations[0], ::dilations[1]]


def conv(values, weights, strides, dilations, padding):
    """weights: [outputs, rows, columns, inputs]."""
    view = windows(values, weights.shape[1:3], strides, dilations, padding, 0)
    return np.tensordot(view, weights, axes=([4, 5, 3], [1, 2, 3]))


def depthwise(values, weights, strides, dilations, padding):
    """weights: [1, rows, columns, channels * multiplier]."""
    multiplier = weights.shape[3] // values.shape[3]
    view = windows(values, weights.shape[1:3], strides, dilations, padding, 0)
    return np.einsum("nhwcij,ijc->nhwc", np.repeat(view, multiplier, axis=3), weights[0], optimize=True)


def average_pool(values, kernel, strides, padding):
    """Elements of the padding do not count."""
    view = windows(values, kernel, strides, (1, 1), padding, np.nan)
    return np.nanmean(view, axis=(4, 5))


def max_pool(values, kernel, strides, padding):
    return windows(values, kernel, strides, (1, 1), padding, -np.inf).max(axis=(4, 5))


def transpose_conv(values, weights, strides, extents, padding):
    """weights: [outputs, rows, columns, inputs]. extents: those of the result."""
    outputs, rows, columns, _ = weights.shape
    before = [pads(extents[i], (rows, columns)[i], strides[i], padding)[0] for i in range(2)]
    batch, height, width, _ = values.shape
    room = np.zeros((batch, (height - 1) * strides[0] + rows, (width - 1) * strides[1] + columns, outputs))
    for row in range(rows):
        for column in range(columns):
            part = room[:, row:row + (height - 1) * strides[0] + 1:strides[0],
                        column:column + (width - 1) * strides[1] + 1:strides[1]]
            part += values @ weights[:, row, column, :].T
    result = np.zeros((batch, *extents, outputs))
    kept = room[:, before[0]:before[0] + extents[0], before[1]:before[1] + extents[1]]
    result[:, :kept.shape[1], :kept.shape[2]] = kept
    return result


def softmax(values, beta):
    powers = np.exp(beta * (values - values.max(axis=-1, keepdims=True)))
    return powers / powers.sum(axis=-1, keepdims=True)


def logistic(values):
    return 1 / (1 + np.exp(-values))


def hard_swish(values):
    return values * np.clip(values + 3, 0, 6) / 6


def leaky_relu(values, alpha):
    return np.where(values > 0, values, alpha * values)


def coordinates(extent, result, align_corners, half_pixel):
    """Where each row of the result is in the input."""
    scale = (extent - 1) / (result - 1) if align_corners and result > 1 else extent / result
    at = np.arange(result)
    return (at + 0.5) * scale - 0.5 if half_pixel else at * scale


def resize_bilinear(values, extents, align_corners, half_pixel):
    for axis, result in enumerate(extents, 1):
        last = values.shape[axis] - 1
        at = np.clip(coordinates(values.shape[axis], result, align_corners, half_pixel), 0, last)
        low = np.floor(at).astype(int)
        weight = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        values = (np.take(values, low, axis) * (1 - weight)
                  + np.take(values, np.minimum(low + 1, last), axis) * weight)
    return values


def resize_nearest(values, extents, align_corners, half_pixel):
    for axis, result in enumerate(extents, 1):
        last = values.shape[axis] - 1
        scale = (last / (result - 1)) if align_corners and result > 1 else (last + 1) / result
        # The kernel computes this in single precision, which decides between two rows.
        at = (np.arange(result, dtype=np.float32) + np.float32(0.5 if half_pixel else 0)) * np.float32(scale)
        at = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
        values = np.take(values, np.clip(at, 0, last).astype(int), axis)
    return values

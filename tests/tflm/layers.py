# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators that generated networks are made of, each with its quantization as the format demands it."""
import build
import floats
import numpy as np
from build import Value
from schema import FLOAT32, INT8, INT16, NONE, SAME


class Layers(build.Builder):
    """A builder with one method per operator."""

    def draw(self, *shape, deviation=1.0):
        return self.generator.normal(0, deviation, shape)

    # Products.

    def conv(self, x, filters, kernel=(3, 3), strides=(1, 1), padding=SAME, dilations=(1, 1), fused=NONE, bias=True):
        fan_in = kernel[0] * kernel[1] * x.shape[3]
        weights, scales, values = self.weights(self.draw(filters, *kernel, x.shape[3], deviation=fan_in ** -0.5), 0)
        result = floats.conv(x.estimate, values, strides, dilations, padding)
        return self.product("CONV_2D", [x, weights], result, scales * x.scale, bias, fused, padding=padding,
                            **window_options(strides, dilations))

    def depthwise(self, x, multiplier=1, kernel=(3, 3), strides=(1, 1), padding=SAME, dilations=(1, 1), fused=NONE,
                  bias=True):
        channels = x.shape[3] * multiplier
        weights, scales, values = self.weights(
            self.draw(1, *kernel, channels, deviation=(kernel[0] * kernel[1]) ** -0.5), 3)
        result = floats.depthwise(x.estimate, values, strides, dilations, padding)
        return self.product("DEPTHWISE_CONV_2D", [x, weights], result, scales * x.scale, bias, fused, padding=padding,
                            depth_multiplier=multiplier, **window_options(strides, dilations))

    def fully_connected(self, x, units, fused=NONE, bias=True, keep_dims=False, per_channel=False):
        depth = x.shape[-1] if keep_dims else int(np.prod(x.shape[1:]))
        weights, scales, values = self.weights(self.draw(units, depth, deviation=depth ** -0.5),
                                               0 if per_channel else None)
        rows = x.estimate if keep_dims else x.estimate.reshape(-1, depth)
        return self.product("FULLY_CONNECTED", [x, weights], rows @ values.T, scales * x.scale, bias, fused,
                            keep_num_dims=keep_dims)

    def product(self, name, inputs, result, scales, bias, fused, **options):
        """Adds a bias and an activation to sums of products."""
        if bias:
            spread = max(float(result.std()), 1e-3)
            number, values = self.bias(self.draw(result.shape[-1], deviation=0.3 * spread),
                                       np.broadcast_to(scales, scales.size if scales.size > 1 else 1))
            inputs, result = [*inputs, number], result + values
        elif name == "FULLY_CONNECTED":
            inputs = [*inputs, -1]  # DEPTHWISE_CONV_2D crashes on this way to say that there is no bias
        return self.apply(name, inputs, [floats.activate(result, fused)], fused=fused, **options)[0]

    def transpose_conv(self, x, filters, kernel=(3, 3), strides=(2, 2), padding=SAME, fused=NONE, bias=True):
        extents = [x.shape[1 + i] * strides[i] if padding == SAME
                   else (x.shape[1 + i] - 1) * strides[i] + kernel[i] for i in range(2)]
        fan_in = x.shape[3] * max(1, kernel[0] // strides[0]) * max(1, kernel[1] // strides[1])
        weights, scales, values = self.weights(self.draw(filters, *kernel, x.shape[3], deviation=fan_in ** -0.5), 0)
        result = floats.transpose_conv(x.estimate, values, strides, extents, padding)
        inputs = [self.integers(result.shape), weights, x]
        if bias:
            number, added = self.bias(self.draw(filters, deviation=0.3 * max(float(result.std()), 1e-3)),
                                      scales * x.scale)
            inputs, result = [*inputs, number], result + added
        return self.apply("TRANSPOSE_CONV", inputs, [floats.activate(result, fused)], fused=fused, padding=padding,
                          stride_h=strides[0], stride_w=strides[1])[0]

    # Windows and reductions.

    def pool(self, name, x, kernel=(2, 2), strides=(2, 2), padding=SAME, fused=NONE):
        compute = floats.average_pool if name == "AVERAGE_POOL_2D" else floats.max_pool
        result = floats.activate(compute(x.estimate, kernel, strides, padding), fused)
        return self.apply(name, [x], [result], like=x, padding=padding, fused=fused, stride_h=strides[0],
                          stride_w=strides[1], filter_h=kernel[0], filter_w=kernel[1])[0]

    def reduce(self, name, x, axes=(1, 2), keep_dims=True):
        compute = {"MEAN": np.mean, "SUM": np.sum, "REDUCE_MAX": np.max, "REDUCE_MIN": np.min}[name]
        result = compute(x.estimate, axis=tuple(axes), keepdims=keep_dims)
        like = x if name.startswith("REDUCE") else None
        return self.apply(name, [x, self.integers(axes)], [result], like=like, keep_dims=keep_dims)[0]

    # Elementwise.

    def binary(self, name, x, y, fused=NONE):
        compute = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}[name]
        return self.apply(name, [x, y], [floats.activate(compute(x.estimate, y.estimate), fused)], fused=fused)[0]

    def squared_difference(self, x, y):
        return self.apply("SQUARED_DIFFERENCE", [x, y], [np.square(x.estimate - y.estimate)])[0]

    def extreme(self, name, x, y):
        """MINIMUM or MAXIMUM, for which both have one quantization."""
        y = self.quantize_like(y, x)
        compute = {"MINIMUM": np.minimum, "MAXIMUM": np.maximum}[name]
        return self.apply(name, [x, y], [compute(x.estimate, y.estimate)], like=x)[0]

    def unary(self, name, x):
        """An operator that has no options."""
        if name == "LOGISTIC":
            return self.apply(name, [x], [floats.logistic(x.estimate)], fixed=(1 / 256, -128))[0]
        if name == "TANH":
            return self.apply(name, [x], [np.tanh(x.estimate)], fixed=(1 / 128, 0))[0]
        if name == "RELU6":
            return self.apply(name, [x], [np.clip(x.estimate, 0, 6)], like=x)[0]
        if name == "RELU":
            return self.apply(name, [x], [np.maximum(x.estimate, 0)])[0]
        if name == "ABS":
            return self.apply(name, [x], [np.abs(x.estimate)])[0]
        if name == "ELU":
            return self.apply(name, [x], [np.where(x.estimate < 0, np.expm1(x.estimate), x.estimate)])[0]
        result = floats.hard_swish(x.estimate)
        scale, zero = build.quantization(result)
        # The kernel refuses a result that is much finer than the input.
        return self.apply(name, [x], [result], fixed=(scale, zero) if scale > x.scale / 64 else (x.scale, 0))[0]

    def leaky_relu(self, x, alpha=0.2):
        return self.apply("LEAKY_RELU", [x], [floats.leaky_relu(x.estimate, alpha)], alpha=alpha)[0]

    def prelu(self, x):
        alpha = self.constant((1, 1, x.shape[-1]))
        return self.apply("PRELU", [x, alpha], [np.where(x.estimate > 0, x.estimate, alpha.estimate * x.estimate)])[0]

    def softmax(self, x, beta=1.0):
        return self.apply("SOFTMAX", [x], [floats.softmax(x.estimate, beta)], fixed=(1 / 256, -128), beta=beta)[0]

    def requantize(self, x, scale, zero, kind=INT8):
        """QUANTIZE to another scale or to another type."""
        estimate = build.round_trip(x.estimate, scale, zero, kind)
        result = Value(self.tensor(x.shape, kind, scale, zero), estimate, scale, zero, kind, True,
                       len(self.graph.operators))
        x.fixed = True
        self.emit("QUANTIZE", [x.tensor], [result.tensor])
        return result

    def from_float(self, x):
        """QUANTIZE of a value in floating point to int8."""
        return self.requantize(x, *build.quantization(x.estimate))

    def to_float(self, x):
        """DEQUANTIZE."""
        result = Value(self.tensor(x.shape, FLOAT32), x.estimate, build.FLOAT_ACCURACY, 0, FLOAT32, True,
                       len(self.graph.operators))
        x.fixed = True
        self.emit("DEQUANTIZE", [x.tensor], [result.tensor])
        return result

    def expand(self, x, axis):
        return self.apply("EXPAND_DIMS", [x, self.integers(axis)], [np.expand_dims(x.estimate, axis)], like=x)[0]

    def quantize_like(self, x, other):
        """x itself if it has, or can take, the quantization of the other value."""
        if (x.scale, x.zero, x.type) == (other.scale, other.zero, other.type):
            return x
        if not x.fixed and x.type == other.type:
            self.set_quantization(x, other.scale, other.zero)
            return x
        return self.requantize(x, other.scale, other.zero, other.type)

    # Shapes. All of these keep the quantization.

    def concat(self, values, axis=3):
        estimate = np.concatenate([one.estimate for one in values], axis)
        scale, zero = build.quantization(estimate)
        whole = Value(-1, estimate, scale, zero, INT8, True, None)
        values = [self.quantize_like(one, whole) for one in values]
        return self.apply("CONCATENATION", values, [np.concatenate([one.estimate for one in values], axis)],
                          like=whole, axis=axis)[0]

    def reshape(self, x, shape):
        return self.apply("RESHAPE", [x, self.integers(shape)], [x.estimate.reshape(shape)], like=x,
                          new_shape=list(shape))[0]

    def squeeze(self, x, axes=(1, 2)):
        return self.apply("SQUEEZE", [x], [np.squeeze(x.estimate, tuple(axes))], like=x, dims=list(axes))[0]

    def pad(self, x, around):
        return self.apply("PAD", [x, self.integers(around)], [np.pad(x.estimate, around)], like=x)[0]

    def pad_with(self, x, around, stored):
        """PADV2 with a number of the type."""
        number = self.tensor((1,), x.type, x.scale, x.zero, np.asarray([stored], build.NUMPY[x.type]))
        result = np.pad(x.estimate, around, constant_values=(stored - x.zero) * x.scale)
        return self.apply("PADV2", [x, self.integers(around), number], [result], like=x)[0]

    def pack(self, values, axis):
        return self.apply("PACK", values, [np.stack([one.estimate for one in values], axis)], like=values[0],
                          count=len(values), axis=axis)[0]

    def unpack(self, x, axis):
        parts = [np.take(x.estimate, place, axis) for place in range(x.shape[axis])]
        return self.apply("UNPACK", [x], parts, like=x, count=len(parts), axis=axis)

    def mirror_pad(self, x, around, symmetric):
        result = np.pad(x.estimate, around, mode="symmetric" if symmetric else "reflect")
        return self.apply("MIRROR_PAD", [x, self.integers(around)], [result], like=x, mode=int(symmetric))[0]

    def strided_slice(self, x, begin, end, strides):
        result = x.estimate[tuple(slice(*one) for one in zip(begin, end, strides))]
        return self.apply("STRIDED_SLICE", [x, *map(self.integers, (begin, end, strides))], [result], like=x)[0]

    def slice(self, x, begin, extents):
        result = x.estimate[tuple(slice(one, one + extent) for one, extent in zip(begin, extents))]
        return self.apply("SLICE", [x, self.integers(begin), self.integers(extents)], [result], like=x)[0]

    def split(self, x, parts, axis=3):
        """Equal parts."""
        return self.apply("SPLIT", [self.integers(axis), x], np.split(x.estimate, parts, axis), like=x,
                          num_splits=parts)

    def split_v(self, x, extents, axis=3):
        return self.apply("SPLIT_V", [x, self.integers(extents), self.integers(axis)],
                          np.split(x.estimate, np.cumsum(extents)[:-1], axis), like=x, num_splits=len(extents))

    def transpose(self, x, order):
        return self.apply("TRANSPOSE", [x, self.integers(order)], [x.estimate.transpose(order)], like=x)[0]

    def resize(self, name, x, extents, align_corners=False, half_pixel=False):
        compute = floats.resize_bilinear if name == "RESIZE_BILINEAR" else floats.resize_nearest
        return self.apply(name, [x, self.integers(extents)], [compute(x.estimate, extents, align_corners, half_pixel)],
                          like=x, align_corners=align_corners, half_pixel=half_pixel)[0]

    def add_n(self, values):
        """All have one quantization. The kernel begins its sum with the negated zero point, which is not 0."""
        first = -values[0].zero * values[0].scale
        return self.apply("ADD_N", values, [first + sum(one.estimate for one in values)])[0]

    def to_int16(self, x):
        """The same value with 16 bits, symmetric."""
        return self.requantize(x, float(np.float32(x.scale / 128)), 0, INT16)


def window_options(strides, dilations):
    return {"stride_h": strides[0], "stride_w": strides[1], "dilation_h": dilations[0], "dilation_w": dilations[1]}

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of one operator with drawn shapes and attributes, for each operator that layers.py makes."""
import zlib

import numpy as np
from layers import Layers
from schema import INT16, NONE, RELU, RELU6, RELU_N1, SAME, VALID

FUSED = [NONE, NONE, RELU, RELU6, RELU_N1]


class Draw:
    """Draws what the operators need."""

    def __init__(self, generator, scale=1):
        """scale multiplies the extents of images and of other shapes."""
        self.generator = generator
        self.scale = scale

    def number(self, low, high):
        """Both ends are possible."""
        return int(self.generator.integers(low, high, endpoint=True))

    def chance(self, probability):
        return bool(self.generator.random() < probability)

    def choice(self, values):
        return values[self.number(0, len(values) - 1)]

    def image(self, low=1, high=13, channels=9):
        high, channels = high * self.scale, channels * self.scale
        return 1, self.number(low, high), self.number(low, high), self.number(1, channels)

    def shape(self):
        """One to four dimensions."""
        return tuple(self.number(1, 9 * self.scale) for _ in range(self.number(1, 4)))

    def window(self, x, most=5):
        """The attributes of a window that fits in the input."""
        padding = self.choice([SAME, VALID])
        kernel = tuple(self.number(1, min(most, extent) if padding == VALID else most) for extent in x.shape[1:3])
        return {"kernel": kernel, "strides": (self.number(1, 3), self.number(1, 3)), "padding": padding,
                "fused": self.choice(FUSED)}

    def dilated_window(self, x):
        window = self.window(x)
        dilations = (1, 1)
        if self.chance(0.3):
            most = [(extent - 1) // max(kernel - 1, 1) if window["padding"] == VALID else 3
                    for extent, kernel in zip(x.shape[1:3], window["kernel"])]
            dilations = tuple(self.number(1, max(1, min(3, one))) for one in most)
        return window | {"dilations": dilations, "bias": self.chance(0.8)}

    def axes(self, rank):
        axes = sorted(self.generator.permutation(rank)[:self.number(1, rank)].tolist())
        return [axis - rank if self.chance(0.2) else axis for axis in axes]


def alike(net, shapes):
    """Inputs with one quantization."""
    zero = int(net.generator.integers(-20, 20))
    return [net.input(shape, scale=0.02, zero=zero) for shape in shapes]


def conv(net, draw):
    x = net.input(draw.image())
    return net.conv(x, draw.number(1, 9), **draw.dilated_window(x))


def depthwise(net, draw):
    x = net.input(draw.image(channels=5))
    return net.depthwise(x, draw.number(1, 3), **draw.dilated_window(x))


def fully_connected(net, draw):
    keep_dims = draw.chance(0.3)
    x = net.input((1, *draw.shape()) if not keep_dims else (draw.number(1, 4), draw.number(1, 4), draw.number(1, 30)))
    return net.fully_connected(x, draw.number(1, 20), draw.choice(FUSED), draw.chance(0.8), keep_dims,
                               draw.chance(0.3))


def transpose_conv(net, draw):
    x = net.input(draw.image(high=7, channels=5))
    strides = (draw.number(1, 3), draw.number(1, 3))
    padding = draw.choice([SAME, VALID])
    # A kernel that is smaller than the stride leaves rows of the result without a window.
    kernel = tuple(draw.number(stride, 5) for stride in strides)
    return net.transpose_conv(x, draw.number(1, 5), kernel, strides, padding, draw.choice([NONE, NONE, RELU]),
                              draw.chance(0.7))


def pool(name):
    def make(net, draw):
        x = net.input(draw.image())
        return net.pool(name, x, **draw.window(x))
    return make


def reduction(name):
    def make(net, draw):
        x = net.input(draw.shape() if draw.chance(0.5) else draw.image())
        return net.reduce(name, x, draw.axes(len(x.shape)), draw.chance(0.5))
    return make


def binary(name):
    def make(net, draw):
        shape = draw.image()
        x = net.input(shape)
        if draw.chance(0.4):
            return net.binary(name, x, net.input(shape), draw.choice(FUSED))
        smaller = draw.choice([(1, 1, 1, shape[3]), (1,), (1, shape[1], shape[2], 1), (shape[3],)])
        y = net.constant(smaller) if draw.chance(0.5) else net.input(smaller)
        return net.binary(name, *draw.choice([(x, y), (y, x)]), draw.choice(FUSED))
    return make


def extreme(name):
    def make(net, draw):
        return net.extreme(name, *alike(net, 2 * [draw.image()]))
    return make


def unary(name):
    def make(net, draw):
        x = net.input(draw.shape(), scale=draw.choice([0.02, 0.05, 0.1]))
        return net.unary(name, x)
    return make


def requantize(net, draw):
    x = net.input(draw.shape())
    if draw.chance(0.2):
        return net.to_int16(x)
    return net.requantize(x, float(np.float32(x.scale * net.generator.uniform(0.4, 2.5))), draw.number(-100, 100))


def requantize_int16(net, draw):
    x = net.input(draw.shape(), INT16, scale=0.0001)
    return net.requantize(x, 0.03, draw.number(-100, 100))


def concat(net, draw):
    shape = draw.image()
    axis = draw.number(1, 3)
    parts = alike(net, [[draw.number(1, 6) if i == axis else one for i, one in enumerate(shape)]
                        for _ in range(draw.number(1, 4))])
    estimate = np.concatenate([one.estimate for one in parts], axis)
    return net.apply("CONCATENATION", parts, [estimate], like=parts[0], axis=axis - 4 if draw.chance(0.3) else axis)[0]


def reshape(net, draw):
    shape = draw.image()
    return net.reshape(net.input(shape), draw.choice([(1, shape[1] * shape[2], shape[3]), (1, int(np.prod(shape))),
                                                      (int(np.prod(shape)),)]))


def squeeze(net, draw):
    return net.squeeze(net.input((1, 1, 1, draw.number(1, 20))))


def pad(net, draw):
    x = net.input(draw.image())
    return net.pad(x, [(0, 0), *((draw.number(0, 3), draw.number(0, 3)) for _ in range(3))])


def pad_with(net, draw):
    x = net.input(draw.image())
    around = [(0, 0), *((draw.number(0, 3), draw.number(0, 3)) for _ in range(3))]
    return net.pad_with(x, around, draw.number(-128, 127))


def pack(net, draw):
    shape = draw.image()[1:]
    return net.pack(alike(net, [shape] * draw.number(1, 4)), draw.number(-1, 3))


def unpack(net, draw):
    shape = draw.image(high=6)
    return net.unpack(net.input(shape), draw.number(-1, 3))


def squared_difference(net, draw):
    return net.squared_difference(net.input(shape := draw.image()), net.input(draw.choice([shape, shape[3:]])))


def mirror_pad(net, draw):
    x = net.input(draw.image(low=2))
    return net.mirror_pad(x, [(0, 0), (1, draw.number(0, 1)), (0, 1), (0, 0)], draw.chance(0.5))


def strided_slice(net, draw):
    x = net.input(draw.image(high=11))
    begin = [draw.number(0, extent - 1) for extent in x.shape]
    end = [draw.number(first + 1, extent) for first, extent in zip(begin, x.shape)]
    return net.strided_slice(x, begin, end, [1, draw.number(1, 3), draw.number(1, 3), 1])


def slice_part(net, draw):
    x = net.input(draw.image())
    begin = [draw.number(0, extent - 1) for extent in x.shape]
    return net.slice(x, begin, [draw.number(1, extent - first) for first, extent in zip(begin, x.shape)])


def split(net, draw):
    parts, axis = draw.number(1, 4), draw.number(1, 3)
    shape = [one * parts if i == axis else one for i, one in enumerate(draw.image(high=6))]
    return net.split(net.input(shape), parts, axis)


def split_v(net, draw):
    extents, axis = [draw.number(1, 5) for _ in range(draw.number(1, 4))], draw.number(1, 3)
    shape = [sum(extents) if i == axis else one for i, one in enumerate(draw.image(high=6))]
    return net.split_v(net.input(shape), extents, axis)


def transpose(net, draw):
    return net.transpose(net.input(draw.image()), net.generator.permutation(4).tolist())


def resize(name):
    def make(net, draw):
        x = net.input(draw.image(high=8, channels=5))
        modes = draw.choice([(False, False), (True, False), (False, True)])
        return net.resize(name, x, [draw.number(1, 15), draw.number(1, 15)], *modes)
    return make


def add_n(net, draw):
    shape = draw.image()
    return net.add_n(alike(net, [shape] * draw.number(2, 4)))


OPERATORS = {
    "CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "FULLY_CONNECTED": fully_connected,
    "TRANSPOSE_CONV": transpose_conv, "AVERAGE_POOL_2D": pool("AVERAGE_POOL_2D"), "MAX_POOL_2D": pool("MAX_POOL_2D"),
    "MEAN": reduction("MEAN"), "SUM": reduction("SUM"), "REDUCE_MAX": reduction("REDUCE_MAX"),
    "REDUCE_MIN": reduction("REDUCE_MIN"), "ADD": binary("ADD"), "SUB": binary("SUB"), "MUL": binary("MUL"),
    "MINIMUM": extreme("MINIMUM"), "MAXIMUM": extreme("MAXIMUM"), "RELU": unary("RELU"), "RELU6": unary("RELU6"),
    "LOGISTIC": unary("LOGISTIC"), "TANH": unary("TANH"), "HARD_SWISH": unary("HARD_SWISH"),
    "LEAKY_RELU": lambda net, draw: net.leaky_relu(net.input(draw.shape()), draw.choice([0.01, 0.2, 0.5])),
    "PRELU": lambda net, draw: net.prelu(net.input(draw.image())),
    "SOFTMAX": lambda net, draw: net.softmax(net.input(draw.shape()), draw.choice([1.0, 0.5, 2.0])),
    "QUANTIZE": requantize, "QUANTIZE int16": requantize_int16,
    "QUANTIZE float": lambda net, draw: net.from_float(net.float_input(draw.shape())),
    "DEQUANTIZE": lambda net, draw: net.to_float(net.input(draw.shape())),
    "EXPAND_DIMS": lambda net, draw: net.expand(net.input(draw.image()[1:]), draw.number(-1, 3)),
    "CONCATENATION": concat, "RESHAPE": reshape,
    "SQUEEZE": squeeze, "PAD": pad, "MIRROR_PAD": mirror_pad, "STRIDED_SLICE": strided_slice, "SLICE": slice_part,
    "SPLIT": split, "SPLIT_V": split_v, "TRANSPOSE": transpose, "RESIZE_BILINEAR": resize("RESIZE_BILINEAR"),
    "RESIZE_NEAREST_NEIGHBOR": resize("RESIZE_NEAREST_NEIGHBOR"), "ADD_N": add_n, "PADV2": pad_with, "PACK": pack,
    "UNPACK": unpack, "SQUARED_DIFFERENCE": squared_difference, "ABS": unary("ABS"), "ELU": unary("ELU"),
}


def make(name, seed, scale=1):
    """The model of an operator with attributes drawn by the seed. scale multiplies the extents."""
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    net = Layers(generator)
    result = OPERATORS[name](net, Draw(generator, scale))
    return net.finish(f"{name} {seed}", result if isinstance(result, list) else [result], shuffle=False)

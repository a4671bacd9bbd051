# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of one operator on floats, with drawn shapes and attributes: those of single.py in floating point, and others
that exist for floats alone.
"""
import zlib

import build
import files
import floating
import numpy as np
import single
from schema import BOOL, FLOAT32


class Floats(build.Builder):
    """A builder of models whose tensors are all floats."""

    def model_of(self, name, inputs, shape, kind=FLOAT32, **options):
        """The bytes of a model of one operator. inputs: numbers of tensors."""
        result = self.tensor(shape, kind)
        self.emit(name, inputs, [result], **options)
        self.graph.outputs = [result]
        return files.write(self.model)

    def constant_floats(self, shape):
        return self.tensor(shape, FLOAT32, data=self.generator.normal(0, 1, shape).astype(np.float32))


def unary(name):
    def make(net, draw):
        shape = draw.shape()
        return net.model_of(name, [net.float_input(shape).tensor], shape)
    return make


def divide(net, draw):
    shape = draw.image()
    divisor = net.constant_floats(draw.choice([shape, shape[3:], (1,)]))
    return net.model_of("DIV", [net.float_input(shape).tensor, divisor], shape, fused=draw.choice(single.FUSED))


def normalize(net, draw):
    shape = draw.image()
    return net.model_of("L2_NORMALIZATION", [net.float_input(shape).tensor], shape)


def depth_to_space(net, draw):
    block, (_, rows, columns, channels) = draw.number(1, 3), draw.image(high=6, channels=5)
    x = net.float_input((1, rows, columns, channels * block * block))
    return net.model_of("DEPTH_TO_SPACE", [x.tensor], (1, rows * block, columns * block, channels), block_size=block)


def space_to_depth(net, draw):
    block, (_, rows, columns, channels) = draw.number(1, 3), draw.image(high=6, channels=5)
    x = net.float_input((1, rows * block, columns * block, channels))
    return net.model_of("SPACE_TO_DEPTH", [x.tensor], (1, rows, columns, channels * block * block), block_size=block)


def gather(net, draw):
    shape = draw.image(high=6)
    axis = draw.number(0, 3)
    places = net.generator.integers(0, shape[axis], draw.number(1, 7))
    x = net.float_input(shape)
    return net.model_of("GATHER", [x.tensor, net.integers(places)],
                        (*shape[:axis], len(places), *shape[axis + 1:]), axis=axis)


def space_to_batch(net, draw):
    block, (rows, columns) = (draw.number(1, 3), draw.number(1, 2)), (draw.number(1, 4), draw.number(1, 5))
    around = [(draw.number(0, 1), draw.number(0, 1)) for _ in range(2)]
    wide = [deep * one - sum(pad) for deep, one, pad in zip((rows + 2, columns + 2), block, around)]
    x = net.float_input((1, *wide, 3))
    return net.model_of("SPACE_TO_BATCH_ND", [x.tensor, net.integers(block), net.integers(around)],
                        (block[0] * block[1], rows + 2, columns + 2, 3))


def batch_to_space(net, draw):
    block, (rows, columns) = (draw.number(1, 3), draw.number(1, 2)), (draw.number(2, 5), draw.number(3, 5))
    around = [(draw.number(0, 1), draw.number(0, 1)) for _ in range(2)]
    wide = [deep * one - sum(crop) for deep, one, crop in zip((rows + 1, columns), block, around)]
    x = net.float_input((block[0] * block[1], rows + 1, columns, 3))
    return net.model_of("BATCH_TO_SPACE_ND", [x.tensor, net.integers(block), net.integers(around)], (1, *wide, 3))


def batch_matmul(net, draw):
    rows, inner, columns = (draw.number(1, 9) for _ in range(3))
    batches = draw.choice([(), (3,), (2, 3)])
    flips = draw.chance(0.3), draw.chance(0.5)
    first, second = ((*batches, *(shape[::-1] if flip else shape))
                     for shape, flip in zip([(rows, inner), (inner, columns)], flips))
    x, y = net.float_input(first), net.float_input(second)
    return net.model_of("BATCH_MATMUL", [x.tensor, y.tensor], (*batches, rows, columns), adj_x=flips[0],
                        adj_y=flips[1])


def comparison(name):
    """A model whose output is BOOL, of operands that are equal in some places."""
    def make(net, draw):
        shape = draw.image()
        floor = net.tensor(shape, FLOAT32)
        net.emit("FLOOR", [net.float_input(shape).tensor], [floor])
        other = net.tensor(shape[3:], FLOAT32, data=net.generator.integers(-2, 3, shape[3:]).astype(np.float32))
        return net.model_of(name, draw.choice([[floor, other], [other, floor]]), shape, BOOL)
    return make


def broadcast_to(net, draw):
    shape = draw.image()
    smaller = draw.choice([shape[1:], shape[3:], (1, shape[1], 1, shape[3])])
    x = net.float_input(smaller)
    return net.model_of("BROADCAST_TO", [x.tensor, net.integers(shape)], shape)


def reverse(net, draw):
    shape = draw.image()
    return net.model_of("REVERSE_V2", [net.float_input(shape).tensor, net.integers([draw.number(0, 3)])], shape)


def of_integers(name):
    """The model of single.py, in floating point."""
    def make(seed):
        return floating.to_float(single.make(name, seed).data)
    return make


def of_floats(name, make_with):
    def make(seed):
        generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
        return make_with(Floats(generator), single.Draw(generator))
    return make


UNARY = ("FLOOR", "EXP", "LOG_SOFTMAX", "NEG", "SIN", "LOG", "SQRT", "RSQRT", "SQUARE", "CEIL", "COS", "ROUND")

# What makes a model for a seed, by operator.
MAKERS = {name: of_integers(name) for name in single.OPERATORS
          if not name.startswith(("QUANTIZE", "DEQUANTIZE"))} | {
    name: of_floats(name, unary(name)) for name in UNARY} | {
    name: of_floats(name, one) for name, one in
    {"DIV": divide, "L2_NORMALIZATION": normalize, "DEPTH_TO_SPACE": depth_to_space, "SPACE_TO_DEPTH": space_to_depth,
     "GATHER": gather, "SPACE_TO_BATCH_ND": space_to_batch, "BATCH_TO_SPACE_ND": batch_to_space,
     "BROADCAST_TO": broadcast_to, "REVERSE_V2": reverse, "BATCH_MATMUL": batch_matmul}.items()}


COMPARISONS = {name: of_floats(name, comparison(name)) for name in
               ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")}


def make(name, seed):
    """The bytes of a model of the operator."""
    return MAKERS[name](seed)

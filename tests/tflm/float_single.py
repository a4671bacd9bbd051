# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of one operator on floats, with drawn shapes and attributes: those of single.py in floating point, and others
that exist for floats alone.
"""
import functools
import zlib

import build
import files
import floating
import numpy as np
import single
from schema import FLOAT32


class Floats(build.Builder):
    """A builder of models whose tensors are all floats."""

    def model_of(self, name, inputs, shape, **options):
        """The bytes of a model of one operator. inputs: numbers of tensors."""
        result = self.tensor(shape, FLOAT32)
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
    "DIV": of_floats("DIV", divide), "L2_NORMALIZATION": of_floats("L2_NORMALIZATION", normalize)}
make = functools.partial(lambda name, seed: MAKERS[name](seed))

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph of TensorFlow while it is drawn."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class Drawn:
    """A graph while it is drawn. Inputs are placeholders with values."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.feeds = {}

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def choice(self, items):
        return items[self.integer(0, len(items) - 1)]

    def chance(self, share=0.5):
        return bool(self.random.random() < share)

    def shape(self, low=1, high=4, most=6):
        return [self.integer(1, most) for _ in range(self.integer(low, high))]

    def values(self, shape, dtype="float32"):
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if dtype.startswith("int"):
            return self.random.integers(-9, 10, shape).astype(dtype)
        return self.random.standard_normal(shape).astype(dtype)

    def input(self, content):
        name = f"in{len(self.feeds)}"
        content = np.asarray(content)
        tensor = tf1.placeholder(content.dtype, content.shape, name=name)
        self.feeds[name] = content
        return tensor

    def weight(self, shape):
        return tf1.constant(self.values(shape) * 0.5)

    def image(self, channels=None, least=3):
        return self.input(self.values([self.integer(1, 2), self.integer(least, 9), self.integer(least, 9),
                                       channels or self.integer(1, 6)]))

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators and random programs that compute small integers, such as shapes, for record_shapes.py."""
import tensorflow as tf

from operator_cases import axis_of, extents, ints, slice_bounds

tf1 = tf.compat.v1
raw = tf.raw_ops


def ranges(chance):
    begin, step = chance.randint(-9, 9), chance.choice((-3, -2, -1, 1, 2, 3))
    end = begin + step * chance.randint(0, 9) + chance.choice((0, 1 if step > 0 else -1))
    dtype = chance.choice((tf.int32, tf.int64))
    raw.Range(start=ints(begin, dtype), limit=ints(end, dtype), delta=ints(step, dtype))


def stitch(chance):
    count = chance.randint(1, 8)
    places = list(range(count))
    chance.shuffle(places)
    cut = chance.randint(0, count)
    row = extents(chance, chance.randint(0, 1), 3)
    data = [tf.reshape(tf.range(len(part) * (row[0] if row else 1)), [len(part), *row])
            for part in (places[:cut], places[cut:] + places[:1])]
    raw.DynamicStitch(indices=[ints(places[:cut]), ints(places[cut:] + places[:1])], data=data)


def broadcast_gradient(chance):
    shape = extents(chance, chance.randint(0, 5), 3)
    dtype = chance.choice((tf.int32, tf.int64))
    a, b = ([chance.choice((1, extent)) for extent in shape[chance.randint(0, len(shape)):]] for _ in range(2))
    raw.BroadcastGradientArgs(s0=ints(a, dtype), s1=ints(b, dtype))


def offsets(chance):
    rank = chance.randint(1, 4)
    axis = chance.randrange(rank)
    shape = extents(chance, rank)
    shapes = [[chance.randint(0, 5) if at == axis else extent for at, extent in enumerate(shape)] for _ in range(3)]
    raw.ConcatOffset(concat_dim=axis, shape=[ints(one) for one in shapes])


INTEGER_CASES = (ranges, stitch, broadcast_gradient, offsets)


class Program:
    """Integers that follow from constants and from the shape of a tensor."""

    def __init__(self, chance):
        self.chance = chance
        self.dtype = chance.choice((tf.int32, tf.int32, tf.int64))
        x = tf1.placeholder(tf.float32, extents(chance, chance.randint(1, 4)))
        self.values = [tf.shape(x, out_type=self.dtype), tf.size(x, out_type=self.dtype),
                       ints([chance.randint(-9, 9) for _ in range(4)], self.dtype),
                       ints([[3, -1, 2], [1, 7, -5]], self.dtype), ints(chance.randint(1, 4), self.dtype)]

    def pick(self, least_rank=0):
        fitting = [one for one in self.values if len(one.shape) >= least_rank]
        return self.chance.choice(fitting)

    def combined(self):
        op = self.chance.choice((raw.AddV2, raw.Sub, raw.Mul, raw.Maximum, raw.Minimum))
        return op(x=self.pick(), y=self.pick())

    def divided(self):
        op = self.chance.choice((raw.FloorDiv, raw.FloorMod, raw.TruncateDiv, raw.TruncateMod, raw.Div))
        return op(x=self.pick(), y=ints(self.chance.choice((-3, -2, -1, 1, 2, 5)), self.dtype))

    def reduced(self):
        x = self.pick()
        axes = self.chance.sample(range(len(x.shape)), self.chance.randint(0, len(x.shape)))
        op = self.chance.choice((raw.Prod, raw.Sum, raw.Max, raw.Min))
        return op(input=x, axis=ints(axes), keep_dims=self.chance.random() < 0.5)

    def joined(self):
        x = self.pick(1)
        axis = axis_of(self.chance, len(x.shape))
        others = [one for one in self.values if len(one.shape) == len(x.shape)
                  and all(a == b for at, (a, b) in enumerate(zip(one.shape, x.shape)) if at != axis % len(x.shape))]
        return raw.ConcatV2(values=[x, self.chance.choice(others)], axis=axis)

    def packed(self):
        x = self.pick()
        others = [one for one in self.values if one.shape == x.shape]
        axis = axis_of(self.chance, len(x.shape) + 1)
        return raw.Pack(values=[x, self.chance.choice(others)], axis=axis)

    def cut(self):
        x = self.pick(1)
        chance = self.chance
        kind = chance.randrange(5)
        axis = axis_of(chance, len(x.shape))
        extent = int(x.shape[axis])
        if kind == 0:
            return chance.choice(raw.Unpack(value=x, num=extent, axis=axis))
        if kind == 1:
            sizes = ints([chance.randint(0, extent), -1])
            return chance.choice(raw.SplitV(value=x, size_splits=sizes, axis=axis, num_split=2))
        if kind == 2:
            begin = [chance.randint(0, one) for one in x.shape]
            return raw.Slice(input=x, begin=ints(begin), size=ints([-1] * len(begin)))
        if kind == 3:
            return chance.choice(raw.Split(axis=axis, value=x, num_split=extent))
        given, masks = slice_bounds(chance, chance.randint(0, len(x.shape) + 1))
        return raw.StridedSlice(input=x, **given, **masks)

    def moved(self):
        x = self.pick()
        chance = self.chance
        kind = chance.randrange(6)
        if kind == 0:
            return raw.Reshape(tensor=x, shape=[-1])
        if kind == 1:
            return raw.ExpandDims(input=x, axis=axis_of(chance, len(x.shape) + 1))
        if kind == 2:
            return raw.Squeeze(input=raw.Identity(input=x))
        if kind == 3:
            return raw.Tile(input=x, multiples=ints([chance.randint(1, 2) for _ in x.shape]))
        if kind == 4:
            return raw.BroadcastTo(input=x, shape=ints([2, *x.shape.as_list()]))
        return raw.Neg(x=raw.Cast(x=raw.Cast(x=x, DstT=tf.int64), DstT=self.dtype))

    def made(self):
        x = self.pick()
        chance = self.chance
        kind = chance.randrange(5)
        if kind == 0:
            dims = ints(extents(chance, chance.randint(0, 2), 3))
            return raw.Fill(dims=dims, value=ints(chance.randint(-5, 5), self.dtype))
        if kind == 1:
            return chance.choice((raw.OnesLike, raw.ZerosLike))(x=x)
        if kind == 2:
            return tf.cast(raw.Rank(input=x), self.dtype)
        if kind == 3:
            order = list(range(chance.randint(1, 5)))
            chance.shuffle(order)
            return raw.InvertPermutation(x=ints(order, self.dtype))
        return raw.ListDiff(x=raw.Reshape(tensor=x, shape=[-1]), y=ints([1, 2, 3], self.dtype)).out

    def gathered(self):
        x = self.pick(1)
        axis = axis_of(self.chance, len(x.shape))
        extent = int(x.shape[axis])
        shape = extents(self.chance, self.chance.randint(0, 2), 3)
        count = 1
        for one in shape:
            count *= one
        indices = tf.constant([self.chance.randrange(extent) for _ in range(count)], tf.int32, shape)
        return raw.GatherV2(params=x, indices=indices, axis=axis)


def integer_program(chance):
    program = Program(chance)
    steps = (program.combined, program.divided, program.reduced, program.joined, program.packed, program.cut,
             program.moved, program.made, program.gathered)
    for _ in range(8):
        try:
            made = chance.choice(steps)()
        except (ValueError, IndexError):
            continue  # this step does not fit these values
        if made.shape.is_fully_defined() and made.shape.num_elements() <= 64:
            program.values.append(made)
    raw.Fill(dims=tf.abs(tf.reshape(program.values[-1], [-1])[:4]) % 7, value=1.0)

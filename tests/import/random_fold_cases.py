# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Random nodes of known content, for compare_fold_with_reference.py."""
import random

import ml_dtypes
import numpy
from onnx import TensorProto

OPSET = 21
DTYPES = {  # Lowtide's name: (numpy's type, ONNX's number)
    "f64": (numpy.float64, TensorProto.DOUBLE),
    "f32": (numpy.float32, TensorProto.FLOAT),
    "f16": (numpy.float16, TensorProto.FLOAT16),
    "bf16": (ml_dtypes.bfloat16, TensorProto.BFLOAT16),
    "i64": (numpy.int64, TensorProto.INT64),
    "i32": (numpy.int32, TensorProto.INT32),
    "i16": (numpy.int16, TensorProto.INT16),
    "i8": (numpy.int8, TensorProto.INT8),
    "u64": (numpy.uint64, TensorProto.UINT64),
    "u32": (numpy.uint32, TensorProto.UINT32),
    "u16": (numpy.uint16, TensorProto.UINT16),
    "u8": (numpy.uint8, TensorProto.UINT8),
    "bool": (numpy.bool_, TensorProto.BOOL),
}
NAMES = {numpy.dtype(numpy_type): name for name, (numpy_type, _) in DTYPES.items()}
INTEGERS = ["i64", "i64", "i32", "i16", "i8", "u8", "u32"]
REALS = ["f32", "f32", "f64", "f16"]
NUMBERS = INTEGERS + REALS


def is_real(name):
    return "f" in name


class Case:
    def __init__(self, kind, inputs, outputs=1, opset=OPSET, **attributes):
        self.kind = kind
        self.inputs = inputs  # arrays; None if an input is omitted
        self.outputs = outputs
        self.opset = opset
        self.attributes = {key: value for key, value in attributes.items() if value is not None}


class Maker:
    """Random nodes, with one method per operator or family."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def array(self, name, extents, low=-6, high=9, odd=True):
        numpy_type = DTYPES[name][0]
        count = int(numpy.prod(extents, dtype=numpy.int64))
        if name == "bool":
            values = [self.random.random() < 0.5 for _ in range(count)]
        elif is_real(name):
            # Without 0.1, 3.0e4 and 1e-3, every sum is exact in any order.
            special = [numpy.inf, -numpy.inf, numpy.nan, -0.0] + ([0.1, 3.0e4, 1e-3] if odd else [])
            values = [
                self.random.choice(special) if self.rarely(0.08) else self.random.randint(4 * low, 4 * high) / 4
                for _ in range(count)
            ]
        else:
            info = numpy.iinfo(numpy_type)
            low = max(low, int(info.min))
            most = min(int(info.max), 2**63 - 1)
            values = [
                self.random.choice([int(info.min), most]) if self.rarely(0.05) else self.random.randint(low, high)
                for _ in range(count)
            ]
        return numpy.array(values, dtype=numpy_type).reshape(extents)

    def rarely(self, share):
        return self.random.random() < share

    def extents(self, least_rank=0, most_rank=3, empty=True):
        rank = self.random.randint(least_rank, most_rank)
        return [0 if empty and self.random.random() < 0.04 else self.random.randint(1, 4) for _ in range(rank)]

    def broadcasting(self, extents):
        result = [1 if self.random.random() < 0.25 else extent for extent in extents]
        return result[self.random.randint(0, len(result)) if result and self.random.random() < 0.3 else 0:]

    def axis(self, rank):
        return self.random.randint(-rank, rank - 1)

    def flag(self):
        return self.random.randint(0, 1)

    def pair(self, kind, names):
        name, shape = self.random.choice(names), self.extents()
        return Case(kind, [self.array(name, self.broadcasting(shape)) for _ in range(2)])

    def binary(self, kind):
        return self.pair(kind, NUMBERS)

    Add = Sub = Mul = Div = lambda self, kind: self.binary(kind)
    Equal = Less = Greater = LessOrEqual = GreaterOrEqual = lambda self, kind: self.binary(kind)
    And = Or = Xor = lambda self, kind: self.pair(kind, ["bool"])
    BitwiseAnd = BitwiseOr = BitwiseXor = lambda self, kind: self.pair(kind, INTEGERS)

    def Mod(self, kind):
        case = self.pair(kind, NUMBERS)
        case.attributes["fmod"] = 1 if is_real(NAMES[case.inputs[0].dtype]) else self.flag()
        return case

    def Pow(self, kind):
        shape = self.extents()
        base = self.array(self.random.choice(["i64", "i32", "f32", "f64"]), self.broadcasting(shape), -4, 5)
        return Case(kind, [base, self.array(self.random.choice(["i64", "f32"]), self.broadcasting(shape), 0, 5)])

    def variadic(self, kind):
        name, shape = self.random.choice(NUMBERS), self.extents()
        count = self.random.randint(1, 3)
        return Case(kind, [self.array(name, self.broadcasting(shape)) for _ in range(count)])

    Min = Max = lambda self, kind: self.variadic(kind)

    def Sum(self, kind):
        case = self.variadic(kind)
        return case if is_real(NAMES[case.inputs[0].dtype]) else self.Sum(kind)

    Mean = Sum

    def unary(self, kind, names):
        return Case(kind, [self.array(self.random.choice(names), self.extents())])

    Neg = lambda self, kind: self.unary(kind, ["i64", "i32", "i8"] + REALS)
    Abs = Sign = Identity = lambda self, kind: self.unary(kind, NUMBERS)
    Floor = Ceil = Round = Sqrt = Exp = Log = Reciprocal = IsNaN = lambda self, kind: self.unary(kind, REALS)
    Not = lambda self, kind: self.unary(kind, ["bool"])
    Shape = Size = lambda self, kind: self.unary(kind, NUMBERS)

    def IsInf(self, kind):
        return Case(kind, [self.array("f32", self.extents())], detect_negative=self.flag(), detect_positive=self.flag())

    def Cast(self, kind):
        target = self.random.choice(NUMBERS + ["bool", "bf16"])
        return Case(kind, [self.array(self.random.choice(NUMBERS + ["bool"]), self.extents())], to=DTYPES[target][1])

    def CastLike(self, kind):
        names = NUMBERS + ["bool"]
        data = self.array(self.random.choice(names), self.extents())
        return Case(kind, [data, self.array(self.random.choice(names), [1])])

    def Clip(self, kind):
        name = self.random.choice(NUMBERS)
        least = 0 if name.startswith("u") else -3
        limits = sorted(self.random.randint(least, 6) for _ in range(2))
        limits = [None if self.random.random() < 0.2 else numpy.array(limit, DTYPES[name][0]) for limit in limits]
        return Case(kind, [self.array(name, self.extents()), *limits])

    def BitShift(self, kind):
        name, shape = self.random.choice(["u8", "u16", "u32", "u64"]), self.extents()
        return Case(kind, [self.array(name, shape, 0, 200), self.array(name, shape, 0, 7)],
                    direction=self.random.choice(["LEFT", "RIGHT"]))

    def Where(self, kind):
        name, shape = self.random.choice(NUMBERS), self.extents()
        return Case(kind, [self.array("bool", self.broadcasting(shape)), self.array(name, self.broadcasting(shape)),
                           self.array(name, self.broadcasting(shape))])

    def Concat(self, kind):
        name, shape = self.random.choice(NUMBERS), self.extents(1)
        axis = self.axis(len(shape))
        inputs = []
        for _ in range(self.random.randint(1, 4)):
            shape[axis] = self.random.randint(0, 3)
            inputs.append(self.array(name, shape))
        return Case(kind, inputs, axis=axis)

    def Gather(self, kind):
        shape = self.extents(1, empty=False)
        axis = self.axis(len(shape))
        extents = self.extents(0, 2)
        count = int(numpy.prod(extents))
        numbers = [self.random.randint(-shape[axis], shape[axis] - 1) for _ in range(count)]
        indices = numpy.array(numbers, DTYPES[self.random.choice(["i64", "i32"])][0]).reshape(extents)
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), indices], axis=axis)

    def aligned_indices(self, shape, axis):
        extents = [self.random.randint(1, extent) for extent in shape]
        count = int(numpy.prod(extents))
        numbers = [self.random.randint(-shape[axis], shape[axis] - 1) for _ in range(count)]
        return numpy.array(numbers, numpy.int64).reshape(extents)

    def GatherElements(self, kind):
        shape = self.extents(1, empty=False)
        axis = self.axis(len(shape))
        data = self.array(self.random.choice(NUMBERS), shape)
        return Case(kind, [data, self.aligned_indices(shape, axis)], axis=axis)

    def ScatterElements(self, kind):
        shape = self.extents(1, empty=False)
        axis = self.axis(len(shape))
        name = self.random.choice(NUMBERS)
        indices = self.aligned_indices(shape, axis)
        return Case(kind, [self.array(name, shape), indices, self.array(name, list(indices.shape))], axis=axis)

    def GatherND(self, kind):
        shape = self.extents(1, empty=False)
        batch = self.random.randint(0, len(shape) - 1)
        depth = self.random.randint(1, len(shape) - batch)
        outer = shape[:batch] + ([self.random.randint(1, 3)] if self.random.random() < 0.6 or batch == 0 else [])
        rows = [[self.random.randint(-shape[batch + i], shape[batch + i] - 1) for i in range(depth)]
                for _ in range(int(numpy.prod(outer)))]
        indices = numpy.array(rows, numpy.int64).reshape(outer + [depth])
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), indices], batch_dims=batch)

    def ScatterND(self, kind):
        shape = self.extents(1, empty=False)
        depth = self.random.randint(1, len(shape))
        count = self.random.randint(1, 2)
        rows = [[self.random.randint(-extent, extent - 1) for extent in shape[:depth]] for _ in range(count)]
        name = self.random.choice(NUMBERS)
        return Case(kind, [self.array(name, shape), numpy.array(rows, numpy.int64).reshape(count, depth),
                           self.array(name, [count] + shape[depth:])])

    def Compress(self, kind):
        shape = self.extents(1, empty=False)
        axis = self.axis(len(shape)) if self.random.random() < 0.7 else None
        length = shape[axis] if axis is not None else int(numpy.prod(shape))
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape),
                           self.array("bool", [self.random.randint(1, length)])], axis=axis)

    def Slice(self, kind):
        shape = self.extents(1)
        axes = self.random.sample(range(len(shape)), self.random.randint(1, len(shape)))
        far = [-2**63, 2**63 - 1]
        # With a negative step and a start before the first element, ONNX and numpy differ, so this is not tried.
        steps = [self.random.choice([-2, -1, 1, 1, 2, 3]) for _ in axes]
        starts = [self.random.choice([self.random.randint(-6, 6), far[0]]) for _ in axes]
        starts = [self.random.randint(-shape[axis], 5) if step < 0 else start
                  for axis, step, start in zip(axes, steps, starts)]
        ends = [self.random.choice([self.random.randint(-6, 6), *far]) for _ in axes]
        lists = [numpy.array(numbers, numpy.int64) for numbers in (starts, ends, axes, steps)]
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), *lists])

    def Split(self, kind):
        shape = self.extents(1)
        axis = self.axis(len(shape))
        if self.random.random() < 0.5:
            sizes = [self.random.randint(0, 3) for _ in range(self.random.randint(1, 3))]
            shape[axis] = sum(sizes)
            data = self.array(self.random.choice(NUMBERS), shape)
            return Case(kind, [data, numpy.array(sizes, numpy.int64)], len(sizes), axis=axis)
        count = self.random.randint(1, 3)
        shape[axis] = self.random.randint(count, 6)
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape)], count, axis=axis, num_outputs=count)

    def Squeeze(self, kind):
        shape = self.extents()
        ones = [i for i, extent in enumerate(shape) if extent == 1]
        axes = [numpy.array(self.random.sample(ones, self.random.randint(1, len(ones))), numpy.int64)] if ones else []
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), *axes])

    def Unsqueeze(self, kind):
        shape = self.extents()
        rank = len(shape) + self.random.randint(1, 2)
        axes = self.random.sample(range(-rank, 0), rank - len(shape))
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), numpy.array(axes, numpy.int64)])

    def Reshape(self, kind):
        shape = self.extents()
        target = list(shape)
        self.random.shuffle(target)
        for i, extent in enumerate(target):
            if i < len(shape) and shape[i] == extent and self.random.random() < 0.3:
                target[i] = 0
        if target and self.random.random() < 0.6 and 0 not in shape:
            target[self.random.randrange(len(target))] = -1
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), numpy.array(target, numpy.int64)])

    def Flatten(self, kind):
        shape = self.extents(1)
        axis = self.random.randint(-len(shape), len(shape))
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape)], axis=axis)

    def Transpose(self, kind):
        shape = self.extents()
        perm = self.random.sample(range(len(shape)), len(shape)) if shape and self.random.random() < 0.8 else None
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape)], perm=perm)

    def Expand(self, kind):
        shape = self.extents()
        return Case(kind, [self.array(self.random.choice(NUMBERS), self.broadcasting(shape)),
                           numpy.array(self.broadcasting(shape), numpy.int64)])

    def Tile(self, kind):
        shape = self.extents(1)
        repeats = numpy.array([self.random.randint(0, 3) for _ in shape], numpy.int64)
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), repeats])

    def Pad(self, kind):
        shape = self.extents(1, empty=False)
        mode = self.random.choice(["constant", "reflect", "edge", "wrap"])
        # With negative pads in other modes, the evaluator uses numpy, which differs from ONNX.
        least, most = (-1, 3) if mode == "constant" else (0, 3)
        pads = [self.random.randint(least, most) for _ in range(2 * len(shape))]
        if any(extent + pads[i] + pads[len(shape) + i] < 0 for i, extent in enumerate(shape)):
            return self.Pad(kind)
        cuts = [min(pads[i], 0) + min(pads[len(shape) + i], 0) for i in range(len(shape))]
        if any(extent + cut < 0 for extent, cut in zip(shape, cuts)):
            return self.Pad(kind)
        if mode == "reflect" and any(extent == 1 for extent in shape):
            return self.Pad(kind)
        name = self.random.choice(NUMBERS)
        constant = [self.array(name, [])] if mode == "constant" and self.random.random() < 0.6 else []
        return Case(kind, [self.array(name, shape), numpy.array(pads, numpy.int64), *constant], mode=mode)

    def Trilu(self, kind):
        shape = self.extents(2)
        k = [numpy.array(self.random.randint(-3, 3), numpy.int64)] if self.random.random() < 0.6 else []
        return Case(kind, [self.array(self.random.choice(NUMBERS), shape), *k], upper=self.flag())

    def reduction(self, kind):
        shape = self.extents(empty=False)
        axes = self.random.sample(range(len(shape)), self.random.randint(0, len(shape)))
        axes = [axis - len(shape) if self.random.random() < 0.3 else axis for axis in axes]
        given = [numpy.array(axes, numpy.int64)] if self.random.random() < 0.8 else []
        name = self.random.choice(["i64", "i32"] + REALS if kind != "ReduceMean" else REALS)
        data = self.array(name, shape, -3, 4, odd=False)
        return Case(kind, [data, *given], keepdims=self.flag(), noop_with_empty_axes=self.flag())

    ReduceSum = ReduceProd = ReduceMax = ReduceMin = ReduceMean = reduction

    def ArgMax(self, kind):
        shape = self.extents(1, empty=False)
        return Case(kind, [self.array(self.random.choice(INTEGERS), shape)], axis=self.axis(len(shape)),
                    keepdims=self.flag(), select_last_index=self.flag())

    ArgMin = ArgMax

    def CumSum(self, kind):
        shape = self.extents(1, empty=False)
        axis = numpy.array(self.axis(len(shape)), numpy.int64)
        return Case(kind, [self.array(self.random.choice(["i64", "i32", "f32", "f64"]), shape, odd=False), axis],
                    exclusive=self.flag(), reverse=self.flag())

    def Range(self, kind):
        name = self.random.choice(["i64", "i32", "f32", "f64"])
        step = self.random.choice([-3, -1, 1, 2]) * (0.5 if is_real(name) else 1)
        numbers = [self.random.randint(-9, 9), self.random.randint(-9, 9), step]
        return Case(kind, [numpy.array(number, DTYPES[name][0]) for number in numbers])

    def ConstantOfShape(self, kind):
        value = None
        if self.random.random() < 0.8:
            value = self.array(self.random.choice(NUMBERS), [1])
        return Case(kind, [numpy.array(self.extents(), numpy.int64)], value=value)

    def Constant(self, kind):
        return Case(kind, [], value=self.array(self.random.choice(NUMBERS), self.extents()))

    def EyeLike(self, kind):
        shape = [self.random.randint(1, 4), self.random.randint(1, 4)]
        return Case(kind, [self.array(self.random.choice(["i64", "f32"]), shape)], k=self.random.randint(-3, 3),
                    dtype=self.random.choice([None, TensorProto.INT32, TensorProto.DOUBLE]))

    def NonZero(self, kind):
        return Case(kind, [self.array(self.random.choice(NUMBERS + ["bool"]), self.extents(1), -1, 1)])

    def OneHot(self, kind):
        shape = self.extents(0, 2)
        indices = self.array("i64", shape, -3, 4).clip(-5, 5)
        depth = numpy.array(self.random.randint(1, 5), numpy.int64)
        # No floats: the evaluator computes with the values and turns inf into nan.
        values = self.array(self.random.choice(["i64", "i32"]), [2])
        return Case(kind, [indices, depth, values], axis=self.axis(len(shape) + 1))

    def TopK(self, kind):
        shape = self.extents(1, empty=False)
        axis = self.axis(len(shape))
        data = self.array(self.random.choice(["i64", "f32"]), shape)
        data = numpy.nan_to_num(data)
        k = numpy.array([self.random.randint(1, shape[axis])], numpy.int64)
        return Case(kind, [data, k], 2, axis=axis, largest=self.flag())

    def Unique(self, kind):
        return Case(kind, [self.array("i64", self.extents(1, empty=False), 0, 4)], 4, sorted=self.flag())

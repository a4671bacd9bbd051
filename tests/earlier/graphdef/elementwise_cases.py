# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws graphs of TensorFlow with operators that compute each element on its own."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops

UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Erfc", "Exp",
         "Expm1", "Floor", "Inv", "Log", "Log1p", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt",
         "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Square", "Tan", "Tanh", "IsFinite",
         "IsInf", "IsNan", "Identity", "Snapshot", "StopGradient", "OnesLike", "ZerosLike"]
# What the operand of these must be, beside a sample around 0.
POSITIVE = {"Log", "Sqrt", "Rsqrt", "Inv", "Reciprocal"}
BELOW_ONE = {"Acos", "Asin", "Atanh"}
LONG_TAIL = {"Erfc", "Expm1"}  # results far from 0 are as exact
BINARY = ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "DivNoNan", "MulNoNan", "Maximum", "Minimum", "Pow",
          "SquaredDifference", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Greater", "GreaterEqual",
          "Less", "LessEqual", "Equal", "NotEqual"]
INTEGER_ONLY = {"TruncateDiv", "TruncateMod"}
REAL_ONLY = {"RealDiv", "DivNoNan", "MulNoNan", "Pow"}


def broadcast_pair(d):
    whole = d.shape()
    part = [1 if d.chance(0.3) else extent for extent in whole[d.integer(0, len(whole)):]]
    return (whole, part) if d.chance() else (part, whole)


def unary(d):
    op = d.choice(UNARY)
    x = d.values(d.shape(0)) * np.float32(d.choice([1, 1, 1e-4, 1e-9]))
    if op in POSITIVE:
        x = np.abs(x) + np.float32(0.1)
    if op in LONG_TAIL:
        x = x * d.choice([np.float32(1), np.float32(4)])
    if op in BELOW_ONE:
        x = np.tanh(x)
    if op == "Acosh":
        x = np.abs(x) + 1
    if op.startswith("Is"):
        x = np.where(d.random.random(x.shape) < 0.3, d.choice([np.inf, -np.inf, np.nan]), x).astype("float32")
    arguments = {"features" if op in ("Relu", "Relu6", "Softplus", "Softsign") else
                 "input" if op in ("Identity", "Snapshot", "StopGradient") else "x": d.input(x)}
    getattr(raw, op)(**arguments)


def leaky(d):
    raw.LeakyRelu(features=d.input(d.values(d.shape())), alpha=d.choice([0.2, 0.01, 0.5]))


def exponential(d):
    """TensorFlow itself loses digits of these near 0."""
    d.choice([raw.Elu, raw.Selu])(features=d.input(d.values(d.shape())))


def binary(d):
    op = d.choice(BINARY)
    dtype = "float32" if op in REAL_ONLY else "int32" if op in INTEGER_ONLY else d.choice(["float32", "int32"])
    first, second = broadcast_pair(d)
    a, b = d.values(first, dtype), d.values(second, dtype)
    if dtype == "int32" and op in ("Div", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod"):
        b = np.where(b == 0, 3, b).astype(dtype)
    if op in ("DivNoNan", "MulNoNan"):
        b = np.where(d.random.random(b.shape) < 0.3, 0, b).astype(dtype)
    if op == "Pow":
        a = np.abs(a) + np.float32(0.1)
    if op in ("FloorDiv", "FloorMod", "Mod") and dtype == "float32":
        b = np.where(np.abs(b) < 0.1, np.float32(0.7), b)
    second_operand = tf1.constant(b) if d.chance(0.3) else d.input(b)
    getattr(raw, op)(x=d.input(a), y=second_operand)


def rounded_down(d):
    """Quotients and remainders at the ends of a type, where a step between them may not fit into it."""
    dtype = d.choice(["float32", "int8", "int32", "int64", "uint8"])
    if dtype == "float32":
        ends = [0.0, -0.0, 1.0, -1.5, 3.0, -7.0, 1e7, -1e20, np.inf, -np.inf]
        a, b = (np.array([d.choice(ends) for _ in range(12)], dtype) for _ in range(2))
    else:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        a, b = (np.array([d.choice([least, least + 1, -7, -3, 3, 8, most] if least else [0, 3, 8, 200, most])
                          for _ in range(12)], dtype) for _ in range(2))
        b = np.where(b == 0, 5, b).astype(dtype)
    d.choice([raw.FloorDiv, raw.FloorMod])(x=d.input(a), y=d.input(b))


def logic(d):
    first, second = broadcast_pair(d)
    a, b = d.input(d.values(first, "bool")), d.input(d.values(second, "bool"))
    raw.LogicalNot(x=d.choice([raw.LogicalAnd, raw.LogicalOr])(x=a, y=b))


def select(d):
    shape = d.shape()
    x, y = d.input(d.values(shape)), d.input(d.values(shape))
    kind = d.integer(0, 2)
    if kind == 0:
        raw.Select(condition=d.input(d.values(shape, "bool")), x=x, y=y)
    elif kind == 1:
        raw.Select(condition=d.input(d.values(shape[:1], "bool")), x=x, y=y)
    else:
        part = [1 if d.chance() else extent for extent in shape[d.integer(0, len(shape)):]]
        raw.SelectV2(condition=d.input(d.values(part, "bool")), t=x, e=y)


def clip(d):
    raw.ClipByValue(t=d.input(d.values(d.shape())), clip_value_min=np.float32(-0.5), clip_value_max=np.float32(0.7))


def sums(d):
    shape = d.shape()
    raw.AddN(inputs=[d.input(d.values(shape)) for _ in range(d.integer(1, 4))])


def cast(d):
    source = d.choice(["float32", "int32", "int64", "bool", "uint8"])
    content = d.values(d.shape(), source) if source != "uint8" else d.random.integers(0, 255, d.shape()).astype("uint8")
    raw.Cast(x=d.input(content), DstT=d.choice(["float32", "int32", "int64", "bool"]))


CASES = [unary, leaky, exponential, binary, rounded_down, logic, select, clip, sums, cast]
# Each element of a result follows from one element of each operand.
OF_ONE = [unary, leaky, binary, rounded_down, clip, cast]

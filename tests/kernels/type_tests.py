#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs operators on each type of numbers that ONNX allows them, and compares them with the onnx reference.

    tests/kernels/type_tests.py --runner build/dev/tests/tools/case_runner [--seed S] [--only NAME]

Each case is one node with random operands. ONNX Runtime judges it as well, where it has the types. bf16 is compared
with the same operator on f32, because the reference rounds between the steps of an operator. A case counts as refused
if Lowtide has no kernel; the script fails if a result is wrong or if too few cases pass.
"""
import argparse
import collections
import contextlib
import pathlib
import subprocess
import tempfile
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

OPSET = 21
BF16 = np.dtype(ml_dtypes.bfloat16)
REALS = ("float64", "bfloat16")
INTEGERS = ("int16", "uint16", "uint32", "uint64")
WIDE_INTEGERS = ("uint32", "uint64")
SIGNED = ("int64", "int32", "int16", "int8")
ALL = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16",
       "uint8", "bool")


def numbers(random, dtype, shape, least=-4.0, most=4.0):
    """Numbers of a type. Integers reach both ends of the type, so that signs and sizes matter."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = random.integers(0 if dtype.kind == "u" else -9, 10, shape)
        ends = random.choice(np.array([info.min, info.max, info.max // 2 + 1, info.max - 3], dtype), shape)
        return np.where(random.random(shape) < 0.3, ends, small.astype(dtype)).astype(dtype)
    return random.uniform(least, most, shape).astype(dtype)


def unary(least=-4.0, most=4.0, shape=(3, 5), **words):
    return lambda random, dtype: ([numbers(random, dtype, shape, least, most)], words)


def binary(second=(5,), **words):
    return lambda random, dtype: ([numbers(random, dtype, (3, 5)), numbers(random, dtype, second)], words)


def divided(**words):
    def make(random, dtype):
        x, y = binary()(random, dtype)[0]
        y = np.where(y == 0, np.array(3).astype(y.dtype), y)
        return [x, y], words
    return make


def with_constants(shape, *constants, **words):
    return lambda random, dtype: ([numbers(random, dtype, shape), *(np.array(one) for one in constants)], words)


def operands(*shapes, positive=(), **words):
    """Operands of these shapes; those with numbers in `positive` are above 0."""
    return lambda random, dtype: ([numbers(random, dtype, shape, 0.5 if at in positive else -2.0, 2.0)
                                   for at, shape in enumerate(shapes)], words)


def shifted(direction):
    return lambda random, dtype: ([numbers(random, dtype, (3, 5)),
                                   random.integers(0, np.iinfo(dtype).bits, (3, 5)).astype(dtype)],
                                  {"direction": direction})


def power(exponent):
    return lambda random, dtype: ([random.integers(-3, 4, (3, 5)).astype(dtype),
                                   random.integers(0, 4, (3, 5)).astype(exponent)], {})


def cast(to):
    def make(random, dtype):
        x = numbers(random, dtype, (4, 5))
        if np.dtype(dtype) == bool or np.dtype(to) == bool or np.dtype(dtype).kind in "iu":
            return [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))}
        if np.dtype(to).kind == "u":
            x = np.abs(x)  # what a negative real becomes is not defined
        return [x * 20], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))}
    return make


def where(random, dtype):
    return [random.random((3, 5)) < 0.5, numbers(random, dtype, (3, 5)), numbers(random, dtype, (5,))], {}


SMOOTH = ("Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu",
          "Round", "Selu", "Sigmoid", "Sin", "Softplus", "Softsign", "Tan", "Tanh", "ThresholdedRelu", "Celu", "Sinh",
          "Cosh", "Asinh", "Atan", "Abs", "Neg", "Sign", "IsNaN", "IsInf", "Shrink")
CASES = [(kind, unary(), REALS) for kind in SMOOTH]
CASES += [(kind, unary(0.1, 0.9), REALS) for kind in ("Acos", "Asin", "Atanh", "Log", "Reciprocal", "Sqrt")]
CASES += [("Acosh", unary(1.1, 4.0), REALS), ("BitwiseNot", unary(), INTEGERS), ("Relu", unary(), ("int16",)),
          ("Abs", unary(), INTEGERS), ("Sign", unary(), INTEGERS), ("Neg", unary(), ("int16",)),
          ("Swish", unary(alpha=0.5), REALS)]
CASES += [(kind, binary(), (*REALS, *INTEGERS)) for kind in ("Add", "Sub", "Mul", "Equal", "Greater", "GreaterOrEqual",
                                                             "Less", "LessOrEqual", "Max", "Min")]
CASES += [("Div", divided(), (*REALS, *INTEGERS)), ("Mod", divided(), INTEGERS), ("Mod", divided(fmod=1), ("float64",)),
          ("PRelu", binary(), ("float64", "bfloat16", "uint32", "uint64")), ("Sum", binary(), REALS),
          ("Mean", binary(), REALS), ("Where", where, ("float64", "uint64", "uint16")),
          ("BitShift", shifted("LEFT"), ("uint16", "uint32", "uint64")),
          ("BitShift", shifted("RIGHT"), ("uint16", "uint32", "uint64"))]
CASES += [(kind, binary(), INTEGERS) for kind in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")]
CASES += [("Pow", power(exponent), ("float64", "float32", "int64", "int32"))
          for exponent in ("float64", "float32", "int64", "int32", "int16", "uint8", "uint32", "uint64")]
CASES += [("Clip", lambda random, dtype: ([numbers(random, dtype, (3, 5)), np.array(2).astype(dtype),
                                           np.array(7).astype(dtype)], {}), (*REALS, *INTEGERS))]
CASES += [("Cast", cast(to), tuple(one for one in ALL if one != to)) for to in ALL]
CASES += [(kind, with_constants((2, 3, 4), [1], keepdims=keeps), (*REALS, *WIDE_INTEGERS))
          for kind in ("ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceMax", "ReduceMin")
          for keeps in (0, 1)]
CASES += [(kind, with_constants((2, 3, 4), [2]), REALS) for kind in ("ReduceL2", "ReduceLogSumExp", "ReduceMean")]
CASES += [(kind, unary(shape=(2, 3, 4), axis=axis), REALS) for kind in ("Softmax", "LogSoftmax", "Hardmax")
          for axis in (1, -1)]
CASES += [("MatMul", operands((2, 3, 4), (4, 5)), (*REALS, *WIDE_INTEGERS)),
          ("Gemm", operands((3, 4), (4, 5), (5,)), REALS),
          ("Gemm", operands((4, 3), (5, 4), (3, 1), transA=1, transB=1, alpha=0.5, beta=2.0), REALS),
          ("Einsum", operands((3, 4), (4, 5), equation="ij,jk->ki"), ("float64", *WIDE_INTEGERS)),
          ("Conv", operands((2, 4, 7, 6), (6, 2, 3, 3), (6,), group=2, pads=[1, 0, 1, 2], strides=[2, 1]), REALS),
          ("Conv", operands((2, 4, 9), (3, 4, 3), dilations=[2]), REALS),
          ("Conv", operands((1, 2, 3, 4, 5), (3, 2, 2, 2, 2)), ("float64",)),
          ("BatchNormalization", operands((2, 3, 4), (3,), (3,), (3,), (3,), positive=(4,)), REALS),
          ("InstanceNormalization", operands((2, 3, 4, 2), (3,), (3,)), REALS),
          ("LayerNormalization", operands((2, 3, 4), (3, 4), (4,), axis=1), REALS),
          ("GroupNormalization", operands((2, 4, 3), (4,), (4,), num_groups=2), REALS)]
CASES += [(kind, with_constants((3, 5), 1), (*REALS, *WIDE_INTEGERS)) for kind in ("CumSum",)]
CASES += [(kind, unary(axis=1, keepdims=0), (*REALS, *INTEGERS)) for kind in ("ArgMax", "ArgMin")]
CASES += [("TopK", with_constants((3, 6), [3]), (*REALS, *INTEGERS)), ("NonZero", unary(), (*REALS, *INTEGERS)),
          ("AveragePool", unary(shape=(1, 2, 6, 5), kernel_shape=[2, 3], pads=[1, 0, 0, 1]), REALS),
          ("GlobalAveragePool", unary(shape=(1, 9, 6, 5)), REALS), ("GlobalMaxPool", unary(shape=(1, 2, 6, 5)), REALS),
          ("MaxPool", unary(shape=(1, 2, 6, 5), kernel_shape=[2, 3]), REALS),
          ("LpPool", unary(shape=(1, 2, 6, 5), kernel_shape=[2, 3], p=3), REALS),
          ("LpNormalization", unary(axis=0, p=1), REALS)]
CASES += [("ScatterElements", lambda random, dtype, reduction=reduction: (
    [numbers(random, dtype, (4, 3)), np.array([[0, 1, 3], [2, 1, 3]]), numbers(random, dtype, (2, 3))],
    {"reduction": reduction}), ("float64", *INTEGERS)) for reduction in ("add", "mul", "max", "min")]
CASES += [("Concat", binary((2, 5), axis=0), ALL), ("Gather", with_constants((4, 3), [2, 0]), ALL),
          ("Transpose", unary(shape=(2, 3)), ALL), ("Expand", with_constants((3, 1), [3, 4]), ALL)]


def element_type(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def model_of(kind, inputs, results, words):
    values = [helper.make_tensor_value_info(f"x{at}", element_type(x), np.shape(x)) for at, x in enumerate(inputs)]
    outputs = [helper.make_tensor_value_info(f"y{at}", dtype, None) for at, dtype in enumerate(results)]
    opset = 24 if kind == "Swish" else OPSET
    # Axes, shapes and the like are constants, so that sizes are known.
    fixed = {"Gather": (), "ScatterElements": (), "Clip": (), "Where": ()}.get(kind)
    constants = [at for at, x in enumerate(inputs) if at > 0 and fixed is None and np.asarray(x).dtype == np.int64
                 and kind not in ("Add", "Concat", "Pow")]
    graph = helper.make_graph(
        [helper.make_node(kind, [one.name for one in values], [one.name for one in outputs], **words)], "g",
        [one for at, one in enumerate(values) if at not in constants], outputs,
        [onnx.numpy_helper.from_array(np.asarray(inputs[at]), f"x{at}") for at in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model, [x for at, x in enumerate(inputs) if at not in constants]


def results_of(kind, inputs, words):
    """The element types of the results."""
    if kind == "Cast":
        return [words["to"]]
    if kind in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsNaN", "IsInf"):
        return [onnx.TensorProto.BOOL]
    if kind in ("ArgMax", "ArgMin", "NonZero"):
        return [onnx.TensorProto.INT64]
    first = element_type(inputs[1] if kind == "Where" else inputs[0])
    return [first, onnx.TensorProto.INT64] if kind == "TopK" else [first]


def wide(array):
    return np.asarray(array).astype(np.float32) if np.asarray(array).dtype == BF16 else np.asarray(array)


def expected_results(kind, inputs, words):
    """What peers return: {name of the peer: results}. A peer that does not have the types is left out."""
    peers = {}
    if any(np.asarray(x).dtype == BF16 for x in inputs):
        inputs = [wide(x) for x in inputs]
    model, given = model_of(kind, inputs, results_of(kind, inputs, words), words)
    names = [one.name for one in model.graph.input]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.suppress(TypeError, ValueError, RuntimeError, KeyError):
            peers["reference"] = ReferenceEvaluator(model).run(None, dict(zip(names, given, strict=True)))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        peers["ONNX Runtime"] = session.run(None, dict(zip(names, given, strict=True)))
    except Exception as error:  # onnxruntime has a class of its own for each code
        refusals = ("NOT_IMPLEMENTED", "INVALID", "FAIL", "No corresponding Numpy type")
        if not any(word in str(error) for word in refusals):
            raise
    return peers


# The peers compute these in f32, and widen the result.
F32_REFERENCE = ("Erf", "Gelu", "GroupNormalization")


def tolerance_of(kind, dtype, is_narrow):
    if is_narrow:
        return 2.0**-6
    return 1e-12 if dtype == np.float64 and kind not in F32_REFERENCE else (1e-6 if dtype == np.float64 else 1e-3)


def difference(expected, folder, is_narrow, shape_of_results, kind):
    for at, right in enumerate(expected):
        actual = np.load(folder / f"output_{at}.npy")
        dtype = helper.tensor_dtype_to_np_dtype(shape_of_results[at])
        actual = actual.view(BF16) if actual.dtype == np.dtype("V2") else actual
        if actual.dtype != dtype or actual.shape != np.shape(right):
            return f"result {at} is {actual.dtype}{actual.shape}, and {dtype}{np.shape(right)} is right"
        actual, right = wide(actual), wide(right)
        is_exact = actual.dtype.kind not in "f"
        tolerance = tolerance_of(kind, actual.dtype, is_narrow)
        if not (np.array_equal(actual, right) if is_exact else np.allclose(actual, right, tolerance, tolerance,
                                                                           equal_nan=True)):
            return f"result {at} is {actual.ravel()[:6]}, and {right.ravel()[:6]} is right"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases whose operator and type contain this text")
    parser.add_argument("--at-least", type=int, default=0, help="cases that must pass")
    given = parser.parse_args()
    cases = [(f"{kind} {dtype}{' to ' + str(at) if kind == 'Cast' else ''}", kind, make, dtype)
             for at, (kind, make, types) in enumerate(CASES) for dtype in types]
    cases = [one for one in cases if given.only in one[0]]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as root:
        drawn = []
        for at, (_, kind, make, dtype) in enumerate(cases):
            inputs, words = make(np.random.default_rng([given.seed, at]), dtype)
            drawn.append((inputs, words))
            model, bound = model_of(kind, inputs, results_of(kind, inputs, words), words)
            folder = pathlib.Path(root) / str(at)
            folder.mkdir()
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            for number, x in enumerate(bound):
                np.save(folder / f"input_{number}.npy", x)
        folders = "".join(f"{pathlib.Path(root) / str(at)}\n" for at in range(len(cases)))
        lines = subprocess.run([given.runner], input=folders, text=True, capture_output=True).stdout.splitlines()
        lines += ["bug the program ended early"] * (len(cases) - len(lines))
        for at, ((name, kind, _, dtype), (inputs, words), line) in enumerate(zip(cases, drawn, lines, strict=True)):
            counts[line.split()[0]] += 1
            if line != "ok":
                print(f"{name}: {line[:200]}")
                continue
            results = results_of(kind, inputs, words)
            narrow = "bfloat16" in (dtype, str(helper.tensor_dtype_to_np_dtype(results[0])))
            wrong = {peer: difference(expected, pathlib.Path(root) / str(at), narrow, results, kind)
                     for peer, expected in expected_results(kind, inputs, words).items()}
            counts["without peer"] += not wrong
            counts.update(f"agree with {peer}" for peer, text in wrong.items() if not text)
            # Some operators of one of the peers are wrong for rare types, so one that agrees is enough.
            if wrong and all(wrong.values()):
                counts["wrong"] += 1
                print(f"{name}: {wrong}")
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    bad = counts["wrong"] + counts["failed"] + counts["bug"] + counts["allocated"]
    return 1 if bad or counts["ok"] < given.at_least else 0


if __name__ == "__main__":
    raise SystemExit(main())

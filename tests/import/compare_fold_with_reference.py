#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Folds random nodes of known content and compares the results with the reference evaluator of onnx.

    compare_fold_with_reference.py --program build/tests/import/fold_program [--cases 200] [--seed 1]

Every operator gets --cases random nodes. What fold_program reports as exact must be what the evaluator computes: the
same type, extents and elements. Floats may differ by two units in the last place if ONNX leaves the last bit to the
kernel. The script counts the cases that the evaluator refuses, and those of which fold_program reports nothing. It
fails if an operator is rarely compared.
"""

import argparse
import collections
import subprocess
import sys
import warnings

import numpy
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from random_fold_cases import DTYPES, NAMES, Maker, is_real

# The kernel may round these, so they are compared within two units in the last place.
INEXACT = {"Exp", "Log", "Pow", "ReduceSum", "ReduceMean", "ReduceProd", "CumSum", "Mean", "Sum", "Sqrt", "Reciprocal",
           "Range", "Mod"}


def attribute_words(name, value):
    if isinstance(value, numpy.ndarray):
        return [name, "tensor", *tensor_words(value)]
    if isinstance(value, list):
        return [name, "ints", str(len(value)), *map(str, value)]
    if isinstance(value, str):
        return [name, "string", value]
    if isinstance(value, float):
        return [name, "float", value.hex()]
    return [name, "int", str(value)]


def tensor_words(array):
    name = NAMES[array.dtype]
    if is_real(name):
        elements = [float(element).hex() for element in array.flatten()]
    else:
        # A u64 beyond 63 bits is unknown (KnownElement).
        elements = [str(int(element)) if int(element) < 2**63 else "?" for element in array.flatten()]
    return [name, str(array.ndim), *map(str, array.shape), *elements]


def line_of(case):
    words = [case.kind, str(case.opset), str(len(case.attributes))]
    for name, value in case.attributes.items():
        words += attribute_words(name, value)
    words.append(str(len(case.inputs)))
    for array in case.inputs:
        words += ["-"] if array is None else tensor_words(array)
    return " ".join(words + [str(case.outputs)])


def tensors_of(line, count):
    words = iter(line.split())
    result = []
    for _ in range(count):
        name = next(words)
        if name == "-":
            result.append(None)
            continue
        extents = [int(next(words)) for _ in range(int(next(words)))]
        elements = [next(words) for _ in range(int(numpy.prod(extents, dtype=numpy.int64)))]
        result.append((name, extents, elements))
    return result


def reference_of(case):
    """Returns what the evaluator computes, or None if it refuses the node."""
    inputs = ["" if array is None else f"x{i}" for i, array in enumerate(case.inputs)]
    while inputs and not inputs[-1]:
        inputs.pop()
    outputs = [f"y{i}" for i in range(case.outputs)]
    attributes = {name: numpy_helper.from_array(value) if isinstance(value, numpy.ndarray) else value
                  for name, value in case.attributes.items()}
    node = helper.make_node(case.kind, inputs, outputs, **attributes)
    infos = [helper.make_tensor_value_info(f"x{i}", DTYPES[NAMES[array.dtype]][1], list(array.shape))
             for i, array in enumerate(case.inputs) if array is not None]
    graph = helper.make_graph([node], "case", infos, [helper.make_empty_tensor_value_info(name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)])
    try:
        feeds = {f"x{i}": array for i, array in enumerate(case.inputs) if array is not None}
        return ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # the evaluator may raise anything
        return None


def difference(case, folded, expected):
    """Returns how the two differ, or an empty text."""
    name, extents, elements = folded
    expected = numpy.asarray(expected)
    if NAMES.get(expected.dtype) != name:
        return f"type {name}, expected {expected.dtype}"
    if list(expected.shape) != extents:
        return f"extents {extents}, expected {list(expected.shape)}"
    for at, (word, truth) in enumerate(zip(elements, expected.flatten())):
        if word == "?":
            continue
        if not is_real(name):
            if int(word) != int(truth):
                return f"element {at} is {word}, expected {int(truth)}"
            continue
        number, truth = float.fromhex(word), float(truth)
        if number == truth or (number != number and truth != truth):
            continue
        last_place = float(numpy.abs(numpy.spacing(expected.dtype.type(truth))))
        if case.kind in INEXACT and abs(number - truth) <= 2 * last_place:
            continue
        return f"element {at} is {number!r}, expected {truth!r}"
    return ""


def is_settled(case):
    """Returns False if the evaluator is known to differ from the standard."""
    if case.kind in ("Div", "Mod") and not is_real(NAMES[case.inputs[0].dtype]):
        numerator, divisor = case.inputs[:2]
        overflows = (divisor == -1).any() and (numerator == numpy.iinfo(numerator.dtype).min).any()
        return not numerator.size or not divisor.size or not ((divisor == 0).any() or overflows)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the fold_program to test")
    parser.add_argument("--cases", type=int, default=200, help="number of nodes per operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the only operator to test")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")

    kinds = sorted(name for name in dir(Maker) if name[0].isupper() and (arguments.only in (None, name)))
    maker = Maker(arguments.seed)
    cases = [getattr(maker, kind)(kind) for kind in kinds for _ in range(arguments.cases)]
    cases = [case for case in cases if is_settled(case)]
    program = subprocess.run([arguments.program], input="".join(line_of(case) + "\n" for case in cases), text=True,
                             capture_output=True, check=True)
    answers = program.stdout.splitlines()
    if len(answers) != len(cases):
        sys.exit(f"{len(answers)} answers to {len(cases)} cases")

    compared, silent, refused, wrong = (collections.Counter() for _ in range(4))
    for case, answer in zip(cases, answers):
        expected = reference_of(case)
        if expected is None:
            refused[case.kind] += 1
            continue
        if answer.startswith("error"):
            problems = [answer]
        else:
            folded = tensors_of(answer, case.outputs)
            if all(tensor is None for tensor in folded):
                silent[case.kind] += 1
                continue
            compared[case.kind] += 1
            texts = [difference(case, tensor, truth) for tensor, truth in zip(folded, expected) if tensor]
            problems = [text for text in texts if text]
        if problems:
            wrong[case.kind] += 1
            if wrong[case.kind] <= 3:
                print(f"{case.kind}: {problems[0]}\n   {line_of(case)}\n   {answer}")
    print(f"{sum(compared.values())} nodes of {len(kinds)} operators compared, {sum(wrong.values())} differ; "
          f"{sum(silent.values())} with nothing known, {sum(refused.values())} refused by the evaluator")
    for name, counter in (("nothing known", silent), ("refused", refused)):
        print(f"  {name}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(counter.items())))
    never = [kind for kind in kinds if compared[kind] < arguments.cases // 4]
    if never:
        print("rarely compared: " + ", ".join(never))
    return 1 if wrong or never else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the node tests of the onnx project, and compares the outputs.

    tests/kernels/node_tests.py --runner build/dev/tests/tools/case_runner [--only NAME] [--show N] [--at-least N]
                                [--table docs/operators.md [--write]]

A test counts if its inputs and outputs are tensors of numbers of at least 8 bits, or of bool. The script prints the
results by operator, and the reasons why tests were refused. It fails if an output is wrong, if a run fails or
allocates memory, if the program ends early, or if fewer tests pass than --at-least says.

--table names a document that lists the operators with their results. The script fails if the document differs from the
results; with --write, it writes the document instead.
"""
import argparse
import collections
import pathlib
import subprocess
import tempfile
import textwrap
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {BF16, *(np.dtype(name) for name in (
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"))}


def cases(only):
    """The tests within the types whose name contains `only`: [(name, model, inputs, outputs, rtol, atol)]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for case in collected:
        if only not in case.name:
            continue
        for inputs, outputs in case.data_sets:
            tensors = [*inputs, *outputs]
            if all(isinstance(one, (np.ndarray, np.generic)) and one.dtype in TYPES for one in tensors):
                yield case.name, case.model, inputs, outputs, case.rtol, case.atol


def write_case(folder, model, inputs):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for at, array in enumerate(inputs):
        np.save(folder / f"input_{at}.npy", np.asarray(array, order="C"))


# Results of f16 and bf16 may differ by two units in the last place: kernels compute f32 and round each result once, and
# the reference rounds sums in between.
NARROW_RTOL = {np.dtype(np.float16): 2.0**-9, BF16: 2.0**-6}


# Tests whose expected output has rounding errors of 2e-7 where the exact result is 0, although they permit 1e-7. The
# exact result fails them as well, so they count neither as passed nor as wrong if they agree within 1e-6.
INEXACT = ("test_dft_inverse", "test_dft_inverse_opset19")


def difference(folder, outputs, rtol, atol):
    """What is wrong with the outputs; an empty text if they are right."""
    for at, expected in enumerate(outputs):
        path = folder / f"output_{at}.npy"
        if not path.exists():
            return f"output {at} is missing"
        actual = np.load(path)
        expected = np.asarray(expected)
        if expected.dtype == BF16 and actual.dtype == np.dtype("V2"):
            actual = actual.view(BF16)
        if actual.dtype != expected.dtype or actual.shape != expected.shape:
            return f"output {at} is {actual.dtype}{actual.shape}, and {expected.dtype}{expected.shape} is right"
        exact = expected.dtype.kind != "f" and expected.dtype != BF16
        rtol = max(rtol, NARROW_RTOL.get(expected.dtype, 0))
        if expected.dtype == BF16:
            actual, expected = actual.astype(np.float32), expected.astype(np.float32)
        if not (np.array_equal(actual, expected) if exact else
                np.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)):
            return f"output {at} differs by up to {np.max(np.abs(actual.astype(float) - expected.astype(float)))}"
    return ""


def full_name(node):
    """The operator of a node, with its domain unless that is the standard one."""
    return node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"


def run(runner, only, root):
    """{(operator, name): "ok", or a word and the reason} of all tests."""
    chosen = list(cases(only))
    folders = [root / f"{at}" for at in range(len(chosen))]
    for folder, (_, model, inputs, _, _, _) in zip(folders, chosen):
        write_case(folder, model, inputs)
    done = subprocess.run([runner], input="".join(f"{folder}\n" for folder in folders), text=True, capture_output=True)
    lines = done.stdout.splitlines()
    results = {}
    for at, (folder, (name, model, _, outputs, rtol, atol)) in enumerate(zip(folders, chosen)):
        line = lines[at] if at < len(lines) else f"bug the program ended with code {done.returncode}"
        if line == "ok" and (wrong := difference(folder, outputs, rtol, atol)):
            is_close = name in INEXACT and not difference(folder, outputs, rtol, max(atol, 1e-6))
            line = f"inexact {wrong}" if is_close else f"wrong {wrong}"
        operators = sorted({full_name(node) for node in model.graph.node})
        results["+".join(operators), f"{name} {at}"] = line
        if at >= len(lines):
            break
    return results


HEAD = """# Operators

Written by `scripts/write_operators`, and held current by the test `kernels.NodeTestsOfOnnx`.

Each row is an operator of the ONNX standard, or of its domain ai.onnx.ml, that `lowtide run` executes. *Types* are the
element types of its first operand or, without operands, of its result. *Node tests* counts the tests of the onnx
project (version {version}) that consist of this operator alone: those that pass, of all whose inputs and outputs are
tensors of these types. A dash means that there is no such test. `Cast` and `DequantizeLinear` also read constants of i4
and u4. A model with another operator is refused when it is loaded, and the message names all such nodes. `If`, `Loop`
and `Scan` are run by the session itself.

| Operator | Types | Node tests |
|---|---|---|
"""


def reason_of(line):
    """Why a test does not pass, without the folder of its model."""
    word, _, text = line.partition(" ")
    if word == "inexact":
        return "the expected outputs have rounding errors, which the test does not permit"
    return " ".join((text.partition("/model.onnx: ")[2] or text).split())


def table(runner, results):
    """The document: all operators with a kernel, then those that have node tests but no kernel."""
    passed, all_tests = collections.Counter(), collections.Counter()
    for (operators, _), line in results.items():
        all_tests[operators] += 1
        passed[operators] += line == "ok"
    listing = subprocess.run([runner, "--operators"], text=True, capture_output=True, check=True).stdout
    rows = {name: types for name, *types in map(str.split, listing.splitlines())}
    text = HEAD.format(version=onnx.__version__)
    for name, types in rows.items():
        counts = f"{passed[name]} of {all_tests[name]}" if all_tests[name] else "-"
        text += f"| {name} | {', '.join(types)} | {counts} |\n"
    several = [operators for operators in all_tests if "+" in operators]
    passing, count = sum(passed[one] for one in several), sum(all_tests[one] for one in several)
    text += f"\n{passing} of {count} node tests of several operators pass. "
    text += "Most of them are functions of the standard that are written out.\n"
    reasons = collections.Counter((operators, reason_of(line)) for (operators, _), line in results.items()
                                  if operators in rows and line != "ok")
    text += "\nWhy the other node tests of single operators do not pass:\n\n"
    for (name, reason), count in sorted(reasons.items()):
        text += textwrap.fill(f"- {name} ({count}): {reason}", 120, subsequent_indent="  ", break_long_words=False,
                              break_on_hyphens=False) + "\n"
    run_elsewhere = {"Constant", "If", "Loop", "Scan"}
    absent = sorted(one for one in all_tests if "+" not in one and one not in rows and one not in run_elsewhere)
    text += "\nOperators that have node tests, but no kernel:\n\n"
    return text + "".join(f"- {name} ({passed[name]} of {all_tests[name]})\n" for name in absent)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--show", type=int, default=20, help="the most reasons to print")
    parser.add_argument("--at-least", type=int, default=0, help="tests that must pass")
    parser.add_argument("--table", type=pathlib.Path, help="the document that lists the operators")
    parser.add_argument("--write", action="store_true", help="write the document instead of comparing it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = run(given.runner, given.only, pathlib.Path(folder))
    words = collections.Counter(line.split()[0] for line in results.values())
    passed = collections.Counter(operators for (operators, _), line in results.items() if line == "ok")
    for operators, count in sorted(passed.items()):
        print(f"{count:5} {operators}")
    defects = ("wrong", "failed", "allocated", "bug")
    reasons = [(key, line) for key, line in results.items() if line.split()[0] in defects]
    for (operators, name), line in reasons[:given.show]:
        print(f"{name} ({operators}): {line}")
    refused = collections.Counter(line for line in results.values() if line.startswith("refused"))
    for line, count in refused.most_common(given.show):
        print(f"{count:5} {line[:150]}")
    print(f"{words['ok']} of {len(results)} tests pass, {words['refused']} are refused, {len(reasons)} are wrong")
    is_current = True
    if given.table:
        text = table(given.runner, results)
        if given.write:
            given.table.write_text(text)
        is_current = given.table.read_text() == text
    if not is_current:
        print(f"{given.table} differs from these results; run scripts/write_operators")
    return 1 if reasons or words["ok"] < given.at_least or not is_current else 0


if __name__ == "__main__":
    raise SystemExit(main())

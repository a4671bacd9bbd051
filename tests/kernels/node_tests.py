#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the node tests of the onnx project, and compares the outputs.

    tests/kernels/node_tests.py --runner build/dev/tests/tools/case_runner [--only NAME] [--show N] [--at-least N]

A test counts if its inputs and outputs are tensors of f32, f16, i64, i32, bool, i8 and u8. The script prints the
results by operator, and the reasons why tests were refused. It fails if an output is wrong, if a run fails, if the
program ends early, or if fewer tests pass than --at-least says.
"""
import argparse
import collections
import pathlib
import subprocess
import tempfile
import warnings

import numpy as np
from onnx.backend.test.case.node import collect_testcases

TYPES = {np.dtype(name) for name in ("float32", "float16", "int64", "int32", "bool", "int8", "uint8")}


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


def difference(folder, outputs, rtol, atol):
    """What is wrong with the outputs; an empty text if they are right."""
    for at, expected in enumerate(outputs):
        path = folder / f"output_{at}.npy"
        if not path.exists():
            return f"output {at} is missing"
        actual = np.load(path)
        expected = np.asarray(expected)
        if actual.dtype != expected.dtype or actual.shape != expected.shape:
            return f"output {at} is {actual.dtype}{actual.shape}, and {expected.dtype}{expected.shape} is right"
        exact = expected.dtype.kind not in "f"
        if not (np.array_equal(actual, expected) if exact else
                np.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)):
            return f"output {at} differs by up to {np.max(np.abs(actual.astype(float) - expected.astype(float)))}"
    return ""


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
            line = f"wrong {wrong}"
        operators = sorted({node.op_type for node in model.graph.node})
        results["+".join(operators), f"{name} {at}"] = line
        if at >= len(lines):
            break
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--show", type=int, default=20, help="the most reasons to print")
    parser.add_argument("--at-least", type=int, default=0, help="tests that must pass")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = run(given.runner, given.only, pathlib.Path(folder))
    words = collections.Counter(line.split()[0] for line in results.values())
    passed = collections.Counter(operators for (operators, _), line in results.items() if line == "ok")
    for operators, count in sorted(passed.items()):
        print(f"{count:5} {operators}")
    reasons = [(key, line) for key, line in results.items() if line.split()[0] in ("wrong", "failed", "bug")]
    for (operators, name), line in reasons[:given.show]:
        print(f"{name} ({operators}): {line}")
    refused = collections.Counter(line for line in results.values() if line.startswith("refused"))
    for line, count in refused.most_common(given.show):
        print(f"{count:5} {line[:150]}")
    print(f"{words['ok']} of {len(results)} tests pass, {words['refused']} are refused, {len(reasons)} are wrong")
    return 1 if reasons or words["ok"] < given.at_least else 0


if __name__ == "__main__":
    raise SystemExit(main())

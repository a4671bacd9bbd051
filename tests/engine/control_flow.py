#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models with If, Loop and Scan, and compares the outputs with those of ONNX Runtime and of the onnx reference.

    tests/engine/control_flow.py --runner build/dev/tests/tools/case_runner [--only NAME]

Each case of control_flow_cases.py is a graph in the text form of onnx, with inputs. Outputs must be equal, because the
cases only move, compare, add and multiply small integers, some of them as floats.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import onnxruntime
from control_flow_cases import CASES

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def write_case(folder, model, inputs):
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for at, array in enumerate(inputs):
        np.save(folder / f"input_{at}.npy", array)


def expected(model, inputs, by_reference):
    """{the name of an implementation: its outputs}."""
    feed = dict(zip([one.name for one in model.graph.input], inputs, strict=True))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = {"ONNX Runtime": session.run(None, feed)}
    if by_reference:
        results["the onnx reference"] = onnx.reference.ReferenceEvaluator(model).run(None, feed)
    return results


def difference(folder, outputs):
    """What is wrong with the outputs; an empty text if they are right."""
    for at, right in enumerate(outputs):
        own = np.load(folder / f"output_{at}.npy")
        if own.dtype != right.dtype or own.shape != right.shape:
            return f"output {at} is {own.dtype}{own.shape}, and {right.dtype}{right.shape} is right"
        if not np.array_equal(own, right):
            return f"output {at} is {own.tolist()}, and {right.tolist()} is right"
    return ""


def run(runner, name, inputs, folder):
    """A list of faults, as the model is written and with all rewrites."""
    text, _, by_reference = CASES[name]
    model = onnx.parser.parse_model(HEAD + text)
    write_case(folder, model, inputs)
    right = expected(model, inputs, by_reference)
    faults = []
    for words in ([], ["--lowered"]):
        done = subprocess.run([runner, *words], input=f"{folder}\n", text=True, capture_output=True, check=False)
        if done.stdout.strip() != "ok":
            faults.append(" ".join([*words, done.stdout.strip(), done.stderr.strip()]))
            continue
        faults += [" ".join([*words, "differs from", who, wrong]) for who, outputs in right.items()
                   if (wrong := difference(folder, outputs))]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    given = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        for name, (_, runs, _) in CASES.items():
            if given.only not in name:
                continue
            for at, inputs in enumerate(runs):
                faults = run(given.runner, name, inputs, pathlib.Path(root) / f"{name}_{at}")
                wrong += bool(faults)
                print(f"{name} {at}: {'; '.join(faults) or 'equal'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

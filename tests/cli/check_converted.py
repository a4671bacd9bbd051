#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts models of the onnx library's tests, and checks what Lowtide wrote.

    tests/cli/check_converted.py --lowtide build/src/lowtide/cli/lowtide [--every N]

Each model becomes a graph, and the graph a model of ONNX, a GraphDef and a NetDef. The model must pass the checker of
the onnx library. `lowtide diff` must find the graph again in the model and in the GraphDef, except for bodies: a
GraphDef has none, and in a model their constants are inputs. Lowtide must read the NetDef. The exit code is 1 if
anything differs.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings

import onnx

warnings.simplefilter("ignore")  # numpy warns about the cases of the library
from onnx.backend.test.case.node import collect_testcases  # noqa: E402


def faults_of(run, model, folder):
    """What is wrong, as sentences. None: Lowtide does not read the model."""
    onnx.save(model, str(folder / "model.onnx"))
    if run("convert", "model.onnx", "model.graph").returncode != 0:
        return None
    found = []
    for out, form in (("out.onnx", "onnx"), ("out.pb", "graphdef"), ("net.pb", "netdef")):
        made = run("convert", "model.graph", out, "--to", form)
        if made.returncode != 0:
            found.append(f"{form}: {made.stderr}")
            continue
        checked = run("inspect", out, "--unit-sizes") if form == "netdef" else run("diff", "model.graph", out)
        has_bodies = " = graph " in (folder / "model.graph").read_text()
        if checked.returncode > 1 or (checked.returncode == 1 and not has_bodies):
            found.append(f"{form} read again: {checked.stdout}{checked.stderr}")
        if form == "onnx":
            try:
                onnx.checker.check_model(onnx.load(str(folder / out)))
            except onnx.checker.ValidationError as error:
                found.append(f"checker: {error}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    program = str(pathlib.Path(options.lowtide).resolve())
    read = 0
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*words):
            return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)

        for case in collect_testcases(None)[::options.every]:
            faults = faults_of(run, case.model, folder) if case.model is not None else None
            if faults is None:
                continue
            read += 1
            for fault in faults:
                wrong += 1
                print(f"{case.name}: {fault}")
    print(f"{read} models converted, {wrong} faults")
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main())

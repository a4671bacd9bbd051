#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports the node tests of the onnx project without the declared sizes of their outputs.

    tests/import/node_shapes.py --print-tensors build/dev/tests/import/print_tensors
                                [--list tests/import/node_shapes.txt] [--only NAME] [--write]

Lowtide must infer the sizes of all outputs that a test declares. A test that it refuses, or for which it infers other
sizes, must be in the list with its reason:

    value        a size is the value of an input. With the inputs as constants, it is inferred; this is tried
    bound        the number of results depends on data, and its upper bound is inferred
    unsupported  values that are not dense tensors of numbers, or operators that Lowtide does not know
    opset        the version of its operators is older than the oldest that is read
    other        a reason in words

The script fails if the list lacks a test, has one that is right, or has another reason than it finds. --write writes
the list.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnx.numpy_helper
from onnx.backend.test.case.node import collect_testcases

# Reasons that cannot be found by trying, by the beginning of names.
WORDS = {
    "test_flexattention_": "the graphs inside have sizes that the node does not pass, and no kernel runs FlexAttention",
    "test_image_decoder_": "the bytes of a picture say how large it is",
}


def stripped(model):
    """The model without the sizes of what its nodes compute."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    del model.graph.value_info[:]
    for output in model.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return model


def with_constants(model, inputs):
    """The model with the given values of its inputs."""
    model = stripped(model)
    for value, array in zip(list(model.graph.input), inputs):
        if isinstance(array, (np.ndarray, np.generic)):
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), value.name))
            model.graph.input.remove(value)
    return model


def declared(model):
    """The extents of each output that declares them. An extent without a number is None."""
    sizes = {}
    for output in model.graph.output:
        if output.name and output.type.HasField("tensor_type") and output.type.tensor_type.HasField("shape"):
            sizes[output.name] = [dim.dim_value if dim.HasField("dim_value") else None
                                  for dim in output.type.tensor_type.shape.dim]
    return sizes


def import_all(program, folder, models):
    """Imports each model. Returns what the program says about each: the tensors of the graph, or an error."""
    paths = []
    for at, model in enumerate(models):
        paths.append(folder / f"{at}.onnx")
        paths[-1].write_bytes(model.SerializeToString())
    (folder / "list").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    run = subprocess.run([program, "--list", folder / "list"], capture_output=True, text=True, check=True)
    answers = []
    for line in run.stdout.splitlines():
        entry = json.loads(line)
        if "model" in entry:
            answers.append({"error": entry.get("error"), "tensors": {}})
        elif entry["graph"] == "main":
            answers[-1]["tensors"][entry["name"]] = entry
    assert len(answers) == len(models), run.stderr
    return answers


def difference(answer, sizes):
    """How the sizes of an answer differ from the declared ones: None, "bound", or a text."""
    found = None
    for name, extents in sizes.items():
        tensor = answer["tensors"][name]
        if len(tensor["shape"]) != len(extents):
            return f"{name} has rank {len(tensor['shape'])} and not {len(extents)}"
        for axis, (got, wanted) in enumerate(zip(tensor["shape"], extents)):
            is_bound = axis in tensor["at_most"]
            if wanted is None or (got == wanted and not is_bound):
                continue
            if not is_bound or got < wanted:
                return f"{name} is {tensor['shape']} and not {extents}"
            found = "bound"
    return found


def reason_for(answer, constant_answer, sizes):
    """Why a test is in the list; None if it is right."""
    if answer["error"] is None:
        return difference(answer, sizes)
    code = answer["error"].split(":")[0]
    if code == "unresolved" and constant_answer["error"] is None:
        again = difference(constant_answer, sizes)
        return "value" if again in (None, "bound") else f"value; then {again}"
    if code == "unsupported" and "oldest supported version" in answer["error"]:
        return "opset"
    return code if code == "unsupported" else answer["error"].splitlines()[-1].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print-tensors", required=True)
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).with_suffix(".txt"))
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if options.only in case.name]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "given").mkdir()
        (root / "constant").mkdir()
        answers = import_all(options.print_tensors, root / "given", [stripped(case.model) for case in cases])
        constant = import_all(options.print_tensors, root / "constant",
                              [with_constants(case.model, case.data_sets[0][0]) for case in cases])
    found = {}
    for case, answer, other in zip(cases, answers, constant):
        reason = reason_for(answer, other, declared(case.model))
        if reason is not None:
            words = [text for name, text in WORDS.items() if case.name.startswith(name)]
            found[case.name] = words[0] if words and reason != "unsupported" else reason
    text = "".join(f"{name}: {reason}\n" for name, reason in sorted(found.items()))
    if options.write:
        options.list.write_text(text, encoding="utf-8")
    listed = dict(line.split(": ", 1) for line in options.list.read_text(encoding="utf-8").splitlines())
    wrong = [name for name in sorted({*found, *listed})
             if found.get(name) != listed.get(name) and options.only in name]
    for name in wrong:
        print(f"{name}: found {found.get(name, 'right')!r}, listed {listed.get(name, 'nowhere')!r}")
    print(f"{len(cases) - len(found)} of {len(cases)} node tests infer what they declare; the others: "
          + ", ".join(f"{count} {reason}" for reason, count in collections.Counter(found.values()).most_common()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

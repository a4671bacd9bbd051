#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds of the fuzz target run_model: small node tests of the onnx project, at most two per operator.

usage: fuzz/make_seeds.py FOLDER

Two node tests of an operator are taken: the first, and the first with another number of attributes or inputs. Inputs
become initializers where the operator reads sizes or indices from them, because the target fills inputs with one byte.
"""
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

MOST_BYTES = 1500
INTEGERS = (np.dtype("int64"), np.dtype("int32"))


def with_integers(model, arrays):
    """The model, with its inputs of integers as initializers."""
    inputs = list(model.graph.input)
    del model.graph.input[:]
    for info, array in zip(inputs, arrays):
        if isinstance(array, (np.ndarray, np.generic)) and array.dtype in INTEGERS:
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), info.name))
        else:
            model.graph.input.append(info)
    return model


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = sorted(collect_testcases(None), key=lambda case: case.name)
    taken = {}
    for case in collected:
        node = case.model.graph.node[0] if len(case.model.graph.node) == 1 else None
        forms = taken.setdefault(node.op_type if node else "several", set())
        form = (len(node.attribute), len(node.input), len(node.output)) if node else case.name
        if len(forms) >= 2 or form in forms:
            continue
        content = with_integers(case.model, case.data_sets[0][0]).SerializeToString()
        if len(content) > MOST_BYTES:
            continue
        forms.add(form)
        (folder / f"{case.name.removeprefix('test_')}.onnx").write_bytes(content)


if __name__ == "__main__":
    main()

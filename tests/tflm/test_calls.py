# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators run with the kernels of generated C source have the outputs of the runtime, bit by bit."""
import os

import calls
import files
import numpy as np
import pytest
import single
from layers import Layers

CASES = 6  # of each operator; calls.py runs more


@pytest.fixture(scope="module")
def program():
    path = os.environ.get("LOWTIDE_RUN_CALLS")
    if not path:
        pytest.fail("set LOWTIDE_RUN_CALLS to the program run_calls of a build")
    return path


@pytest.mark.parametrize("name", [name for name in calls.MAKERS if name not in calls.WITHOUT])
def test_operator_has_the_bits_of_the_runtime(name, program, runtime):
    answers = calls.compare(program, runtime, [calls.MAKERS[name](seed).data for seed in range(CASES)])
    assert answers == [None] * CASES


def test_models_that_do_not_run_are_not_equal(program, runtime):
    data = files.read(single.make("SOFTMAX", 1).data)
    data.subgraphs[0].tensors[data.subgraphs[0].outputs[0]].quantization.zero_point[0] = 3
    answer, = calls.compare(program, runtime, [files.write(data)])
    assert answer.startswith("the runtime does not run it (refused)")


def softmax(depth):
    net = Layers(np.random.default_rng(depth))
    return net.finish("softmax", [net.softmax(net.input((1, depth), scale=0.05))], shuffle=False).data


@pytest.mark.parametrize("depth", [1, 2, 256, 511, 512, 4096, 8191])
def test_long_rows_have_the_bits_of_the_runtime(program, runtime, depth):
    """One element that is far above all others: the sum is small, and all shifts have a meaning."""
    row = np.full((1, depth), -20, np.int8)
    row[0, depth // 2] = 127
    data = softmax(depth)
    expected = runtime.run(data, sets=[[row]])
    assert expected.ok, expected.message
    assert calls.difference(calls.run(program, [(data, [[row]])])[0], expected.values) is None


@pytest.mark.parametrize("depth, level", [(511, -127), (512, -128), (4096, -128), (8191, -128)])
def test_rows_of_equal_elements_have_one_level(program, runtime, depth, level):
    """256 / 511 rounds to 1. From 512 elements on, the runtime ends at a shift by 32 bits, and the result is 0."""
    row = np.full((1, depth), 7, np.int8)
    data = softmax(depth)
    assert runtime.run(data, sets=[[row]]).ok == (depth < 512)
    assert calls.run(program, [(data, [[row]])])[0] == np.full(depth, level, np.int8).tobytes()


def test_rows_that_are_too_long_are_refused(program):
    answer = calls.run(program, [(softmax(8192), [[np.zeros((1, 8192), np.int8)]])])[0]
    assert "its rows have 8192 elements; supported are at most 8191" in answer


def test_resizes_stay_inside_of_their_input(program, runtime):
    """The rounded scale is twice the real one. Beyond its last row, the runtime reads what follows the input."""
    net = Layers(np.random.default_rng(3))
    data = net.finish("resize", [net.resize("RESIZE_BILINEAR", net.input((1, 33, 1, 1)), [65537, 1], True)],
                      shuffle=False).data
    expected = runtime.run(data)
    inside = 33 * 1024
    found = np.frombuffer(calls.run(program, [(data, expected.sets)])[0], np.int8)
    assert (found[:inside] == expected.values[0][0].ravel()[:inside]).all()
    assert (found[inside:] == expected.sets[0][0].ravel()[-1]).all()

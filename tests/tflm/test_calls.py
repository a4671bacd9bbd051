# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators run with the kernels of generated C source have the outputs of the runtime, bit by bit."""
import os

import calls
import pytest
import single

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
    assert answers.count(None) > CASES // 2, answers
    assert set(answers) <= {None, "refused"}


def test_a_difference_is_found(program, runtime):
    data = single.make("SOFTMAX", 1).data
    result = runtime.run(data, runs=1)
    output = calls.run(program, [(data, result.sets)])[0]
    assert calls.difference(output, result.values) is None
    wrong = bytes([output[0] ^ 1]) + output[1:]
    assert calls.difference(wrong, result.values).startswith("1 of ")
    assert calls.difference(output[:-1], result.values) == f"there are {len(output) - 1} bytes of outputs"

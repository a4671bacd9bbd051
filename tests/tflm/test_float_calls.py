# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators on floats give what the runtime gives, except for roundings."""
import os

import calls
import float_single
import numpy as np
import pytest

CASES = 8  # of each operator
# Sums have another order than those of the runtime, so results differ by this part of the largest of them.
TOLERANCE = 2e-6
# Operators without kernels of C source.
WITHOUT = ("ADD_N",)


@pytest.fixture(scope="module")
def program():
    path = os.environ.get("LOWTIDE_RUN_CALLS")
    if not path:
        pytest.fail("set LOWTIDE_RUN_CALLS to the program run_calls of a build")
    return path


def distance(bytes_of_run, values):
    """The largest difference, as a part of the largest magnitude, or the message of a run without outputs."""
    if isinstance(bytes_of_run, str):
        return bytes_of_run
    expected = np.concatenate([one.ravel() for outputs in values for one in outputs])
    found = np.frombuffer(bytes_of_run, np.float32)
    if found.size != expected.size:
        return f"there are {found.size} numbers, not {expected.size}"
    if (np.isnan(found) != np.isnan(expected)).any():
        return "one has a NaN where the other has none"
    same = (found == expected) | np.isnan(found)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1e-6)
    return float(np.abs(np.where(same, 0, found - expected)).max(initial=0) / scale)


@pytest.mark.parametrize("name", [name for name in float_single.MAKERS if name not in WITHOUT])
def test_floats_have_the_results_of_the_runtime(name, program, runtime):
    results = [runtime.run(float_single.make(name, seed), seed=seed, runs=2) for seed in range(CASES)]
    ran = [seed for seed, result in enumerate(results) if result.ok]
    assert len(ran) > CASES // 2, [one.message for one in results]
    outputs = calls.run(program, [(float_single.make(name, seed), results[seed].sets) for seed in ran])
    distances = [distance(output, results[seed].values) for seed, output in zip(ran, outputs, strict=True)]
    assert all(isinstance(one, float) and one <= TOLERANCE for one in distances), distances


@pytest.mark.parametrize("name", float_single.COMPARISONS)
def test_comparisons_have_the_bits_of_the_runtime(name, program, runtime):
    models = [float_single.COMPARISONS[name](seed) for seed in range(CASES)]
    assert calls.compare(program, runtime, models) == [None] * CASES


def test_another_number_is_found(program, runtime):
    data = float_single.make("CONV_2D", 1)
    result = runtime.run(data, runs=1)
    output = np.frombuffer(calls.run(program, [(data, result.sets)])[0], np.float32).copy()
    assert distance(output.tobytes(), result.values) <= TOLERANCE
    output[np.abs(output).argmax()] *= 1 + 4 * TOLERANCE
    assert distance(output.tobytes(), result.values) > TOLERANCE
    assert "numbers" in distance(output[1:].tobytes(), result.values)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Running models in a child process."""
import files
import numpy as np
import runtime as runtimes
import single
from runtime import ARENA_STEP


def test_reads_the_last_report_of_allocations():
    text = ("[RecordingMicroAllocator] Arena allocation total 99 bytes\n"
            "[RecordingMicroAllocator] Arena allocation head 32 bytes\n"
            "[RecordingMicroAllocator] Arena allocation tail 67 bytes\n"
            "[RecordingMicroAllocator] Arena allocation head 48 bytes\n")
    assert runtimes.allocations(text) == {"head": 48, "tail": 67}
    assert runtimes.allocations("nothing") == {"head": None, "tail": None}


def test_inputs_follow_from_the_seed(runtime):
    data = single.make("ADD", 0).data
    first, again, other = (runtime.run(data, seed=seed, runs=2) for seed in (1, 1, 2))
    assert first.same_values(again)
    assert not first.same_values(other)
    assert np.array_equal(first.sets[1][0], again.sets[1][0])
    assert not np.array_equal(first.sets[0][0], first.sets[1][0])


def test_given_inputs_are_used(runtime):
    model = single.make("RELU", 3)
    low = np.full_like(model.inputs[0], -128)
    result = runtime.run(model.data, sets=[[low], [model.inputs[0]]])
    assert len(set(result.values[0][0].ravel().tolist())) == 1
    assert len(set(result.values[1][0].ravel().tolist())) > 1
    assert result.inputs[0]["shape"] == low.shape


def test_measures_a_time_only_if_asked(runtime):
    data = single.make("RELU", 3).data
    assert runtime.run(data).seconds is None
    assert runtime.run(data, timed=3).seconds > 0


def test_an_arena_that_is_too_small_is_refused(runtime):
    result = runtime.run(single.make("CONV_2D", 0).data, arena=1024)
    assert result.status == "refused"
    assert "missing" in result.message


def test_a_missing_operator_is_named(runtime):
    model = files.read(single.make("RELU", 0).data)
    model.operator_codes[0].code, model.operator_codes[0].deprecated_code = 69, 69
    result = runtime.run(files.write(model))
    assert result.status == "missing operator"
    assert "TILE" in result.message


def test_a_crash_is_a_result_and_the_next_model_runs(runtime):
    model = files.read(single.make("ADD", 0).data)
    model.subgraphs[0].tensors[0].buffer = 10_000_000
    assert runtime.run(files.write(model)).status == "aborted"
    assert runtime.run(single.make("ADD", 0).data).ok


def test_a_hang_ends(runtime):
    with runtimes.Runtime(timeout=0) as impatient:
        assert impatient.run(single.make("ADD", 0).data).status == "timeout"


def test_the_smallest_arena_is_the_smallest(runtime, sample):
    size = runtime.smallest_arena(sample)
    result = runtime.run(sample, arena=size)
    assert result.ok
    assert size >= result.head + result.tail
    assert not runtime.run(sample, arena=size - ARENA_STEP).ok

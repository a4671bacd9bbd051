# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Generated models: the same for the same seed, accepted by the runtime, and what they were meant to be."""
import files
import nets
import numpy as np
import pytest
import runtime as runtimes
import schema
import single
import stateful

SEEDS = 4


def distances(model, result):
    """How far each output of the first run is from its estimate, in steps of its quantization."""
    for value, expected, scale, output in zip(result.values[0], model.expected, model.scales, result.outputs,
                                              strict=True):
        assert value.shape == expected.shape
        yield float(np.abs((value.astype(float) - output["zero_points"][0]) * scale - expected).max()) / scale


@pytest.mark.parametrize("make", [nets.make, lambda seed: single.make("CONV_2D", seed),
                                  lambda seed: stateful.make("LSTM", seed)], ids=["net", "operator", "state"])
def test_a_seed_gives_one_model(make):
    assert make(5).data == make(5).data
    assert make(5).data != make(13).data


@pytest.mark.parametrize("name", single.OPERATORS)
def test_each_operator_computes_its_estimate(runtime, name):
    for seed in range(SEEDS):
        model = single.make(name, seed)
        graph = files.read(model.data)
        assert schema.operator_name(graph, graph.subgraphs[0].operators[0]) == name.split()[0]
        result = runtime.run(model.data, sets=[model.inputs])
        assert result.ok, result.message
        assert max(distances(model, result)) <= 2


@pytest.mark.parametrize("name", stateful.KINDS)
def test_models_with_state_compute_their_estimate(runtime, name):
    for seed in range(SEEDS):
        model = stateful.make(name, seed)
        result = runtime.run(model.data, sets=[model.inputs])
        assert result.ok, result.message
        assert max(distances(model, result)) <= 8


@pytest.mark.parametrize("name", ["variables", "SVDF", "LSTM"])
def test_state_stays_from_run_to_run(runtime, name):
    changed = 0
    for seed in range(SEEDS):
        model = stateful.make(name, seed)
        once, again = runtime.run(model.data, sets=2 * [model.inputs]).values
        changed += not np.array_equal(once[0], again[0])
    assert changed >= 2


@pytest.mark.parametrize("seed", range(3 * len(nets.FAMILIES)))
def test_networks_compute_their_estimate(runtime, seed):
    model = nets.make(seed)
    result = runtime.run(model.data, sets=[model.inputs])
    assert result.ok, result.message
    # A difference of two close values makes the errors of many layers visible.
    assert max(distances(model, result)) <= 24


def test_outputs_of_networks_have_many_values(runtime):
    """Most outputs with 64 elements or more have at least 20 values; saturated networks would have a few."""
    many, all_of = 0, 0
    for seed in range(4 * len(nets.FAMILIES)):
        for value in runtime.run(nets.make(seed).data, seed=seed).values[0]:
            if value.size >= 64:
                all_of += 1
                many += runtimes.distinct(value) >= 20
    assert all_of >= 20
    assert many >= 0.8 * all_of

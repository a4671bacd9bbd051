# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Generated models: the same for the same seed, accepted by the runtime, and what they were meant to be."""
import files
import floating
import nets
import numpy as np
import pytest
import rule
import runtime as runtimes
import schema
import scratch
import single
import stateful

SEEDS = 4


def distances(model, result):
    return model.distances(result.values[0], result.outputs)


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


def test_a_large_network_runs_and_its_head_is_predicted(runtime):
    model = nets.large(1, 150)
    graph = files.read(model.data)
    assert len(graph.subgraphs[0].operators) >= 150
    result = runtime.run(model.data, sets=[model.inputs])
    assert result.ok, result.message
    assert result.head == rule.head(graph, scratch.requests(graph))


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SOFTMAX", "MEAN", "PAD"])
def test_operators_in_floating_point_compute_their_estimate(runtime, name):
    for seed in range(SEEDS):
        model = single.make(name, seed)
        integers = files.read(model.data).subgraphs[0]
        result = runtime.run(floating.to_float(model.data), sets=[[
            dequantized(tensor, value) for tensor, value in zip(inputs_of(integers), model.inputs)]])
        assert result.ok, result.message
        for value, expected, scale in zip(result.values[0], model.expected, model.scales):
            assert value.dtype == np.float32
            # The estimate is rounded to steps of the quantization.
            assert np.abs(value - expected).max() <= 1.01 * scale


def inputs_of(graph):
    return [graph.tensors[one] for one in graph.inputs]


def dequantized(tensor, value):
    quantization = tensor.quantization
    return ((value.astype(float) - quantization.zero_point[0]) * quantization.scale[0]).astype(np.float32)


def test_networks_in_floating_point_have_the_predicted_head(runtime):
    converted = [data for data in (floating.to_float(nets.make(seed).data) for seed in range(16)) if data]
    assert len(converted) >= 5
    for data in converted:
        graph = files.read(data)
        assert runtime.run(data).head == rule.head(graph, scratch.requests(graph))


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

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Which operators of the runtime may write their result over their operand, and how far."""
import alias
import diagonal
import files
import floating
import metadata
import numpy as np
import pytest
import rule
import schema
import single
from conftest import MODELS
from schema import INT8, SAME, VALID, Table


def test_safe_operators_may_share_an_address(runtime):
    for name, operand, orders in alias.SAFE:
        counts = alias.probe(runtime, name, range(200, 206))
        chosen = [count for (position, _, order), count in counts.items() if position == operand and order in orders]
        assert all(other == 0 for _, other in chosen), name
        assert sum(same for same, _ in chosen) >= 1, name


@pytest.mark.parametrize("name", alias.UNSAFE)
def test_unsafe_operators_may_not(runtime, name):
    assert sum(other for _, other in alias.probe(runtime, name, range(12)).values()) >= 1


def pool_of(operand, result, kernel, strides, padding):
    """A file with a pool of these shapes, which need not be right for it."""
    options = Table("Pool2D", filter_h=kernel[0], filter_w=kernel[1], stride_h=strides[0], stride_w=strides[1],
                    padding=padding)
    graph = Table("SubGraph", tensors=[Table("Tensor", shape=one, type=INT8) for one in (operand, result)],
                  inputs=[0], outputs=[1], operators=[Table("Operator", inputs=[0], outputs=[1], options=options)])
    return files.write(Table("Model", buffers=[Table("Buffer")], subgraphs=[graph],
                             operator_codes=[Table("OperatorCode", code=schema.OPERATORS["MAX_POOL_2D"][0])]))


def test_a_window_of_one_row_leads_by_its_channels():
    # Pixel p has bytes 2p and 2p + 1 of the result, and reads bytes 2p and 2p + 1 of the operand. When byte 2p + 1 is
    # computed, byte 2p is written, and bytes from 2p on are needed: the lead is 1.
    assert diagonal.lead(pool_of([1, 4, 5, 2], [1, 4, 5, 2], (1, 1), (1, 1), VALID)) == 1


def test_a_window_of_three_rows_leads_by_a_row():
    # A row has 5 pixels of 2 bytes. The window of pixel 6, the second of row 1, begins at byte 0. Byte 13 of the result
    # is its last one, so the lead is 13 - 0. In later rows, both move by 10 bytes. In row 0, bytes 0 to 9 are written.
    assert diagonal.lead(pool_of([1, 4, 5, 2], [1, 4, 5, 2], (3, 3), (1, 1), SAME)) == 13


def test_a_row_of_a_product_is_read_for_each_unit():
    net = single.Layers(np.random.default_rng(1))
    y = net.fully_connected(net.input((3, 4, 5)), 7, keep_dims=True)
    # Row 11 of 12 has 7 units, and 5 bytes per row are read: 11 * 7 + 6 - 11 * 5 = 28.
    assert diagonal.lead(net.finish("product", [y], shuffle=False).data) == 28


@pytest.mark.parametrize("name", [*diagonal.WINDOWS, "FULLY_CONNECTED"])
def test_a_result_may_begin_its_lead_before_the_operand(runtime, name):
    for seed in range(300, 312):
        data = single.make(name, seed).data
        # Half of the models are in floating point.
        data = floating.to_float(data) if seed % 2 else data
        apart = runtime.run(data, seed=seed, runs=2)
        for before in (diagonal.lead(data), diagonal.rounded_lead(data)):
            assert runtime.run(diagonal.with_lead(data, before), sets=apart.sets).same_values(apart)


def test_sums_of_transpose_conv_are_apart_for_integers_alone(runtime):
    """Its integer kernel adds in scratch and writes the result at the end. The other one adds in the result."""
    different = 0
    for seed in range(300, 306):
        data = floating.to_float(single.make("TRANSPOSE_CONV", seed).data)
        apart = runtime.run(data, seed=seed)
        _, _, operand, result, _ = next(alias.pairs(data))
        different += not runtime.run(alias.with_shared(data, operand, result), sets=apart.sets).same_values(apart)
    assert different == 6


@pytest.mark.parametrize("name", ["CONV_2D", "FULLY_CONNECTED"])
def test_one_byte_less_than_the_lead_is_wrong(runtime, name):
    wrong = 0
    for seed in range(300, 312):
        data = single.make(name, seed).data
        apart = runtime.run(data, seed=seed, runs=2)
        wrong += not runtime.run(diagonal.with_lead(data, diagonal.lead(data) - 1), sets=apart.sets).same_values(apart)
    assert wrong >= 4


def test_a_lead_saves_most_of_the_smaller_tensor():
    saved = []
    for seed in range(40):
        data = single.make("CONV_2D", seed).data
        graph = files.read(data).subgraphs[0]
        smaller = min(rule.tensor_bytes(graph.tensors[0]), rule.tensor_bytes(graph.tensors[-1]))
        saved.append(1 - diagonal.lead(data) / smaller if smaller >= 256 else 0)
    assert max(saved) >= 0.5


@pytest.mark.parametrize("name", [*diagonal.WINDOWS, "FULLY_CONNECTED", "ADD", "LOGISTIC", "STRIDED_SLICE"])
def test_large_results_overlap_as_small_ones_do(runtime, name):
    """The kernels have other loops for many bytes."""
    for seed in range(3):
        data = single.make(name, seed, scale=4).data
        if name in diagonal.WINDOWS or name == "FULLY_CONNECTED":
            apart = runtime.run(data, seed=seed)
            assert runtime.run(diagonal.with_lead(data, diagonal.lead(data)), sets=apart.sets).same_values(apart)
    safe = [(operand, orders) for one, operand, orders in alias.SAFE if one == name]
    for (operand, _, order), (_, other) in alias.probe(runtime, name, range(3), scale=4).items():
        assert other == 0 or not any(operand == one and order in orders for one, orders in safe)


def test_a_whole_model_runs_with_overlapping_tensors(runtime):
    """Keyword spotting needs 16,000 bytes if tensors are apart: two of 8,000. With leads it needs 10,048."""
    data = next(one for one in MODELS if one.stem == "kws_dscnn_int8").read_bytes()
    before = runtime.run(data, runs=5)
    assert before.head == 16_000
    model = files.read(data)
    metadata.attach(model, diagonal.chain_offsets(model))
    after = runtime.run(files.write(model), sets=before.sets)
    assert after.same_values(before)
    assert after.head == 10_048

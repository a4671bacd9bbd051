# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets in the metadata: what the runtime does with good ones and with bad ones."""
import alias
import files
import metadata
import nets
import numpy as np
import pytest
import rule
import scratch
import single
import stateful
from rule import ONLINE


def planned(data, generator=None):
    """The model of a file with valid offsets."""
    model = files.read(data)
    metadata.attach(model, metadata.planned(model, scratch.requests(model), generator))
    return model


def test_reads_the_offsets_that_it_wrote():
    model = files.read(single.make("ADD", 0).data)
    assert metadata.offsets(model) is None
    values = list(range(0, 16 * metadata.tensor_count(model), 16))
    metadata.attach(model, values)
    metadata.attach(model, values[::-1])
    assert metadata.offsets(files.read(files.write(model))) == values[::-1]
    assert len(metadata.entries(model)) == 1


def test_refuses_offsets_of_the_wrong_number():
    model = files.read(single.make("ADD", 0).data)
    metadata.attach(model, [0])
    with pytest.raises(ValueError, match="4 integers for 3 tensors"):
        metadata.offsets(model)


@pytest.mark.parametrize("seed", range(40, 56))
def test_valid_offsets_give_the_same_outputs_and_that_head(runtime, seed):
    data = nets.make(seed).data
    before = runtime.run(data, seed=seed, runs=2)
    model = planned(data, np.random.default_rng(seed))
    assert metadata.fault(model, scratch.requests(model)) is None
    after = runtime.run(files.write(model), sets=before.sets)
    assert after.same_values(before)
    assert after.head == rule.head(model, scratch.requests(model), metadata.offsets(model))


@pytest.mark.parametrize("kind", stateful.KINDS)
def test_valid_offsets_keep_state_and_subgraphs(runtime, kind):
    for seed in range(3):
        data = stateful.make(kind, seed).data
        before = runtime.run(data, seed=seed, runs=3)
        after = runtime.run(files.write(planned(data, np.random.default_rng(seed))), sets=before.sets)
        assert after.same_values(before)


def test_mutations_that_are_no_fault_change_no_output(runtime):
    fine = faults = wrong = 0
    for seed in range(60, 68):
        generator = np.random.default_rng(seed)
        data = nets.make(seed).data
        before = runtime.run(data, seed=seed)
        for _ in range(10):
            model = planned(data, generator)
            _, raw = metadata.mutated(metadata.offsets(model), generator)
            metadata.attach_raw(model, raw)
            after = runtime.run(files.write(model), sets=before.sets)
            if metadata.fault(model, scratch.requests(model)) is None:
                fine += 1
                # An offset far away may need a larger arena than there is.
                assert after.same_values(before) or after.status == "refused"
            else:
                faults += 1
                wrong += after.ok and not after.same_values(before)
    # Both kinds are there, and the runtime computes nonsense from many faults.
    assert fine >= 20
    assert faults >= 20
    assert wrong >= 10


@pytest.mark.parametrize("name", metadata.MUTATIONS)
def test_each_mutation_gives_bytes_by_its_seed(name):
    values = [metadata.VERSION, 1, 6, 0, 16, ONLINE, 64, 32, 16]
    once, again = (bytes(metadata.MUTATIONS[name](list(values), np.random.default_rng(3))) for _ in range(2))
    assert once == again
    assert name in ("nothing", "unset", "anyone", "compress", "several") or \
        any(bytes(metadata.MUTATIONS[name](list(values), np.random.default_rng(seed)))
            != metadata.integers_bytes(values) for seed in range(5))


def test_a_variable_of_a_later_subgraph_can_lose_its_memory(runtime):
    """The runtime looks up the offset of a variable by its number in its own subgraph, without those before."""
    model = files.read(stateful.make("IF", 1).data)
    number = len(model.subgraphs[0].tensors)
    inner = model.subgraphs[1]
    inner.tensors[-1].is_variable = True
    values = [ONLINE] * metadata.tensor_count(model)
    assert not metadata.lost_variable(model, values)
    values[len(inner.tensors) - 1] = 0
    assert values[number + len(inner.tensors) - 1] == ONLINE
    assert metadata.lost_variable(model, values)


def test_safe_operators_may_share_an_address(runtime):
    for name, operand, orders in alias.SAFE:
        counts = alias.probe(runtime, name, range(200, 206))
        chosen = [count for (position, _, order), count in counts.items() if position == operand and order in orders]
        assert all(other == 0 for _, other in chosen), name
        assert sum(same for same, _ in chosen) >= 1, name


@pytest.mark.parametrize("name", alias.UNSAFE)
def test_unsafe_operators_may_not(runtime, name):
    assert sum(other for _, other in alias.probe(runtime, name, range(12)).values()) >= 1

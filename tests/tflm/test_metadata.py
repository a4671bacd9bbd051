# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets in the metadata: what the runtime does with good ones and with bad ones."""
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
from schema import INT8, Table


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


def with_inner_variable(entry):
    """A model of IF with a variable in a branch, where the tensor of its number in subgraph 0 has an offset."""
    model = files.read(stateful.make("IF", 1).data)
    inner = model.subgraphs[1].tensors
    inner.append(Table("Tensor", shape=[8], type=INT8, is_variable=True, name="state"))
    values = metadata.planned(model, scratch.requests(model))
    chosen = [ONLINE] * len(values)
    if entry:
        chosen[len(inner) - 1] = values[len(inner) - 1]
        assert chosen[len(inner) - 1] != ONLINE
    metadata.attach(model, chosen)
    return model, chosen


def test_a_variable_of_a_later_subgraph_can_lose_its_memory(runtime):
    """The runtime looks up the offset of a variable by its number in its own subgraph, without those before."""
    model, values = with_inner_variable(entry=False)
    assert runtime.run(files.write(model)).ok
    assert metadata.fault(model, scratch.requests(model)) is None
    model, values = with_inner_variable(entry=True)
    assert metadata.lost_variable(model, values)
    assert metadata.fault(model, scratch.requests(model)) == "a variable has no memory"
    assert runtime.run(files.write(model)).status == "aborted"


def test_a_variable_with_an_offset_is_in_the_head(runtime):
    """With all tensors apart, its state stays. Its lifetime in the plan does not say that it must."""
    data = stateful.make("SVDF", 1).data
    before = runtime.run(data, runs=4)
    model = files.read(data)
    values, end = [ONLINE] * metadata.tensor_count(model), 0
    variables = metadata.variable_numbers(model)
    tensors = [one.tensor for one in rule.buffers(model, {})] + variables
    for number in tensors:
        values[number], end = end, end + rule.align(rule.tensor_bytes(model.subgraphs[0].tensors[number]))
    metadata.attach(model, values)
    after = runtime.run(files.write(model), sets=before.sets)
    assert after.same_values(before)
    assert after.tail < before.tail
    assert after.head == rule.head(model, scratch.requests(model), values)


def test_the_last_of_several_metadata_counts(runtime):
    data = nets.make(3).data
    before = runtime.run(data)
    model = planned(data)
    good = model.metadata
    metadata.attach(model, [min(one, 0) for one in metadata.offsets(model)])
    bad = model.metadata
    model.metadata = [*bad, *good]
    assert runtime.run(files.write(model), sets=before.sets).same_values(before)
    model.metadata = [*good, *bad]
    assert not runtime.run(files.write(model), sets=before.sets).same_values(before)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of the runtime's plan: by hand, and against the head that the runtime prints."""
import files
import nets
import numpy as np
import pytest
import rule
import schema
import scratch
import single
import stateful
from rule import Buffer
from schema import INT8, Table


def predicted(data):
    model = files.read(data)
    return rule.head(model, scratch.requests(model))


def buffers(*rows):
    """Buffers of (size, first, last) or (size, first, last, given offset)."""
    return [Buffer(number, *row) for number, row in enumerate(rows)]


def places(*rows):
    found = buffers(*rows)
    rule.place(found)
    return [one.offset for one in found]


def test_the_largest_buffer_is_first():
    # 64 at 0; 48 is live with it and goes above; 16 fits beside neither of both below 112.
    assert places((48, 0, 1), (64, 1, 2), (16, 1, 1)) == [64, 0, 112]


def test_among_equal_sizes_the_last_is_first():
    assert places((32, 0, 1), (32, 1, 2), (32, 2, 3)) == [0, 32, 0]
    assert places((32, 0, 3), (32, 1, 2)) == [32, 0]


def test_lifetimes_include_both_ends():
    assert places((32, 0, 1), (16, 2, 3)) == [0, 0]
    assert places((32, 0, 2), (16, 2, 3)) == [0, 32]


def test_a_buffer_takes_the_first_gap():
    # Buffers 0 and 1 leave 32 bytes free at step 2, where buffer 1 is above.
    assert places((64, 0, 1), (48, 1, 3), (32, 2, 2)) == [0, 64, 0]


def test_given_offsets_come_first_and_are_not_checked():
    assert places((32, 0, 1, 16), (32, 1, 2, 32), (16, 0, 2)) == [16, 32, 0]
    assert places((32, 0, 1, 16), (32, 1, 2, 32), (32, 0, 2)) == [16, 32, 64]


def two_calls():
    """IF whose branches have one operator each: the steps of all tensors are those below."""
    tensors = lambda count: [Table("Tensor", shape=[8], type=INT8) for _ in range(count)]
    operator = lambda opcode, inputs, outputs, options=None: Table("Operator", opcode=opcode, inputs=inputs,
                                                                   outputs=outputs, options=options)
    graph = lambda tensors, inputs, outputs, *operators: Table("SubGraph", tensors=tensors, inputs=inputs,
                                                               outputs=outputs, operators=list(operators))
    return Table("Model", buffers=[Table("Buffer")],
                 operator_codes=[Table("OperatorCode", code=schema.OPERATORS[name][0]) for name in ("IF", "RELU")],
                 subgraphs=[graph(tensors(4), [0, 1], [3],
                                  operator(0, [0, 1], [2], Table("If", then=1, otherwise=2)), operator(1, [2], [3])),
                            graph(tensors(2), [0], [1], operator(1, [0], [1])),
                            graph(tensors(3), [0], [1], operator(1, [0], [1]))])


def test_a_called_subgraph_runs_inside_the_step_of_its_caller():
    tensors, operators = rule.Lifetimes(two_calls()).of_all()
    # Step 1 is IF. Its first branch starts at 2 and computes at 3, the other one at 4 and 5. RELU is step 6.
    assert tensors == {(0, 0): [0, 5], (0, 1): [0, 5], (0, 2): [1, 6], (0, 3): [6, 6],
                       (1, 0): [2, 3], (1, 1): [3, 3], (2, 0): [4, 5], (2, 1): [5, 5]}
    assert operators[0, 0] == [1, 5]
    # Tensor 2 of the last subgraph is never used.
    assert [(one.first, one.last) for one in rule.buffers(two_calls(), {})][-1] == (-1, -1)


def test_the_head_of_samples_is_predicted(runtime, sample):
    assert predicted(sample) == runtime.run(sample).head


@pytest.mark.parametrize("seed", range(100, 100 + 5 * len(nets.FAMILIES)))
def test_the_head_of_networks_is_predicted(runtime, seed):
    data = nets.make(seed).data
    assert predicted(data) == runtime.run(data).head


@pytest.mark.parametrize("kind", stateful.KINDS)
def test_the_head_of_models_with_state_is_predicted(runtime, kind):
    for seed in range(6):
        data = stateful.make(kind, seed).data
        assert predicted(data) == runtime.run(data).head


def test_an_operator_of_an_old_file_calls_its_subgraphs(runtime):
    model = files.read(stateful.make("IF", 0).data)
    before = runtime.run(files.write(model))
    for entry in model.operator_codes:
        entry.code = 0 if entry.code == schema.OPERATORS["IF"][0] else entry.code
    old = files.write(model)
    after = runtime.run(old, sets=before.sets)
    assert after.same_values(before)
    assert after.head == predicted(old)


@pytest.mark.parametrize("name", single.OPERATORS)
def test_the_scratch_of_operators_is_predicted(runtime, name):
    for seed in range(20, 24):
        data = single.make(name, seed).data
        assert predicted(data) == runtime.run(data).head


def test_a_probe_finds_the_scratch_of_the_formulas(runtime, sample):
    model = files.read(sample)
    found = scratch.requests(model)
    for position in range(len(model.subgraphs[0].operators)):
        expected = sum(map(rule.align, found.get((0, position), [])))
        assert scratch.probe(runtime, sample, position) == expected


def test_the_runtime_is_above_the_bound_for_some_networks():
    """Otherwise the tests of the rule would not see a better plan."""
    above = 0
    for seed in range(100, 140):
        model = files.read(nets.make(seed).data)
        found = rule.buffers(model, scratch.requests(model))
        head, bound = rule.place(found), rule.live_bound(found)
        assert head >= bound
        above += head > bound
    assert above >= 5


def test_no_planned_buffers_share_bytes():
    for seed in range(100, 110):
        model = files.read(nets.make(seed).data)
        found = rule.buffers(model, scratch.requests(model))
        rule.place(found)
        for number, one in enumerate(found):
            for other in found[:number]:
                assert not one.overlaps(other) or one.end <= other.offset or other.end <= one.offset


def test_shuffled_numbers_change_the_plan():
    """The runtime's ties depend on the numbers of tensors."""
    def heads(base):
        found = set()
        for seed in range(8):
            net = nets.Layers(np.random.default_rng(base))
            outputs = nets.wired(net, nets.Draw(net.generator))
            net.generator = np.random.default_rng(seed)
            found.add(predicted(net.finish("shuffled", outputs).data))
        return found
    assert max(len(heads(base)) for base in range(6)) > 1

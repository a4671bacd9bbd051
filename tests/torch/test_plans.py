# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What plans of steps promise: peaks within budgets, no reader behind an update, and one plan per set of shapes."""
import pytest
import torch
from conftest import batches_of, budgets_of, pair_of

import lowtide


@pytest.mark.parametrize("name", ["unet", "gpt_dropout"])
def test_no_peak_exceeds_any_of_many_budgets(name):
    pair = pair_of(name)
    [batch] = batches_of(name, 1)
    plan = pair.step().plan(*batch)
    mapping = plan.problem.as_mapping()
    always = sum(one["bytes"] for one in mapping["states"])
    kept = 0
    for part in range(15):
        budget = plan.sequence.peak - part * (plan.sequence.peak - always) // 15
        sequence = lowtide.keep_budget(mapping, budget, effort=10_000_000)
        assert sequence.fits == (sequence.peak <= budget)
        kept += sequence.fits
    assert kept > 5


def sources_of(problem, node):
    """The states and values that a unit or an update reads or writes over."""
    count = len(problem.units.units)
    if node >= count:
        update = problem.updates[node - count]
        return [*update.reads, *update.overwrites], list(update.overwrites)
    unit = problem.units.units[node]
    written = [one.overwrites for one in unit.outputs if one.overwrites is not None]
    return [*unit.reads, *written], written


@pytest.mark.parametrize("name", ["residual", "gpt_dropout", "vit"])
def test_nothing_runs_behind_an_update_of_what_it_reads(name):
    pair = pair_of(name, "adamw")
    [batch] = batches_of(name, 1)
    budget = budgets_of(pair.step(), batch)[-1]
    plan = pair.step(budget=budget, example=batch).last_plan
    runs = [int(one) for one in plan.sequence.runs]
    assert len(runs) > len(set(runs)), "nothing runs again"
    gone = set()
    for node in runs:
        read, written = sources_of(plan.problem, node)
        assert not gone.intersection(one for one in read if isinstance(one, str)), node
        gone.update(one for one in written if isinstance(one, str))
    parameters = {f"update {key}" for key, one in pair.planned.named_parameters() if one.requires_grad}
    assert {update.name for update in plan.problem.updates} == parameters
    count = len(plan.problem.units.units)
    assert sorted(one for one in runs if one >= count) == list(range(count, count + len(plan.problem.updates)))


def test_a_value_is_made_before_it_is_read():
    pair = pair_of("residual")
    [batch] = batches_of("residual", 1)
    plan = pair.step(budget=budgets_of(pair.step(), batch)[-1], example=batch).last_plan
    made = set()
    for node in map(int, plan.sequence.runs):
        read, _ = sources_of(plan.problem, node)
        assert all(one.unit in made for one in read if not isinstance(one, str))
        made.add(node)


def test_each_set_of_shapes_has_a_plan():
    pair = pair_of("unet")
    step = pair.step()
    [long] = batches_of("unet", 1)
    short = tuple(one[:2] for one in long)
    pair.run(step, [long, short, long, short])
    assert step.plan(*long) is step.plan(*long)
    assert step.plan(*long) is not step.plan(*short)
    assert step.last_plan is step.plan(*short)


def test_a_layout_of_memory_has_a_plan_of_its_own():
    pair = pair_of("unet")
    step = pair.step()
    [(images, labels)] = batches_of("unet", 1)
    pair.run(step, [(images, labels), (images.to(memory_format=torch.channels_last), labels)])


def test_more_sets_of_shapes_than_planned_for_are_refused():
    module = torch.nn.Linear(2, 1)
    step = lowtide.torch.train_step(module, lambda y, _: y.mean(), torch.optim.SGD(module.parameters(), lr=0.1))
    for count in range(1, 9):
        step(torch.ones(count, 2), torch.ones(()))
    with pytest.raises(lowtide.OverLimitError, match="number 9"):
        step(torch.ones(9, 2), torch.ones(()))
    step(torch.ones(8, 2), torch.ones(()))


def test_an_example_is_planned_and_changes_nothing():
    pair = pair_of("residual", "adam")
    batches = batches_of("residual", 2)
    budget = budgets_of(pair.step(), batches[0])[-1]
    random = torch.get_rng_state()
    step = pair.step(budget=budget, example=batches[0])
    assert torch.equal(random, torch.get_rng_state())
    assert step.last_plan is not None
    pair.check()
    pair.run(step, batches)


def test_budgets_may_be_texts():
    pair = pair_of("unet")
    [batch] = batches_of("unet", 1)
    step = pair.step(budget="1MiB", example=batch)
    assert step.last_plan.sequence.budget == 1 << 20

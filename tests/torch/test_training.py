# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Planned steps compute what eager steps compute, bit for bit, whatever the budget is."""
import pytest
from conftest import batches_of, budgets_of, pair_of
from programs import OPTIMIZERS, PROGRAMS

STEPS = 20


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_without_a_budget_equal_eager_steps(name, optimizer):
    pair = pair_of(name, optimizer)
    pair.run(pair.step(), batches_of(name, STEPS))


@pytest.mark.parametrize("place", [1, -2, -1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_within_a_budget_equal_eager_steps(name, place):
    optimizer = {1: "sgd", -2: "adam", -1: "adamw"}[place]
    pair = pair_of(name, optimizer)
    batches = batches_of(name, STEPS)
    budget = budgets_of(pair.step(), batches[0])[place]
    step = pair.step(budget=budget)
    pair.run(step, batches)
    sequence = step.last_plan.sequence
    assert sequence.fits and sequence.peak <= budget
    assert place != -1 or sequence.cost > sequence.base_cost, "nothing ran again"

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What measure() finds, beside what a plan predicts."""
import pytest
import torch
from conftest import batches_of, budgets_of, pair_of

import lowtide


def limited(name, **options):
    """A step within a low budget, which has run, and a batch."""
    pair, batch = pair_of(name, "adamw"), batches_of(name, 1)[0]
    step = pair.step(budget=budgets_of(pair.step(**options), batch)[-2], **options)
    step(*batch)
    return pair, step, batch


def measures_what_is_predicted(step, batch):
    found, sequence = step.measure(*batch), step.last_plan.sequence
    assert 0.8 * sequence.peak <= found.peak <= sequence.budget and found.seconds > 0
    assert "measured: " in step.report()


def test_a_measured_step_is_beside_the_prediction():
    _pair, step, batch = limited("residual")
    with pytest.raises(lowtide.InvalidError, match="no step has run by this plan yet"):
        pair_of("residual").step(budget="1GiB").measure(*batch)
    found = step.measure(*batch)
    sequence = step.last_plan.sequence
    assert 0.8 * sequence.peak <= found.peak <= sequence.budget and found.seconds > 0
    [line] = [line for line in step.report().splitlines() if line.startswith("measured: ")]
    share = found.peak / sequence.peak - 1
    assert f"{abs(share):.2%} {'above' if share > 0 else 'below'} the predicted one" in line
    page = step.html()
    assert f'{{"label":"Measured","value":"{found.peak / 1024:.2f} KiB"' in page
    assert f'{{"label":"Predicted","value":"{sequence.peak / 1024:.2f} KiB"' in page
    other = tuple(torch.cat([one, one]) for one in batch)
    with pytest.raises(lowtide.InvalidError, match="budget"):
        step(*other)
    assert "measured: " in step.report()


def test_blocks_of_an_arena_are_measured():
    _pair, step, batch = limited("residual", arena=True)
    step(*batch)
    measures_what_is_predicted(step, batch)
    assert step.last_plan.arena.missed == 0


def test_steps_that_hold_gradients_are_measured():
    """The first batch behind an update makes what is held, so it takes more than the others."""
    _pair, step, batch = limited("residual", accumulate=3)
    with pytest.raises(lowtide.InvalidError, match="the optimizer keeps nothing for"):
        step.measure(*batch)
    step(*batch)
    step(*batch)
    with pytest.raises(lowtide.InvalidError, match="no gradient is held"):
        step.measure(*batch)
    step(*batch)
    measures_what_is_predicted(step, batch)
    updating = step.measure(*batch)
    assert updating.peak <= step.last_plan.sequence.budget and step.last_plan.problem.updates
    with pytest.raises(lowtide.InvalidError, match="no gradient is held"):
        step.measure(*batch)


def test_views_of_parameters_count_once():
    """Each layer has views of its weight, and little else."""
    module = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(40)))
    batch = torch.randn(2, 4), torch.randint(4, (2,))
    step = lowtide.torch.train_step(module, torch.nn.functional.cross_entropy, torch.optim.SGD(module.parameters()))
    step(*batch)
    assert step.measure(*batch).peak <= step.last_plan.sequence.peak


@pytest.mark.parametrize("accumulate", [1, 2])
def test_steps_with_parameters_that_get_no_update_are_measured(accumulate):
    """One is frozen, forward() does not read another one, and the optimizer does not have a third one."""
    module = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 5))
    module[0].bias.requires_grad_(False)
    module.unused = torch.nn.Parameter(torch.ones(3))
    module.forward = lambda x: module[2](module[1](module[0](x)))
    owned = [one for one in module.parameters() if one is not module[1].bias]
    step = lowtide.torch.train_step(module, torch.nn.functional.cross_entropy, torch.optim.AdamW(owned),
                                    budget="1MiB", accumulate=accumulate)
    batch = torch.randn(4, 6), torch.randint(5, (4,))
    for _ in range(2 * accumulate - 1):
        step(*batch)
    measures_what_is_predicted(step, batch)


def test_the_first_step_of_another_plan_is_not_measured():
    """The module changes, so the step plans again."""
    pair, step, batch = limited("residual")
    measures_what_is_predicted(step, batch)
    pair.planned[0].weight.requires_grad_(False)
    with pytest.raises(lowtide.InvalidError, match="no step has run by this plan yet"):
        step.measure(*batch)
    step(*batch)
    assert "measured: " not in step.report()
    measures_what_is_predicted(step, batch)


def test_a_step_that_makes_optimizer_state_is_not_measured():
    pair, step, batch = limited("unet")
    pair.optimizer.state.clear()
    with pytest.raises(lowtide.InvalidError, match="the optimizer keeps nothing for 'down.0.weight' yet"):
        step.measure(*batch)
    step(*batch)
    measures_what_is_predicted(step, batch)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that clip gradients by their norm, as eager loops do between the backward pass and the update."""
import math

import pytest
import torch
from conftest import Pair, assert_same, batches_of, budgets_of, pair_of
from torch import nn
from torch.nn.utils import clip_grad_norm_

import lowtide
from lowtide.torch import estimate


def run(pair, step, batches, clip_norm):
    """Both on the batches, with equal losses, norms and states."""
    norms = []
    for seed, batch in enumerate(batches):
        torch.manual_seed(seed)
        loss = pair.eager_loss(*batch)
        norms.append(clip_grad_norm_(pair.eager.parameters(), clip_norm))
        pair.eager_optimizer.step()
        torch.manual_seed(seed)
        assert_same(loss, step(*batch), "loss")
        assert_same(norms[-1], step.grad_norm, "norm")
    pair.check()
    return norms


def middle_norm(name):
    """A bound that some steps exceed and others do not."""
    pair = pair_of(name)
    norms = run(pair, pair.step(clip_norm=math.inf), batches_of(name, 6), math.inf)
    return float(sorted(norms)[3])


@pytest.mark.parametrize("name, optimizer", [("residual", "sgd"), ("gpt_dropout", "adamw"), ("lstm", "adam")])
def test_clipped_steps_equal_eager_steps_for_every_budget(name, optimizer):
    clip_norm, batches = middle_norm(name), batches_of(name, 6)
    budgets = budgets_of(pair_of(name, optimizer).step(clip_norm=clip_norm), batches[0])
    for budget in (budgets[len(budgets) // 2], budgets[-1]):
        pair = pair_of(name, optimizer)
        step = pair.step(clip_norm=clip_norm, budget=budget)
        norms = run(pair, step, batches, clip_norm)
        assert min(norms) < clip_norm < max(norms)
        assert step.last_plan.sequence.peak <= budget
    assert step.last_plan.sequence.cost > step.last_plan.sequence.base_cost, "nothing ran again"


def test_no_update_comes_before_the_norm_of_all_gradients():
    pair = pair_of("vit")
    plan = pair.step(clip_norm=1.0).plan(*batches_of("vit", 1)[0])
    runs = [int(one) for one in plan.sequence.runs]
    count, names = len(plan.problem.units.units), [one.name for one in plan.problem.updates]
    total = runs.index(count + names.index("norm of all gradients"))
    for at, name in enumerate(names):
        place = runs.index(count + at)
        assert place < total if name.startswith("norm of ") and name != "norm of all gradients" else place >= total


def test_a_gradient_may_be_computed_again_after_the_norm():
    """Three gradients of 64 KiB. Each is a product of two vectors, so a second one costs little.

    Norms need one gradient at a time, and updates as well. So less than the three is enough.
    """
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList(nn.Parameter(torch.randn(128, 128)) for _ in range(3))

        def forward(self, x):
            return sum((x @ one).sum() for one in self.weights)

    x = torch.randn(1, 128)
    pair = Pair(Outer(), "sgd", None)
    found = estimate(pair.planned, None, pair.optimizer, example=(x,), clip_norm=0.5, points=2)
    assert found.floor - found.states < 3 * 65536
    step = pair.step(clip_norm=0.5, budget=budgets_of(pair.step(clip_norm=0.5), (x,))[-1])
    run(pair, step, [(x,), (x,)], 0.5)
    assert step.last_plan.sequence.peak - found.states < 3 * 65536


def test_gradients_of_several_types_have_one_norm():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(8, 8)
            self.second = nn.Linear(8, 8).bfloat16()
            self.third = nn.Linear(8, 8).double()

        def forward(self, x):
            return self.third(self.second(self.first(x).bfloat16()).double())

    batches = [(torch.randn(4, 8), torch.randint(8, (4,))) for _ in range(3)]
    pair = Pair(Mixed(), "adamw")
    norms = run(pair, pair.step(clip_norm=0.01), batches, 0.01)
    assert all(one > 0.01 for one in norms)


def test_parameters_without_an_optimizer_count_in_the_norm():
    def make(parameters):
        return torch.optim.SGD(parameters[:2], lr=0.1)
    pair = Pair(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), make)
    before = pair.planned[2].weight.clone()
    step = pair.step(clip_norm=0.1)
    for batch in [(torch.randn(4, 8), torch.randint(8, (4,))) for _ in range(3)]:
        pair.eager.zero_grad()
        run(pair, step, [batch], 0.1)
    assert torch.equal(before, pair.planned[2].weight)


def test_a_step_without_clipping_has_no_norm():
    pair = pair_of("unet")
    step = pair.step()
    assert step.grad_norm is None
    step(*batches_of("unet", 1)[0])
    assert step.grad_norm is None


@pytest.mark.parametrize("clip_norm", [0, -1.0, math.nan, "1.0"])
def test_bounds_that_are_none_are_refused(clip_norm):
    with pytest.raises(lowtide.InvalidError, match="clip_norm is .*above 0"):
        pair_of("unet").step(clip_norm=clip_norm)


def test_kept_gradients_are_clipped_behind_the_step():
    with pytest.raises(lowtide.InvalidError, match="clip_grad_norm_"):
        pair_of("unet").step(clip_norm=1.0, gradients="keep")

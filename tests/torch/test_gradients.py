# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that add gradients to `.grad`, as backward() does."""
import pytest
import torch
from conftest import assert_same, batches_of, budgets_of, pair_of

from lowtide.torch import train_step


def gradients_of(module):
    return {name: one.grad for name, one in module.named_parameters()}


@pytest.mark.parametrize("is_limited", [False, True])
@pytest.mark.parametrize("name", ["residual", "gpt_dropout"])
def test_kept_gradients_accumulate_as_by_backward(name, is_limited):
    pair = pair_of(name)
    batches = batches_of(name, 2)
    step = train_step(pair.planned, pair.loss_fn, gradients="keep")
    if is_limited:
        budget = budgets_of(step, batches[0])[-1]
        step = train_step(pair.planned, pair.loss_fn, gradients="keep", budget=budget)
    for seed, batch in enumerate(batches):
        torch.manual_seed(seed)
        loss = pair.loss_fn(pair.eager(batch[0]), batch[1])
        loss.backward()
        torch.manual_seed(seed)
        assert_same(loss.detach(), step(*batch), "loss")
        assert_same(gradients_of(pair.eager), gradients_of(pair.planned), "gradient")
    pair.check()
    assert not is_limited or step.last_plan.sequence.cost > step.last_plan.sequence.base_cost


def test_kept_gradients_serve_any_optimizer():
    pair = pair_of("unet", lambda parameters: torch.optim.LBFGS(parameters, lr=0.1, max_iter=1))
    step = train_step(pair.planned, pair.loss_fn, gradients="keep")
    for batch in batches_of("unet", 3):
        pair.eager_optimizer.step(lambda batch=batch: pair.eager_loss(*batch))
        pair.optimizer.zero_grad()
        loss = step(*batch)
        pair.optimizer.step(lambda loss=loss: loss)
    assert_same(pair.eager.state_dict(), pair.planned.state_dict(), "module")


def test_a_gradient_is_none_if_nothing_reads_the_parameter():
    module = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 1), "unused": torch.nn.Linear(3, 1)})
    module.forward = lambda x: module["used"](x).mean()
    train_step(module, None, gradients="keep")(torch.ones(2, 3))
    assert module["unused"].weight.grad is None
    assert module["used"].weight.grad is not None


def test_a_kept_gradient_is_not_changed_by_the_next_step():
    pair = pair_of("unet")
    step = train_step(pair.planned, pair.loss_fn, gradients="keep")
    [first, second] = batches_of("unet", 2)
    step(*first)
    kept = {name: one.clone() for name, one in gradients_of(pair.planned).items()}
    held = gradients_of(pair.planned)
    pair.planned.zero_grad()
    step(*second)
    assert_same(kept, held, "gradient")

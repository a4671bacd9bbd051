# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that add gradients to `.grad`, as backward() does."""
import pytest
import torch
from conftest import assert_same, batches_of, budgets_of, pair_of
from torch import nn

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


def test_kept_gradients_are_apart_and_laid_out_as_parameters():
    """An LSTM has one gradient for two biases, and the gradient of a sum is one number that is repeated."""
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 6, 2, batch_first=True)
            self.position = nn.Parameter(torch.ones(3, 4))

        def forward(self, x):
            return self.lstm(x)[0].square().mean() + self.position.sum()

    planned, eager = Module(), Module()
    eager.load_state_dict(planned.state_dict())
    step = train_step(planned, None, gradients="keep")
    for batch in (torch.ones(2, 3, 4), torch.full((2, 3, 4), -0.5)):
        step(batch)
        eager(batch).backward()
    for module in (planned, eager):
        nn.utils.clip_grad_norm_(module.parameters(), 0.1)
    for one, other in zip(planned.parameters(), eager.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)
        assert one.grad.stride() == other.grad.stride()


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_fused_updates_have_gradients_laid_out_as_parameters(kind):
    """Batches of another layout give gradients of convolutions that have it, too."""
    def make():
        torch.manual_seed(3)
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.Flatten())

    planned, eager = make(), make()
    optimizer = kind(eager.parameters(), lr=0.1, fused=True)
    step = train_step(planned, lambda y, _: y.square().mean(), kind(planned.parameters(), lr=0.1, fused=True))
    x = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
    for _ in range(3):
        step(x, 0)
        optimizer.zero_grad()
        eager(x).square().mean().backward()
        optimizer.step()
    for one, other in zip(planned.parameters(), eager.parameters(), strict=True):
        assert torch.equal(one, other)

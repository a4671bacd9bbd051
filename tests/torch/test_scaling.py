# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that scale their loss, as eager loops do with torch.amp.GradScaler."""
import copy

import pytest
import torch
from conftest import Pair, assert_same, batches_of, budgets_of, pair_of
from torch import nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_

import lowtide
from lowtide.torch import estimate, train_step


def scaler_of(**options):
    """The scale grows after two steps, and each step that is left out halves it."""
    return GradScaler("cpu", init_scale=2.0**10, growth_interval=2, **options)


def eager_step(pair, scaler, batch, clip_norm=None):
    pair.eager_optimizer.zero_grad()
    loss = pair.loss_fn(pair.eager(batch[0]), batch[1])
    scaler.scale(loss).backward()
    if clip_norm is not None:
        scaler.unscale_(pair.eager_optimizer)
        clip_grad_norm_(pair.eager.parameters(), clip_norm)
    scaler.step(pair.eager_optimizer)
    scaler.update()
    return loss.detach()


def with_infinities(name, count):
    """The second and the fifth batch have gradients that are not finite."""
    batches = batches_of(name, count)
    for at in (1, 4):
        batches[at] = (batches[at][0] * 3e38, batches[at][1])
    return batches


def run(pair, step, scalers, batches, clip_norm=None):
    """Both on the batches, with equal losses, states and scales. Returns the scales."""
    scales = []
    for seed, batch in enumerate(batches):
        torch.manual_seed(seed)
        loss = eager_step(pair, scalers[0], batch, clip_norm)
        torch.manual_seed(seed)
        found = step(*batch)
        assert torch.equal(loss, found) or (loss.isnan() and found.isnan())
        assert scalers[0].state_dict() == scalers[1].state_dict()
        scales.append(scalers[0].get_scale())
    pair.check()
    return scales


@pytest.mark.parametrize("name, clip_norm", [("unet", None), ("vit", 0.5)])
def test_scaled_steps_equal_eager_steps_for_every_budget(name, clip_norm):
    """Scales: 1024, halved by batch 1, doubled after batches 2 and 3, halved by batch 4, doubled after 5 and 6."""
    batches = with_infinities(name, 7)
    budgets = budgets_of(pair_of(name, "adam").step(scaler=scaler_of(), clip_norm=clip_norm), batches[0])
    for budget in (None, budgets[-1]):
        pair, scalers = pair_of(name, "adam"), (scaler_of(), scaler_of())
        step = pair.step(scaler=scalers[1], clip_norm=clip_norm, budget=budget)
        scales = run(pair, step, scalers, batches, clip_norm)
        assert scales == [1024.0, 512.0, 512.0, 1024.0, 512.0, 512.0, 1024.0]
    assert step.last_plan.sequence.peak <= budgets[-1]
    assert step.last_plan.sequence.cost > step.last_plan.sequence.base_cost, "nothing ran again"


def test_a_scaled_step_under_autocast():
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.float16):
                return self.layers(x).float()
    random = torch.Generator().manual_seed(2)
    batches = [(torch.randn(4, 8, generator=random), torch.randint(8, (4,), generator=random)) for _ in range(4)]
    pair, scalers = Pair(Cast(), "adamw"), (scaler_of(), scaler_of())
    run(pair, pair.step(scaler=scalers[1]), scalers, batches)


def test_a_step_that_is_left_out_makes_no_state():
    """Nor does a scheduler of learning rates see a step of the optimizer."""
    pair, scalers = pair_of("unet", "adam"), (scaler_of(), scaler_of())
    run(pair, pair.step(scaler=scalers[1]), scalers, with_infinities("unet", 5)[1:2])
    assert not pair.optimizer.state and not hasattr(pair.optimizer, "_opt_called")


def test_a_saved_scaler_continues_either_way():
    batches = with_infinities("unet", 6)
    pair, scalers = pair_of("unet", "adam"), (scaler_of(), scaler_of())
    run(pair, pair.step(scaler=scalers[1]), scalers, batches[:3])
    states = [copy.deepcopy(one.state_dict()) for one in scalers]
    others = (scaler_of(), scaler_of())
    others[0].load_state_dict(states[1])
    others[1].load_state_dict(states[0])
    run(pair, pair.step(scaler=others[1]), others, batches[3:])


def test_kept_gradients_are_scaled():
    pair, scalers = pair_of("unet"), (scaler_of(), scaler_of())
    step = train_step(pair.planned, pair.loss_fn, gradients="keep", scaler=scalers[1])
    for batch in with_infinities("unet", 5)[:3]:
        loss = eager_step(pair, scalers[0], batch, 0.5)
        pair.optimizer.zero_grad()
        found = step(*batch)
        scalers[1].unscale_(pair.optimizer)
        clip_grad_norm_(pair.planned.parameters(), 0.5)
        scalers[1].step(pair.optimizer)
        scalers[1].update()
        assert torch.equal(loss, found) or (loss.isnan() and found.isnan())
    assert_same(scalers[0].state_dict(), scalers[1].state_dict(), "scaler")
    pair.check()


def test_an_estimate_leaves_the_scaler_alone():
    """Updates wait for all gradients, which takes more than updates at once."""
    pair, scaler = pair_of("unet", "sgd"), scaler_of()
    batch = batches_of("unet", 1)[0]
    waiting = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, scaler=scaler, points=2)
    assert waiting.floor > estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, points=2).floor
    assert scaler._scale is None


def test_a_scaler_that_is_off_changes_nothing():
    pair = pair_of("unet")
    pair.run(pair.step(scaler=GradScaler("cpu", enabled=False)), batches_of("unet", 2))


def test_what_a_scaler_cannot_do_is_refused():
    module = nn.Linear(4, 4)
    batch = (torch.ones(2, 4), torch.zeros(2, dtype=torch.long))

    def plan(module, scaler, **options):
        optimizer = torch.optim.Adam(module.parameters(), **options)
        train_step(module, nn.functional.cross_entropy, optimizer, scaler=scaler, example=batch)

    with pytest.raises(lowtide.UnsupportedError, match="Adam with fused=True unscales.*fused=False"):
        plan(module, scaler_of(), fused=True)
    with pytest.raises(lowtide.InvalidError, match="the scaler is a float"):
        plan(module, 2.0)
    with pytest.raises(lowtide.InvalidError, match="gradient of '0.weight' is float16"):
        plan(nn.Sequential(nn.Linear(4, 4).half(), nn.Identity()), scaler_of())

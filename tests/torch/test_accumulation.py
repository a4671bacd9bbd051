# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that update once for several batches, as eager loops do that clear gradients after each update."""
import copy

import pytest
import torch
from conftest import Pair, assert_same, batches_of, budgets_of, pair_of
from torch.amp import GradScaler
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

import lowtide
from lowtide.torch import estimate, train_step
from lowtide.torch._build import checked_batch


def mean_loss(output, labels):
    """Of three batches."""
    return functional.cross_entropy(output, labels) / 3


def run(pair, step, batches, updates, clip_norm=None, scalers=None):
    """Both on the batches, with equal losses, gradients and states. `updates` has the batches that an update follows,
    where that is not every third one."""
    for at, batch in enumerate(batches):
        torch.manual_seed(at)
        loss = pair.loss_fn(pair.eager(batch[0]), batch[1])
        (loss if scalers is None else scalers[0].scale(loss)).backward()
        if at in updates:
            if scalers is not None:
                scalers[0].unscale_(pair.eager_optimizer)
            if clip_norm is not None:
                clip_grad_norm_(pair.eager.parameters(), clip_norm)
            if scalers is None:
                pair.eager_optimizer.step()
            else:
                scalers[0].step(pair.eager_optimizer)
                scalers[0].update()
            pair.eager_optimizer.zero_grad()
        torch.manual_seed(at)
        found = step(*batch, update=True) if at in updates and at % 3 != 2 else step(*batch)
        assert_same(loss.detach(), found, "loss")
        for one, other in zip(pair.eager.parameters(), pair.planned.parameters(), strict=True):
            assert_same(one.grad, other.grad, "gradient")
        assert scalers is None or scalers[0].state_dict() == scalers[1].state_dict()
        pair.check()


def with_mean_loss(name, optimizer):
    pair = pair_of(name, optimizer)
    pair.loss_fn = mean_loss
    return pair


@pytest.mark.parametrize("name, optimizer", [("residual", "sgd"), ("gpt_dropout", "adamw")])
def test_accumulated_steps_equal_eager_steps(name, optimizer):
    """With the lowest budget. Seven batches: updates follow the third and the sixth, and the seventh by request."""
    batches = batches_of(name, 7)
    budget = budgets_of(with_mean_loss(name, optimizer).step(accumulate=3), batches[0])[-1]
    pair = with_mean_loss(name, optimizer)
    step = pair.step(accumulate=3, budget=budget)
    run(pair, step, batches, {2, 5, 6})
    for plan in step._plans_for(checked_batch(batches[0])):
        assert plan.sequence.peak <= budget
    assert step.plan(*batches[0]).sequence.cost > step.plan(*batches[0]).sequence.base_cost, "nothing ran again"


def test_accumulated_gradients_are_scaled_and_clipped_once():
    """The second batch of the second update is not finite, so this update is left out."""
    batches = batches_of("unet", 9)
    batches[4] = (batches[4][0] * 3e38, batches[4][1])
    pair, scalers = with_mean_loss("unet", "adam"), [GradScaler("cpu", init_scale=64.0) for _ in range(2)]
    step = pair.step(accumulate=3, scaler=scalers[1], clip_norm=0.2)
    for part in (batches[:3], batches[6:]):
        run(pair, step, part, {2}, 0.2, scalers)
    pair.loss_fn = lambda output, labels: mean_loss(output, labels).nan_to_num()  # NaN is not equal to itself
    step = pair.step(accumulate=3, scaler=scalers[1], clip_norm=0.2)
    before = copy.deepcopy(pair.planned.state_dict())
    for batch in batches[3:6]:
        step(*batch)
    assert_same(before, pair.planned.state_dict(), "module")
    assert scalers[1].get_scale() == 32.0


def test_an_update_may_be_put_off():
    batches = batches_of("unet", 4)
    pair = with_mean_loss("unet", "adam")
    step = pair.step(accumulate=2)
    before = copy.deepcopy(pair.planned.state_dict())
    for batch in batches[:3]:
        step(*batch, update=False)
    assert_same(before, pair.planned.state_dict(), "module")
    step(*batches[3])
    for batch in batches:
        pair.loss_fn(pair.eager(batch[0]), batch[1]).backward()
    pair.eager_optimizer.step()
    pair.check()


def test_held_gradients_count():
    """As states: one gradient of each parameter, with what the heap takes for it."""
    pair, [batch] = pair_of("gpt", "adamw"), batches_of("gpt", 1)
    once = pair.step().plan(*batch).problem
    held = pair.step(accumulate=2).plan(*batch).problem
    gradients = sum(once.rounded(one.nbytes) for one in pair.planned.parameters())
    states = [sum(one["bytes"] for one in problem.as_mapping()["states"]) for problem in (once, held)]
    assert states[1] - states[0] == gradients
    found = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, accumulate=2, points=2)
    assert found.states == states[1]


def test_batches_of_several_shapes_accumulate():
    pair = with_mean_loss("unet", "sgd")
    [long, other] = batches_of("unet", 2)
    run(pair, pair.step(accumulate=3), [long, tuple(one[:2] for one in other), long], {2})


def test_a_state_between_updates_continues_either_way(tmp_path):
    """A checkpoint after the fourth of six batches: the gradient of one is held."""
    batches = batches_of("unet", 6)
    pair = with_mean_loss("unet", "adam")
    step = pair.step(accumulate=3)
    run(pair, step, batches[:4], {2})
    torch.save([pair.planned.state_dict(), pair.optimizer.state_dict(), step.state_dict()], tmp_path / "state.pt")
    other = with_mean_loss("unet", "adam")
    module, optimizer, state = torch.load(tmp_path / "state.pt")
    other.planned.load_state_dict(module)
    other.optimizer.load_state_dict(optimizer)
    continued = other.step(accumulate=3)
    continued.load_state_dict(state)
    for batch in batches[4:]:
        pair.loss_fn(pair.eager(batch[0]), batch[1]).backward()
        continued(*batch)
    pair.eager_optimizer.step()
    assert_same(pair.eager.state_dict(), other.planned.state_dict(), "module")
    assert_same(pair.eager_optimizer.state_dict(), other.optimizer.state_dict(), "optimizer")


def test_a_state_of_another_module_is_refused():
    pair = pair_of("unet")
    step = pair.step(accumulate=2)
    step(*batches_of("unet", 1)[0])
    other = Pair(torch.nn.Linear(4, 4))
    with pytest.raises(lowtide.MismatchError, match="a gradient of 'down.0.weight'"):
        other.step(accumulate=2).load_state_dict(step.state_dict())
    assert other.planned.weight.grad is None


@pytest.mark.parametrize("options, message", [
    ({"accumulate": 0}, "accumulate is 0"), ({"accumulate": 1.5}, "accumulate is 1.5"),
    ({"accumulate": 2, "gradients": "keep"}, "leave accumulate away")])
def test_numbers_of_batches_that_are_none_are_refused(options, message):
    with pytest.raises(lowtide.InvalidError, match=message):
        pair_of("unet").step(**options)


def test_a_step_that_always_updates_takes_no_choice():
    pair = pair_of("unet")
    with pytest.raises(lowtide.InvalidError, match="accumulate=2 or more"):
        train_step(pair.planned, pair.loss_fn, pair.optimizer)(*batches_of("unet", 1)[0], update=False)

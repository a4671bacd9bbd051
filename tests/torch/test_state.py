# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Planned steps beside what else changes a training: schedulers, saved states, and eager steps."""
import copy
from functools import partial

import pytest
import torch
from conftest import Pair, assert_same, batches_of, budgets_of, pair_of
from programs import OPTIMIZERS
from torch.utils import _pytree as pytree

import lowtide


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_scheduler_sets_the_learning_rate(optimizer):
    pair = pair_of("unet", optimizer)
    schedulers = [torch.optim.lr_scheduler.StepLR(one, 2, 0.5) for one in (pair.eager_optimizer, pair.optimizer)]
    step = pair.step()
    for batch in batches_of("unet", 6):
        pair.run(step, [batch])
        for scheduler in schedulers:
            scheduler.step()
    assert schedulers[0].get_last_lr() == schedulers[1].get_last_lr()


def test_groups_of_parameters_keep_their_options():
    def make(parameters):
        return torch.optim.AdamW([{"params": parameters[::2], "lr": 1e-2}, {"params": parameters[1::2]}], lr=1e-3)
    pair = pair_of("unet", make)
    step = pair.step()
    pair.run(step, batches_of("unet", 3))
    for optimizer in (pair.eager_optimizer, pair.optimizer):
        optimizer.param_groups[1]["weight_decay"] = 0.2
    pair.run(step, batches_of("unet", 3))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_saved_state_continues_either_way(optimizer, tmp_path):
    """Eager steps go on behind planned ones, and planned ones behind eager ones."""
    pair = pair_of("residual", optimizer)
    batches = batches_of("residual", 6)
    pair.run(pair.step(), batches[:3])
    torch.save([pair.planned.state_dict(), pair.optimizer.state_dict()], tmp_path / "planned.pt")
    torch.save([pair.eager.state_dict(), pair.eager_optimizer.state_dict()], tmp_path / "eager.pt")
    other = pair_of("residual", optimizer)
    for module, state, name in ((other.eager, other.eager_optimizer, "planned.pt"),
                                (other.planned, other.optimizer, "eager.pt")):
        saved, saved_state = torch.load(tmp_path / name)
        module.load_state_dict(saved)
        state.load_state_dict(saved_state)
    other.run(other.step(), batches[3:])
    pair.run(pair.step(), batches[3:])
    assert_same(pair.eager.state_dict(), other.planned.state_dict(), "module")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_state_is_loaded_while_a_step_is_in_use(optimizer):
    pair = pair_of("unet", optimizer)
    batches = batches_of("unet", 4)
    step = pair.step()
    pair.run(step, batches[:1])
    before = copy.deepcopy((pair.planned.state_dict(), pair.optimizer.state_dict()))
    pair.run(step, batches[1:])
    kept = copy.deepcopy((pair.planned.state_dict(), pair.optimizer.state_dict()))
    pair.planned.load_state_dict(before[0])
    pair.optimizer.load_state_dict(before[1])
    for batch in batches[1:]:
        step(*batch)
    assert_same(kept, (pair.planned.state_dict(), pair.optimizer.state_dict()), "state")


def test_eager_steps_may_come_between():
    pair = pair_of("gpt", "adamw")
    [first, second, third] = batches_of("gpt", 3)
    step = pair.step(budget=budgets_of(pair.step(), first)[-1])
    pair.run(step, [first])
    for module, optimizer in ((pair.eager, pair.eager_optimizer), (pair.planned, pair.optimizer)):
        optimizer.zero_grad()
        pair.loss_fn(module(second[0]), second[1]).backward()
        optimizer.step()
    pair.run(step, [third])


def test_updates_leave_gradients_alone():
    pair = pair_of("unet")
    step = pair.step()
    step(*batches_of("unet", 1)[0])
    assert all(one.grad is None for one in pair.planned.parameters())


def test_a_module_may_return_the_loss():
    class WithLoss(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, images, labels):
            return torch.nn.functional.cross_entropy(self.inner(images), labels)
    pair = pair_of("unet")
    pair.eager, pair.planned, pair.loss_fn = WithLoss(pair.eager), WithLoss(pair.planned), None
    pair.run(pair.step(), batches_of("unet", 3))


def test_numbers_of_modules_may_change_between_steps():
    """The share of a dropout, the momentum of statistics, and the padding of a convolution."""
    module = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3),
                                 torch.nn.Unflatten(1, (1, 8)), torch.nn.Conv1d(1, 1, 3), torch.nn.AdaptiveAvgPool1d(4),
                                 torch.nn.Flatten(), torch.nn.Linear(4, 3))
    pair = Pair(module)
    step = pair.step()
    batches = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
    for at, batch in enumerate(batches):
        for one in (pair.eager, pair.planned):
            one[1].momentum, one[2].p, one[4].padding = 0.1 + at / 4, 0.3 + at / 5, (at,)
        torch.manual_seed(at)
        expected = pair.eager_step(*batch)
        torch.manual_seed(at)
        assert torch.equal(expected, step(*batch))
        pair.check()


def test_numbers_that_forward_changes_need_one_plan(monkeypatch):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.calls = torch.nn.Linear(6, 3), 0

        def forward(self, x):
            self.calls += 1
            return self.layer(x)

    pair = Pair(Counting())
    step = pair.step()
    plans = []
    monkeypatch.setattr(step, "_planned", lambda batch, make=step._planned: plans.append(1) or make(batch))
    for count in (4, 5, 4, 5, 4):
        batch = torch.randn(count, 6), torch.randint(0, 3, (count,))
        assert torch.equal(pair.eager_step(*batch), step(*batch))
    assert len(plans) == 2  # one for each shape


def test_a_call_flattens_its_batch_once(monkeypatch):
    pair, batches = pair_of("residual"), batches_of("residual", 2)
    step = pair.step()
    pair.run(step, batches[:1])
    flattened = []

    def noted(flatten, tree):
        flattened.append(tree)
        return flatten(tree)

    for name in ("tree_flatten", "tree_leaves"):
        monkeypatch.setattr(pytree, name, partial(noted, getattr(pytree, name)))
    step(*batches[1])
    assert len(flattened) == 1


def test_a_step_without_accumulation_has_nothing_between_updates():
    pair = pair_of("residual", "sgd")
    batch = batches_of("residual", 1)[0]
    step = pair.step(gradients="keep")
    step(*batch)
    kept = [one.grad for one in pair.planned.parameters()]
    step.load_state_dict(step.state_dict())
    assert all(one.grad is gradient for one, gradient in zip(pair.planned.parameters(), kept, strict=True))
    with pytest.raises(lowtide.MismatchError, match="behind 1 batches.*accumulate=2"):
        step.load_state_dict({"pending": 1, "gradients": {}})


def test_a_graph_from_before_an_update_is_refused_by_autograd():
    """As behind an eager step: its backward pass needs the older parameters."""
    pair, [batch] = pair_of("residual", "sgd"), batches_of("residual", 1)
    step = pair.step()
    older = pair.loss_fn(pair.planned(batch[0]), batch[1])
    step(*batch)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        older.backward()

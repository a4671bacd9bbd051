# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans as policies of torch.utils.checkpoint: eager loops with less memory and the same bits."""
import copy

import pytest
import torch
from conftest import Pair, assert_same, batches_of, pair_of
from programs import Block, Residual
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import lowtide
from lowtide.torch import checkpoint_policy


@pytest.fixture(autouse=True)
def small_search(monkeypatch):
    monkeypatch.setattr("lowtide.torch._checkpoint.EFFORT", 10_000_000)


def train(pair, batches, policy):
    """Both with eager steps, one with checkpoints, with equal losses and states."""
    for at, batch in enumerate(batches):
        torch.manual_seed(at)
        loss = pair.eager_step(*batch)
        generator = torch.get_rng_state()
        torch.manual_seed(at)
        with policy.applied(pair.planned):
            pair.optimizer.zero_grad()
            found = pair.loss_fn(pair.planned(*batch[:-1]), batch[-1])
            found.backward()
        pair.optimizer.step()
        assert torch.equal(loss, found.detach())
        assert torch.equal(generator, torch.get_rng_state())
        pair.check()


def policy_of(pair, batch, budget, **options):
    return checkpoint_policy(pair.planned, pair.loss_fn, batch, budget=budget, **options)


class Stack(nn.Module):
    """Blocks whose activations are larger than their parameters: what they hold is above what objects take."""

    def __init__(self, dropout):
        super().__init__()
        self.blocks = nn.ModuleList(Block(32, True, dropout) for _ in range(4))
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x).mean(1)


def text_stack():
    return Stack(0.1), (torch.randn(8, 64, 32), torch.randint(5, (8,)))


def image_stack():
    """Its normalizations run once, so only convolutions run again. Activations in place write over what is saved."""
    module = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 16, 1),
                           nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))
    return module, (torch.randn(8, 3, 32, 32), torch.randint(5, (8,)))


@pytest.mark.parametrize("make, shares", [(text_stack, (0.8, 0.5)), (image_stack, (0.98,))])
def test_policies_keep_budgets_with_the_bits_of_eager_steps(make, shares):
    """Of what the step takes without checkpoints. The prediction is close to what is measured."""
    torch.manual_seed(1)
    module, batch = make()
    pair = Pair(module, "adamw")
    loose = policy_of(pair, batch, "1GB")
    assert loose.overhead == 0 and not loose.regions
    assert abs(loose.measured - loose.peak) < 0.1 * loose.peak
    for share in shares:
        policy = policy_of(pair, batch, int(share * loose.measured_plain))
        assert policy.overhead > 0
        assert policy.measured <= policy.budget == int(share * loose.measured_plain)
        assert abs(policy.measured - policy.peak) < 0.1 * policy.peak
        pair.planned.zero_grad()
        train(pair, [batch, batch], policy)
    assert "measured" in str(policy)


def test_a_buffer_that_forward_assigns_stays():
    class Averaging(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(3))
            self.register_buffer("mean", torch.zeros(()))

        def forward(self, x):
            for one in self.layers:
                x = one(x)
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean()
            return x

    module, batch = Averaging(), (torch.randn(64, 32), torch.randint(32, (64,)))
    before = module.mean
    policy_of(Pair(module), batch, "1GB")
    assert module.mean is before and before.item() == 0


def test_planning_a_policy_changes_nothing():
    torch.manual_seed(1)
    module, batch = image_stack()
    before, random = copy.deepcopy(module.state_dict()), torch.get_rng_state()
    policy_of(Pair(module), batch, "1GB", regions=["1"])
    assert_same(before, module.state_dict(), "module")
    assert torch.equal(random, torch.get_rng_state())
    assert all(one.grad is None for one in module.parameters())
    assert "forward" not in module[1].__dict__


def test_an_engine_may_wrap_the_regions_itself():
    torch.manual_seed(1)
    module, batch = Stack(0.0), (torch.randn(2, 8, 32), torch.randint(5, (2,)))
    policy = checkpoint_policy(module, functional.cross_entropy, batch, budget="1GB", regions=["blocks.1", "blocks.2"])
    plain = torch.autograd.grad(functional.cross_entropy(module(batch[0]), batch[1]), list(module.parameters()))
    x = batch[0]
    for at, block in enumerate(module.blocks):
        path = f"blocks.{at}"
        x = checkpoint(block, x, use_reentrant=False,
                       context_fn=policy.context_fn(path)) if path in policy.regions else block(x)
    loss = functional.cross_entropy(module.head(x).mean(1), batch[1])
    found = torch.autograd.grad(loss, list(module.parameters()))
    assert all(torch.equal(one, other) for one, other in zip(plain, found, strict=True))


@pytest.mark.parametrize("regions, message", [
    (["bloks.0"], "Stack has no part 'bloks.0'.* which has 'blocks.0', .* others"),
    (["blocks.0", "x"], "no part 'x'.* which has 'blocks', 'blocks.0'"),
    ([""], "no part ''"),
    ("head", r"give a list of paths, such as \['head'\]"),
    (["blocks.1", "head", "blocks"], "'blocks.1' is a part of region 'blocks'.* leave out one"),
    (["blocks", "blocks.1"], "'blocks.1' is a part of region 'blocks'.* leave out one"),
    (["head", "head"], "'head' and 'head' are the same module"),
])
def test_regions_that_are_none_are_named(regions, message):
    with pytest.raises(lowtide.InvalidError, match=message):
        checkpoint_policy(Stack(0.0), functional.cross_entropy, (torch.ones(2, 8, 32), torch.zeros(2).long()),
                          budget="1GB", regions=regions)


def test_a_policy_names_its_regions():
    batch = torch.ones(2, 8, 32), torch.zeros(2).long()
    policy = checkpoint_policy(Stack(0.0), functional.cross_entropy, batch, budget="1GB", regions=["blocks.1", "head"])
    with pytest.raises(lowtide.InvalidError, match="'blocks.2' is no region .* are 'blocks.1', 'head'"):
        policy.context_fn("blocks.2")
    with (pytest.raises(lowtide.InvalidError, match="Sequential has no part 'blocks.1'.* which has '0'"),
          policy.applied(nn.Sequential(nn.Linear(4, 4)))):
        pass
    free = checkpoint_policy(Stack(0.0), functional.cross_entropy, batch, budget="1GB")
    with pytest.raises(lowtide.InvalidError, match="none, because all is saved"):
        free.context_fn("blocks.1")


def test_what_no_policy_does_is_refused():
    pair, [batch] = pair_of("vit"), batches_of("vit", 1)
    with pytest.raises(lowtide.InvalidError, match="lowest predicted peak is .* train_step"):
        policy_of(pair, batch, "100kB")
    with pytest.raises(lowtide.InvalidError, match="give its bytes"):
        policy_of(pair, batch, None)
    module = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    with pytest.raises(lowtide.UnsupportedError, match="give regions"):
        checkpoint_policy(module, lambda y, _: y.mean(), (torch.ones(2, 4), 0), budget="1GB")

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

        def forward(self, x):
            return self.part(self.part(x))
    with pytest.raises(lowtide.UnsupportedError, match="'part' is called 2 times"):
        checkpoint_policy(Twice(), lambda y, _: y.mean(), (torch.ones(2, 4), 0), budget="1GB", regions=["part"])

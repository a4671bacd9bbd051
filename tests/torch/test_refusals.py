# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a step cannot do is refused, with the reason."""
import pytest
import torch
from conftest import batches_of, budgets_of, pair_of
from torch import nn

import lowtide
from lowtide.torch import train_step

ROWS = torch.ones(4, 8)


def with_forward(function):
    """A module that computes a function of what a layer returns."""
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            return function(self.layer(x))
    return Module()


def plan(module, optimizer=None, **options):
    """Plans a step of a module that returns its loss."""
    optimizer = optimizer or torch.optim.SGD(module.parameters(), lr=0.1)
    return train_step(module, None, optimizer, example=(ROWS,), **options)


@pytest.mark.parametrize("function, message", [
    (lambda y: y, r"the loss is \(4, 8\)"), (lambda y: [y.mean()], "the loss is list")])
def test_a_loss_that_is_not_one_number_is_refused(function, message):
    with pytest.raises(lowtide.InvalidError, match=message):
        plan(with_forward(function))


def test_an_optimizer_that_joins_parameters_is_refused():
    module = with_forward(torch.mean)
    with pytest.raises(lowtide.UnsupportedError, match="LBFGS.*gradients='keep'"):
        plan(module, torch.optim.LBFGS(module.parameters()))


def test_a_kind_of_optimizer_of_the_user_is_refused():
    class Own(torch.optim.SGD):
        pass
    module = with_forward(torch.mean)
    with pytest.raises(lowtide.UnsupportedError, match="Own"):
        plan(module, Own(module.parameters(), lr=0.1))


@pytest.mark.parametrize("register", ["register_step_pre_hook", "register_step_post_hook"])
def test_hooks_of_the_optimizer_are_refused(register):
    module = with_forward(torch.mean)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    getattr(optimizer, register)(lambda *_: None)
    with pytest.raises(lowtide.UnsupportedError, match="hooks"):
        plan(module, optimizer)


def test_an_optimizer_must_have_the_parameters_of_the_module():
    module = with_forward(torch.mean)
    with pytest.raises(lowtide.InvalidError, match="layer.bias"):
        plan(module, torch.optim.SGD([module.layer.weight], lr=0.1))
    with pytest.raises(lowtide.InvalidError, match="1 parameters"):
        plan(module, torch.optim.SGD([*module.parameters(), nn.Parameter(torch.ones(1))], lr=0.1))


def test_a_module_must_have_something_to_train():
    module = with_forward(torch.mean)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    module.requires_grad_(False)
    with pytest.raises(lowtide.InvalidError, match="requires a gradient"):
        plan(module, optimizer)


@pytest.mark.parametrize("options, message", [
    ({"gradients": "drop"}, "'drop'"), ({"budget": "5MB"}, "'5MB'"), ({"budget": "much"}, "'much'")])
def test_wrong_options_are_refused(options, message):
    with pytest.raises(lowtide.InvalidError, match=message):
        plan(with_forward(torch.mean), **options)


def test_updates_need_an_optimizer():
    with pytest.raises(lowtide.InvalidError, match="gradients='keep'"):
        train_step(with_forward(torch.mean), None, example=(ROWS,))


def test_an_infeasible_budget_names_what_needs_too_much():
    pair = pair_of("unet")
    [batch] = batches_of("unet", 1)
    problem = pair.step().plan(*batch).problem
    floor = lowtide.budget_curve(problem.as_mapping(), points=2, effort=0).floor
    with pytest.raises(lowtide.InvalidError) as caught:
        pair.step(budget=floor - 1, example=batch)
    message = str(caught.value)
    assert f"{floor - 1:,} B" in message
    assert "of module '" in message
    assert any(repr(f"{at} {unit.name}") in message for at, unit in enumerate(problem.units.units)), message


def test_a_budget_below_the_parameters_is_refused():
    pair = pair_of("unet")
    [batch] = batches_of("unet", 1)
    with pytest.raises(lowtide.InvalidError, match="budget"):
        pair.step(budget=100, example=batch)


def test_a_refused_budget_leaves_everything_as_it_was():
    pair = pair_of("residual", "adam")
    batches = batches_of("residual", 2)
    lowest = budgets_of(pair.step(), batches[0])[-1]
    random = torch.get_rng_state()
    with pytest.raises(lowtide.InvalidError):
        pair.step(budget=lowest // 2)(*batches[0])
    assert torch.equal(random, torch.get_rng_state())
    pair.check()
    pair.run(pair.step(), batches)

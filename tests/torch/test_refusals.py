# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a step cannot do is refused, with the reason."""
import re

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


def test_an_optimizer_without_parameters_of_the_module():
    with pytest.raises(lowtide.InvalidError, match="none of the parameters"):
        plan(with_forward(torch.mean), torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1))


def test_an_optimizer_may_have_more_and_fewer_parameters():
    """As in eager steps, those without an optimizer stay, and so do those without a gradient."""
    module = with_forward(torch.mean)
    before, other = module.layer.bias.clone(), nn.Parameter(torch.ones(1))
    weight = module.layer.weight.clone()
    plan(module, torch.optim.SGD([module.layer.weight, other], lr=0.1), budget="1MiB")(ROWS)
    assert torch.equal(module.layer.bias, before)
    assert torch.equal(other, torch.ones(1))
    assert not torch.equal(module.layer.weight, weight)


def test_a_module_must_have_something_to_train():
    module = with_forward(torch.mean)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    module.requires_grad_(False)
    with pytest.raises(lowtide.InvalidError, match="requires a gradient"):
        plan(module, optimizer)


@pytest.mark.parametrize("options, message", [
    ({"gradients": "drop"}, "'drop'"), ({"budget": "5 apples"}, "'5 apples'"), ({"budget": "much"}, "'much'")])
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
    named = [f"{at} {unit.name} of {module}" for at, (unit, module)
             in enumerate(zip(problem.units.units, problem.origins, strict=False)) if module]
    assert any(one in message for one in named), message


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


@pytest.mark.parametrize("function", [
    lambda y: y.mean() * y.max().item(), lambda y: y.mean() * float(y.max()), lambda y: y.mean() * int(y.max().int()),
    lambda y: y.mean() if y.max() > 0 else y.sum(), lambda y: y[y > 0].mean(),
    lambda y: y.nonzero().float().mean() + y.mean(), lambda y: y.mean() * float(y.detach().numpy().sum())])
def test_a_step_that_depends_on_values_is_refused(function):
    with pytest.raises(lowtide.UnsupportedError, match="values"):
        plan(with_forward(function))


@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_of_parameters_are_refused(register):
    module = with_forward(lambda y: y.mean())
    getattr(module.layer.bias, register)(lambda _one: None)
    with pytest.raises(lowtide.UnsupportedError, match="parameter 'layer.bias' has hooks"):
        plan(module)


def test_a_detached_loss_is_refused():
    with pytest.raises(lowtide.InvalidError, match="may be detached"):
        plan(with_forward(lambda y: y.detach().mean()))


def test_steps_may_be_planned_where_gradients_are_off():
    with torch.no_grad():
        plan(with_forward(lambda y: y.mean()))(ROWS)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_fused_optimizers_update_as_their_own_steps(kind):
    planned, eager = with_forward(lambda y: y.square().mean()), with_forward(lambda y: y.square().mean())
    eager.load_state_dict(planned.state_dict())
    step = plan(planned, kind(planned.parameters(), lr=0.1, fused=True), budget="1MiB")
    optimizer = kind(eager.parameters(), lr=0.1, fused=True)
    for _ in range(3):
        step(ROWS)
        optimizer.zero_grad()
        eager(ROWS).backward()
        optimizer.step()
    for one, other in zip(planned.parameters(), eager.parameters(), strict=True):
        assert torch.equal(one, other)


def test_other_devices_are_refused():
    with pytest.raises(lowtide.UnsupportedError, match="'layer.weight' is on the device meta"):
        plan(with_forward(lambda y: y.mean()).to("meta"))


@pytest.mark.parametrize("batch, message", [
    (ROWS, "a batch is a Tensor; give a tuple"), ((ROWS.numpy(),), "value 0 of the batch is a ndarray")])
def test_batches_of_other_kinds_are_refused(batch, message):
    module = with_forward(lambda y: y.mean())
    with pytest.raises(lowtide.InvalidError, match=message):
        train_step(module, None, torch.optim.SGD(module.parameters(), lr=0.1), example=batch)


@pytest.mark.parametrize("budget", [0, -5, 1.5, "1.5", "0.1B", "-1GiB", "1e9", "GB", "5MiBs", "much", True, 2**70])
def test_budgets_that_are_none_are_refused(budget):
    with pytest.raises(lowtide.InvalidError, match="budget"):
        train_step(with_forward(lambda y: y.mean()), None, gradients="keep", budget=budget)


def test_hooks_that_come_later_are_refused():
    module = with_forward(lambda y: y.mean())
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    step = plan(module, optimizer)
    hook = module.layer.weight.register_hook(lambda one: one)
    with pytest.raises(lowtide.UnsupportedError, match="layer.weight"):
        step(ROWS)
    hook.remove()
    step(ROWS)
    optimizer.register_step_post_hook(lambda *_: None)
    with pytest.raises(lowtide.UnsupportedError, match="hooks of step"):
        step(ROWS)


@pytest.mark.parametrize("set_state", [
    lambda layer, x: torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False),
    lambda layer, x: (torch.manual_seed(3), layer(x))[1],
    lambda layer, x: (torch.random.set_rng_state(torch.get_rng_state()), layer(x))[1]])
def test_random_numbers_of_a_state_that_is_set_are_refused(set_state):
    layer = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return set_state(self.layer, x).mean()
    with pytest.raises(lowtide.UnsupportedError, match=r"torch\.(set_rng_state|manual_seed)\(\)"):
        plan(Module())
    assert torch.manual_seed.__module__ == torch.random.__name__  # all is as before
    layer[1].p = 0.0
    layer[1].training = False  # nothing is random
    plan(Module())


class Part(nn.Module):
    """A layer and a function of what it returns, and maybe a generator."""

    def __init__(self, function):
        super().__init__()
        self.layer, self.function = nn.Linear(8, 8), function

    def forward(self, x, *given):
        return self.function(self.layer(x), *given)


def noise(y, generator):
    return (y + torch.rand(y.shape, generator=generator)).mean()


@pytest.mark.parametrize("function, line, message", [
    (lambda y: noise(y, torch.Generator()), r"in noise: return \(y \+ torch.rand", "generator=.*manual_seed"),
    (lambda y: torch.linalg.inv(y.t() @ y).mean(), "in <lambda>: .*linalg.inv", "form that does not.*inv_ex"),
    (lambda y: y.nonzero().float().mean() + y.mean(), "in <lambda>: .*nonzero", "nonzero.*that only a run knows"),
    (lambda y: y.mean() * y.sum().item(), "in <lambda>: .*item", "only a run knows"),
    (lambda y: y.mean() + float(y.detach().numpy().sum()), "in <lambda>: .*numpy", "cannot be recorded")])
def test_refusals_name_the_module_and_the_line(function, line, message):
    module = nn.Sequential(nn.Linear(8, 8), Part(function))
    with pytest.raises(lowtide.UnsupportedError) as refused:
        plan(module)
    assert re.match(rf"Sequential\.1: \S*test_refusals.py:\d+ {line}", refused.value.place)
    assert re.search(message, refused.value.message)


def test_a_generator_of_the_batch_is_refused_by_its_name():
    module = Part(noise)
    with pytest.raises(lowtide.UnsupportedError, match="Part: .*in noise: .* torch.Generator of the user"):
        train_step(module, None, torch.optim.SGD(module.parameters(), lr=0.1), example=(ROWS, torch.Generator()))

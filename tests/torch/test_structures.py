# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules whose parts are shared, frozen, unused or written over."""
import pytest
import torch
from conftest import Pair, batches_of, budgets_of, pair_of
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Repeated(nn.Module):
    """The same layer and the same normalization six times."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        for _ in range(6):
            x = torch.relu(self.norm(self.layer(x)))
        return x


class Overwriting(nn.Module):
    """In-place operators of all kinds."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x):
        y = self.first(x)
        y = functional.relu(y, inplace=True)
        z = self.second(y)
        z.add_(y).mul_(0.5)
        z[:, 0].zero_()
        z[1].add_(1.0)
        with torch.no_grad():
            self.seen.add_(z.detach().mean(0))
        return z + self.seen


class Unused(nn.Module):
    """A parameter that nothing reads, and a computation that nothing needs."""

    def __init__(self):
        super().__init__()
        self.used = nn.Linear(8, 8)
        self.unused = nn.Linear(8, 8)
        self.spare = nn.Parameter(torch.ones(3))

    def forward(self, x):
        self.unused(x)
        return self.used(x)


class Picked(nn.Module):
    """Views of one storage, and values that are read far from where they are made."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 24)
        self.scale = nn.Parameter(torch.ones(()))
        self.register_buffer("places", torch.tensor([1, 0, 2, 3, 7, 5, 6, 4]))

    def forward(self, x):
        first, second, third = self.layer(x).chunk(3, 1)
        y = torch.tanh(first) * self.scale + second.transpose(0, 1).contiguous().t()
        return (y * third)[:, self.places] + first


class Assigning(nn.Module):
    """A buffer that forward() replaces, a constant that it writes, and a checkpoint."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        y = checkpoint(self.first, x, use_reentrant=False)
        self.mean = self.mean * 0.9 + y.detach().mean(0)
        z = self.second(torch.relu(y)) - self.mean
        mask = torch.ones_like(z)
        mask[:, 0] = 0.0
        return z * mask


def vectors(count):
    random = torch.Generator().manual_seed(2)
    return [(torch.randn(4, 8, generator=random), torch.randint(8, (4,), generator=random)) for _ in range(count)]


def check(make, optimizer="adamw"):
    """Compares with eager steps without a budget and with the lowest one."""
    batches = vectors(6)
    pair = Pair(make(), optimizer)
    pair.run(pair.step(), batches)
    budgets = budgets_of(pair.step(), batches[0])
    limited = Pair(make(), optimizer)
    step = limited.step(budget=budgets[-1])
    limited.run(step, batches)
    assert step.last_plan.sequence.peak <= budgets[-1]


@pytest.mark.parametrize("make", [Repeated, Overwriting, Unused, Picked, Assigning])
def test_structure_equals_eager_steps(make):
    check(make)


def frozen():
    module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 8))
    module[0].requires_grad_(False)
    module[2].bias.requires_grad_(False)
    return module


def test_a_frozen_parameter_stays():
    module = frozen()
    pair = Pair(module)
    before = pair.planned[0].weight.clone()
    pair.run(pair.step(), vectors(4))
    assert torch.equal(before, pair.planned[0].weight)
    check(frozen)


def test_a_parameter_may_be_frozen_between_steps():
    pair = Pair(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)))
    step = pair.step()
    pair.run(step, vectors(2))
    for module, optimizer in ((pair.eager, pair.eager_optimizer), (pair.planned, pair.optimizer)):
        optimizer.param_groups[0]["params"] = list(module[2].parameters())
        for one in module[0].parameters():
            one.requires_grad_(False)
            del optimizer.state[one]
    pair.run(step, vectors(2))


def test_parameters_may_be_replaced_between_steps():
    pair = Pair(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 8)))
    step = pair.step()
    pair.run(step, vectors(2))
    for module, optimizer in ((pair.eager, pair.eager_optimizer), (pair.planned, pair.optimizer)):
        module.load_state_dict({key: one.clone() for key, one in module.state_dict().items()}, assign=True)
        optimizer.param_groups[0]["params"] = list(module.parameters())
        optimizer.state.clear()
    pair.run(step, vectors(2))


def test_a_parameter_of_two_names_is_updated_once():
    pair = pair_of("gpt", "sgd")
    batches = batches_of("gpt", 3)
    step = pair.step()
    pair.run(step, batches)
    names = [update.name for update in step.last_plan.problem.updates]
    assert names.count("update words.weight") == 1
    assert "update head.weight" not in names
    assert pair.planned.head.weight is pair.planned.words.weight


def test_evaluation_mode_leaves_statistics():
    pair = pair_of("residual")
    step = pair.step()
    batches = batches_of("residual", 4)
    pair.run(step, batches[:2])
    pair.eager.eval()
    pair.planned.eval()
    pair.run(step, batches[2:])
    assert pair.planned[2].first_norm.num_batches_tracked == 2


def test_normalization_without_statistics():
    check(lambda: nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8, track_running_stats=False), nn.Linear(8, 8)))


def test_half_precision_under_autocast():
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.layers(x).float()
    check(Cast)


def test_noise_equals_that_of_eager_steps():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), nn.Linear(8, 8), nn.Dropout(0.5))

        def forward(self, x):
            return self.layers(x + 0.1 * torch.randn_like(x)) + torch.rand(8)
    check(Noisy)


def test_statistics_that_a_step_computes_are_updated_once():
    """InstanceNorm repeats its statistics for each image, updates the copies and writes their mean."""
    def make():
        return nn.Sequential(nn.Unflatten(1, (2, 4)), nn.Conv1d(2, 4, 3, padding=1),
                             nn.InstanceNorm1d(4, affine=True, track_running_stats=True), nn.ReLU(inplace=True),
                             nn.Conv1d(4, 4, 1), nn.InstanceNorm1d(4, track_running_stats=True), nn.Flatten(),
                             nn.Linear(16, 8))
    check(make)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_an_embedding_may_shorten_its_rows_before(optimizer):
    """Embedding(max_norm=...) writes over its weight in forward(), and the update writes over it again."""
    def make():
        return nn.Sequential(nn.Embedding(10, 8, max_norm=0.5), nn.Flatten(), nn.Linear(24, 8), nn.Tanh(),
                             nn.Linear(8, 5))
    random = torch.Generator().manual_seed(2)
    batches = [(torch.randint(10, (4, 3), generator=random), torch.randint(5, (4,), generator=random))
               for _ in range(4)]
    for budget in (None, "1MB"):
        torch.manual_seed(1)
        pair = Pair(make(), optimizer)
        pair.run(pair.step(budget=budget), batches)


@pytest.mark.parametrize("hook", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_hooks_of_modules_are_part_of_the_step(hook):
    def make():
        module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        module[1].register_forward_hook(lambda _one, _given, result: result * 2)
        module[2].register_forward_pre_hook(lambda _one, given: (given[0] + 1,))
        getattr(module[2], hook)(lambda _one, first, *_second: tuple(gradient * 0.5 for gradient in first))
        return module
    pair = Pair(make(), "adamw")
    pair.run(pair.step(), vectors(3))


@pytest.mark.parametrize("options", [{"gradients": "keep"}, {"accumulate": 2}])
def test_a_gradient_from_outside_is_not_written_over(options):
    """The backward() of a function of the user returns a tensor of the user."""
    outside = torch.ones(3)

    class Constant(torch.autograd.Function):
        @staticmethod
        def forward(_context, weight):
            return weight * 2

        @staticmethod
        def backward(_context, _gradient):
            return outside

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return (Constant.apply(self.weight) * x).sum()

    pair = Pair(Module(), loss_fn=None)
    step = pair.step(**options)
    for _ in range(2):
        step(torch.ones(3))
    assert outside.tolist() == [1, 1, 1]
    if "gradients" in options:
        assert pair.planned.weight.grad.tolist() == [2, 2, 2]  # one for each step

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of planned steps with eager steps, bit for bit."""
import copy

import pytest
import torch
from programs import OPTIMIZERS, PROGRAMS
from torch.nn import functional

import lowtide
from lowtide.torch import train_step

EFFORT = 100_000_000
"""Of the search for reruns, a tenth of a second."""


@pytest.fixture(autouse=True)
def small_effort(monkeypatch):
    """The programs are small. Sums of several threads may be in another order, so one thread computes."""
    monkeypatch.setattr("lowtide.torch._search.EFFORT", EFFORT)
    monkeypatch.setattr("lowtide.torch._estimate.EFFORT", EFFORT)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Pair:
    """Two equal modules with equal optimizers: one for eager steps, one for planned steps."""

    def __init__(self, module, optimizer="sgd", loss_fn=functional.cross_entropy):
        self.eager = module
        self.planned = copy.deepcopy(module)
        self.loss_fn = loss_fn
        make = OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
        self.eager_optimizer = make([one for one in self.eager.parameters() if one.requires_grad])
        self.optimizer = make([one for one in self.planned.parameters() if one.requires_grad])

    def step(self, **options):
        """A planned step."""
        return train_step(self.planned, self.loss_fn, self.optimizer, **options)

    def eager_loss(self, *batch):
        """The loss of one eager step, with its backward pass."""
        self.eager_optimizer.zero_grad()
        output = self.eager(*batch) if self.loss_fn is None else self.loss_fn(self.eager(*batch[:-1]), batch[-1])
        output.backward()
        return output.detach()

    def eager_step(self, *batch):
        loss = self.eager_loss(*batch)
        self.eager_optimizer.step()
        return loss

    def check(self):
        """All that a step changes is equal."""
        assert_same(self.eager.state_dict(), self.planned.state_dict(), "module")
        assert_same(self.eager_optimizer.state_dict(), self.optimizer.state_dict(), "optimizer")

    def run(self, step, batches, seed=5):
        """Runs both on the batches and compares losses, all that changes, and the generator afterwards."""
        torch.manual_seed(seed)
        losses = [self.eager_step(*batch) for batch in batches]
        generator = torch.get_rng_state()
        torch.manual_seed(seed)
        planned = [step(*batch) for batch in batches]
        assert_same(losses, planned, "losses")
        assert torch.equal(generator, torch.get_rng_state()), "the generator differs"
        self.check()


def assert_same(expected, found, place):
    """Equal structures whose tensors have equal bits."""
    if isinstance(expected, torch.Tensor):
        assert expected.dtype == found.dtype and expected.shape == found.shape, place
        assert torch.equal(expected, found), place
    elif isinstance(expected, dict):
        assert expected.keys() == found.keys(), place
        for key, value in expected.items():
            assert_same(value, found[key], f"{place} {key}")
    elif isinstance(expected, (list, tuple)):
        assert len(expected) == len(found), place
        for at, (one, other) in enumerate(zip(expected, found)):
            assert_same(one, other, f"{place} {at}")
    else:
        assert expected == found, place


def pair_of(name, optimizer="sgd"):
    """One of PROGRAMS, always with the same parameters."""
    torch.manual_seed(1)
    return Pair(PROGRAMS[name][0](), optimizer)


def batches_of(name, count):
    """Batches of one of PROGRAMS, always the same."""
    random = torch.Generator().manual_seed(2)
    return [PROGRAMS[name][1](random) for _ in range(count)]


def budgets_of(step, batch):
    """Budgets that a step for such a batch can keep, from the peak without reruns to the lowest one.

    Scratch is measured in each program, and may differ a little. So they are a bit above those of a curve.
    """
    step._budget = 1 << 40  # scratch is measured only if there is a budget
    mapping = step.plan(*batch).problem.as_mapping()
    curve = lowtide.budget_curve(mapping, points=8, effort=EFFORT)
    margin = 1024 + (curve.points[0].budget - curve.points[-1].budget) // 14
    return [point.budget + margin for point in curve.points if point.fits]

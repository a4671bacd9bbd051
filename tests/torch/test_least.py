# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps that need as little as was found."""
import random
from dataclasses import replace

import pytest
import torch
from conftest import batches_of, budgets_of, pair_of
from programs import PROGRAMS

import lowtide
from lowtide.torch import _device, _search, train_step


def check_page(step):
    """The page is of the sequence that runs, whatever search found it."""
    sequence, page = step.last_plan.sequence, step.html()
    assert page.startswith("<!DOCTYPE html>")
    assert f'{{"label":"Runs","value":"{len(sequence.runs):,}"' in page
    assert f'{{"label":"Budget","value":"{sequence.budget / 1024:.2f} KiB"' in page


@pytest.mark.parametrize("name", ["residual", "gpt_dropout"])
def test_the_least_step_needs_what_its_plan_says(name):
    pair, batches = pair_of(name, "adamw"), batches_of(name, 4)
    lowest = budgets_of(pair.step(), batches[0])[-1]
    step = pair.step(budget="least")
    pair.run(step, batches)
    plan = step.last_plan
    assert plan.sequence.fits and plan.sequence.peak <= plan.sequence.budget <= lowest
    assert step.measure(*batches[0]).peak <= plan.sequence.budget
    assert step.report().startswith("budget ")
    check_page(step)


@pytest.mark.parametrize("name", PROGRAMS)
def test_pages_of_all_programs_have_the_runs(name):
    pair, [batch] = pair_of(name), batches_of(name, 1)
    step = pair.step(budget=budgets_of(pair.step(), batch)[-1])
    assert step.plan(*batch).sequence.fits
    check_page(step)


class RandomTimer(_device.CpuTimer):
    """Each run takes some time, as in another process."""

    drawn = random.Random()

    def take(self):
        super().take()
        nanoseconds = int(10 ** self.drawn.uniform(3, 6))
        return lambda: nanoseconds


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_least_budget_is_kept_again(name, monkeypatch):
    """Whatever times another process measures, and however its heap pads blocks."""
    monkeypatch.setattr(_device, "CpuTimer", RandomTimer)
    found, kept = [], []
    for seed in range(3):
        RandomTimer.drawn.seed(seed)
        kept.append([torch.empty(RandomTimer.drawn.randrange(100_000)) for _ in range(200)][::2])
        pair, batches = pair_of(name), batches_of(name, 2)
        step = pair.step(budget=found[0].budget if found else "least", example=batches[0])
        step(*batches[0])
        assert step.measure(*batches[1]).peak <= step.last_plan.sequence.budget
        found.append(step.last_plan.sequence)
    assert all(one.budget == found[0].budget >= one.peak for one in found)


def test_the_least_step_may_have_an_arena():
    pair, batches = pair_of("vit", "adamw"), batches_of("vit", 4)
    step = pair.step(budget="least", arena=True)
    pair.run(step, batches)
    plan = step.last_plan
    assert plan.sequence.peak <= plan.sequence.budget < pair.step().plan(*batches[0]).sequence.peak
    assert plan.sequence.peak + plan.arena.bytes - plan.arena.bound <= plan.sequence.budget


def test_a_least_step_may_accumulate():
    pair, batches = pair_of("gpt", "sgd"), batches_of("gpt", 4)
    step = pair.step(budget="least", accumulate=2)
    for batch in batches:
        step(*batch)
    assert step.last_plan.sequence.fits
    check_page(step)


def test_a_least_step_is_planned_without_the_host():
    module = torch.nn.Linear(4, 4)
    with pytest.raises(lowtide.UnsupportedError, match="give a budget in bytes"):
        train_step(module, None, torch.optim.SGD(module.parameters()), budget="least", offload="host")
    with pytest.raises(lowtide.InvalidError, match="budget"):
        lowtide.torch.backend(budget="least")


def test_a_budget_near_the_least_is_searched_again(monkeypatch):
    """A search that gives up is not the last word: what the search for the least budget finds counts, too."""
    pair, [batch] = pair_of("residual", "sgd"), batches_of("residual", 1)
    lowest = pair.step(budget="least").plan(*batch).sequence.budget
    budget = lowest + lowest // 50
    solve = _search.solve

    def gives_up(problem, limit):
        found = solve(problem, limit)
        return replace(found, outcome="not_found", peak=limit + 1) if limit == budget else found

    monkeypatch.setattr(_search, "solve", gives_up)
    step = pair.step(budget=budget)
    sequence = step.plan(*batch).sequence
    assert sequence.fits and sequence.budget == budget >= sequence.peak
    check_page(step)
    with pytest.raises(lowtide.InvalidError, match="the lowest peak that was found is"):
        pair.step(budget=lowest - lowest // 10).plan(*batch)

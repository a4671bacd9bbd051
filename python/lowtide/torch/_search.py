# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""From the problem of a step to the sequence that keeps a budget."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._errors import InvalidError
from .._ordering import BudgetSequence, budget_curve, budget_page, keep_budget
from ._problem import StepProblem, names_of
from ._report import text_of_beside, with_module

EFFORT = 1_000_000_000
"""Work units of the search for reruns."""
LEAST = "least"
"""The budget of a step that needs as little as was found."""
LEAST_STEPS = 2
"""Of bisection between the floor and the lowest peak that is known. More found at most 0.5 % less on eight networks."""


def kept(problem: StepProblem, budget: int | str | None) -> BudgetSequence:
    """The sequence for a budget, as of solve(), or for LEAST.

    A budget that LEAST found is kept in every process that measures the same scratch, whatever times it measures, as is
    the lowest peak that a refusal names.

    Raises:
        InvalidError: none is found that keeps the budget.
    """
    if isinstance(budget, str):
        lowest = _lowest(problem)
        fastest = solve(problem, lowest.peak)
        return fastest if fastest.fits else lowest
    sequence = solve(problem, budget)
    if sequence.fits:
        return sequence
    if problem.link is None:
        lowest = _lowest(problem, sequence.budget)
        if lowest.peak <= sequence.budget:
            return replace(lowest, budget=sequence.budget)
        sequence = replace(sequence, peak=lowest.peak)  # which another process keeps
    raise InvalidError(refusal_of(problem, sequence))


def sequence_to_measure(problem: StepProblem, budget: int | str, *, is_first: bool = False) -> BudgetSequence:
    """A sequence that keeps the budget or comes near it, while costs are not final.

    Args:
        is_first: scratch is not measured yet.

    Raises:
        InvalidError: even without scratch, it is proven that none keeps the budget.
    """
    if isinstance(budget, str):
        return _nearest(problem)[1]
    sequence = solve(problem, budget)
    if is_first and sequence.outcome == "infeasible":
        raise InvalidError(refusal_of(problem, sequence) + "; scratch of operators comes on top")
    if sequence.fits or problem.link is not None:
        return sequence
    return min(sequence, _nearest(problem)[1], key=lambda one: one.peak)


def _lowest(problem: StepProblem, enough: int = 0) -> BudgetSequence:
    """The sequence with the lowest peak that is found, by a few steps of bisection from the floor.

    Args:
        enough: a peak at which the search ends.
    """
    floor, best = _nearest(problem)
    for _ in range(LEAST_STEPS):
        budget = (floor + best.peak) // 2
        if budget <= floor or best.peak <= enough:
            break
        found = _solved_by_estimates(problem, budget)
        best = min(best, found, key=lambda one: one.peak)
        floor = floor if found.fits else budget
    return replace(best, budget=best.peak, outcome="found")


def _nearest(problem: StepProblem) -> tuple[int, BudgetSequence]:
    """The floor, and the sequence with the lowest peak that one search towards it finds."""
    floor = budget_curve(problem.as_mapping(), points=2, effort=EFFORT // 2).floor
    return floor, _solved_by_estimates(problem, floor)


def _solved_by_estimates(problem: StepProblem, budget: int) -> BudgetSequence:
    """As solve(), but the search goes by estimated times. Measured ones differ from process to process. A search goes
    another way with each of them, so it would find another lowest peak."""
    mapping = problem.as_mapping()
    nodes = [{**node, "cost": cost} for node, cost in zip(mapping["nodes"], problem.estimates, strict=True)]
    found = keep_budget({**mapping, "nodes": nodes}, budget, effort=EFFORT)
    costs = [one.nanoseconds for one in problem.costs]
    base = sum(costs)
    return replace(found, cost=sum(costs[int(run)] for run in found.runs), base_cost=base, cost_bound=base)


def refusal_of(problem: StepProblem, sequence: BudgetSequence) -> str:
    """Why a budget is not kept, and what to do."""
    lowest = f"the lowest peak that was found is {sequence.peak:,} B; give a larger budget, or a smaller batch"
    if sequence.outcome != "infeasible":
        return f"no sequence was found that keeps the budget of {sequence.budget:,} B, and there may be one; {lowest}"
    if sequence.obstacle is None:
        return f"no sequence keeps the budget of {sequence.budget:,} B; {lowest}"
    name = with_module(problem, names_of(problem), sequence.obstacle)
    return (f"no sequence keeps the budget of {sequence.budget:,} B: {name} needs more for what it reads and makes"
            f"{text_of_beside(len(sequence.obstacle_beside))}; {lowest}")


def solve(problem: StepProblem, budget: int | None) -> BudgetSequence:
    """The sequence for a budget; without one, the order with the lowest peak that was found, without reruns."""
    mapping = problem.as_mapping()
    if budget is None:
        return keep_budget(mapping, total_of(mapping), effort=0)
    if problem.link is None:
        return keep_budget(mapping, budget, effort=EFFORT)
    return keep_budget(mapping, budget, effort=EFFORT, link=problem.link)


def page_of(problem: StepProblem, sequence: BudgetSequence, name: str, measured: int | None = None) -> str:
    """A page with a sequence that kept() or solve() found.

    Args:
        measured: the peak that a process had, in bytes.
    """
    mapping = problem.as_mapping()
    if problem.link is not None:  # the same search finds the same sequence again, with its transfers
        return budget_page(mapping, sequence.budget, effort=EFFORT, name=name, link=problem.link, measured=measured)
    return budget_page(mapping, sequence.budget, name=name, measured=measured, runs=list(sequence.runs))


def total_of(mapping: dict[str, Any]) -> int:
    """A budget that nothing exceeds, in bytes."""
    total = sum(int(one["bytes"]) for one in mapping["states"])
    for node in mapping["nodes"]:
        total += sum(one.get("bytes", 0) for one in node["outputs"]) + node["scratch"] + node.get("seed_bytes", 0)
    return max(total, 1)

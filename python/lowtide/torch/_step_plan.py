# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""From a step that is built to its plan: the sequence for measured costs, its program, and an arena."""
from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch.fx import GraphModule

from .._errors import InvalidError
from .._ordering import BudgetSequence
from ._arena import Arena, arena_of, trim_heap
from ._build import Batch, BuiltStep
from ._capture import Captured
from ._gradients import Gradients
from ._host import host_bytes_of
from ._link import drained_on_errors
from ._offload import program_for
from ._optimizers import measured_trials
from ._problem import StepProblem, UnitCost
from ._profile import measured_costs
from ._program import placeholders_of
from ._search import kept, sequence_to_measure, solve

MEASUREMENTS = 2
"""Costs are measured this often before a plan is final, each time in the program of the plan before."""
ARENAS = 3
"""Sequences for which an arena is tried."""


@dataclass(frozen=True)
class StepPlan:
    """What a step does for one set of shapes."""

    captured: Captured
    problem: StepProblem
    sequence: BudgetSequence
    program: GraphModule
    gradients: Gradients
    arena: Arena | None = None
    written: tuple[int, ...] = ()
    """The arguments that the program writes over, by their places."""
    limit: int | None = None
    """Bytes that the sequence was searched for, if the arena needs more than its blocks."""

    @property
    def host_bytes(self) -> int:
        """Bytes of the host that hold what is outside, beside the budget."""
        return host_bytes_of(self.sequence)


def plan_of(built: BuiltStep, sequence: BudgetSequence, arena: Arena | None = None) -> StepPlan:
    """The plan that runs a sequence."""
    program = program_for(built, sequence, has_marks=arena is not None)
    written = placeholders_of(program, built.problem.written_states())
    return StepPlan(built.captured, built.problem, sequence, program, built.gradients, arena, written)


def placed_plan(built: BuiltStep, sequence: BudgetSequence, batch: Batch, *, grows: bool) -> StepPlan:
    """A plan with an arena. Bytes between blocks count: if there are too many, the sequence gets as much less.

    Args:
        grows: the budget becomes larger instead.

    Raises:
        InvalidError: no arena was found that keeps the budget.
    """
    budget = sequence.budget
    for _ in range(ARENAS):
        arena = arena_of(built, list(sequence.runs), arguments_of(built, batch))
        excess = sequence.peak + arena.bytes - arena.bound - budget
        if excess <= 0 or grows:
            trim_heap()
            plan = plan_of(built, replace(sequence, budget=budget + max(excess, 0)), arena)
            if grows:
                return replace(plan, limit=budget)
            return replace(plan, limit=sequence.budget if sequence.budget < budget else None)
        sequence = solve(built.problem, sequence.budget - excess)
        if not sequence.fits:
            break
    raise InvalidError(f"no arena was found for the budget of {budget:,} B: the blocks of its sequences leave gaps; "
                       "give a larger budget, or arena=False")


def measured_sequence(built: BuiltStep, budget: int | str, batch: Batch) -> BudgetSequence:
    """The sequence for costs that are measured in the memory of sequences before. They become those of the problem."""
    problem = built.problem
    problem.costs[len(problem.units.units):] = measured_trials(built.trials, problem.device)
    sequence = sequence_to_measure(problem, budget, is_first=True)
    for left in reversed(range(MEASUREMENTS)):
        problem.costs = _measured(built, sequence, batch)
        sequence = sequence_to_measure(problem, budget) if left > 0 else kept(problem, budget)
    return sequence


def _measured(built: BuiltStep, sequence: BudgetSequence, batch: Batch) -> list[UnitCost]:
    """Costs of the units in the program of a sequence, as they are in its memory."""
    units = built.problem.units
    keep_free(built, sequence)
    dry = program_for(built, sequence, is_dry=True)
    count = len(units.units)
    with drained_on_errors(built.copies):
        found = measured_costs(dry, units.units, arguments_of(built, batch), built.problem.costs[:count],
                               built.problem.device)
    built.problem.note_workspaces(found.kept)
    return found.costs + built.problem.costs[count:]


def keep_free(built: BuiltStep, sequence: BudgetSequence) -> None:
    """What a step takes and gives back stays with the process for the next one, as far as the allocator can."""
    built.problem.device.keep_free(max(sequence.peak - built.problem.bytes_of_states(), 0))


def arguments_of(plan: BuiltStep | StepPlan, batch: Batch) -> list[torch.Tensor]:
    """What a program takes."""
    scale = plan.gradients.scale()
    return [*plan.captured.parameters.values(), *plan.captured.constants.values(), *batch.tensors,
            *([] if scale is None else [scale])]

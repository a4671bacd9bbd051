# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A training step that keeps a byte budget."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule
from torch.optim import Optimizer
from torch.utils import _pytree as pytree

from .._errors import InvalidError, OverLimitError
from .._ordering import BudgetSequence, keep_budget
from .._request import bytes_of
from ._capture import Captured, LossFunction, capture
from ._optimizers import ParameterUpdate, check_optimizer, state_bytes, updates_of
from ._problem import StepProblem, UnitCost, Update, names_of
from ._profile import estimated_costs, measured_costs
from ._program import UpdateCall, program_of
from ._units import UnitGraph, Value

MOST_PLANS = 8
"""Of sets of shapes that one step plans for."""


MEASUREMENTS = 2
"""Of costs before a plan is final, each in the program of the plan before."""
UPDATE_NANOSECONDS = 20_000
"""Of an update, which runs once in every plan."""
EFFORT = 1_000_000_000
"""Of the search for reruns."""


@dataclass(frozen=True)
class StepPlan:
    """What a step does for one set of shapes."""

    captured: Captured
    problem: StepProblem
    sequence: BudgetSequence
    program: GraphModule


class TrainStep:
    """What train_step() returns. Calling it runs one step and returns the loss."""

    def __init__(self, module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None,
                 budget: int | None, gradients: str) -> None:
        self._module = module
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._budget = budget
        self._keeps_gradients = gradients == "keep"
        self._plans: dict[Any, StepPlan] = {}
        self._last: StepPlan | None = None

    def __call__(self, *batch: Any) -> torch.Tensor:
        """Runs forward pass, backward pass and update. Parameters, buffers and the optimizer change in place.

        Args:
            batch: as the example. Other shapes are planned at their first use.

        Returns:
            The loss, without a graph of autograd.
        """
        plan = self.plan(*batch)
        inputs = [leaf for leaf in pytree.tree_leaves(tuple(batch)) if isinstance(leaf, torch.Tensor)]
        captured = plan.captured
        with torch.no_grad():
            loss, *gradients = plan.program(*captured.parameters.values(), *captured.constants.values(), *inputs)
        if self._keeps_gradients:
            _accumulate(captured, gradients)
        elif self._optimizer is not None:
            self._optimizer._opt_called = True  # for schedulers of learning rates
        return loss

    def plan(self, *batch: Any) -> StepPlan:
        """The plan for batches of this form, without running it."""
        key = self._key_of(batch)
        if key not in self._plans:
            if len(self._plans) >= MOST_PLANS:
                raise OverLimitError(f"this is the set of shapes number {MOST_PLANS + 1}, and a step plans for at most "
                                     f"{MOST_PLANS}; pad batches to fewer shapes, or make another step")
            self._plans[key] = self._planned(batch)
        self._last = self._plans[key]
        return self._last

    @property
    def last_plan(self) -> StepPlan | None:
        """The plan of the latest call."""
        return self._last

    def _key_of(self, batch: tuple[Any, ...]) -> Any:
        leaves, spec = pytree.tree_flatten(tuple(batch))
        forms = tuple((leaf.dtype, tuple(leaf.shape), leaf.stride()) if isinstance(leaf, torch.Tensor) else leaf
                      for leaf in leaves)
        modes = tuple(one.training for one in self._module.modules())
        return forms, str(spec), modes, torch.get_num_threads()

    def _planned(self, batch: tuple[Any, ...]) -> StepPlan:
        captured = capture(self._module, self._loss_fn, batch)
        units = UnitGraph(captured.graph)
        trained = [] if self._keeps_gradients else list(captured.parameters)
        updates: dict[str, ParameterUpdate] = {}
        if not self._keeps_gradients and self._optimizer is not None:
            check_optimizer(self._optimizer, captured.parameters)
            updates = updates_of(self._optimizer, captured.parameters)
        problem, calls = self._problem_of(captured, units, trained, updates)
        sequence = _kept(problem, self._budget)
        for _ in range(MEASUREMENTS if self._budget is not None else 0):
            measured = self._measured(captured, problem, sequence, batch)
            if measured == problem.costs:
                break
            problem.costs = measured
            sequence = _kept(problem, self._budget)
        kept = units.results if self._keeps_gradients else units.results[:1]
        program = program_of(captured.graph, units, calls, [int(one) for one in sequence.runs], kept)
        return StepPlan(captured, problem, sequence, program)

    def _measured(self, captured: Captured, problem: StepProblem, sequence: BudgetSequence,
                  batch: tuple[Any, ...]) -> list[UnitCost]:
        """Costs of the units in the program of a sequence, as they are in its memory."""
        units = problem.units
        dry = program_of(captured.graph, units, None, [int(one) for one in sequence.runs], units.results[:1])
        inputs = [leaf for leaf in pytree.tree_leaves(tuple(batch)) if isinstance(leaf, torch.Tensor)]
        arguments = [*captured.parameters.values(), *captured.constants.values(), *inputs]
        count = len(units.units)
        return measured_costs(dry, units.units, arguments, problem.costs[:count]) + problem.costs[count:]

    def _problem_of(self, captured: Captured, units: UnitGraph, trained: list[str],
                    updates: dict[str, ParameterUpdate]) -> tuple[StepProblem, list[UpdateCall]]:
        holders = [node for node in captured.graph.graph.nodes if node.op == "placeholder"]
        states = dict(units.states)
        planned: list[Update] = []
        calls: list[UpdateCall] = []
        kept_by = {} if self._optimizer is None else state_bytes(self._optimizer, captured.parameters)
        for name, of_parameter in kept_by.items():
            for key, size in of_parameter.items():
                states[f"{name} {key}"] = size
        for at, name in enumerate(captured.parameters):
            gradient = units.results[1 + at]
            if name not in trained or gradient is None:
                continue
            value = units.value_of(gradient)
            reads = (value,) if isinstance(value, Value) else ()
            overwrites = (holders[at].name, *(f"{name} {key}" for key in kept_by.get(name, {})))
            planned.append(Update(f"update {name}", reads, overwrites))
            calls.append(UpdateCall(updates[name].__call__, (gradient,)))
        costs = estimated_costs(units) + [UnitCost(nanoseconds=UPDATE_NANOSECONDS) for _ in planned]
        results = units.result_values() if self._keeps_gradients else units.result_values()[:1]
        kept = [value for value in results if isinstance(value, Value)]
        return StepProblem(units, planned, costs, states, list(dict.fromkeys(kept)),
                           _origins_of(captured, units, planned)), calls


def _origins_of(captured: Captured, units: UnitGraph, updates: list[Update]) -> list[str]:
    """The module of each unit. A unit of the backward pass has that of the latest forward unit that it reads."""
    origins: list[str] = []
    for unit in units.units:
        own = next((captured.modules[node] for node in unit.nodes if node in captured.modules), None)
        if own is None:
            read = [one.unit for one in unit.reads if isinstance(one, Value)]
            own = next((origins[at] for at in sorted(read, reverse=True) if origins[at]), "")
        origins.append(own)
    return origins + [one.name.removeprefix("update ") for one in updates]


def _kept(problem: StepProblem, budget: int | None) -> BudgetSequence:
    sequence = solve(problem, budget)
    if not sequence.fits:
        raise InvalidError(_refusal(problem, sequence))
    return sequence


def _refusal(problem: StepProblem, sequence: BudgetSequence) -> str:
    lowest = f"the lowest peak that was found is {sequence.peak:,} B; give a larger budget, or a smaller batch"
    if sequence.outcome != "infeasible":
        return f"no sequence was found that keeps the budget of {sequence.budget:,} B, and there may be one; {lowest}"
    if sequence.obstacle is None:
        return f"no sequence keeps the budget of {sequence.budget:,} B; {lowest}"
    name = names_of(problem)[sequence.obstacle]
    where = problem.origins[sequence.obstacle]
    return (f"no sequence keeps the budget of {sequence.budget:,} B: {name!r}" + (f" of module {where!r}" if where else "")
            + f" needs more for what it reads and makes; {lowest}")


def solve(problem: StepProblem, budget: int | None) -> BudgetSequence:
    """The sequence for a budget; without one, the order with the lowest peak that was found, without reruns."""
    mapping = problem.as_mapping()
    if budget is None:
        return _without_budget(mapping)
    return keep_budget(mapping, budget, effort=EFFORT)


def _without_budget(mapping: dict[str, Any]) -> BudgetSequence:
    total = sum(one["bytes"] for one in mapping["states"])
    for node in mapping["nodes"]:
        total += sum(one.get("bytes", 0) for one in node["outputs"]) + node["scratch"] + node.get("seed_bytes", 0)
    return keep_budget(mapping, max(total, 1), effort=0)


def _accumulate(captured: Captured, gradients: list[torch.Tensor | None]) -> None:
    for parameter, gradient in zip(captured.parameters.values(), gradients, strict=True):
        if gradient is None:
            continue
        if parameter.grad is None:
            parameter.grad = gradient
        else:
            parameter.grad += gradient


def train_step(module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None = None, *,
               budget: int | str | None = None, example: tuple[Any, ...] | None = None,
               gradients: str = "update") -> TrainStep:
    """Plans forward pass, backward pass and update of a module as one program that keeps a byte budget.

    Args:
        module: its parameters with `requires_grad` are trained.
        loss_fn: takes the output of the module and the last entry of a batch, and returns one number. None: the module
            returns the loss for a batch.
        optimizer: updates each parameter as soon as its gradient is there and nothing else needs it.
        budget: bytes of all that the step holds at its worst moment, as a number or a text such as "4GiB": parameters,
            buffers, what the optimizer keeps, the batch, gradients, activations and scratch. None: no limit; nothing
            runs again.
        example: a batch, whose shapes are planned at once. Otherwise the first call plans.
        gradients: "update": a gradient ends at its update. "keep": gradients are added to `.grad` as backward() does,
            and the optimizer does not run.

    Raises:
        InvalidError: the budget cannot be kept, with the module that needs too much; or an argument is wrong.
        UnsupportedError: the step or the optimizer is not one that can be planned, with the reason.
    """
    if gradients not in ("update", "keep"):
        raise InvalidError(f"gradients is {gradients!r}; give 'update' or 'keep'")
    if gradients == "update" and optimizer is None:
        raise InvalidError("without an optimizer, give gradients='keep'")
    limit = None if budget is None else bytes_of(budget, "budget")
    step = TrainStep(module, loss_fn, optimizer, limit, gradients)
    if example is not None:
        step.plan(*example)
    return step

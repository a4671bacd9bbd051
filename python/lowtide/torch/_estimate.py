# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a training step needs, without running it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.amp import GradScaler
from torch.optim import Optimizer

from .._errors import InvalidError
from .._ordering import BudgetSequence, budget_curve, keep_budget
from ._build import build_step, checked_batch, options_of, refuse_offload
from ._capture import LossFunction
from ._problem import StepProblem, names_of
from ._report import MOST_SHOWN, shown_bytes, text_of_beside, text_of_states
from ._search import EFFORT, solve

OBSTACLE_EFFORT = 20_000
"""Work units per node of the search for what needs the floor, which is quick if one operator does."""


class HeldBytes(NamedTuple):
    """Bytes that are live at the peak."""

    bytes: int
    name: str
    """The operator that makes them, or the state."""
    module: str
    """The path of its module, or ""."""


class BudgetPoint(NamedTuple):
    """What a budget costs that a sequence was found for."""

    budget: int
    """Bytes."""
    overhead: float
    """The time that runs of operators add, as a share of one run of each."""
    proven: bool
    """Whether no sequence that keeps the budget costs less by these costs."""


@dataclass(frozen=True)
class StepEstimate:
    """What a step of training needs. Bytes are of all that it holds at its worst moment."""

    peak: int
    """Bytes, with nothing run again."""
    floor: int
    """Bytes: no sequence of whole operators keeps less."""
    least: int
    """Bytes: the smallest budget that a sequence was found for, the last one of the curve."""
    obstacle: HeldBytes | None
    """The operator whose operands and results need the floor; None if no single one is the reason."""
    obstacle_beside: int
    """How many other operators make results that stay, such as kept gradients, if the obstacle needs too much only
    beside these. One of all of them runs last, beside the results of the others. The obstacle is the one that needs
    least."""
    states: int
    """Bytes that are live at all times: `kinds`."""
    kinds: str
    """What these bytes are, such as "parameters, buffers, optimizer, batch, held gradients"."""
    held: tuple[HeldBytes, ...]
    """What is live at the peak beside the states, the largest first."""
    curve: tuple[BudgetPoint, ...]
    """From the peak downwards. Budgets for which no sequence was found are left out: the floor may be below the last
    one. Costs are estimates of a plain model of one core or one GPU."""
    device: str = "cpu"
    """Whose bytes these are, such as "cuda:0"."""
    is_recorded_there: bool = True
    """False: there is no such device, so the step was recorded with the operators of the CPU."""

    def __str__(self) -> str:
        lines = [f"peak   {shown_bytes(self.peak)}, with nothing run again",
                 f"       {shown_bytes(self.states)} of it are live at all times: {self.kinds}"]
        lines += [f"       {shown_bytes(one.bytes)}  {one.name}" + (f" of {one.module}" if one.module else "")
                  for one in self.held[:MOST_SHOWN]]
        rest = sum(one.bytes for one in self.held[MOST_SHOWN:])
        if rest:
            lines.append(f"       {shown_bytes(rest)}  in {len(self.held) - MOST_SHOWN} others")
        reason = "" if self.obstacle is None else (
            f": {self.obstacle.name}" + (f" of {self.obstacle.module}" if self.obstacle.module else "")
            + f" needs it for what it reads and makes{text_of_beside(self.obstacle_beside)}")
        lines.append(f"floor  {shown_bytes(self.floor)}; no sequence of whole operators keeps less{reason}")
        lines.append("budget        added time")
        lines += [f"{shown_bytes(point.budget):>12}  {point.overhead:.1%}" + (", proven least" if point.proven else "")
                  for point in self.curve]
        if self.least > self.floor:
            lines.append("no plan was found for less")
        if self.device != "cpu":
            lines.append(f"bytes are blocks of the caching allocator on {self.device}"
                         + ("" if self.is_recorded_there else ", of the operators that PyTorch runs on the CPU"))
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"schema_version": 1, "peak_bytes": self.peak, "floor_bytes": self.floor, "least_bytes": self.least,
                "states_bytes": self.states, "obstacle": None if self.obstacle is None else self.obstacle._asdict(),
                "obstacle_beside": self.obstacle_beside,
                "held": [one._asdict() for one in self.held], "curve": [one._asdict() for one in self.curve],
                "device": self.device, "is_recorded_there": self.is_recorded_there}


def estimate(module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None = None, *,
             example: tuple[Any, ...], gradients: str = "update", clip_norm: float | None = None,
             scaler: GradScaler | None = None, accumulate: int = 1, points: int = 12,
             device: str | torch.device | None = None, offload: str | None = None) -> StepEstimate:
    """Says what a step needs and what budgets cost. Nothing is run, and no tensor of the step gets memory.

    The module and the example may be without memory, too (torch.device("meta") is not enough: make them under
    torch._subclasses.FakeTensorMode). Times are estimated from sizes.

    Args:
        module, loss_fn, optimizer, example, gradients, clip_norm, scaler, accumulate: as for
            train_step().
        points: budgets that are tried, in equal steps from the peak to the floor, at least 2.
        device: "cuda" counts a module that is on the CPU as if it were on CUDA. None: where the module is.
        offload: must be None, because an estimate knows no link to the host.

    Raises:
        Error: as train_step(), except for budgets.
    """
    refuse_offload(offload, "the link to the host is only known where a step runs, and an estimate runs nothing")
    options = options_of(gradients, optimizer, clip_norm=clip_norm, scaler=scaler, accumulate=accumulate)
    built = build_step(module, loss_fn, optimizer, checked_batch(example), options, _chosen(device))
    problem = built.problem
    mapping = problem.as_mapping()
    free = solve(problem, None)
    curve = budget_curve(mapping, points=points, effort=points * EFFORT // 4)
    states = sum(one["bytes"] for one in mapping["states"])
    found = [point for point in curve.points if point.fits]
    obstacle, beside = _obstacle(problem, mapping, curve.floor)
    return StepEstimate(peak=found[0].peak, floor=curve.floor, least=found[-1].budget,
                        obstacle=obstacle, obstacle_beside=beside, states=states, kinds=text_of_states(problem),
                        held=_held(problem, found[0] if found[0].peak <= free.peak else free),
                        curve=tuple(BudgetPoint(point.budget, point.overhead, point.proven_optimal)
                                    for point in found),
                        device=str(built.captured.device),
                        is_recorded_there=built.captured.recorded == built.captured.device)


def _chosen(device: str | torch.device | None) -> torch.device | None:
    if device is None:
        return None
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidError(f"device is {device!r}; give 'cpu' or 'cuda'") from error
    return torch.device(chosen.type, chosen.index or 0) if chosen.type == "cuda" else torch.device(chosen.type)


def _held(problem: StepProblem, sequence: BudgetSequence) -> tuple[HeldBytes, ...]:
    names = names_of(problem)
    held = []
    for value in sequence.at_peak:
        name = names[value.node]
        if value.kind != "output":
            name = f"{value.kind} of {name}"
        held.append(HeldBytes(value.bytes, name, problem.origins[value.node]))
    return tuple(held)


def _obstacle(problem: StepProblem, mapping: dict[str, Any], floor: int) -> tuple[HeldBytes | None, int]:
    """The operator for which a byte less does not suffice, and how many others make results that stay beside it."""
    if floor <= sum(one["bytes"] for one in mapping["states"]):
        return None, 0
    below = keep_budget(mapping, floor - 1, effort=OBSTACLE_EFFORT * len(mapping["nodes"]))
    if below.obstacle is None:
        return None, 0
    held = HeldBytes(floor, names_of(problem)[below.obstacle], problem.origins[below.obstacle])
    return held, len(below.obstacle_beside)

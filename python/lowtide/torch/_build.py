# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""From a module, a loss and an optimizer to the problem of a step."""
from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.amp import GradScaler
from torch.fx import Node
from torch.optim import Optimizer
from torch.utils import _pytree as pytree

from .._errors import InvalidError, UnsupportedError
from .._request import bytes_of, is_second
from ._capture import Captured, LossFunction, capture
from ._gradients import GradientOptions, Gradients
from ._device import device_of
from ._link import Copies
from ._optimizers import Trial, check_optimizer, present_bytes
from ._problem import UPDATE, StepProblem, UnitCost, Update, common_phase
from ._profile import estimated_costs
from ._program import UpdateCall
from ._units import UnitGraph, Value
from ._updates import Behind, behind_adding, behind_backward

UPDATE_NANOSECONDS = 20_000
"""The estimated time of an update, which runs once in every plan."""


@dataclass(frozen=True)
class BuiltStep:
    """A step before it is planned. Its costs are estimates."""

    captured: Captured
    problem: StepProblem
    calls: list[UpdateCall]
    """What each update runs, and what comes before updates."""
    trials: list[Trial]
    """How each of them is measured."""
    kept: list[Node | None]
    """What the step returns: the loss, and the gradients if they are kept."""
    gradients: Gradients
    """Values of the running step that concern several gradients."""
    copies: Copies | None = None
    """What moves values to the host, if the problem has a link."""

    def check_runs(self) -> None:
        """Raises UnsupportedError if the step is only recorded, for a device that is not there."""
        if self.captured.recorded != self.captured.device:
            raise UnsupportedError(f"the step is on {self.captured.device}, and PyTorch finds no CUDA device to run it "
                                   "on; estimate() works without one")


def budget_of(budget: int | str | None) -> int | None:
    """A budget in bytes. Raises InvalidError if it is not a size, or less than a byte."""
    if budget is None:
        return None
    limit = bytes_of(budget, "budget")
    if limit < 1:
        raise InvalidError(f"budget is {budget!r}; give 1 byte or more, such as '4GiB'")
    return limit


def options_of(gradients: str, optimizer: Optimizer | None, *, clip_norm: float | None = None,
               scaler: GradScaler | None = None, accumulate: int = 1) -> GradientOptions:
    """What the arguments of train_step() and estimate() say. Raises as GradientOptions.check()."""
    if scaler is not None and not isinstance(scaler, GradScaler):
        raise InvalidError(f"the scaler is a {type(scaler).__name__}; give a torch.amp.GradScaler")
    options = GradientOptions(is_second(gradients, "gradients", "update", "keep"), clip_norm,
                              scaler if scaler is not None and scaler.is_enabled() else None, accumulate)
    options.check(optimizer)
    if not options.keeps and optimizer is None:
        raise InvalidError("without an optimizer, give gradients='keep'")
    return options


def refuse_offload(offload: str | None, reason: str) -> None:
    """For functions whose plans move nothing to the host. Raises UnsupportedError with the reason if they should."""
    if offload is not None:
        raise UnsupportedError(f"offload={offload!r}: {reason}; omit offload, or use train_step(..., offload='host')")


@dataclass(frozen=True)
class Batch:
    """What one call of a step gets, as it is given and flattened. Steps flatten it once per call."""

    entries: tuple[Any, ...]
    leaves: list[Any]
    """Tensors and plain values."""
    spec: pytree.TreeSpec

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The leaves that programs take."""
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]


def checked_batch(batch: Any) -> Batch:
    """A batch whose entries are tensors or plain values. Raises InvalidError for others."""
    if not isinstance(batch, tuple):
        raise InvalidError(f"a batch is a {type(batch).__name__}; give a tuple, such as (x, y) or (x,)")
    leaves, spec = pytree.tree_flatten(batch)
    for at, leaf in enumerate(leaves):
        if not isinstance(leaf, (torch.Tensor, Hashable)):
            raise InvalidError(f"value {at} of the batch is a {type(leaf).__name__}; give a tensor, such as with "
                               "torch.as_tensor()")
    return Batch(batch, leaves, spec)


def build_step(module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None,
               batch: Batch, options: GradientOptions, device: torch.device | None = None) -> BuiltStep:
    """Captures the step, and states it as a problem.

    Args:
        optimizer: updates each parameter. None: nothing does.
        options: if gradients are kept, they live until the end, and nothing is updated. What the optimizer has now
            counts.
        device: where the step would run, as in capture().

    Raises:
        InvalidError, UnsupportedError: those of capture(), check_optimizer() and behind_backward().
    """
    captured = capture(module, loss_fn, batch.entries, is_scaled=options.scaler is not None, device=device)
    gradients = Gradients(options, captured.device)
    units = UnitGraph(captured.graph, captured.recorded)
    states = dict(units.states)
    behind = Behind()
    if optimizer is not None and options.keeps:
        states.update({f"optimizer {at}": size for at, size in enumerate(present_bytes(optimizer))})
    elif optimizer is not None:
        check_optimizer(optimizer, captured.parameters)
        behind = behind_backward(captured, units, optimizer, gradients)
        states.update(behind.states)
    runs_on = device_of(captured.device)
    costs = estimated_costs(units, runs_on.model) + [UnitCost(nanoseconds=UPDATE_NANOSECONDS) for _ in behind.updates]
    results = units.results if options.keeps else units.results[:1]
    values = [units.value_of(one) for one in results if one is not None]
    problem = StepProblem(units, behind.updates, costs, states,
                          list(dict.fromkeys(one for one in values if isinstance(one, Value))),
                          _origins_of(captured, units, behind.updates), runs_on.rounding([]), runs_on,
                          phases=_phases_of(captured, units, behind.updates))
    return BuiltStep(captured, problem, behind.calls, behind.trials, results, gradients)


def adding_step(built: BuiltStep) -> BuiltStep:
    """The same step for batches whose gradients are only added up. It has the costs of `built`."""
    old = built.problem
    behind = behind_adding(built.captured, old.units, built.gradients)
    count = len(old.units.units)
    place_of = {one.name: at for at, one in enumerate(old.updates, count)}
    places = [*range(count), *(place_of[one.name] for one in behind.updates)]
    problem = StepProblem(old.units, behind.updates, [old.costs[at] for at in places], old.states, old.kept,
                          _origins_of(built.captured, old.units, behind.updates), old.rounded, old.device, old.link,
                          _phases_of(built.captured, old.units, behind.updates), [old.estimates[at] for at in places])
    return replace(built, problem=problem, calls=behind.calls, trials=behind.trials)


def _phases_of(captured: Captured, units: UnitGraph, updates: list[Update]) -> list[str]:
    """The pass of each unit and update."""
    return [common_phase(captured.phases.get(node) for node in unit.nodes) for unit in units.units] + [
        UPDATE for _ in updates]


def _origins_of(captured: Captured, units: UnitGraph, updates: list[Update]) -> list[str]:
    """The module of each unit and update. A unit of the backward pass has that of a parameter that it reads, or of the
    latest unit of the forward pass that it reads, or of the unit before."""
    owners = {holder.name: name.rpartition(".")[0] for name, holder in captured.holder_of().items()}
    forward: list[str] = []
    origins: list[str] = []
    for unit in units.units:
        forward.append(next((captured.modules[node] for node in unit.nodes if node in captured.modules), ""))
        read = sorted((one.unit for one in unit.reads if isinstance(one, Value)), reverse=True)
        origins.append(forward[-1] or next((owners[one] for one in unit.reads if one in owners), "")
                       or next((forward[at] for at in read if forward[at]), "")
                       or next((origins[at] for at in read if origins[at]), ""))
    return origins + [one.parameter.rpartition(".")[0] for one in updates]

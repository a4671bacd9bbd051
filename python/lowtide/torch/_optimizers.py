# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Updates of single parameters by the user's optimizer."""
from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import Optimizer

from .._errors import InvalidError, UnsupportedError
from ._device import Device, bytes_on
from ._problem import UnitCost
from ._program import OUTSIDE, begin_run
from ._units import storage_of, tensors_of

# The update of one parameter by these does not depend on another one.
SEPARATE = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad,
            torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam)


class ParameterUpdate:
    """The part of a step of an optimizer that is about one parameter. It has the state of the optimizer itself."""

    def __init__(self, optimizer: Optimizer, group: int, parameter: torch.nn.Parameter, *, has_state: bool) -> None:
        self._optimizer = optimizer
        self._group = group
        self._parameter = parameter
        self._part = _part_of(optimizer, optimizer.param_groups[group], parameter)
        self._has_state = has_state

    def run(self, gradient: torch.Tensor) -> None:
        """Updates the parameter and the state, in place, with the present learning rate of the group."""
        if self._has_state and self._parameter not in self._optimizer.state:
            begin_run(OUTSIDE)  # what the first update makes stays
        self._part.state = self._optimizer.state  # load_state_dict() replaces it, and the groups
        part = self._part.param_groups[0]
        for key, value in self._optimizer.param_groups[self._group].items():
            if key != "params":
                part[key] = value
        kept, self._parameter.grad = self._parameter.grad, gradient
        try:
            self._part.step()
        finally:
            self._parameter.grad = kept


def _part_of(optimizer: Optimizer, group: dict[str, Any], parameter: torch.nn.Parameter) -> Optimizer:
    part = copy.copy(optimizer)
    part.__dict__.pop("step", None)  # a scheduler of learning rates counts the steps of the optimizer itself
    part.param_groups = [{**group, "params": [parameter]}]
    return part


def groups_of(optimizer: Optimizer) -> dict[int, int]:
    """The number of the group that has each parameter, by the identity of the parameter."""
    return {id(one): at for at, group in enumerate(optimizer.param_groups) for one in group["params"]}


def has_step_hooks(optimizer: Optimizer) -> bool:
    """Whether something is called before or after each step of the optimizer."""
    return bool(optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks)


def check_optimizer(optimizer: Optimizer, parameters: dict[str, torch.nn.Parameter]) -> None:
    """Raises if updates of single parameters would not be what `optimizer.step()` does.

    Raises:
        UnsupportedError: another kind of optimizer, or one with hooks.
        InvalidError: it has none of the parameters that the module trains.
    """
    if type(optimizer) not in SEPARATE:
        names = ", ".join(kind.__name__ for kind in SEPARATE)
        raise UnsupportedError(f"{type(optimizer).__name__} is not known to update each parameter for itself; known "
                               f"are {names}. With gradients='keep', call optimizer.step() behind the step")
    if has_step_hooks(optimizer):
        raise UnsupportedError("the optimizer has hooks of step(), which would run once per parameter; remove them, or "
                               "use gradients='keep' and call optimizer.step() behind the step")
    owned = groups_of(optimizer)
    if not any(id(one) in owned for one in parameters.values()):
        raise InvalidError("the optimizer has none of the parameters that the module trains")


def updates_of(optimizer: Optimizer, parameters: dict[str, torch.nn.Parameter],
               kept: dict[str, dict[str, int]]) -> dict[str, Callable[[torch.Tensor], None]]:
    """The update of each parameter that the optimizer has, by its name, as a function of the gradient.

    Args:
        kept: what state_bytes() returns.
    """
    groups = groups_of(optimizer)
    return {name: ParameterUpdate(optimizer, groups[id(one)], one, has_state=bool(kept[name])).run
            for name, one in parameters.items() if id(one) in groups}


def present_bytes(optimizer: Optimizer) -> list[int]:
    """Bytes of each of the tensors that the optimizer keeps now; 0 for one on the CPU whose parameter is not."""
    sizes = {storage_of(value): bytes_on(value, parameter.device) for parameter, kept in optimizer.state.items()
             for value in tensors_of(tuple(kept.values()))}
    return list(sizes.values())


def state_bytes(optimizer: Optimizer, parameters: dict[str, torch.nn.Parameter],
                device: torch.device) -> dict[str, dict[str, int]]:
    """Bytes that the optimizer keeps for each parameter after its first step, by the key of its state.

    The first step makes them, so it is tried on parameters without memory. What it keeps on the CPU for parameters of
    another device, such as a count of steps, has no bytes.
    """
    groups = groups_of(optimizer)
    found: dict[str, dict[str, int]] = {}
    for name, one in parameters.items():
        if id(one) not in groups:
            continue
        trial = torch.nn.Parameter(torch.empty_like(one, device="meta"))
        group = optimizer.param_groups[groups[id(one)]]
        plain = {key: False for key in ("fused", "foreach", "capturable") if key in group}
        part = _part_of(optimizer, {**group, **plain}, trial)
        part.state = defaultdict(dict)
        trial.grad = torch.empty_like(trial)
        part.step()
        is_all_there = device.type == "cpu" or bool(group.get("fused") or group.get("capturable"))
        found[name] = {key: value.untyped_storage().nbytes() if is_all_there or value.device.type == "meta" else 0
                       for key, value in part.state[trial].items() if isinstance(value, torch.Tensor)}
    return found


@dataclass(frozen=True)
class Trial:
    """How a run behind the backward pass is measured: on other tensors of the same shapes."""

    form: Hashable
    """Trials with equal forms take the same."""
    prepare: Callable[[], Callable[[], object]]
    """Makes the tensors, and returns a function that runs once on them."""


def update_trial(optimizer: Optimizer, number: int, parameter: torch.nn.Parameter) -> Trial:
    """How the update of a parameter of the group with this number is measured."""
    def prepare() -> Callable[[], object]:
        trial = torch.nn.Parameter(torch.ones_like(parameter))
        part = _part_of(optimizer, optimizer.param_groups[number], trial)
        part.state = defaultdict(dict)
        trial.grad = torch.ones_like(trial)
        part.step()  # makes what the optimizer keeps
        return lambda: part.step()

    return Trial(("update", tuple(parameter.shape), parameter.dtype, number), prepare)


def measured_trials(trials: Sequence[Trial], device: Device) -> list[UnitCost]:
    """What each trial takes. It has the memory of its tensors for a short time: for an update, of one parameter, its
    gradient and what the optimizer keeps for it."""
    known: dict[Hashable, UnitCost] = {}
    with device.scratch_meter():
        for one in trials:
            if one.form not in known:
                known[one.form] = _tried(one.prepare(), device)
    return [known[one.form] for one in trials]


def _tried(run: Callable[[], object], device: Device) -> UnitCost:
    timer = device.timer()
    with device.scratch_meter() as meter:
        timer.start()
        run()
        timer.stop()
        scratch = device.scratch_of(meter.peak, [])
    return UnitCost(max(timer.take()(), 1), scratch)

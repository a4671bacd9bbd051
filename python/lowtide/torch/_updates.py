# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a step behind its backward pass: updates, and what happens to gradients before."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.fx import Node
from torch.optim import Optimizer

from .._errors import InvalidError, UnsupportedError
from ._capture import Captured
from ._gradients import Gradients, adding_to, joined_norm, norm_of, unscaled
from ._optimizers import Trial, groups_of, state_bytes, update_trial, updates_of
from ._problem import Update
from ._program import UpdateCall
from ._units import UnitGraph, Value


@dataclass
class _Gradient:
    """The gradient of one parameter, as the nodes so far leave it."""

    parameter: torch.nn.Parameter
    content: Value | str
    source: Node | int
    """What a program passes: a node of the captured graph, or what the call with this number returns."""

    def reads(self) -> tuple[Value, ...]:
        """States need no edge."""
        return (self.content,) if isinstance(self.content, Value) else ()


@dataclass
class Behind:
    """What comes behind the backward pass."""

    updates: list[Update] = field(default_factory=list)
    calls: list[UpdateCall] = field(default_factory=list)
    """What each of them runs."""
    trials: list[Trial] = field(default_factory=list)
    """How each of them is measured."""
    states: dict[str, int] = field(default_factory=dict)
    """Bytes that are kept for them, by name."""


def behind_backward(captured: Captured, units: UnitGraph, optimizer: Optimizer, gradients: Gradients) -> Behind:
    """States the updates of an optimizer, and what happens to gradients before them.

    Raises:
        UnsupportedError: they would change what is no gradient.
        InvalidError: a gradient cannot be unscaled.
    """
    writer = _Writer(captured, units, gradients)
    if gradients.options.accumulate > 1:
        writer.add()
    if gradients.options.scaler is not None:
        writer.unscale(optimizer)
    if gradients.options.clip_norm is not None:
        writer.join_norms()
    writer.update(optimizer)
    return writer.behind


def behind_adding(captured: Captured, units: UnitGraph, gradients: Gradients) -> Behind:
    """States that gradients are added to those that are held, and nothing else."""
    writer = _Writer(captured, units, gradients)
    writer.add()
    return writer.behind


class _Writer:
    def __init__(self, captured: Captured, units: UnitGraph, gradients: Gradients) -> None:
        self.behind = Behind()
        self._units = units
        self._holders = captured.holder_of()
        self._work = gradients
        self._device = captured.device
        self._gradients = {name: _Gradient(captured.parameters[name], units.value_of(one), one)
                           for name, one in zip(captured.parameters, units.results[1:], strict=True)
                           if one is not None}
        self._awaited: tuple[Value, ...] = ()
        """What updates wait for."""

    def add(self) -> None:
        """Adds each gradient to the one that is held. Their bytes are states: they are there in the next steps."""
        for name, one in self._gradients.items():
            held = f"gradient of {name}"
            self.behind.states[held] = one.parameter.numel() * one.parameter.element_size()
            added = self._add(Update(name, one.reads(), (held,), "add"),
                              UpdateCall(adding_to(one.parameter), (one.source,)),
                              _trial("add", one.parameter, lambda gradient: gradient.add_(gradient)))
            one.content, one.source = Value(added.unit, 0), len(self.behind.calls) - 1

    def unscale(self, optimizer: Optimizer) -> None:
        """Unscales each gradient of the optimizer, and looks whether all are finite."""
        owned, trial = groups_of(optimizer), _unscaling(self._device)
        found = []
        for name, one in self._gradients.items():
            if id(one.parameter) not in owned:
                continue
            if one.parameter.dtype == torch.float16:
                raise InvalidError(f"the gradient of {name!r} is float16, which GradScaler does not unscale; keep the "
                                   "parameter as float32, and run the module under autocast")
            update = Update(name, one.reads(), self._changed(name), "unscale", makes=(0,), once=False)
            call = UpdateCall(self._work.unscale, (one.source,))
            found.append(self._add(update, call, _trial("unscale", one.parameter, trial)))
            one.content, one.source = Value(found[-1].unit, 0), len(self.behind.calls) - 1
        update = Update("", tuple(found), (), "whether all gradients are finite", makes=(0,))
        self._awaited += (self._add(update, UpdateCall(self._work.decide, ()), Trial("finite", lambda: lambda: None)),)
        self.behind.states.update({"inverse scale": torch.float32.itemsize, "found infinity": torch.float32.itemsize})

    def join_norms(self) -> None:
        """A norm of each gradient, and one of these norms."""
        norms = []
        for name, one in self._gradients.items():
            update = Update(name, one.reads(), (), "norm of", makes=(one.parameter.element_size(),), once=False)
            call = UpdateCall(self._work.noting_norm(name), (one.source,))
            norms.append(self._add(update, call, _trial("norm", one.parameter, norm_of)))
        names = list(self._gradients)
        update = Update("", tuple(norms), (), "norm of all gradients", makes=(torch.float32.itemsize,))
        call = UpdateCall(self._work.joining_norms(names), ())
        trial = Trial(("norms", len(names)), lambda: _joining(len(names), self._device))
        self._awaited += (self._add(update, call, trial),)

    def update(self, optimizer: Optimizer) -> None:
        """An update of each parameter that the optimizer has."""
        parameters = {name: one.parameter for name, one in self._gradients.items()}
        kept, groups = state_bytes(optimizer, parameters, self._device), groups_of(optimizer)
        functions = updates_of(optimizer, parameters, kept)
        clips = self._work.options.clip_norm is not None
        for name, function in functions.items():
            one, held = self._gradients[name], self._units.value_of(self._holders[name])
            states = {f"{key} of {name}": size for key, size in kept[name].items()}
            self.behind.states.update(states)
            changed = self._changed(name) if clips else ()
            call = UpdateCall(self._work.updating(function) if self._awaited else function, (one.source,))
            self._add(Update(name, one.reads() + self._awaited, (held, *states, *changed)), call,
                      update_trial(optimizer, groups[id(one.parameter)], one.parameter))

    def _changed(self, name: str) -> tuple[Value, ...]:
        """The gradient, as something that changes in place."""
        content = self._gradients[name].content
        if not isinstance(content, Value):
            raise UnsupportedError(f"the gradient of {name!r} is a constant of the step, which must not change; "
                                   "use gradients='keep' and change .grad behind the step")
        return (content,)

    def _add(self, update: Update, call: UpdateCall, trial: Trial) -> Value:
        """Returns what it makes first."""
        self.behind.updates.append(update)
        self.behind.calls.append(call)
        self.behind.trials.append(trial)
        return Value(len(self._units.units) + len(self.behind.updates) - 1, len(update.overwrites))


def _trial(kind: str, parameter: torch.nn.Parameter, run: Callable[[torch.Tensor], object]) -> Trial:
    """How a function of a gradient is measured."""
    def prepare() -> Callable[[], object]:
        gradient = torch.ones_like(parameter.detach())
        return lambda: run(gradient)

    return Trial((kind, tuple(parameter.shape), parameter.dtype, parameter.stride()), prepare)


def _unscaling(device: torch.device) -> Callable[[torch.Tensor], object]:
    found, inverse = torch.zeros((), device=device), torch.ones((), device=device)
    return lambda gradient: unscaled(gradient, found, inverse)


def _joining(count: int, device: torch.device) -> Callable[[], object]:
    norms = [torch.ones((), device=device) for _ in range(count)]
    return lambda: joined_norm(norms, 1.0)

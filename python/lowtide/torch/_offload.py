# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in which values leave for the host and come back beside the runs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .._errors import InternalError, InvalidError, UnsupportedError
from .._ordering import BudgetSequence, Transfer, TransferSequence
from ._build import BuiltStep
from ._host import Outlet, layout_of, outlet_of
from ._link import Copies, Copy, copies_of, link_of
from ._problem import StepProblem
from ._profile_file import ProfileFile
from ._program import UpdateCall, Writer, like, program_of, repeated
from ._units import Value, storage_of, values_of


@dataclass(frozen=True)
class _Form:
    """What a tensor is beside its bytes."""

    dtype: torch.dtype
    size: torch.Size
    stride: tuple[int, ...]
    offset: int
    is_conjugated: bool
    is_negated: bool

    def of(self, storage: torch.UntypedStorage) -> torch.Tensor:
        """Such a tensor with these bytes."""
        made = torch.empty(0, dtype=self.dtype, device=storage.device)
        made.set_(storage, self.offset, self.size, self.stride)  # type: ignore[call-overload]
        made = torch._conj(made) if self.is_conjugated else made
        return torch._neg_view(made) if self.is_negated else made


@dataclass
class _Away:
    """A value that leaves."""

    storage: torch.UntypedStorage | None
    size: int
    device: torch.device
    forms: list[_Form]
    copy: Copy | None
    """None: it stays."""


@dataclass
class _Arriving:
    """A value that comes back."""

    storage: torch.UntypedStorage
    forms: list[_Form]
    copy: Copy | None


def _form_of(one: torch.Tensor) -> _Form:
    return _Form(one.dtype, one.size(), one.stride(), one.storage_offset(), one.is_conj(), one.is_neg())


def _begin_out(copies: Copies, offset: int, most: int) -> Callable[..., _Away]:
    def begin_out(*names: torch.Tensor) -> _Away:
        storage = names[0].untyped_storage()
        if any(one.untyped_storage()._cdata != storage._cdata for one in names):
            raise InternalError("the names of a value that leaves are of several storages")
        # Before anything is measured, a workspace may be larger than the graph says. It stays then.
        copy = copies.begin_out(storage, offset) if storage.nbytes() <= most else None
        return _Away(storage, storage.nbytes(), storage.device, [_form_of(one) for one in names], copy)

    return begin_out


def end_out(away: _Away) -> None:
    """Frees the value on the device."""
    if away.copy is not None:
        away.copy.wait()
        away.storage = None


def _begin_in(copies: Copies, offset: int) -> Callable[[_Away], _Arriving]:
    def begin_in(away: _Away) -> _Arriving:
        if away.storage is not None:
            return _Arriving(away.storage, away.forms, None)
        storage = torch.UntypedStorage(away.size, device=away.device)
        return _Arriving(storage, away.forms, copies.begin_in(storage, offset))

    return begin_in


def end_in(arriving: _Arriving) -> list[torch.Tensor]:
    """The value, by all of its names."""
    if arriving.copy is not None:
        arriving.copy.wait()
    return [form.of(arriving.storage) for form in arriving.forms]


def check_offload(offload: str | None, budget: int | str | None, *, arena: bool) -> None:
    """Raises if a step cannot offload.

    Raises:
        InvalidError: the value is none, or there is no budget to move values for.
        UnsupportedError: together with an arena.
    """
    if offload is None:
        return
    if offload != "host":
        raise InvalidError(f"offload is {offload!r}; give 'host', or omit it")
    if budget is None:
        raise InvalidError("without a budget, nothing leaves for the host; give a budget, or omit offload")
    if arena:
        raise UnsupportedError("values that come back have no places in an arena; use arena=False, or omit offload")


def copies_for(built: BuiltStep) -> Copies:
    """What moves values of a step. Raises as copies_of()."""
    return copies_of(built.captured.device)


def with_link(built: BuiltStep, copies: Copies, profile: ProfileFile | None) -> BuiltStep:
    """The same step, whose values may move over the link that the profile has, or that is measured now."""
    device = built.captured.device
    link = None if profile is None else profile.link_of(device)
    if link is None:
        link = link_of(device)
        if profile is not None:
            profile.note_link(device, link)
    built.problem.link = link.slower()
    return replace(built, copies=copies)


def program_for(built: BuiltStep, sequence: BudgetSequence, *, is_dry: bool = False,
                has_marks: bool = False) -> GraphModule:
    """The program of a sequence. A dry one has no updates, and returns nothing but the loss."""
    units = built.problem.units
    updates, kept = (None, units.results[:1]) if is_dry else (built.calls, built.kept)
    if isinstance(sequence, TransferSequence):
        return moving_program(built, updates, sequence, kept)
    return program_of(built.captured.graph, units, updates, list(sequence.runs), kept, has_marks=has_marks)


def moving_program(built: BuiltStep, updates: Sequence[UpdateCall] | None, sequence: TransferSequence,
                   kept: Sequence[Node | None]) -> GraphModule:
    """The program of a sequence with transfers, as program_of() without them.

    All transfers are calls between runs: a copy begins behind the run that issues it, and before the run before which
    it is complete, the program waits for it. What leaves is freed there.
    """
    source, problem = built.captured.graph, built.problem
    assert built.copies is not None
    writer = _MovingWriter(source, problem, built.copies, sequence.transfers)
    again = repeated(sequence.runs)
    count = len(problem.units.units)
    for place, number in enumerate(map(int, sequence.runs)):
        if number < count:
            writer.run(number, number in again)
        elif updates is not None:
            writer.call(number - count, updates[number - count])
        writer.move(place)
    return writer.finish(source, kept)


@dataclass
class _Leaving:
    """A value that is outside, or on its way."""

    away: Node
    names: list[Node | int]
    """Nodes of the captured graph, and numbers of calls of updates, in the order of its forms."""


class _MovingWriter(Writer):
    def __init__(self, source: GraphModule, problem: StepProblem, copies: Copies,
                 transfers: Sequence[Transfer]) -> None:
        super().__init__(source, problem.units)
        self._problem = problem
        self._copies = copies
        self._layout = layout_of(transfers)
        copies.reserve(self._layout.bytes)
        self._out, self._out_complete = (_by_place(transfers, "out", place) for place in ("issue", "complete"))
        self._in, self._in_complete = (_by_place(transfers, "in", place) for place in ("issue", "complete"))
        self._leaving: dict[Outlet, _Leaving] = {}
        self._arriving: dict[Outlet, Node] = {}
        self._moves: dict[int, int] = {}
        """By storage, how often it came back."""
        self._written: dict[int, list[Node]] = {}
        """By storage, the nodes that name it since its maker ran."""
        self._changed: dict[int, int] = {}
        """By storage, the latest unit or update that made it or wrote over it."""
        self._calls: dict[int, list[int]] = {}
        """By storage, the calls of updates that return it."""

    def run(self, number: int, may_run_again: bool) -> None:
        super().run(number, may_run_again)
        unit = self._units.units[number]
        for output in unit.outputs:
            if output.overwrites is None:
                self._written[output.storage] = []
                self._calls[output.storage] = []
            self._changed[output.storage] = number
        for node in unit.nodes:
            for one in [node, *(user for user in node.users if user.target is getitem)]:
                if one in self._made and isinstance(value := one.meta.get("val"), torch.Tensor):
                    names = self._written.setdefault(storage_of(value), [])
                    if one not in names:
                        names.append(one)

    def call(self, number: int, update: UpdateCall) -> None:
        super().call(number, update)
        for content in self._problem.updates[number].overwrites:
            if not self._problem.is_of_state(content):
                key = self._key(content)
                self._calls.setdefault(key, []).append(number)
                self._changed[key] = len(self._units.units) + number

    def move(self, place: int) -> None:
        """The transfers between the run at a place and the next one."""
        for one in self._out.get(place, []):
            self._begin_out(one)
        for one in self._out_complete.get(place + 1, []):
            self._emit(end_out, self._leaving[outlet_of(one)].away)
        for one in self._in.get(place, []):
            begin = _begin_in(self._copies, self._layout.offsets[outlet_of(one)])
            self._arriving[outlet_of(one)] = self._emit(begin, self._leaving[outlet_of(one)].away)
        for one in self._in_complete.get(place + 1, []):
            self._end_in(one)

    def _begin_out(self, one: Transfer) -> None:
        key = self._key(Value(one.node, one.output))
        if one.node < len(self._units.units) and self._changed[key] != one.node:
            raise InternalError(f"{one.node} leaves behind another content of its bytes")
        names: list[Node | int] = [*self._written[key], *self._calls.get(key, [])]
        begin = _begin_out(self._copies, self._layout.offsets[outlet_of(one)], one.bytes)
        given = [self._returned[name] if isinstance(name, int) else self._made[name] for name in names]
        self._leaving[outlet_of(one)] = _Leaving(self._emit(begin, *given), names)

    def _end_in(self, one: Transfer) -> None:
        key = self._key(Value(one.node, one.output))
        self._moves[key] = self._moves.get(key, 0) + 1
        tensors = self._emit(end_in, self._arriving.pop(outlet_of(one)))
        for at, name in enumerate(self._leaving[outlet_of(one)].names):
            new = self._graph.call_function(getitem, (tensors, at))
            if isinstance(name, int):
                self._returned[name] = new
            else:
                self._made[name] = like(name, new)

    def _emit(self, function: Callable[..., Any], *given: Node) -> Node:
        made = self._graph.call_function(function, given)
        made.meta["transfer"] = True
        return made

    def _key(self, content: Value | str) -> int:
        """The storage of the bytes."""
        oldest = self._problem.oldest(content)
        assert isinstance(oldest, Value)
        return self._units.units[oldest.unit].outputs[oldest.output].storage

    def _makers_of(self, view: Node) -> tuple[int, ...]:
        moves = [self._moves.get(storage_of(tensor), 0) for tensor in values_of(view)]
        return (*super()._makers_of(view), *moves)


def _by_place(transfers: Sequence[Transfer], direction: str, place: str) -> dict[int, list[Transfer]]:
    found: dict[int, list[Transfer]] = {}
    for one in transfers:
        if one.direction == direction:
            found.setdefault(getattr(one, place), []).append(one)
    return found

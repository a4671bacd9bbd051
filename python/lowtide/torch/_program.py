# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A sequence of units as a graph module: plain Python that runs operators in order and drops values after use."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import getitem
from types import MethodType
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from .._core import heap_run
from ._units import (
    REPLACED,
    SAME,
    UnitGraph,
    returned_statistics,
    updated_statistics,
    values_of,
    without_statistics,
)


def generator_state(device: torch.device) -> torch.Tensor:
    """The state of the generator of a device before a random unit runs. It is in the memory of the host."""
    return torch.get_rng_state() if device.type == "cpu" else torch.cuda.get_rng_state(device)


def enter_state(state: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Goes back to an earlier state of the generator. Returns the present one."""
    present = generator_state(device)
    leave_state(state, device)
    return present


def leave_state(present: torch.Tensor, device: torch.device) -> None:
    """Ends what enter_state() began."""
    if device.type == "cpu":
        torch.set_rng_state(present)
    else:
        torch.cuda.set_rng_state(present, device)


OUTSIDE = -1
"""Instead of a place in a sequence: blocks come from the heap."""


def begin_run(place: int) -> None:
    """Blocks that are requested from now on are those of the run at this place of the sequence."""
    heap_run(place)


@contextmanager
def below_autograd() -> Iterator[None]:
    """Operators run as autograd calls them: nothing is recorded, and kernels that ask are told to save workspaces.

    Views do not know their bases, which makes them smaller and faster. Versions of tensors do not change: call
    `increment_version()` for what others may have saved.
    """
    with torch.enable_grad(), torch._C._AutoDispatchBelowADInplaceOrView():
        yield


@dataclass(frozen=True, eq=False)
class UnitRun:
    """What the nodes of a program that are one run of a unit have in common: the key "run" of their `meta`. The key
    "source" is the node of the captured graph."""

    unit: int


@dataclass(frozen=True)
class UpdateCall:
    """A run of the optimizer in a program, or of what comes before it."""

    function: Callable[..., torch.Tensor | None]
    """A function or a method."""
    gradients: tuple[Node | int, ...]
    """What it is called with: nodes of the captured graph, and what earlier calls return, by their numbers."""


def program_of(source: GraphModule, units: UnitGraph, updates: Sequence[UpdateCall] | None, sequence: Sequence[int],
               kept: Sequence[Node | None], *, has_marks: bool = False) -> GraphModule:
    """The program of a sequence of units and updates.

    A run writes the nodes of its unit again. What it reads is named by the latest run of each unit. Views are made
    where a node reads them. A name is dropped after its last use, so a value is freed when the last run that reads it
    ends.

    Args:
        source: the captured graph. The program has the same placeholders.
        updates: None leaves them out.
        sequence: numbers of units; those of updates follow them.
        kept: nodes that the program returns, or None.
        has_marks: each run begins with a call that says its place in the sequence, for an arena.
    """
    writer = Writer(source, units)
    again = repeated(sequence)
    for place, number in enumerate(sequence):
        if has_marks:
            writer.mark(place)
        if number < len(units.units):
            writer.run(number, number in again)
        elif updates is not None:
            writer.call(number - len(units.units), updates[number - len(units.units)])
    return writer.finish(source, kept)


def placeholders_of(program: GraphModule, names: Container[str]) -> tuple[int, ...]:
    """The places among the arguments of a program that have one of these names."""
    return tuple(at for at, node in enumerate(program.graph.find_nodes(op="placeholder")) if node.name in names)


def repeated(sequence: Iterable[int]) -> set[int]:
    """The units that run several times."""
    return {number for number, times in Counter(map(int, sequence)).items() if times > 1}


class Writer:
    """Writes a program run by run."""

    def __init__(self, source: GraphModule, units: UnitGraph) -> None:
        self._units = units
        self._graph = Graph()
        self._runs = [0] * len(units.units)
        self._made: dict[Node, Node] = {}
        """The name of each placeholder, and of each node of the latest run of its unit."""
        self._views: dict[Node, tuple[tuple[int, ...], Node]] = {}
        """The name of each view, and the runs that made its bytes."""
        self._generators: dict[int, Node] = {}
        self._returned: dict[int, Node] = {}
        """What the latest run of each call returns."""
        for node in source.graph.nodes:
            if node.op == "placeholder":
                self._made[node] = like(node, self._graph.placeholder(node.name))
            elif node.op == "get_attr":
                self._made[node] = like(node, self._graph.get_attr(str(node.target)))

    def mark(self, place: int) -> None:
        """Blocks from here on are those of the run at this place."""
        self._graph.call_function(begin_run, (place,))

    def run(self, number: int, may_run_again: bool) -> None:
        """Writes the nodes of a unit."""
        unit = self._units.units[number]
        is_rerun = self._runs[number] > 0
        self._runs[number] += 1
        run = UnitRun(number)
        present = None
        if unit.is_random and is_rerun:
            present = self._graph.call_function(enter_state, (self._generators[number], self._units.device))
        elif unit.is_random and may_run_again:
            self._generators[number] = self._graph.call_function(generator_state, (self._units.device,))
        for node in unit.nodes:
            target, args = REPLACED.get(node.target, node.target), node.args
            absent: tuple[int, ...] = ()
            if is_rerun and unit.statistics and updated_statistics(node):
                target, args = without_statistics(node)
                absent = returned_statistics(node)
            new = self._graph.call_function(target, map_arg(args, self._name), map_arg(node.kwargs, self._name))
            new.meta.update(run=run, source=node)
            self._made[node] = like(node, new)
            for user in node.users:
                if user in self._units.unit_of and user.target is getitem and user.users and user.args[1] not in absent:
                    self._made[user] = like(user, self._graph.call_function(getitem, (new, user.args[1])))
        if present is not None:
            self._graph.call_function(leave_state, (present, self._units.device))

    def call(self, number: int, update: UpdateCall) -> None:
        """Writes an update, or what comes before it."""
        given = tuple(self._returned[one] if isinstance(one, int) else self._name(one) for one in update.gradients)
        self._returned[number] = self._graph.call_function(_function_of(update.function), given)

    def finish(self, source: GraphModule, kept: Sequence[Node | None]) -> GraphModule:
        """Ends the program, which returns what these nodes name."""
        self._graph.output(tuple(None if one is None else self._name(one) for one in kept))
        return GraphModule(source, self._graph)

    def _name(self, node: Node) -> Node:
        """The name of a node of the captured graph at this place of the program. Makes views that are missing."""
        waiting = [self._same(node)]
        while waiting:
            missing = [] if self._is_known(waiting[-1]) else [
                one for one in map(self._same, waiting[-1].all_input_nodes) if not self._is_known(one)]
            if missing:
                waiting += missing
            else:
                self._make_view(waiting.pop())
        return self._known(node)

    def _same(self, node: Node) -> Node:
        while node not in self._made and node.target in SAME:
            node = node.args[0]  # type: ignore[assignment]
        return node

    def _is_known(self, node: Node) -> bool:
        return node in self._made or (node in self._views and self._views[node][0] == self._makers_of(node))

    def _known(self, node: Node) -> Node:
        node = self._same(node)
        return self._made[node] if node in self._made else self._views[node][1]

    def _makers_of(self, view: Node) -> tuple[int, ...]:
        makers = [self._units.maker_of(tensor) for tensor in values_of(view)]
        return tuple(0 if maker is None else self._runs[maker] for maker in makers)

    def _make_view(self, view: Node) -> None:
        if self._is_known(view):
            return
        new = self._graph.call_function(view.target, map_arg(view.args, self._known),
                                        map_arg(view.kwargs, self._known))
        self._views[view] = (self._makers_of(view), like(view, new))
        if isinstance(view.meta.get("val"), (list, tuple)):  # its tensors have names of their own from here on
            for user in view.users:
                if user.target is getitem and user.users:
                    self._make_view(user)


def _function_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The code of a graph names functions by their module, so it cannot name a method."""
    return (lambda *given: function(*given)) if isinstance(function, MethodType) else function


def like(node: Node, new: Node) -> Node:
    """The new node, which makes tensors like those of a node of the captured graph."""
    if "val" in node.meta:
        new.meta["val"] = node.meta["val"]
    return new

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A step as an ordering problem (docs/order-format.md)."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .._ordering import Link
from ._device import CPU_DEVICE, Device
from ._units import Output, UnitGraph, Value

FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"
"""The passes of a step."""

WORKSPACES = "workspaces of libraries"
"""Among the states: what they keep between operators."""

AUTOGRAD = "objects of autograd"
"""Among the states of a graph of torch.compile(): what autograd makes beside tensors."""


@dataclass(frozen=True)
class Update:
    """What is done with gradients behind the backward pass: the update of one parameter, or what comes before it.

    A Value of it has its number among the nodes. Its outputs are what it overwrites, then what it makes.
    """

    parameter: str
    reads: tuple[Value | str, ...]
    """Gradients, and what earlier ones make."""
    overwrites: tuple[Value | str, ...]
    """The parameter, what the optimizer keeps for it, and gradients that change in place."""
    kind: str = UPDATE
    makes: tuple[int, ...] = ()
    """Bytes of results. 0: only the order counts."""
    once: bool = True

    @property
    def name(self) -> str:
        """Among the nodes of the problem."""
        return f"{self.kind} {self.parameter}".rstrip()


@dataclass
class UnitCost:
    """What a run of a unit takes."""

    nanoseconds: int = 0
    scratch: int = 0
    """Bytes in addition to its outputs."""


@dataclass
class StepProblem:
    """The problem of a step. Its nodes are the units, then the updates and what comes before them."""

    units: UnitGraph
    updates: list[Update]
    costs: list[UnitCost]
    """Of each unit, then of each update."""
    states: dict[str, int]
    """Bytes of parameters, buffers, inputs and of what the optimizer keeps, by name."""
    kept: list[Value] = field(default_factory=list)
    """What is live at the end: the loss, and gradients that the caller wants."""
    origins: list[str] = field(default_factory=list)
    """The module of each unit and update, or ""."""
    rounded: Callable[[int], int] = lambda size: size
    """What the allocator takes for a storage with this number of bytes."""
    device: Device = CPU_DEVICE
    """Where the step runs."""
    link: Link | None = None
    """Over which outputs may leave for the host and come back."""
    phases: list[str] = field(default_factory=list)
    """The pass of each unit and update, such as FORWARD; "" where it is not known."""
    estimates: list[int] = field(default_factory=list)
    """Nanoseconds of each unit and update before anything is measured, so they are the same in every process. Without
    them, those of the first costs."""

    def __post_init__(self) -> None:
        self.estimates = self.estimates or [one.nanoseconds for one in self.costs]

    def as_mapping(self) -> dict[str, Any]:
        """In the form of docs/order-format.md."""
        nodes = [self._node_of_unit(at) for at in range(len(self.units.units))]
        nodes += [self._node_of_update(at) for at in range(len(self.updates))]
        states = [{"name": name, "bytes": self.bytes_of_state(name)} for name in self.states]
        if self.link is not None and (held := self._results_of_updates()):
            states.append({"name": "results between gradients and updates", "bytes": held})
        return {"version": 1, "units": {"cost": "1 ns"}, "states": states,
                "nodes": nodes, "edges": self._edges(),
                "outputs": [[value.unit, value.output] for value in self.kept]}

    def use_allocator(self) -> None:
        """Counts what the allocator of this process gives for each size."""
        sizes = [one.size for unit in self.units.units for one in unit.outputs]
        made = [size for one in self.updates for size in one.makes]
        self.rounded = self.device.rounding([*sizes, *made, *self.states.values()])

    def note_workspaces(self, kept: int) -> None:
        """Libraries were measured to keep these bytes between operators."""
        if kept > self.states.get(WORKSPACES, 0):
            self.states[WORKSPACES] = kept

    def written_states(self) -> set[str]:
        """The states that the step writes over, besides running statistics."""
        written = {state for unit in self.units.units for state in unit.overwritten_states()}
        return written.union(one for update in self.updates for one in update.overwrites if isinstance(one, str))

    def bytes_of_state(self, name: str) -> int:
        """What a state takes, with the objects of its tensor and of its views."""
        return self.rounded(self.states[name]) + self._views_of(name)

    def bytes_of_states(self) -> int:
        """What is live at all times."""
        return sum(map(self.bytes_of_state, self.states))

    def bytes_before(self) -> int:
        """What the states take before a step. The step makes the objects of views and of autograd."""
        return sum(self.rounded(size) for name, size in self.states.items() if name != AUTOGRAD)

    def _bytes_of(self, output: Output) -> int:
        return self.rounded(output.size) + self._views_of(output)

    def _views_of(self, content: Output | str) -> int:
        return self.units.view_bytes_of(content) if self.device.counts_objects else 0

    def _node_of_unit(self, at: int) -> dict[str, Any]:
        unit = self.units.units[at]
        outputs: list[dict[str, Any]] = []
        for output in unit.outputs:
            if output.overwrites is None:
                outputs.append({"bytes": self._bytes_of(output)})
            else:
                outputs.append(self._overwriting(output.overwrites, self._bytes_of(output)))
        outputs.append({"bytes": 0})  # read by units whose first runs come later
        node = {"name": f"{at} {unit.name}", "cost": self.costs[at].nanoseconds, "outputs": outputs,
                "scratch": self.costs[at].scratch}
        if unit.once:
            node["once"] = True
        elif unit.is_random:
            node["seed_bytes"] = self._bytes_of_generator()
            node["scratch"] = self._scratch_of_random(at)
        return self._placed(node, at)

    def _bytes_of_generator(self) -> int:
        size = self.device.generator_bytes
        return self.rounded(size) if size > 0 else 0

    def _scratch_of_random(self, at: int) -> int:
        """While a rerun goes on, the present state of the generator is kept. Before, a copy of it is made."""
        state = self._bytes_of_generator()
        made = sum(self._bytes_of(one) for one in self.units.units[at].outputs if one.overwrites is None)
        return max(self.costs[at].scratch + state, 2 * state - made)

    def _node_of_update(self, at: int) -> dict[str, Any]:
        update = self.updates[at]
        number = len(self.units.units) + at
        outputs = [self._overwriting(content, self._size_of(content)) for content in update.overwrites]
        moves = self.link is not None  # these are small, and nothing gives them away
        outputs += [{"bytes": self.rounded(size) if size and not moves else 0} for size in update.makes]
        node = {"name": update.name, "cost": self.costs[number].nanoseconds, "outputs": outputs,
                "scratch": self.costs[number].scratch}
        if update.once:
            node["once"] = True
        return self._placed(node, number)

    def _results_of_updates(self) -> int:
        return sum(self.rounded(size) for update in self.updates for size in update.makes if size)

    def _overwriting(self, content: Value | str, size: int) -> dict[str, Any]:
        written = {"overwrites": _reference(content)}
        return written if self.is_of_state(content) else {**written, "bytes": size}

    def is_of_state(self, content: Value | str) -> bool:
        """Whether these bytes are those of a state, or written over them."""
        older = self.oldest(content)
        return isinstance(older, str) or self.units.is_of_state(older)

    def _size_of(self, content: Value | str) -> int:
        older = self.oldest(content)
        if isinstance(older, str):
            return self.bytes_of_state(older)
        return self._bytes_of(self.units.units[older.unit].outputs[older.output])

    def oldest(self, content: Value | str) -> Value | str:
        """What updates, and what comes before them, write over: a value of a unit, or a state."""
        count = len(self.units.units)
        while isinstance(content, Value) and content.unit >= count:
            content = self.updates[content.unit - count].overwrites[content.output]
        return content

    def _placed(self, node: dict[str, Any], number: int) -> dict[str, Any]:
        """With the module and the pass of the node."""
        for key, texts in (("module", self.origins), ("phase", self.phases)):
            if texts and texts[number]:
                node[key] = texts[number]
        return node

    def _edges(self) -> list[list[Any]]:
        edges: list[list[Any]] = []
        for at, unit in enumerate(self.units.units):
            edges += [[_reference(read), at] for read in unit.reads]
            edges += [[[earlier, len(self.units.units[earlier].outputs)], at] for earlier in unit.after]
        for at, update in enumerate(self.updates):
            edges += [[_reference(read), len(self.units.units) + at] for read in update.reads]
        return edges


def common_phase(phases: Iterable[str | None]) -> str:
    """The pass of a unit whose operators are of these; "" if it is not known, or if they are of several."""
    found = set(phases)
    return (found.pop() or "") if len(found) == 1 else ""


def _reference(content: Value | str) -> Any:
    return content if isinstance(content, str) else [content.unit, content.output]


def names_of(problem: StepProblem) -> list[str]:
    """The name of each node of the problem."""
    return [f"{at} {unit.name}" for at, unit in enumerate(problem.units.units)] + [one.name for one in problem.updates]

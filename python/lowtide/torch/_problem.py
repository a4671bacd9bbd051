# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A step as an ordering problem (docs/order-format.md)."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._units import UnitGraph, Value

GENERATOR_BYTES = 5056
"""What torch.get_rng_state() returns for the generator of the CPU."""


@dataclass(frozen=True)
class Update:
    """What the optimizer does with the gradient of one parameter."""

    parameter: str
    reads: tuple[Value, ...]
    """Gradients."""
    overwrites: tuple[str, ...]
    """States: the parameter, and what the optimizer keeps for it."""

    @property
    def name(self) -> str:
        """Among the nodes of the problem."""
        return f"update {self.parameter}"


@dataclass
class UnitCost:
    """What a run of a unit takes."""

    nanoseconds: int = 0
    scratch: int = 0
    """Bytes in addition to its outputs."""


@dataclass
class StepProblem:
    """The problem of a step. Its nodes are the units, then the updates."""

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

    def as_mapping(self) -> dict[str, Any]:
        """In the form of docs/order-format.md."""
        nodes = [self._node_of_unit(at) for at in range(len(self.units.units))]
        nodes += [self._node_of_update(at) for at in range(len(self.updates))]
        return {"version": 1, "units": {"cost": "1 ns"},
                "states": [{"name": name, "bytes": self.rounded(size)} for name, size in self.states.items()],
                "nodes": nodes, "edges": self._edges(),
                "outputs": [[value.unit, value.output] for value in self.kept]}

    def bytes_of_run(self, at: int) -> int:
        """What a run of a unit needs beside the states: what it reads and makes, and its scratch."""
        unit = self.units.units[at]
        read = sum(self.rounded(self.units.units[one.unit].outputs[one.output].size) for one in unit.reads
                   if isinstance(one, Value) and not self.units.is_of_state(one))
        made = sum(self.rounded(one.size) for one in unit.outputs if one.overwrites is None)
        return read + made + self.costs[at].scratch

    def _node_of_unit(self, at: int) -> dict[str, Any]:
        unit = self.units.units[at]
        outputs: list[dict[str, Any]] = []
        for output in unit.outputs:
            if output.overwrites is None:
                outputs.append({"bytes": self.rounded(output.size)})
            elif self.units.is_of_state(output.overwrites):
                outputs.append({"overwrites": _reference(output.overwrites)})
            else:
                outputs.append({"overwrites": _reference(output.overwrites), "bytes": self.rounded(output.size)})
        outputs.append({"bytes": 0})  # read by units whose first runs come later
        node = {"name": f"{at} {unit.name}", "cost": self.costs[at].nanoseconds, "outputs": outputs,
                "scratch": self.costs[at].scratch}
        if unit.once:
            node["once"] = True
        elif unit.is_random:
            node["seed_bytes"] = GENERATOR_BYTES
        return self._with_origin(node, at)

    def _node_of_update(self, at: int) -> dict[str, Any]:
        update = self.updates[at]
        number = len(self.units.units) + at
        node = {"name": update.name, "cost": self.costs[number].nanoseconds,
                "outputs": [{"overwrites": state} for state in update.overwrites],
                "scratch": self.costs[number].scratch, "once": True}
        return self._with_origin(node, number)

    def _with_origin(self, node: dict[str, Any], number: int) -> dict[str, Any]:
        if self.origins and self.origins[number]:
            node["module"] = self.origins[number]
        return node

    def _edges(self) -> list[list[Any]]:
        edges: list[list[Any]] = []
        for at, unit in enumerate(self.units.units):
            edges += [[_reference(read), at] for read in unit.reads]
            edges += [[[earlier, len(self.units.units[earlier].outputs)], at] for earlier in unit.after]
        for at, update in enumerate(self.updates):
            edges += [[_reference(read), len(self.units.units) + at] for read in update.reads]
        return edges


def _reference(content: Value | str) -> Any:
    return content if isinstance(content, str) else [content.unit, content.output]


def names_of(problem: StepProblem) -> list[str]:
    """The name of each node of the problem."""
    return [f"{at} {unit.name}" for at, unit in enumerate(problem.units.units)] + [one.name for one in problem.updates]

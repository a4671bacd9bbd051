# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What runs of units cost: estimated from their sizes, or measured in a program."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils.flop_counter import flop_registry

from ._problem import UnitCost
from ._units import Unit, UnitGraph, values_of

REPEATS = 3
MOST_SECONDS = 3.0
"""Repeats end when this has passed, at least one after the first."""

# A plain model of one core of a processor.
NANOSECONDS_PER_NODE = 3_000
BYTES_PER_NANOSECOND = 8
OPERATIONS_PER_NANOSECOND = 40


def estimated_costs(units: UnitGraph) -> list[UnitCost]:
    """Costs by a plain model: operations of products and convolutions, and bytes that are read and written."""
    return [UnitCost(nanoseconds=sum(_estimated(node) for node in unit.nodes)) for unit in units.units]


def _estimated(node: Node) -> int:
    tensors = [*values_of(node), *(tensor for one in node.all_input_nodes for tensor in values_of(one))]
    moved = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return NANOSECONDS_PER_NODE + moved // BYTES_PER_NANOSECOND + _operations(node) // OPERATIONS_PER_NANOSECOND


def _operations(node: Node) -> int:
    formula = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if formula is None:
        return 0

    def value(one: Any) -> Any:
        return one.meta.get("val")

    args = torch.fx.node.map_arg(node.args, value)
    kwargs = torch.fx.node.map_arg(node.kwargs, value)
    return int(formula(*args, **kwargs, out_val=node.meta.get("val")))


class UnitTimer(Interpreter):
    """Runs a program, frees values as the program does, and notes the fastest run of each unit."""

    def __init__(self, program: GraphModule, count: int) -> None:
        super().__init__(program)
        self.nanoseconds: list[int | None] = [None] * count
        self._run: object = None
        self._time = 0

    def run_node(self, n: Node) -> Any:
        """Runs one node, and adds its time to that of the run of its unit."""
        unit = n.meta.get("run")
        if unit is None:
            return super().run_node(n)
        if unit is not self._run:
            self._close()
            self._run, self._time = unit, 0
        before = time.perf_counter_ns()
        result = super().run_node(n)
        self._time += time.perf_counter_ns() - before
        return result

    def measure(self, arguments: Sequence[torch.Tensor]) -> None:
        """Runs the program once."""
        self.run(*arguments)
        self._close()

    def _close(self) -> None:
        if self._run is not None:
            number = self._run.unit  # type: ignore[attr-defined]
            known = self.nanoseconds[number]
            self.nanoseconds[number] = self._time if known is None else min(known, self._time)
        self._run = None


def measured_costs(program: GraphModule, units: Sequence[Unit], arguments: Sequence[torch.Tensor],
                   estimates: Sequence[UnitCost]) -> list[UnitCost]:
    """Costs of units, the fastest of a few runs of a program that changes no parameter.

    What the program writes over, besides values of its own, is copied first. The generator of random numbers is as
    before afterwards.

    Args:
        arguments: of the program.
        estimates: for units that the program does not run.
    """
    written = {state for unit in units for state in (*unit.statistics, *unit.overwritten_states())}
    places = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    given = [one.clone() if name in written else one.detach()
             for name, one in zip(places, arguments, strict=True)]
    timer = UnitTimer(program, len(units))
    begin = time.perf_counter()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        for repeat in range(REPEATS):
            timer.measure(given)
            if repeat > 0 and time.perf_counter() - begin > MOST_SECONDS:
                break
    return [estimate if found is None else UnitCost(max(found, 1), estimate.scratch)
            for found, estimate in zip(timer.nanoseconds, estimates, strict=True)]

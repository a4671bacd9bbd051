# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What runs of units cost: estimated from their sizes, or measured in a program."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils.flop_counter import flop_registry

from ._device import CPU_DEVICE, CostModel, Device, Meter, bytes_on
from ._problem import UnitCost
from ._program import below_autograd
from ._units import Unit, UnitGraph, storage_of, values_of

REPEATS = 3
MOST_SECONDS = 3.0
"""Repeats end when this has passed, at least one after the first."""


def estimated_costs(units: UnitGraph, model: CostModel) -> list[UnitCost]:
    """Costs by a plain model: operations of products and convolutions, and bytes that are read and written."""
    return [UnitCost(nanoseconds=sum(_estimated(node, model) for node in unit.nodes)) for unit in units.units]


def _estimated(node: Node, model: CostModel) -> int:
    tensors = [*values_of(node), *(tensor for one in node.all_input_nodes for tensor in values_of(one))]
    moved = sum(int(tensor.numel()) * int(tensor.element_size()) for tensor in tensors)
    return (model.nanoseconds_per_node + moved // model.bytes_per_nanosecond
            + _operations(node) // model.operations_per_nanosecond)


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
    """Runs a program, and notes the fastest and the leanest run of each unit.

    Values are freed behind the run that reads them last. The program may free some between two operators of a unit.
    Whether it does depends on the sequence, and what a unit takes must not.
    """

    def __init__(self, program: GraphModule, count: int, meter: Meter, device: Device) -> None:
        super().__init__(program)
        self.garbage_collect_values = False
        self._dead: list[Node] = []
        self.nanoseconds: list[int | None] = [None] * count
        self.peaks: list[int | None] = [None] * count
        """Bytes that a run takes of the allocator, at most, with its outputs."""
        self.sizes: dict[int, int] = {}
        """Bytes of the storages that runs make, by the storage of the captured graph."""
        self._run: object = None
        self._peak = 0
        self._is_timed = False
        self._times: list[tuple[int, Callable[[], int]]] = []
        self._device = device
        self._timer = device.timer()
        self._meter = meter

    def run_node(self, n: Node) -> Any:
        """Runs one node, and adds what it takes to the run of its unit."""
        unit = n.meta.get("run")
        if "transfer" in n.meta or (unit is not None and unit is not self._run):
            self._close()
        if self._run is None:
            self._free_dead()
        self._dead += self.user_to_last_uses.get(n, [])
        self._dead += [] if n.users else [n]
        if unit is None:  # a view, or a part of what the run before made
            return super().run_node(n)
        if self._run is None:
            self._open(unit)
        self._is_timed = True
        result = super().run_node(n)
        self._is_timed = False
        self._peak = self._meter.peak  # what follows until the next run, such as views, is counted elsewhere
        self._note_sizes(n.meta["source"].meta.get("val"), result)
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls an operator. Only the call itself counts, because programs do not do what an interpreter does beside
        it."""
        if not self._is_timed:
            return target(*args, **kwargs)
        self._timer.start()
        result = target(*args, **kwargs)
        self._timer.stop()
        return result

    def measure(self, arguments: Sequence[torch.Tensor]) -> None:
        """Runs the program once."""
        self._timer.prepare()
        self.run(*arguments)
        self._close()
        self.env.clear()  # with the results
        self._dead.clear()
        for number, nanoseconds in self._times:
            self.nanoseconds[number] = _less(self.nanoseconds[number], nanoseconds())
        self._times.clear()

    def _note_sizes(self, expected: Any, result: Any) -> None:
        """Some operators have results whose sizes only a run knows, such as workspaces."""
        pairs = zip(expected, result, strict=False) if isinstance(result, (tuple, list)) else [(expected, result)]
        for captured, made in pairs:
            if isinstance(captured, torch.Tensor) and isinstance(made, torch.Tensor):
                key = storage_of(captured)
                self.sizes[key] = max(self.sizes.get(key, 0), bytes_on(made, self._device.device))

    def _free_dead(self) -> None:
        for one in self._dead:
            del self.env[one]
        self._dead.clear()

    def _open(self, unit: object) -> None:
        self._run = unit
        self._meter.reset()

    def _close(self) -> None:
        if self._run is None:
            return
        number = self._run.unit  # type: ignore[attr-defined]
        self._times.append((number, self._timer.take()))
        self.peaks[number] = _less(self.peaks[number], self._peak)
        self._run = None


def _less(known: int | None, found: int) -> int:
    return found if known is None else min(known, found)


def unwritten_arguments(program: GraphModule, units: Sequence[Unit],
                        arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The arguments of a program, with copies of those that units write over."""
    written = {state for unit in units for state in (*unit.statistics, *unit.overwritten_states())}
    places = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    return [one.clone() if name in written else one.detach() for name, one in zip(places, arguments, strict=True)]


@dataclass(frozen=True)
class Measured:
    """What a program was measured to take."""

    costs: list[UnitCost]
    """Of each unit."""
    kept: int
    """Bytes that libraries keep between operators, where they count."""


def measured_costs(program: GraphModule, units: Sequence[Unit], arguments: Sequence[torch.Tensor],
                   estimates: Sequence[UnitCost], device: Device = CPU_DEVICE) -> Measured:
    """Costs of units, the fastest of a few runs of a program that changes no parameter.

    What the program writes over, besides values of its own, is copied first. The generators of random numbers are as
    before afterwards. Outputs that are larger than the captured graph says get their real sizes.

    Args:
        arguments: of the program.
        estimates: for units that the program does not run.
        device: where it runs.
    """
    given = unwritten_arguments(program, units, arguments)
    begin = time.perf_counter()
    device.drop_caches()
    before = device.live()
    with device.scratch_meter() as meter, below_autograd(), device.forked_generators():
        timer = UnitTimer(program, len(units), meter, device)
        for repeat in range(REPEATS):
            timer.measure(given)
            if repeat > 0 and time.perf_counter() - begin > MOST_SECONDS:
                break
    kept = max(device.live() - before, 0)
    for unit in units:
        for output in unit.outputs:
            output.size = max(output.size, timer.sizes.get(output.storage, 0))
    costs = [_cost_of(unit, (nanoseconds, peak), estimate, device) for unit, nanoseconds, peak, estimate
             in zip(units, timer.nanoseconds, timer.peaks, estimates, strict=True)]
    return Measured(costs, kept)


def _cost_of(unit: Unit, measured: tuple[int | None, int | None], estimate: UnitCost, device: Device) -> UnitCost:
    nanoseconds, peak = measured
    if nanoseconds is None or peak is None:
        return estimate
    outputs = [one.size for one in unit.outputs if one.overwrites is None]
    return UnitCost(max(nanoseconds, 1), device.scratch_of(peak, outputs))

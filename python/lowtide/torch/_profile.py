# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What runs of units cost: estimated from their sizes, or measured in a program."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.utils.flop_counter import flop_registry

from .._memory_meter import MemoryMeter
from ._heap import PAGE, allocated_bytes
from ._problem import UnitCost
from ._program import below_autograd
from ._units import Unit, UnitGraph, storage_of, values_of

REPEATS = 3
SMALL_STEP = 512
"""Bytes. Scratch below a page is a multiple of it."""
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
    moved = sum(int(tensor.numel()) * int(tensor.element_size()) for tensor in tensors)
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


def clock_of_operators() -> Callable[[], int]:
    """What measures the time of an operator, in nanoseconds. With one thread, the time of other processes does not
    count. With several, the CPU time of this thread would leave out when it waits for the others."""
    return time.thread_time_ns if torch.get_num_threads() == 1 else time.perf_counter_ns


class UnitTimer(Interpreter):
    """Runs a program, frees values as the program does, and notes the fastest and the leanest run of each unit."""

    def __init__(self, program: GraphModule, count: int, meter: MemoryMeter) -> None:
        super().__init__(program)
        self.nanoseconds: list[int | None] = [None] * count
        self.peaks: list[int | None] = [None] * count
        """Bytes of the heap that a run takes, at most, with its outputs."""
        self.sizes: dict[int, int] = {}
        """Bytes of the storages that runs make, by the storage of the captured graph."""
        self._run: object = None
        self._time = 0
        self._clock = clock_of_operators()
        self._meter = meter

    def run_node(self, n: Node) -> Any:
        """Runs one node, and adds what it takes to the run of its unit."""
        unit = n.meta.get("run")
        if unit is None:  # a view, or a part of what the run before made
            if "transfer" in n.meta:
                self._close()
            return super().run_node(n)
        if unit is not self._run:
            self._close()
            self._open(unit)
        before = self._clock()
        result = super().run_node(n)
        self._time += self._clock() - before
        self._note_sizes(n.meta["source"].meta.get("val"), result)
        return result

    def measure(self, arguments: Sequence[torch.Tensor]) -> None:
        """Runs the program once."""
        self.run(*arguments)
        self._close()

    def _note_sizes(self, expected: Any, result: Any) -> None:
        """Some operators have results whose sizes only a run knows, such as workspaces."""
        pairs = zip(expected, result, strict=False) if isinstance(result, (tuple, list)) else [(expected, result)]
        for captured, made in pairs:
            if isinstance(captured, torch.Tensor) and isinstance(made, torch.Tensor):
                key = storage_of(captured)
                self.sizes[key] = max(self.sizes.get(key, 0), made.untyped_storage().nbytes())

    def _open(self, unit: object) -> None:
        self._run, self._time = unit, 0
        self._meter.reset()

    def _close(self) -> None:
        if self._run is None:
            return
        number = self._run.unit  # type: ignore[attr-defined]
        self.nanoseconds[number] = _less(self.nanoseconds[number], self._time)
        self.peaks[number] = _less(self.peaks[number], self._meter.peak)
        self._run = None


def _less(known: int | None, found: int) -> int:
    return found if known is None else min(known, found)


def unwritten_arguments(program: GraphModule, units: Sequence[Unit],
                        arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The arguments of a program, with copies of those that units write over."""
    written = {state for unit in units for state in (*unit.statistics, *unit.overwritten_states())}
    places = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    return [one.clone() if name in written else one.detach() for name, one in zip(places, arguments, strict=True)]


def measured_costs(program: GraphModule, units: Sequence[Unit], arguments: Sequence[torch.Tensor],
                   estimates: Sequence[UnitCost]) -> list[UnitCost]:
    """Costs of units, the fastest of a few runs of a program that changes no parameter.

    What the program writes over, besides values of its own, is copied first. The generator of random numbers is as
    before afterwards. Outputs that are larger than the captured graph says get their real sizes.

    Args:
        arguments: of the program.
        estimates: for units that the program does not run.
    """
    given = unwritten_arguments(program, units, arguments)
    begin = time.perf_counter()
    with MemoryMeter() as meter, below_autograd(), torch.random.fork_rng(devices=[]):
        timer = UnitTimer(program, len(units), meter)
        for repeat in range(REPEATS):
            timer.measure(given)
            if repeat > 0 and time.perf_counter() - begin > MOST_SECONDS:
                break
    for unit in units:
        for output in unit.outputs:
            output.size = max(output.size, timer.sizes.get(output.storage, 0))
    return [_cost_of(unit, nanoseconds, peak, estimate) for unit, nanoseconds, peak, estimate
            in zip(units, timer.nanoseconds, timer.peaks, estimates, strict=True)]


def _cost_of(unit: Unit, nanoseconds: int | None, peak: int | None, estimate: UnitCost) -> UnitCost:
    if nanoseconds is None or peak is None:
        return estimate
    outputs = sum(allocated_bytes(one.size) for one in unit.outputs if one.overwrites is None)
    return UnitCost(max(nanoseconds, 1), scratch_of(peak - outputs))


def scratch_of(measured: int) -> int:
    """Scratch in steps, because the heap pads blocks differently from run to run: a budget that was kept before would
    be refused for that. Objects that live during a run are often all of it, so steps are small at first."""
    step = SMALL_STEP if measured < PAGE else PAGE
    return (max(measured, 0) + step - 1) // step * step

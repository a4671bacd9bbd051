# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans of whole programs."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, ExecutorchProgramManager
from executorch.exir.passes import MemoryPlanningPass
from torch.fx import GraphModule

from ._memory import MemoryPlan, Planner
from ._order import GraphOrder, order_graph
from ._share import share_in_place


class PlanningPass(MemoryPlanningPass):  # type: ignore[misc]
    """ExecuTorch's pass of memory planning, with Lowtide's order and offsets.

        config = ExecutorchBackendConfig(memory_planning_pass=lowtide.executorch.PlanningPass())
        program = to_edge(torch.export.export(module, args)).to_executorch(config)
    """

    def __init__(self, *, order: bool = True, in_place: bool = False,
                 capacities: Mapping[int, int | str] | None = None, effort: int | None = None,
                 order_effort: int | None = None, refuse: bool = True, **options: Any) -> None:
        """Args:
            order: moves operators for the lowest peak. The results of a program do not depend on it.
            in_place: lets results of element-wise operators be in the bytes of an operand. The kernels of ExecuTorch
                allow this; those of another backend may not.
            capacities, effort, refuse: as for `Planner`.
            order_effort: work units of the search over orders.
            options: of ExecuTorch's MemoryPlanningPass, such as `alloc_graph_input` and `alignment`.
        """
        self.planner = Planner(capacities=capacities, effort=effort, refuse=refuse)
        self.graph_order: GraphOrder | None = None
        """The order of the graph that was planned last."""
        super().__init__(memory_planning_algo=self.planner, **options)
        self._order = order
        self._order_effort = order_effort
        self._in_place = in_place

    def run(self, graph_module: GraphModule, graph_signature: Any = None) -> Any:
        """Plans one graph. Raises as `Planner.assign`."""
        if self._order:
            self.graph_order = order_graph(graph_module, inputs=self.alloc_graph_input, outputs=self.alloc_graph_output,
                                           effort=self._order_effort)
        if self._in_place:
            share_in_place(graph_module)
        return super().run(graph_module, graph_signature)


@dataclass(frozen=True)
class PlannedProgram:
    """A program, or why there is none."""

    program: ExecutorchProgramManager | None
    """None if a memory exceeds its capacity."""
    memories: dict[str, tuple[MemoryPlan, ...]]
    """What each method needs."""
    orders: dict[str, GraphOrder | None]
    """The order of each method, or None with `order=False`."""

    @property
    def fits(self) -> bool:
        """Whether each memory holds what each method needs."""
        return all(one.fits for plans in self.memories.values() for one in plans)

    def __str__(self) -> str:
        return "\n".join(f"{method}: {one}" for method, plans in self.memories.items() for one in plans)


def plan(edge: EdgeProgramManager, *, config: ExecutorchBackendConfig | None = None, **options: Any) -> PlannedProgram:
    """Turns an edge program into an ExecuTorch program with Lowtide's memory plan.

    Args:
        edge: of `to_edge` or `to_edge_transform_and_lower`. As with `to_executorch`, it cannot be used again.
        config: everything but the pass of memory planning, which this function replaces.
        options: of `PlanningPass`.

    A program that exceeds a capacity is an answer, not an error.
    """
    passes = {method: PlanningPass(refuse=False, **options) for method in sorted(edge.methods)}
    program = edge.to_executorch(dataclasses.replace(config or ExecutorchBackendConfig(), memory_planning_pass=passes))
    answer = PlannedProgram(program, {method: tuple(one.planner.plans) for method, one in passes.items()},
                            {method: one.graph_order for method, one in passes.items()})
    return answer if answer.fits else dataclasses.replace(answer, program=None)

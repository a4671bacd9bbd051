# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory plans of ExecuTorch programs. This package needs executorch; nothing else in lowtide does."""
try:
    import executorch.exir as _exir  # noqa: F401
except ImportError as error:
    raise ImportError(f"lowtide.executorch needs ExecuTorch; install executorch 1.5 ({error})") from error

from ._memory import MemoryPlan, Planner
from ._order import GraphOrder, order_graph
from ._plan import PlannedProgram, PlanningPass, plan
from ._share import share_in_place

__all__ = [
    "GraphOrder",
    "MemoryPlan",
    "PlannedProgram",
    "Planner",
    "PlanningPass",
    "order_graph",
    "plan",
    "share_in_place",
]

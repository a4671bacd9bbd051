# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory planning for neural networks: plans, packings and orders with proven bounds, and a runtime for plans.

All sizes and offsets are in bytes, all times are counts of steps, and all orders are from the outermost axis inwards.
"""
from importlib.metadata import version as _version

from ._errors import (
    Error,
    InternalError,
    InvalidError,
    IoError,
    MalformedError,
    MismatchError,
    NoMemoryError,
    OverLimitError,
    UnresolvedError,
    UnsupportedError,
)
from ._ordering import (
    BudgetCurve,
    BudgetSequence,
    Fetch,
    Link,
    LiveValue,
    Ordering,
    Transfer,
    TransferSequence,
    budget_curve,
    budget_page,
    keep_budget,
    order,
)
from ._packing import Buffer, Packing, pack
from ._plan import Explanation, Plan, Violation, explain, load_plan, plan, verify
from ._process import configure_process
from ._range import PlanRange, RangeSession, load_plan_range, plan_range
from ._session import Executable, Session, TensorInfo

__version__ = _version("lowtide")

__all__ = [
    "BudgetCurve",
    "BudgetSequence",
    "Buffer",
    "Error",
    "Executable",
    "Explanation",
    "Fetch",
    "InternalError",
    "InvalidError",
    "IoError",
    "Link",
    "LiveValue",
    "MalformedError",
    "MismatchError",
    "NoMemoryError",
    "Ordering",
    "OverLimitError",
    "Packing",
    "Plan",
    "PlanRange",
    "RangeSession",
    "Session",
    "TensorInfo",
    "Transfer",
    "TransferSequence",
    "UnresolvedError",
    "UnsupportedError",
    "Violation",
    "budget_curve",
    "budget_page",
    "configure_process",
    "explain",
    "keep_budget",
    "load_plan",
    "load_plan_range",
    "order",
    "pack",
    "plan",
    "plan_range",
    "verify",
]

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Training steps of PyTorch that keep a byte budget. This package needs torch; nothing else in lowtide does."""
try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("lowtide.torch needs PyTorch; install torch 2.13") from error

from ._backend import Backend, backend
from ._checkpoint import RegionPolicy, checkpoint_policy
from ._estimate import BudgetPoint, HeldBytes, StepEstimate, estimate
from ._step import StepMeasure, TrainStep
from ._step_plan import StepPlan
from ._train import train_step

__all__ = [
    "Backend",
    "BudgetPoint",
    "HeldBytes",
    "RegionPolicy",
    "StepEstimate",
    "StepMeasure",
    "StepPlan",
    "TrainStep",
    "backend",
    "checkpoint_policy",
    "estimate",
    "train_step",
]

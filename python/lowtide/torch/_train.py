# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The door to steps of training."""
from __future__ import annotations

from typing import Any

import torch
from torch.amp import GradScaler
from torch.optim import Optimizer

from .._errors import UnsupportedError
from .._request import StrPath
from ._build import budget_of, checked_batch, options_of
from ._capture import LossFunction
from ._offload import check_offload
from ._profile_file import ProfileFile, checked_profile
from ._search import LEAST
from ._step import TrainStep


def train_step(module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None = None, *,
               budget: int | str | None = None, example: tuple[Any, ...] | None = None,
               gradients: str = "update", clip_norm: float | None = None, scaler: GradScaler | None = None,
               accumulate: int = 1, profile: StrPath | None = None, arena: bool = False,
               offload: str | None = None) -> TrainStep:
    """Plans forward pass, backward pass and update of a module as one program that keeps a byte budget.

    Args:
        module: its parameters with `requires_grad` are trained.
        loss_fn: takes the output of the module and the last entry of a batch, and returns one number. None: the module
            returns the loss for a batch.
        optimizer: updates each parameter as soon as its gradient is there and nothing else needs it.
        budget: bytes of all that the step holds at its worst moment, as a number or a text such as "4GiB" or "8GB":
            parameters, buffers, what the optimizer keeps, the batch, gradients, activations and scratch. "least": the
            least one that is found, which `last_plan.sequence.budget` then says. None: no limit; nothing runs again.
        example: a batch, whose shapes are planned at once. Otherwise the first call plans.
        gradients: "update": a gradient ends at its update. "keep": gradients are added to `.grad` as backward() does,
            and the optimizer does not run.
        clip_norm: updates get gradients that torch.nn.utils.clip_grad_norm_(module.parameters(), clip_norm) has
            clipped. So each gradient lives until the norm of all is known, or is computed again.
        scaler: scales the loss for the backward pass. Gradients are unscaled, updates are left out if one is not
            finite, and `scaler.update()` follows. With gradients="keep", only the loss is scaled. The loss that a call
            returns is never scaled.
        accumulate: calls for each update, which gets the sum of their gradients. Between calls, `.grad` holds it, and
            it counts in the budget. Divide the loss if you want a mean.
        profile: a file with what operators took. If it exists, plans use it and measure nothing, so they are the same
            each time. Otherwise it is written, again after each further form of batches.
        arena: blocks of 8 KiB or more that the step requests lie in one range of memory, at places that are planned, so
            that the process needs no more memory than the plan says. Otherwise the heap of the C library chooses, and
            keeps free blocks between others.
        offload: "host": values may also leave for the memory of the host and come back beside the runs, where this
            takes less time than to compute them again. The budget does not count that memory.

    Raises:
        InvalidError: the budget cannot be kept, with the module that needs too much; or an argument is wrong.
        UnsupportedError: the step or the optimizer is not one that can be planned, with the reason; or the device has
            no link to the host.
        IoError, MalformedError, MismatchError: the profile cannot be read or written, or is of something else.
    """
    options = options_of(gradients, optimizer, clip_norm=clip_norm, scaler=scaler, accumulate=accumulate)
    limit = LEAST if isinstance(budget, str) and budget == LEAST else budget_of(budget)
    if limit == LEAST and offload is not None:
        raise UnsupportedError("the least budget is searched without the memory of the host; give a budget in bytes")
    if arena and accumulate > 1:
        raise UnsupportedError("with accumulate, gradients outlive calls, which no arena plans; use arena=False")
    check_offload(offload, limit, arena=arena)
    path = checked_profile(profile, limit)
    step = TrainStep(module, loss_fn, optimizer, limit, options,
                     None if path is None else ProfileFile(path, module, optimizer), arena=arena,
                     offloads=offload is not None)
    if example is not None:
        step.plan(*checked_batch(example).entries)
    return step

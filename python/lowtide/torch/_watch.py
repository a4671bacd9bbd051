# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Notices what changes in a module or an optimizer between steps, fast enough for each of them."""
from __future__ import annotations

from collections.abc import Hashable
from operator import is_
from typing import Any

import torch
from torch.optim import Optimizer

from ._capture import has_hooks
from ._device import CPU_DEVICE, device_of, present_device
from ._optimizers import has_step_hooks


class ModuleWatch:
    """Parameters, buffers and submodules of a module as they were when the watch began.

    Walking over a module with its names takes a millisecond per 100 blocks. A watch compares what it saw instead.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._modules = list(module.modules())
        tables: list[dict[str, Any]] = []
        for one in self._modules:
            tables += [one._parameters, one._buffers, one._modules]
        self._tables = [(table, tuple(table.values())) for table in tables]
        # All of them are held, so that no other tensor can have the identity of one.
        self._tensors: list[torch.Tensor] = [*module.parameters(), *module.buffers()]
        self._states = [_state_of(one) for one in self._tensors]
        device = present_device(self._tensors)
        self.device = device_of(device) if device.type in ("cpu", "cuda") else CPU_DEVICE  # capture() refuses others
        self._plain = [(vars(one), key) for one in self._modules for key, value in vars(one).items()
                       if _is_plain(value)]

    def is_same(self) -> bool:
        """Whether the module has the same tensors, with the same forms, of which the same are trained."""
        return (all(len(table) == len(seen) and all(map(is_, table.values(), seen)) for table, seen in self._tables)
                and all(_state_of(one) == state for one, state in zip(self._tensors, self._states, strict=True)))

    def plain_values(self) -> tuple[Any, ...]:
        """Attributes of submodules that are numbers, flags, texts or tuples of them, such as `training`, the share of a
        dropout and the padding of a convolution. Those of forget_changed() are None."""
        return tuple([table.get(key) for table, key in self._plain])

    def forget_changed(self, before: tuple[Any, ...]) -> bool:
        """Leaves out the values that differ from those before: forward() changes them itself. Returns whether there
        were any."""
        if self.plain_values() == before:
            return False
        nothing: dict[str, Any] = {}
        self._plain = [(table, key) if table.get(key) == old else (nothing, key)
                       for (table, key), old in zip(self._plain, before, strict=True)]
        return True


class OptimizerWatch:
    """The groups of an optimizer and their parameters, and whether its steps have hooks, as when the watch began."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._groups = [tuple(group["params"]) for group in optimizer.param_groups]  # held, as above
        self._has_hooks = has_step_hooks(optimizer)

    def is_same(self) -> bool:
        """Whether each group has the same parameters. Learning rates and the like may change."""
        groups = self._optimizer.param_groups
        return (len(groups) == len(self._groups) and has_step_hooks(self._optimizer) == self._has_hooks
                and all(len(group["params"]) == len(seen) and all(map(is_, group["params"], seen))
                        for group, seen in zip(groups, self._groups, strict=True)))


def _is_plain(value: object) -> bool:
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str, torch.Size, torch.dtype)


def _state_of(one: torch.Tensor) -> Hashable:
    return one.shape, one.stride(), one.dtype, one.device, one.requires_grad, has_hooks(one)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a step does with gradients between the backward pass and the updates."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype

from .._errors import InvalidError

GradientFunction = Callable[[torch.Tensor], torch.Tensor | None]


@dataclass(frozen=True)
class GradientOptions:
    """What becomes of gradients."""

    keeps: bool = False
    """They are added to `.grad`, and nothing is updated."""
    clip_norm: float | None = None
    """The largest norm of all gradients together that updates get."""

    def check(self) -> None:
        """Raises InvalidError if they do not fit together."""
        if self.clip_norm is None:
            return
        if not isinstance(self.clip_norm, (int, float)) or math.isnan(self.clip_norm) or self.clip_norm <= 0:
            raise InvalidError(f"clip_norm is {self.clip_norm!r}; give a number above 0, such as 1.0")
        if self.keeps:
            raise InvalidError("with gradients='keep', clip_norm has no updates to clip for; call "
                               "torch.nn.utils.clip_grad_norm_() behind the step")


class Gradients:
    """Values of a running step that concern several gradients. They are set and read in the order of its plan."""

    def __init__(self, options: GradientOptions) -> None:
        self.options = options
        self._norms: dict[str, torch.Tensor] = {}
        self._factor: torch.Tensor | None = None
        self.norm: torch.Tensor | None = None
        """Of all gradients of the latest step, before clipping."""

    def noting_norm(self, name: str) -> GradientFunction:
        """Computes the norm of one gradient."""
        def note_norm(gradient: torch.Tensor) -> None:
            [self._norms[name]] = torch._foreach_norm([gradient], 2.0)

        return note_norm

    def joining_norms(self, names: list[str]) -> Callable[[], None]:
        """Computes the norm of all gradients, as torch.nn.utils.clip_grad_norm_ does, and what they are multiplied
        with."""
        def join_norms() -> None:
            groups = _group_tensors_by_device_and_dtype([[self._norms.pop(name) for name in names]])
            norms = [one for [of_group], _ in groups.values() for one in of_group]
            self.norm = torch.linalg.vector_norm(torch.stack(norms), 2.0)
            self._factor = torch.clamp(float(self.options.clip_norm or 0) / (self.norm + 1e-6), max=1.0)

        return join_norms

    def clipping(self, update: GradientFunction) -> GradientFunction:
        """Clips a gradient in place before its update."""
        def clip_and_update(gradient: torch.Tensor) -> None:
            torch._foreach_mul_([gradient], self._factor)
            update(gradient)

        return clip_and_update

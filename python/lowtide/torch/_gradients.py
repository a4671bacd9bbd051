# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a step does with gradients between the backward pass and the updates."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.amp import GradScaler
from torch.optim import Optimizer
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype

from .._errors import InvalidError, UnsupportedError

GradientFunction = Callable[[torch.Tensor], torch.Tensor | None]


@dataclass(frozen=True)
class GradientOptions:
    """What becomes of gradients."""

    keeps: bool = False
    """They are added to `.grad`, and nothing is updated."""
    clip_norm: float | None = None
    """The largest norm of all gradients together that updates get."""
    scaler: GradScaler | None = None
    """Scales the loss. Gradients are unscaled before updates, which are left out if one is not finite."""
    accumulate: int = 1
    """Batches whose gradients are added up before an update."""

    def check(self, optimizer: Optimizer | None) -> None:
        """Raises if they do not fit together.

        Raises:
            InvalidError: a value is none, or options contradict each other.
            UnsupportedError: what the optimizer does with scaled gradients is not known.
        """
        self._check_norm()
        if not isinstance(self.accumulate, int) or isinstance(self.accumulate, bool) or self.accumulate < 1:
            raise InvalidError(f"accumulate is {self.accumulate!r}; give a number of batches, 1 or more")
        if self.accumulate > 1 and self.keeps:
            raise InvalidError("gradients='keep' adds gradients up until you clear them; leave accumulate away")
        if self.scaler is None or self.keeps:
            return
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            raise UnsupportedError(f"{type(optimizer).__name__} with fused=True unscales gradients itself, which is "
                                   "not planned; use fused=False, or gradients='keep' and scaler.step() behind the "
                                   "step")

    def _check_norm(self) -> None:
        if self.clip_norm is None:
            return
        if not isinstance(self.clip_norm, (int, float)) or math.isnan(self.clip_norm) or self.clip_norm <= 0:
            raise InvalidError(f"clip_norm is {self.clip_norm!r}; give a number above 0, such as 1.0")
        if self.keeps:
            raise InvalidError("with gradients='keep', clip_norm has no updates to clip for; call "
                               "torch.nn.utils.clip_grad_norm_() behind the step")


def adding_to(parameter: torch.nn.Parameter) -> GradientFunction:
    """Adds a gradient to `.grad` of its parameter, as backward() does. Returns the sum."""
    def add(gradient: torch.Tensor) -> torch.Tensor:
        if parameter.grad is not None:
            parameter.grad += gradient
        elif gradient.untyped_storage().nbytes() == gradient.numel() * gradient.element_size():
            parameter.grad = gradient
        else:
            parameter.grad = gradient.clone()  # it is a part of something larger
        return parameter.grad

    return add


def unscaled(gradient: torch.Tensor, found: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """Multiplies a gradient by the inverse of the scale, in place. `found` becomes 1 if it is not finite."""
    torch._amp_foreach_non_finite_check_and_unscale_([gradient], found, inverse)
    return gradient


def norm_of(gradient: torch.Tensor) -> torch.Tensor:
    """The norm of one gradient."""
    [norm] = torch._foreach_norm([gradient], 2.0)
    return norm


def joined_norm(norms: list[torch.Tensor], most: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm of all gradients, as torch.nn.utils.clip_grad_norm_ computes it from the norm of each, and what each is
    multiplied with so that it is at most this number."""
    groups = _group_tensors_by_device_and_dtype([norms])
    norm = torch.linalg.vector_norm(torch.stack([one for [of_group], _ in groups.values() for one in of_group]), 2.0)
    return norm, torch.clamp(most / (norm + 1e-6), max=1.0)


class Gradients:
    """Values of a running step that concern several gradients. They are set and read in the order of its plan."""

    def __init__(self, options: GradientOptions, device: torch.device) -> None:
        self.options = options
        self._device = device
        self._norms: dict[str, torch.Tensor] = {}
        self._factor: torch.Tensor | None = None
        self.norm: torch.Tensor | None = None
        """Of all gradients of the latest step, before clipping."""
        self._inverse: torch.Tensor | None = None
        self._found: torch.Tensor | None = None
        """1 if a gradient of this step is not finite, otherwise 0."""
        self.skips = False
        """Whether the latest step leaves updates out."""

    def scale(self) -> torch.Tensor | None:
        """What the loss is multiplied with; None if it is not scaled."""
        scaler = self.options.scaler
        if scaler is None:
            return None
        if scaler._scale is None:
            scaler.scale(torch.zeros((), device=self._device))  # makes it
        return scaler._scale

    def begin(self) -> None:
        """Before the program of a step runs."""
        self.skips = False
        scale = self.scale()
        if scale is not None and not self.options.keeps:
            self._inverse = scale.double().reciprocal().float()
            self._found = torch.zeros((), device=scale.device)

    def end(self, optimizer: Optimizer) -> None:
        """Behind a program with updates: the next scale, and what schedulers of learning rates ask for."""
        scaler = self.options.scaler
        if scaler is not None and self._found is not None:
            scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = {self._found.device: self._found}
            scaler.update()
        if not self.skips:
            optimizer._opt_called = True  # type: ignore[attr-defined]

    def unscale(self, gradient: torch.Tensor) -> torch.Tensor:
        """Divides a gradient by the scale, in place, and notes whether it is finite."""
        assert self._found is not None and self._inverse is not None
        return unscaled(gradient, self._found, self._inverse)

    def decide(self) -> None:
        """Behind all unscale(): whether updates run."""
        self.skips = self._found is not None and bool(self._found.item())

    def noting_norm(self, name: str) -> GradientFunction:
        """Computes the norm of one gradient."""
        def note_norm(gradient: torch.Tensor) -> None:
            self._norms[name] = norm_of(gradient)

        return note_norm

    def joining_norms(self, names: list[str]) -> Callable[[], None]:
        """Computes the norm of all gradients, as torch.nn.utils.clip_grad_norm_ does, and what they are multiplied
        with."""
        def join_norms() -> None:
            norms = [self._norms.pop(name) for name in names]
            self.norm, self._factor = joined_norm(norms, float(self.options.clip_norm or 0))

        return join_norms

    def updating(self, update: GradientFunction) -> GradientFunction:
        """An update that clips its gradient in place before, and may be left out."""
        clips = self.options.clip_norm is not None

        def clip_and_update(gradient: torch.Tensor) -> None:
            if self.skips:
                return
            if clips:
                torch._foreach_mul_([gradient], self._factor)
            update(gradient)

        return clip_and_update

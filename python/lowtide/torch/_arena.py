# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of a program at planned places, so that a process needs no more memory than the plan says."""
from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch.fx import GraphModule

from .. import _core
from .._errors import UnsupportedError
from .._memory_meter import LIBRARIES_OF_TORCH
from .._packing import Buffer, Packing, pack
from ._build import BuiltStep
from ._heap import ALIGNMENT
from ._optimizers import Trial
from ._profile import unwritten_arguments
from ._program import UpdateCall, below_autograd, program_of

Block = tuple[int, int, int, int, int]
"""Of a trace: run, bytes, alignment, and the half-open span of requests in which it lives. An end of -1: it outlives
the program."""


class Arena:
    """One range of memory for the blocks of a program."""

    def __init__(self, heap: _core.PlacedHeap, packing: Packing) -> None:
        self._heap = heap
        self._first_uses = 2
        self.bytes = packing.height
        """What the blocks need at these places."""
        self.bound = packing.bound
        """Bytes: no places need less."""

    @property
    def missed(self) -> int:
        """Blocks so far that came from the heap, because a step differed from the one that was traced."""
        return self._heap.missed

    def give_back(self) -> None:
        """Returns the memory to the system until the next use."""
        self._heap.give_back()

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Blocks that the program requests on this thread lie in the arena. Its first uses leave free blocks in the
        heap, such as those of the first updates. They go back to the system."""
        is_entered = self._heap.enter()
        try:
            yield
        finally:
            if is_entered:
                self._heap.leave()
            if self._first_uses > 0:
                self._first_uses -= 1
                _core.heap_trim()

    def remark(self) -> str:
        """How it was used so far."""
        text = f"Blocks of 8 KiB or more lie in an arena of {self.bytes:,} B."
        return text if self.missed == 0 else f"{text} {self.missed:,} of them came from the heap: steps differed."


def arena_of(built: BuiltStep, sequence: Sequence[int], arguments: Sequence[torch.Tensor]) -> Arena:
    """Finds places for the blocks of the program of a sequence.

    The program runs twice on copies of what it would write. Updates are tried on other tensors. The second run is
    traced, because the first one may fill caches of kernels.

    Raises:
        UnsupportedError: PyTorch's libraries do not let calls of the heap be seen.
    """
    if "libc10" not in _core.heap_redirect(list(LIBRARIES_OF_TORCH)):
        raise UnsupportedError("arena=True needs libraries of PyTorch whose calls of the heap can be redirected, and "
                               "libc10 is not one here; use arena=False")
    units = built.problem.units
    calls = _tried_calls(built.calls, built.trials)
    program = program_of(built.captured.graph, units, calls, sequence, built.kept, has_marks=True)
    blocks = _traced(program, unwritten_arguments(program, units.units, arguments))
    buffers = [Buffer(begin, end, size, max(alignment, ALIGNMENT)) for _, size, alignment, begin, end in blocks
               if end >= 0]
    packing = pack(buffers)
    offsets = iter(packing.offsets)
    places = [(run, size, -1 if end < 0 else int(next(offsets))) for run, size, _, _, end in blocks]
    return Arena(_core.PlacedHeap(places, packing.height), packing)


def _traced(program: GraphModule, arguments: Sequence[torch.Tensor]) -> list[Block]:
    trace = _core.HeapTrace()
    with below_autograd(), torch.random.fork_rng(devices=[]):
        program(*arguments)
        trace.enter()
        try:
            results = program(*arguments)  # alive until the trace ends
        finally:
            trace.leave()
    del results
    return trace.blocks()


def _tried_calls(calls: Sequence[UpdateCall], trials: Sequence[Trial]) -> list[UpdateCall]:
    """Calls that do on tensors of their own what the given ones do. They hold their gradients as those do."""
    prepared = {one.form: one.prepare() for one in {one.form: one for one in trials}.values()}
    return [replace(call, function=_trying(prepared[one.form])) for call, one in zip(calls, trials, strict=True)]


def _trying(run: Callable[[], object]) -> Callable[..., object]:
    def try_and_pass(*gradients: torch.Tensor) -> torch.Tensor | None:
        run()
        return gradients[0] if gradients else None

    return try_and_pass


def trim_heap() -> None:
    """Gives what planning took back to the system."""
    gc.collect()  # programs refer to themselves
    _core.heap_trim()

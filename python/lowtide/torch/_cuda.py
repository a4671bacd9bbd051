# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The caching allocator of PyTorch for CUDA: what it gives for a request, and how bytes and times are measured."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import torch

from .._errors import UnsupportedError

BLOCK = 512
"""Blocks are multiples of this many bytes."""
LARGEST_SMALL = 1 << 20
"""Requests up to this are of the small pool, whose blocks are always split to the request."""
MOST_LEFT = 1 << 20
"""What is left of a block of the large pool is split off only if it is more than this."""
LAG = 100_000_000
"""Cycles for which the device waits before a program, about 50 ms."""
INTERVALS = 16
"""`roundup_power2_divisions` has a value for requests from 1 MiB, 2 MiB, 4 MiB and so on."""

NO_CACHE = "PYTORCH_NO_CUDA_MEMORY_CACHING"
"""This variable turns the allocator off, whatever its value is."""


@dataclass(frozen=True)
class AllocatorSettings:
    """The settings of the allocator that decide what a request takes (PYTORCH_ALLOC_CONF)."""

    is_expandable: bool = False
    """`expandable_segments`: blocks of both pools are split to their requests."""
    max_split: int | None = None
    """`max_split_size_mb`, in bytes."""
    most_left_unsplit: int = 20 << 20
    """`max_non_split_rounding_mb`, in bytes: MOST_LEFT for requests of `max_split` and more, which take whole
    blocks."""
    divisions: tuple[int, ...] = ()
    """`roundup_power2_divisions` for each of INTERVALS; empty or 0: not set."""

    @property
    def is_exact(self) -> bool:
        """Whether a request always takes `rounded` bytes, whatever blocks are free."""
        return self.is_expandable

    def rounded(self, size: int) -> int:
        """Bytes of a block for a request of this size, if it is split as far as possible."""
        if size == 0:
            return 0
        divisions = self._divisions_of(size)
        if divisions > 1 and size > BLOCK * divisions:
            floor = 1 << (size.bit_length() - 1)
            step = max(floor // divisions, 1)
            return size if size == floor else (size + step - 1) // step * step
        return (size + BLOCK - 1) // BLOCK * BLOCK

    def most_allocated(self, size: int) -> int:
        """Bytes of a block for a request of this size, at most: a free block may be larger and not be split."""
        rounded = self.rounded(size)
        if self.is_expandable or rounded <= LARGEST_SMALL:
            return rounded
        is_whole = self.max_split is not None and rounded >= self.max_split
        return rounded + (self.most_left_unsplit if is_whole else MOST_LEFT)

    def _divisions_of(self, size: int) -> int:
        if not self.divisions:
            return 0
        interval = max(size.bit_length() - 1 - 20, 0)  # 1 MiB is 2 to the power of 20
        return self.divisions[min(interval, len(self.divisions) - 1)]


def present_settings() -> AllocatorSettings:
    """The settings of this process. Without a GPU, only `expandable_segments` is read.

    Raises:
        UnsupportedError: another allocator is in use, whose blocks are not known.
    """
    if not torch.cuda.is_available():
        text = torch._C._accelerator_getAllocatorSettings()
        return AllocatorSettings(re.search(r"expandable_segments:\s*true", text, re.IGNORECASE) is not None)
    if (backend := torch.cuda.get_allocator_backend()) != "native":
        raise UnsupportedError(f"the allocator of CUDA is {backend}, and only blocks of PyTorch's own one are known; "
                               "set PYTORCH_ALLOC_CONF=backend:native")
    if NO_CACHE in os.environ or not torch._C._cuda_cudaCachingAllocator_is_enabled():
        raise UnsupportedError("the caching allocator of CUDA is turned off, so nothing counts bytes; leave out "
                               f"{NO_CACHE}, and turn it on")
    # A snapshot has them as PyTorch reads them. The text is only what was set last, and other settings stay as they
    # were before. So the text does not say whether an earlier snapshot still holds.
    rounding = re.search(r"max_non_split_rounding_mb:\s*(\d+)", torch._C._accelerator_getAllocatorSettings())
    found = torch.cuda.memory._snapshot()["allocator_settings"]
    table = found.get("roundup_power2_divisions", {})
    split = int(found.get("max_split_size", -1))
    return AllocatorSettings(bool(found.get("expandable_segments", False)), split if 0 < split < 1 << 62 else None,
                             20 << 20 if rounding is None else int(rounding[1]) << 20,
                             tuple(int(table.get(str(1 << at), 0)) for at in range(INTERVALS)) if table else ())


class CudaMeter:
    """Measures bytes of the caching allocator. Peaks that the user measures begin again as well."""

    def __init__(self, device: torch.device, counter: str) -> None:
        self._device = device
        self._counter = f"{counter}.all"
        self._level = 0

    def __enter__(self) -> Self:
        self.reset()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None, /) -> None:
        pass

    @property
    def peak(self) -> int:
        """Above the level at the latest reset, at least 0."""
        return max(self._value("peak") - self._level, 0)

    def reset(self) -> None:
        """Begins again. Blocks are counted when they are requested, so nothing waits for the device."""
        torch.cuda.reset_peak_memory_stats(self._device)
        self._level = self._value("current")

    def _value(self, kind: str) -> int:
        return int(torch.cuda.memory_stats(self._device).get(f"{self._counter}.{kind}", 0))


class CudaTimer:
    """Times between events on the stream of the step, so that no run waits for the one before.

    Python takes longer to launch a small kernel than the device to run it. After prepare(), the device lags behind for
    LAG: as long as it does, events are as far apart as kernels take. Behind that, or without it, they include what
    launches take longer.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._parts: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self._begin: torch.cuda.Event | None = None

    def prepare(self) -> None:
        """Lets the device lag behind what is launched."""
        with torch.cuda.device(self._device):
            torch.cuda._sleep(LAG)

    def start(self) -> None:
        """A part begins."""
        self._begin = self._recorded()

    def stop(self) -> None:
        """The part ends."""
        assert self._begin is not None
        self._parts.append((self._begin, self._recorded()))

    def take(self) -> Callable[[], int]:
        """The nanoseconds of all parts since the latest call, once the device has run them."""
        parts, self._parts = self._parts, []

        def nanoseconds() -> int:
            for _begin, end in parts[-1:]:
                end.synchronize()
            return round(float(sum(begin.elapsed_time(end) for begin, end in parts)) * 1e6)  # of milliseconds

        return nanoseconds

    def _recorded(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between devices: sizes of blocks, how bytes and times are measured, and states of generators."""
from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, cast

import torch

from .._errors import UnsupportedError
from .._memory_meter import MemoryMeter
from ._cuda import BLOCK, AllocatorSettings, CudaMeter, CudaTimer, present_settings
from ._heap import OWN_PAGES, PAGE, allocated_bytes, keep_free, share_heap
from ._requests import RequestMeter

CPU = torch.device("cpu")
SMALL_STEP = 512
"""Bytes. On the CPU, scratch below OWN_PAGES is a multiple of it."""
ROUNDED = 8 * BLOCK
"""Bytes by which the blocks of a run may exceed their requests, where the meter counts requests."""
CPU_GENERATOR_BYTES = 5056
CUDA_GENERATOR_BYTES = 16
"""What get_rng_state() returns: for CUDA a seed and an offset, in the memory of the host."""


class CostModel(NamedTuple):
    """How long operators take, by a plain model."""

    nanoseconds_per_node: int
    bytes_per_nanosecond: int
    operations_per_nanosecond: int


ONE_CORE = CostModel(3_000, 8, 40)
ONE_GPU = CostModel(5_000, 1_000, 50_000)
"""Orders of magnitude of a large one, which nothing here was measured on."""


class Meter(Protocol):
    """Measures bytes that are taken from an allocator, as MemoryMeter does."""

    def __enter__(self) -> Self:
        """Begins to count."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None, /) -> None:
        """Ends."""

    @property
    def peak(self) -> int:
        """The most bytes above the level at entry, or at the latest reset()."""

    def reset(self) -> None:
        """Begins again."""


class Timer(Protocol):
    """Measures the time of a run that consists of several parts."""

    def prepare(self) -> None:
        """Before a program whose runs are measured."""

    def start(self) -> None:
        """A part begins."""

    def stop(self) -> None:
        """The part ends."""

    def take(self) -> Callable[[], int]:
        """Ends a run. The result gives the nanoseconds of its parts. Call it when nothing else is measured, because it
        may wait for the device."""


class Device(Protocol):
    """What plans of steps ask of the device that they run on."""

    device: torch.device
    counts_objects: bool
    """Whether the objects that stand for tensors and views are in the memory that budgets count."""
    generator_bytes: int
    """What a state of the generator takes of the memory that budgets count."""
    state_bytes: int
    """Bytes of the tensor with a state of the generator."""
    model: CostModel
    """What costs are estimated with before they are measured."""

    def rounding(self, sizes: Iterable[int]) -> Callable[[int], int]:
        """What the allocator of this process takes for a storage, by its bytes. `sizes` are those that will be asked
        for."""

    def keep_free(self, size: int) -> None:
        """Free blocks of this size stay with the process between steps."""

    def scratch_of(self, peak: int, outputs: Iterable[int]) -> int:
        """Bytes that a run took beside its outputs.

        Args:
            peak: of scratch_meter().
            outputs: bytes of the storages that the run made.
        """

    def meter(self) -> Meter:
        """A new meter."""

    def scratch_meter(self) -> Meter:
        """A new meter for what runs take beside their outputs. The same run takes the same in every process."""

    def timer(self) -> Timer:
        """A new timer."""

    def drop_caches(self) -> None:
        """Frees what libraries keep between operators, so that the next run requests it again."""

    def live(self) -> int:
        """Bytes that the allocator gives now. 0 where libraries keep nothing that counts."""

    def forked_generators(self) -> AbstractContextManager[Any]:
        """The generators of the CPU and of this device are as before afterwards."""

    def autocast(self) -> Hashable:
        """What is equal exactly if autocast casts to the same type."""

    def name(self) -> str | None:
        """What profiles name beside the processor; None for the CPU."""

    def remark(self) -> str:
        """What budgets leave out here, for reports; "" if docs/torch.md says it for the CPU."""


class CpuDevice:
    """The CPU, with the heap of the C library."""

    device = CPU
    counts_objects = True
    generator_bytes = state_bytes = CPU_GENERATOR_BYTES
    model = ONE_CORE

    def rounding(self, sizes: Iterable[int]) -> Callable[[int], int]:
        """As in Device. Without sizes, those of glibc."""
        known = list(sizes)
        return share_heap(known) if known else allocated_bytes

    def keep_free(self, size: int) -> None:
        """As in Device, up to a limit of glibc."""
        keep_free(size)

    def scratch_of(self, peak: int, outputs: Iterable[int]) -> int:
        """In steps, because the heap may pad blocks by more than the meter counts. Large blocks may have pages of their
        own."""
        measured = peak - sum(map(allocated_bytes, outputs))
        step = SMALL_STEP if measured < OWN_PAGES else PAGE
        return (max(measured, 0) + step - 1) // step * step

    def meter(self) -> Meter:
        """As in Device."""
        return MemoryMeter()

    def scratch_meter(self) -> Meter:
        """As in Device."""
        return RequestMeter()

    def timer(self) -> Timer:
        """As in Device."""
        return CpuTimer()

    def drop_caches(self) -> None:
        """As in Device."""

    def live(self) -> int:
        """As in Device."""
        return 0

    def forked_generators(self) -> AbstractContextManager[Any]:
        """As in Device."""
        return cast(AbstractContextManager[Any], torch.random.fork_rng(devices=[]))

    def autocast(self) -> Hashable:
        """As in Device."""
        return cast(Hashable, torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu"))

    def name(self) -> str | None:
        """As in Device."""
        return None

    def remark(self) -> str:
        """As in Device."""
        return ""


class CpuTimer:
    """With one thread, the time of other processes does not count. With several, the CPU time of this thread would
    leave out when it waits for the others."""

    def __init__(self) -> None:
        self._clock = time.thread_time_ns if torch.get_num_threads() == 1 else time.perf_counter_ns
        self._begin = self._sum = 0

    def prepare(self) -> None:
        """As in Timer."""

    def start(self) -> None:
        """As in Timer."""
        self._begin = self._clock()

    def stop(self) -> None:
        """As in Timer."""
        self._sum += self._clock() - self._begin

    def take(self) -> Callable[[], int]:
        """As in Timer."""
        taken, self._sum = self._sum, 0
        return lambda: taken


class CudaDevice:
    """One CUDA device, with the caching allocator of PyTorch. Without a GPU, it counts as its default settings do."""

    counts_objects = False
    generator_bytes = 0
    state_bytes = CUDA_GENERATOR_BYTES
    model = ONE_GPU

    def __init__(self, device: torch.device, settings: AllocatorSettings | None = None) -> None:
        self.device = device
        self.settings = present_settings() if settings is None else settings

    def rounding(self, sizes: Iterable[int]) -> Callable[[int], int]:
        """As in Device. The sizes do not matter."""
        return self.settings.most_allocated

    def keep_free(self, size: int) -> None:
        """As in Device: the caching allocator always keeps them."""

    def scratch_of(self, peak: int, outputs: Iterable[int]) -> int:
        """As in Device. Where blocks may be larger than their requests by chance, the meter counts requests."""
        if self.settings.is_exact:
            return max(peak - sum(map(self.settings.rounded, outputs)), 0)
        left = max(peak - sum(outputs), 0)
        return self.settings.most_allocated(left) + ROUNDED if left else 0

    def meter(self) -> Meter:
        """As in Device."""
        return CudaMeter(self.device, "allocated_bytes" if self.settings.is_exact else "requested_bytes")

    def scratch_meter(self) -> Meter:
        """As in Device: blocks do not depend on what is free around them, or requests are counted."""
        return self.meter()

    def timer(self) -> Timer:
        """As in Device."""
        return CudaTimer(self.device)

    def drop_caches(self) -> None:
        """Workspaces of cuBLAS are blocks of the allocator that stay between calls."""
        torch.cuda.synchronize(self.device)
        torch._C._cuda_clearCublasWorkspaces()

    def live(self) -> int:
        """As in Device."""
        return int(torch.cuda.memory_allocated(self.device))

    def forked_generators(self) -> AbstractContextManager[Any]:
        """As in Device. Without a GPU, there is no generator."""
        devices = [self.device] if torch.cuda.is_available() else []
        return cast(AbstractContextManager[Any], torch.random.fork_rng(devices=devices, device_type="cuda"))

    def autocast(self) -> Hashable:
        """As in Device. Operators on scalars of the CPU have their own."""
        enabled = [kind for kind in ("cuda", "cpu") if torch.is_autocast_enabled(kind)]
        return tuple((kind, torch.get_autocast_dtype(kind)) for kind in enabled)

    def name(self) -> str | None:
        """As in Device."""
        if not torch.cuda.is_available():
            return str(self.device)
        kind = torch.cuda.get_device_name(self.device)
        segments = "expandable segments" if self.settings.is_expandable else "segments of fixed sizes"
        return f"{kind}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, {segments}"

    def remark(self) -> str:
        """As in Device."""
        lines = ["counted: what the caching allocator gives out. Not counted: the context of CUDA and loaded kernels, "
                 "and free blocks that the allocator keeps"]
        if torch.cuda.is_available():
            lines[0] += f"; it has reserved {torch.cuda.memory_reserved(self.device):,} B now"
        if not self.settings.is_exact:
            lines.append("blocks above 1 MiB count with what the allocator may add to them; "
                         "PYTORCH_ALLOC_CONF=expandable_segments:True adds nothing")
        return "\n".join(lines)


CPU_DEVICE = CpuDevice()


def device_of(device: torch.device) -> Device:
    """What a device does.

    Raises:
        UnsupportedError: steps are not planned on such a device.
    """
    if device.type == "cpu":
        return CPU_DEVICE
    if device.type == "cuda":
        return CudaDevice(device)
    raise UnsupportedError(f"steps are planned on the CPU and on CUDA, and the device is {device}; move the module and "
                           "the batch to one of them")


def present_device(tensors: Iterable[torch.Tensor]) -> torch.device:
    """The device of a step on these tensors: that of the first one that is no number on the CPU."""
    return next((one.device for one in tensors if not is_host_number(one)), CPU)


def is_host_number(one: torch.Tensor) -> bool:
    """Whether a tensor may be on the CPU, whatever the device of the step is."""
    return bool(one.dim() == 0 and one.device == CPU)


def can_record(device: torch.device) -> bool:
    """Whether autograd runs on tensors without memory of this device. For those of CUDA, it asks for a GPU."""
    return bool(device.type == "cpu" or torch.cuda.is_available())


def bytes_on(tensor: torch.Tensor, device: torch.device) -> int:
    """Bytes of the storage of a tensor in the memory of a device. Tensors of the CPU take nothing of another one."""
    return 0 if tensor.device.type == "cpu" and device.type != "cpu" else int(tensor.untyped_storage().nbytes())

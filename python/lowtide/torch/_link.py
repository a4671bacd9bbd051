# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Copies between the memory of a device and that of the host: how fast they are, and who makes them."""
from __future__ import annotations

import ctypes
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import NamedTuple, Protocol

import torch

from .._errors import UnsupportedError
from .._ordering import Link

PROBE = 32 << 20
"""Bytes of the copies that measure the rate."""
REPEATS = 5


class HostLink(NamedTuple):
    """What a link to the host was measured to do."""

    out_bytes_per_second: int
    in_bytes_per_second: int
    latency_ns: int
    """Nanoseconds of a copy of one byte, with the way there and back."""

    def slower(self) -> Link:
        """The link that plans count with: the slower direction in both."""
        return Link(min(self.out_bytes_per_second, self.in_bytes_per_second), self.latency_ns)


class Copy(Protocol):
    """A copy that has begun."""

    def wait(self) -> None:
        """Returns when what runs next on the device may use what the copy wrote, and write over what it read."""


class Copies(Protocol):
    """Makes copies beside the runs of a device. Each direction has one copy at a time, in the order of the calls."""

    def reserve(self, size: int) -> None:
        """Makes the memory of the host at least this large. No copy may be on its way."""

    def begin_out(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """Copies to this offset of the host, once what has run so far on the device has ended."""

    def begin_in(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """Copies from this offset of the host, as begin_out()."""

    def drain(self) -> None:
        """Returns when no copy is on its way, whatever becomes of the memory of the device afterwards."""


@contextmanager
def drained_on_errors(copies: Copies | None) -> Iterator[None]:
    """If a program ends in the middle, nothing gets bytes that a copy still uses."""
    try:
        yield
    except BaseException:
        if copies is not None:
            copies.drain()
        raise


class _Task:
    """A copy on a thread."""

    def __init__(self, target: int, source: int, size: int, *kept: object) -> None:
        self.place = target, source, size
        self.kept: tuple[object, ...] = kept
        """Both memories. They are there until the copy has ended, whatever becomes of the step."""
        self.ended = threading.Event()

    def wait(self) -> None:
        self.ended.wait()


def _work(tasks: SimpleQueue[_Task]) -> None:
    while True:
        task = tasks.get()
        ctypes.memmove(*task.place)  # other threads run Python meanwhile
        task.kept = ()  # before the event: who waits for it counts these bytes as free
        task.ended.set()


_lanes: dict[str, SimpleQueue[_Task]] = {}
"""For each direction, what a thread takes its copies from."""
os.register_at_fork(after_in_child=_lanes.clear)  # threads do not survive


def _lane(direction: str) -> SimpleQueue[_Task]:
    if direction not in _lanes:
        tasks: SimpleQueue[_Task] = SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), name=f"lowtide {direction}", daemon=True).start()
        _lanes[direction] = tasks
    return _lanes[direction]


class CpuCopies:
    """Between the heap and another mapping, which stands for the host. A thread for each direction makes the copies."""

    def __init__(self) -> None:
        self._host: mmap.mmap | None = None
        self._begin = 0

    def reserve(self, size: int) -> None:
        """As in Copies."""
        if size > (0 if self._host is None else len(self._host)):
            self._host = mmap.mmap(-1, size)
            self._begin = ctypes.addressof(ctypes.c_char.from_buffer(self._host))

    def begin_out(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """As in Copies."""
        task = _Task(self._begin + offset, storage.data_ptr(), storage.nbytes(), storage, self._host)
        _lane("out").put(task)
        return task

    def begin_in(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """As in Copies."""
        task = _Task(storage.data_ptr(), self._begin + offset, storage.nbytes(), storage, self._host)
        _lane("in").put(task)
        return task

    def drain(self) -> None:
        """As in Copies. Copies keep what they need."""


class _Ended:
    """A copy on a stream."""

    def __init__(self, device: torch.device, copied: torch.cuda.Event) -> None:
        self._device = device
        self._copied = copied

    def wait(self) -> None:
        torch.cuda.current_stream(self._device).wait_event(self._copied)


class CudaCopies:
    """Between a CUDA device and pinned memory, on a stream for each direction.

    The stream of the step waits for a copy before the plan drops or reads its bytes. So the allocator may give them
    away at once, and none is held back as record_stream() would do, for a time that no plan knows.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._out = torch.cuda.Stream(device)
        self._in = torch.cuda.Stream(device)
        self._host = torch.empty(0, dtype=torch.uint8)

    def reserve(self, size: int) -> None:
        """As in Copies."""
        if size > self._host.numel():
            self.drain()
            self._host = _pinned(size)

    def begin_out(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """As in Copies."""
        return self._copied(self._out, self._part(offset, storage), _bytes_of(storage))

    def begin_in(self, storage: torch.UntypedStorage, offset: int) -> Copy:
        """As in Copies."""
        return self._copied(self._in, _bytes_of(storage), self._part(offset, storage))

    def drain(self) -> None:
        """As in Copies."""
        torch.cuda.synchronize(self._device)

    def _part(self, offset: int, storage: torch.UntypedStorage) -> torch.Tensor:
        return self._host[offset:offset + storage.nbytes()]

    def _copied(self, stream: torch.cuda.Stream, target: torch.Tensor, source: torch.Tensor) -> Copy:
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            target.copy_(source, non_blocking=True)
        return _Ended(self._device, stream.record_event())


def _pinned(size: int) -> torch.Tensor:
    """Memory that copies read and write beside the runs. By default, PyTorch pins the next power of two."""
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)  # type: ignore[call-overload]


def copies_of(device: torch.device) -> Copies:
    """What copies between a device and the host.

    Raises:
        UnsupportedError: no link between them is known.
    """
    if device.type == "cpu":
        return CpuCopies()
    if device.type == "cuda":
        return CudaCopies(device)
    raise UnsupportedError(f"no link is known between the device {device} and the host, and offload='host' needs one; "
                           "omit it, or use the CPU or CUDA")


_measured: dict[torch.device, HostLink] = {}


def link_of(device: torch.device) -> HostLink:
    """The link between a device and the host. It is measured once in a process. Raises as copies_of()."""
    if device not in _measured:
        _measured[device] = _measure(device)
    return _measured[device]


def _measure(device: torch.device) -> HostLink:
    copies = copies_of(device)
    copies.reserve(PROBE)
    probe, byte = torch.UntypedStorage(PROBE, device=device), torch.UntypedStorage(1, device=device)

    def least(begin: Callable[[torch.UntypedStorage, int], Copy], storage: torch.UntypedStorage) -> int:
        return min(_time_of(copies, begin, storage) for _ in range(REPEATS))

    latency = max(least(copies.begin_out, byte), least(copies.begin_in, byte))
    out, back = (PROBE * 1_000_000_000 // max(least(begin, probe) - latency, 1)
                 for begin in (copies.begin_out, copies.begin_in))
    return HostLink(out, back, latency)


def _time_of(copies: Copies, begin: Callable[[torch.UntypedStorage, int], Copy], storage: torch.UntypedStorage) -> int:
    copies.drain()
    before = time.perf_counter_ns()
    begin(storage, 0).wait()
    copies.drain()
    return time.perf_counter_ns() - before

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what native libraries of the process take from the heap."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from . import _core
from ._errors import InvalidError

LIBRARIES_OF_TORCH = ("libc10", "libtorch", "libgomp", "libiomp5", "libomp", "libmkl_", "libopenblas", "libstdc++")
"""How the file names of PyTorch's libraries begin. Some builds have only a few of them: the others are part of
libtorch_cpu. libstdc++ is what `new` calls."""

_lock = threading.Lock()
_open: list[MemoryMeter] = []


class MemoryMeter:
    """Measures the bytes that PyTorch's native code takes from the heap: tensors, temporaries and scratch of kernels.

        with MemoryMeter() as meter:
            step()
        meter.peak  # bytes above the level at entry

    All threads are counted. A block counts with the bytes that the heap gave (`malloc_usable_size`). A block that was
    there at entry lowers the level when it is released, so `live` may be negative. Not counted are memory that is
    mapped (files, generated code), the memory of devices, and Python's own objects.

    While at least one meter is open, import entries of the libraries are replaced (docs/embedding.md of the sources),
    which makes a call of malloc or free a few nanoseconds slower. The first meter searches the libraries, so a program
    that measures often keeps an outer meter open. Meters may overlap, in any order and on any threads: each has a level
    and a peak of its own. A library that is loaded while a meter is open counts from the next entry of a meter.

    Args:
        libraries: how the file names of the libraries begin.

    Raises:
        InvalidError: at entry, if no such library is loaded, or none of them calls the heap. PyTorch must be imported
            before, unless other libraries are given.
    """

    def __init__(self, libraries: Sequence[str] = LIBRARIES_OF_TORCH) -> None:
        if isinstance(libraries, str):
            raise InvalidError(f"the libraries are one string; give a list: [{libraries!r}]")
        self._names = tuple(libraries)
        self._level = 0
        self._highest = 0
        self._left = 0

    def __enter__(self) -> Self:
        with _lock:
            if self in _open:
                raise InvalidError("the meter is open already; make another one")
            found = _core.meter_install(list(self._names))
            # Other libraries of the list are in processes without PyTorch as well.
            if not found or (self._names == LIBRARIES_OF_TORCH and "libc10" not in found):
                _remove_if_unused()
                raise InvalidError(f"no library of {', '.join(self._names)} that calls the heap is loaded; import "
                                   "PyTorch, or whatever loads them, before")
            _open.append(self)
            self._restart()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        with _lock:
            _note_peak()
            self._left = _core.meter_live() - self._level
            _open.remove(self)
            _remove_if_unused()

    @property
    def live(self) -> int:
        """Bytes above the level at entry: now, or at exit."""
        with _lock:
            return _core.meter_live() - self._level if self in _open else self._left

    @property
    def peak(self) -> int:
        """The most bytes above the level at entry so far, at least 0."""
        with _lock:
            if self in _open:
                _note_peak()
            return self._highest - self._level

    def reset(self) -> None:
        """Begins again, as at entry: the level is that of now. The meter must be open."""
        with _lock:
            if self not in _open:
                raise InvalidError("the meter is not open; use it in a with statement")
            self._restart()

    def _restart(self) -> None:
        _note_peak()
        self._level = self._highest = _core.meter_live()
        _core.meter_reset()


def _note_peak() -> None:
    """The compiled part has one peak, since its last reset."""
    peak = _core.meter_peak()
    for meter in _open:
        meter._highest = max(meter._highest, peak)


def _remove_if_unused() -> None:
    if not _open:
        _core.meter_remove()

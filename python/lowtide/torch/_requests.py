# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the heap by requests alone, which are the same in every process."""
from __future__ import annotations

from types import TracebackType
from typing import Self

from .. import _core
from .._memory_meter import MemoryMeter


class RequestMeter:
    """Measures as MemoryMeter does, but a block counts with what glibc gives for its request on average.

    The heap pads blocks differently from process to process, by up to some hundred bytes of an operator with several of
    them. A plan for the least budget depends on each byte, so another process would refuse this budget. Blocks from
    before the entry do not count when they are released.
    """

    def __init__(self) -> None:
        self._given = MemoryMeter()
        self._level = 0

    def __enter__(self) -> Self:
        self._given.__enter__()
        _core.requests_begin()
        self.reset()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None, /) -> None:
        _core.requests_end()
        self._given.__exit__(kind, error, traceback)

    @property
    def peak(self) -> int:
        """The most bytes above the level at entry, or at the latest reset(), at least 0."""
        return _core.requests_peak() - self._level

    def reset(self) -> None:
        """Begins again."""
        _core.requests_reset()
        self._level = _core.requests_live()

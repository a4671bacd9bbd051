# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packing problems."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import InvalidError
from ._request import bytes_of, give


class Buffer(NamedTuple):
    """`size` bytes that are live in lower <= time < upper, except in `gaps`."""

    lower: int
    upper: int
    size: int
    alignment: int = 1
    """Of the offset, in bytes; a power of two."""
    offset: int | None = None
    """A fixed offset, or None."""
    gaps: Sequence[tuple[int, int]] = ()
    """Half-open spans of time in which the buffer is not live: sorted, disjoint, within its lifespan."""
    name: str = ""
    """For messages. Without a name, a buffer has its number."""


@dataclass(frozen=True)
class Packing:
    """An answer to a packing problem. It has been checked with code that shares nothing with the search."""

    offsets: npt.NDArray[np.int64]
    """Bytes, one per buffer, shape [buffers]. They are the best that were found, even if they do not fit."""
    height: int
    """Bytes: the highest end of a buffer."""
    bound: int
    """Bytes: no packing has a lower height."""
    outcome: str
    """"found", "infeasible" (proven: no offsets fit the capacity), or "not_found" (others may fit)."""
    proven_optimal: bool
    """Whether `height == bound`."""
    strategy: str
    """What found the offsets."""

    @property
    def fits(self) -> bool:
        """Whether the offsets fit the capacity."""
        return self.outcome == "found"


def pack(
    buffers: Iterable[Buffer | Sequence[int]] | npt.NDArray[np.integer[Any]],
    *,
    capacity: int | str | None = None,
    conflicts: Sequence[tuple[int, int]] | None = None,
    effort: int | None = None,
    threads: int = 1,
) -> Packing:
    """Gives each buffer an offset, so that buffers that are live at the same time share no byte.

    Args:
        buffers: Buffer, or (lower, upper, size[, alignment]); or an integer array of shape [buffers, 3] or
            [buffers, 4] with these columns. Times are in any unit, sizes in bytes.
        capacity: bytes that the offsets must fit into, as a number or a text such as "64MiB" or "64MB". The first
            offsets that fit are returned.
        conflicts: pairs of positions in `buffers` that must not share bytes. They replace the lifespans.
        effort: work units of the search. The same units give the same answer.
        threads: threads that search at the same time. The answer does not depend on them.

    Ctrl-C raises KeyboardInterrupt. Other Python threads run meanwhile.

    Raises:
        Error: the problem is refused. Messages name the buffer.
    """
    request = _core.PackRequest()
    given = [_buffer_of(one, at) for at, one in enumerate(buffers)]
    request.gaps = {at: [(begin, end) for begin, end in one.gaps] for at, one in enumerate(given) if one.gaps}
    if any(one.name for one in given):
        give(request, names=[one.name or str(at) for at, one in enumerate(given)])
    give(request, conflicts=None if conflicts is None else [(int(first), int(second)) for first, second in conflicts])
    for name, number, least in (("effort", effort, 0), ("threads", threads, 1)):
        if number is not None and number < least:
            raise InvalidError(f"{name} is {number}; give {least} or a larger number")
    give(request, capacity=None if capacity is None else bytes_of(capacity, "capacity"), effort=effort,
         threads=threads)
    return Packing(**_core.pack(request, _rows_of(given)))


def _buffer_of(given: Buffer | Sequence[int], at: int) -> Buffer:
    if isinstance(given, Buffer):
        return given
    if len(given) not in (3, 4):
        raise InvalidError(f"has {len(given)} values; give (lower, upper, size) or (lower, upper, size, alignment)",
                           f"buffer {at}")
    lower, upper, size = given[:3]
    return Buffer(lower, upper, size, given[3]) if len(given) == 4 else Buffer(lower, upper, size)


def _rows_of(buffers: Sequence[Buffer]) -> npt.NDArray[np.int64]:
    for at, one in enumerate(buffers):
        if one.offset is not None and one.offset < 0:
            raise InvalidError(f"has the offset {one.offset}; give 0 or a positive number", f"buffer {at}")
    rows = [(*one[:4], -1 if one.offset is None else one.offset) for one in buffers]
    if any(not isinstance(number, (int, np.integer)) for row in rows for number in row):
        raise InvalidError("times, sizes, alignments and offsets must be integers")
    try:
        return np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    except OverflowError:
        raise InvalidError("a time or a size is beyond 2^63 - 1") from None

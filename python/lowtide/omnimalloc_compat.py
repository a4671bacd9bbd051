# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The packer for callers of omnimalloc 1.0: Allocation, Pool, allocate and validate_allocation.

    import lowtide.omnimalloc_compat as om

Times are numbers. Vector clocks, Memory and System are not offered. `allocator` is accepted and ignored, because
Lowtide has one packer. An allocation with an offset keeps it. Lifetimes are half-open: start <= time < end.
"""
from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from functools import cached_property
from typing import overload

from ._packing import Buffer, pack

IdType = int | str


class AllocationKind(enum.Enum):
    """What an allocation holds. The packer does not read it."""

    WORKSPACE = 0
    CONSTANT = 1
    INPUT = 2
    OUTPUT = 3

    @property
    def is_io(self) -> bool:
        """Whether it is an input or an output."""
        return self in (AllocationKind.INPUT, AllocationKind.OUTPUT)


@dataclasses.dataclass(frozen=True)
class Allocation:
    """`size` bytes that are live in start <= time < end."""

    id: IdType
    size: int
    start: int
    end: int
    offset: int | None = None
    kind: AllocationKind | None = None

    def __post_init__(self) -> None:
        for name in ("size", "start", "end"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"allocation {self.id!r}: {name} is {getattr(self, name)!r}; give an int")
        if self.size < 0 or self.start >= self.end or (self.offset or 0) < 0:
            raise ValueError(f"allocation {self.id!r}: sizes and offsets are at least 0, and start is below end")

    @property
    def is_allocated(self) -> bool:
        """Whether it has an offset."""
        return self.offset is not None

    @property
    def duration(self) -> int:
        """Length of the lifetime."""
        return self.end - self.start

    @property
    def height(self) -> int | None:
        """End address in bytes, or None without an offset."""
        return None if self.offset is None else self.offset + self.size

    @property
    def area(self) -> int:
        """Bytes times duration."""
        return self.size * self.duration

    def conflicts_with(self, other: Allocation) -> bool:
        """Whether both are live at some time."""
        return self.start < other.end and other.start < self.end

    def overlaps_spatially(self, other: Allocation) -> bool:
        """Whether both have offsets and share bytes."""
        if self.offset is None or other.offset is None:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size

    def overlaps(self, other: Allocation) -> bool:
        """Whether both share bytes while both are live."""
        return self.conflicts_with(other) and self.overlaps_spatially(other)

    def with_offset(self, offset: int | None) -> Allocation:
        """Returns a copy with this offset."""
        return dataclasses.replace(self, offset=offset)


@dataclasses.dataclass(frozen=True)
class Pool:
    """Allocations that share a memory region."""

    id: IdType
    allocations: tuple[Allocation, ...]
    offset: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "allocations", tuple(self.allocations))
        if len({one.id for one in self.allocations}) < len(self.allocations):
            raise ValueError(f"pool {self.id!r} has two allocations with one id")

    @property
    def is_allocated(self) -> bool:
        """Whether all allocations have offsets."""
        return all(one.is_allocated for one in self.allocations)

    @property
    def size(self) -> int:
        """Bytes up to the highest end. Raises ValueError if an allocation has no offset."""
        if not self.is_allocated:
            raise ValueError("cannot compute size of unallocated pool")
        return max((one.height or 0 for one in self.allocations), default=0)

    @cached_property
    def pressure(self) -> int:
        """Bytes that are live at the same time, at most."""
        changes = sorted(change for one in self.allocations
                         for change in ((one.start, one.size), (one.end, -one.size)))
        live = most = 0
        for _, change in changes:  # at equal times, the ends come first
            live += change
            most = max(most, live)
        return most

    @property
    def efficiency(self) -> float:
        """Pressure divided by size; 1 means that no byte is wasted."""
        return self.pressure / self.size if self.size else 1.0


@overload
def allocate(entity: Pool, allocator: object = None, validate: bool = False) -> Pool: ...
@overload
def allocate(entity: Sequence[Allocation], allocator: object = None,
             validate: bool = False) -> tuple[Allocation, ...]: ...
def allocate(entity: Pool | Sequence[Allocation], allocator: object = None,
             validate: bool = False) -> Pool | tuple[Allocation, ...]:
    """Returns the pool or the allocations with offsets, in the same order.

    The result is always checked, so `validate` changes nothing. Raises lowtide.Error, for example if fixed offsets
    collide.
    """
    if not isinstance(entity, Pool):
        return allocate(Pool(0, tuple(entity))).allocations
    packing = pack([Buffer(one.start, one.end, one.size, offset=one.offset) for one in entity.allocations])
    placed = [one.with_offset(int(offset)) for one, offset in zip(entity.allocations, packing.offsets, strict=True)]
    return dataclasses.replace(entity, allocations=tuple(placed))


def validate_allocation(entity: Pool | Sequence[Allocation]) -> None:
    """Raises ValueError if an allocation has no offset, or two share bytes while both are live. O(n^2)."""
    allocations = entity.allocations if isinstance(entity, Pool) else tuple(entity)
    for at, one in enumerate(allocations):
        if not one.is_allocated:
            raise ValueError(f"allocation {one.id!r} is not allocated")
        for other in allocations[at + 1:]:
            if one.overlaps(other):
                raise ValueError(f"allocation {one.id!r} overlaps with allocation {other.id!r}")

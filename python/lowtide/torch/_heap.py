# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a storage takes from the heap of the C library."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable

import torch

from .. import _core

OBJECT = 336
"""Bytes of the objects that stand for a storage and a tensor. Measured with torch 2.13."""

VIEW = 224
"""Bytes of the object that stands for a view, where autograd does not record. Measured with torch 2.13."""

INLINE_EXTENTS = 5
"""A tensor with more extents has a block for them and its strides."""

ALIGNMENT = 64
"""PyTorch asks for storages that begin at multiples of this."""

PAGE = 4096
LARGEST_SHARED = 32 * 1024 * 1024
"""Larger blocks always have pages of their own in glibc. Smaller ones do until a block as large has been freed."""

OWN_PAGES = 128 * 1024
"""Smaller blocks never have pages of their own in glibc."""

_MOST_HELD = 16  # more than the free blocks of one size that a heap usually has; nothing writes to them
_NOISE = 64  # two blocks of one size differ by less


def allocated_bytes(size: int) -> int:
    """What a storage and its objects take from the heap of glibc after `share_heap()`."""
    return block_bytes(size) + OBJECT


def block_bytes(size: int) -> int:
    """What a storage takes from the heap of glibc after `share_heap()`, without its objects."""
    return _core.heap_block_bytes(size) if size > 0 else 0


def view_bytes(views: Iterable[torch.Tensor]) -> int:
    """What the objects of views take."""
    return sum(VIEW + (16 * one.dim() + 16 if one.dim() > INLINE_EXTENTS else 0) for one in views)


def share_heap(sizes: Iterable[int]) -> Callable[[int], int]:
    """Lets blocks share pages where the heap does so in time anyway, and returns `allocated_bytes` for this process.

    glibc gives a block pages of its own if it is larger than any that was freed before, so the first step would take
    up to a page more for each large block. One such block, freed at once, ends that. Another heap may take more, such
    as jemalloc with its classes of sizes. So a block of each size is requested once.

    Args:
        sizes: bytes of the storages that will be asked for.
    """
    distinct = sorted(set(sizes))
    largest = max((size for size in distinct if size < LARGEST_SHARED), default=0)
    _raise_threshold(largest + PAGE)
    larger = {size: given + OBJECT for size in distinct
              if size > 0 and (given := _given(size)) > block_bytes(size) + _NOISE}

    def rounded(size: int) -> int:
        return larger.get(size, allocated_bytes(size))

    return rounded


def keep_free(size: int) -> None:
    """Lets free blocks at the end of the heap stay with this process, up to this size, for the next step.

    glibc gives back all that is free there as soon as it exceeds twice its threshold, which is at most 64 MiB. Then
    each step begins on new pages. That took up to a fifth of its time, and costs were measured too high. A quarter more
    is for what was free before.
    """
    _raise_threshold(min(size * 5 // 8 + 256 * PAGE, LARGEST_SHARED - PAGE))


def _raise_threshold(size: int) -> None:
    """Blocks up to this size share pages from now on. Free blocks of the heap serve requests before glibc compares them
    with its threshold, so blocks are held until one has pages of its own. If none has, the threshold is larger."""
    held = []
    for _ in range(_MOST_HELD if size > OWN_PAGES else 0):
        held.append(block := torch.UntypedStorage(size))
        if (block.data_ptr() + _usable(block)) % PAGE == 0:  # other blocks end 8 bytes behind a multiple of 16
            break


def _given(size: int) -> int:
    return _usable(torch.UntypedStorage(size))


def _usable(block: torch.UntypedStorage) -> int:
    """What the heap gave. A storage is of it whatever modes of PyTorch are active. 0: this heap does not say."""
    usable = getattr(ctypes.CDLL(None), "malloc_usable_size", None)
    if usable is None:
        return 0
    usable.argtypes, usable.restype = [ctypes.c_void_p], ctypes.c_size_t
    return int(usable(block.data_ptr()))

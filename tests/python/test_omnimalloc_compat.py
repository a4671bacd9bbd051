# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.omnimalloc_compat."""
import pytest

import lowtide
import lowtide.omnimalloc_compat as om


def test_example_of_omnimalloc():
    pool = om.Pool(
        id="pool",
        allocations=(
            om.Allocation(id=0, size=64, start=0, end=10),
            om.Allocation(id=1, size=64, start=12, end=20),
            om.Allocation(id=2, size=32, start=5, end=15),
        ),
    )
    pool = om.allocate(pool, allocator="supermalloc", validate=True)
    assert pool.size == pool.pressure == 96
    assert pool.efficiency == 1
    om.validate_allocation(pool)
    assert [one.id for one in pool.allocations] == [0, 1, 2]


def test_offsets_are_kept():
    placed = om.allocate([om.Allocation("a", 64, 0, 4, offset=128), om.Allocation("b", 64, 2, 6)])
    assert (placed[0].offset, placed[1].offset) == (128, 0)
    assert placed[0].height == 192


def test_wrong_allocations_are_refused():
    for wrong in ({"size": -1}, {"start": 4}, {"offset": -1}):
        with pytest.raises(ValueError):
            om.Allocation(**{"id": 1, "size": 8, "start": 0, "end": 4, **wrong})
    with pytest.raises(TypeError):
        om.Allocation(1, 8, (0, 1), (2, 3))
    with pytest.raises(ValueError):
        om.Pool(0, (om.Allocation(1, 8, 0, 4), om.Allocation(1, 8, 0, 4)))
    with pytest.raises(lowtide.Error):
        om.allocate([om.Allocation(1, 8, 0, 4, offset=0), om.Allocation(2, 8, 0, 4, offset=4)])
    with pytest.raises(ValueError, match="overlaps"):
        om.validate_allocation([om.Allocation(1, 8, 0, 4, offset=0), om.Allocation(2, 8, 0, 4, offset=4)])
    with pytest.raises(ValueError, match="not allocated"):
        om.validate_allocation([om.Allocation(1, 8, 0, 4)])

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Where values are at the host while they are outside."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._ordering import BudgetSequence, Transfer, TransferSequence
from .._packing import Buffer, pack

ALIGNMENT = 64
"""Of values at the host."""
EFFORT = 2_000_000
"""Work units of the search for their places."""

Outlet = tuple[int, int, int]
"""An output of a run: the number of the node, of the output, and the position of the run."""


@dataclass(frozen=True)
class HostLayout:
    """Where values are at the host."""

    offsets: dict[Outlet, int]
    bytes: int
    """Of the host, at most at the same time."""


def layout_of(transfers: Sequence[Transfer]) -> HostLayout:
    """Packs what is outside. A value is there from the begin of its copy out to the end of its last copy in."""
    spans: dict[Outlet, tuple[int, int, int]] = {}
    for one in transfers:
        begin, end, _size = spans.get(outlet_of(one), (one.issue, one.complete, one.bytes))
        spans[outlet_of(one)] = (min(begin, one.issue), max(end, one.complete), one.bytes)
    if not spans:
        return HostLayout({}, 0)
    packing = pack([Buffer(begin, end, size, ALIGNMENT) for begin, end, size in spans.values()], effort=EFFORT)
    return HostLayout(dict(zip(spans, map(int, packing.offsets), strict=True)), packing.height)


def host_bytes_of(sequence: BudgetSequence) -> int:
    """Bytes of the host that a sequence needs."""
    return layout_of(sequence.transfers).bytes if isinstance(sequence, TransferSequence) else 0


def outlet_of(one: Transfer) -> Outlet:
    """What a transfer moves."""
    return one.node, one.output, one.run

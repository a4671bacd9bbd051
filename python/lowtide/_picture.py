# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A small picture of a plan for notebooks."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ._plan import Plan

_WIDTH, _HEIGHT = 640, 220
_MOST_BUFFERS = 1000
_COLOURS = {"output": "#c2571a", "scratch": "#8a8a8a"}


def picture(plan: Plan) -> str:
    """Returns a drawing of the buffers in HTML: x is the step, y the address in the region, upwards.

    It shows the largest 1,000 buffers of the first region.
    """
    rows = plan.buffers
    if len(rows):
        rows = rows[rows["region"] == rows["region"][0]]
    height = int((rows["offset"] + rows["bytes"]).max()) if len(rows) else 0
    largest = sorted(rows, key=lambda row: -int(row["bytes"]) * max(1, int(row["end"] - row["begin"])))[:_MOST_BUFFERS]
    boxes = "".join(_box(row, max(1, plan.steps), max(1, height)) for row in largest)
    proof = "proven optimal" if plan.proven_optimal else f"bound {plan.bound:,} bytes"
    title = html.escape(f"{plan.model}: arena {plan.arena:,} bytes, {proof}, {plan.steps:,} steps")
    more = "" if len(rows) <= _MOST_BUFFERS else f" (the {_MOST_BUFFERS:,} largest of {len(rows):,} buffers)"
    return (f'<figure style="margin:0"><figcaption>{title}{more}</figcaption>'
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
            f'aria-label="{title}" style="background:#f4f4f4">{boxes}</svg></figure>')


def _box(row: np.void, steps: int, height: int) -> str:
    x = int(row["begin"]) / steps * _WIDTH
    width = max(1.0, int(row["end"] - row["begin"]) / steps * _WIDTH)
    tall = int(row["bytes"]) / height * _HEIGHT
    y = _HEIGHT - int(row["offset"]) / height * _HEIGHT - tall
    label = html.escape(f"{row['name'] or row['kind']}: {int(row['bytes']):,} bytes at {int(row['offset']):,}, "
                        f"steps {row['begin']} to {row['end']}")
    colour = _COLOURS.get(row["kind"], "#3a76b0")
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{tall:.1f}" fill="{colour}" '
            f'fill-opacity="0.75" stroke="white" stroke-width="0.4"><title>{label}</title></rect>')

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, for bench/tables.py."""
import textwrap


def mebibytes(count):
    """MiB without a unit. Sizes below 0.1 MiB have a unit, because two digits of MiB would say little about them."""
    if count >= 2**20 / 10:
        return f"{count / 2**20:,.2f}" if count >= 2**20 else f"{count / 2**20:,.3f}"
    return f"{count / 2**10:,.1f} KiB" if count >= 10 * 2**10 else f"{count:,} B"


def lines(columns, rows, note=""):
    """A table. A column whose name begins with < is aligned to the left."""
    head = ["| " + " | ".join(name.removeprefix("<") for name in columns) + " |",
            "|" + "|".join("---" if name.startswith("<") else "--:" for name in columns) + "|"]
    note_lines = ["", *textwrap.wrap(note, 120, break_long_words=False, break_on_hyphens=False)] if note else []
    return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows), *note_lines])

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What schemas of PyTorch's operators say. Only the parts of the package that need PyTorch import this."""
from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch.fx import Node


def written_arguments(node: Node, *, without: Collection[str] = ()) -> list[Node]:
    """The operands that a node writes over, by the schema of its operator, with the members of lists.

    Args:
        without: names of arguments that are left out.
    """
    schema: Any = getattr(node.target, "_schema", None)
    if schema is None:
        return []
    written: list[Node] = []
    for at, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write or argument.name in without:
            continue
        given = node.args[at] if at < len(node.args) else node.kwargs.get(argument.name)
        written += [one for one in (given if isinstance(given, (tuple, list)) else [given]) if isinstance(one, Node)]
    return written

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Where in the user's code an operator of a step is from, for messages."""
from __future__ import annotations

import linecache
import os
import sys
import traceback
import types
from pathlib import Path

import torch
from torch.fx import Node

_TORCH = os.path.dirname(torch.__file__) + os.sep
_LOWTIDE = str(Path(__file__).resolve().parents[1]) + os.sep

PLACE = "place"
"""The key of a node's `meta` with the text of its place."""


def place_of_call() -> str:
    """The line of the user's code that is running: the innermost one that is not of PyTorch. Empty if none is between
    this package and PyTorch, as in the backward pass."""
    frame: types.FrameType | None = sys._getframe(2)  # behind the caller, which PyTorch called
    while frame is not None and frame.f_code.co_filename.startswith((_TORCH, "<")):
        frame = frame.f_back
    return "" if frame is None else _text_of(frame.f_code, frame.f_lineno)


def place_of_error(error: BaseException, module: torch.nn.Module) -> str:
    """The innermost module and line of the user's code that raised."""
    names = {id(one): name for name, one in module.named_modules()}
    path, line = "", ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        first = frame.f_locals.get(next(iter(frame.f_code.co_varnames), ""))
        path = names.get(id(first), path)
        if not frame.f_code.co_filename.startswith(_TORCH):
            line = _text_of(frame.f_code, number) or line
    return named_place(module, path, line)


def named_place(module: torch.nn.Module, path: str, line: str) -> str:
    """The path of a part of a module with a line, such as "Net.blocks.0: net.py:12 in forward: return x + y"."""
    name = type(module).__name__ + (f".{path}" if path else "")
    return f"{name}: {line}" if line else name


def place_of(node: Node) -> str:
    """Where a node of a captured graph is from; of one that computes nothing, where it is used first."""
    for one in (node, *node.users):
        if place := one.meta.get(PLACE):
            return str(place)
        if lines := str(one.meta.get("stack_trace") or "").strip().splitlines():
            return " ".join(part.strip() for part in lines[-2:])
    return ""


def _text_of(code: types.CodeType, number: int) -> str:
    if code.co_filename.startswith((_TORCH, _LOWTIDE)) or code.co_filename.startswith("<"):
        return ""
    text = linecache.getline(code.co_filename, number).strip()
    return f"{code.co_filename}:{number} in {code.co_name}" + (f": {text}" if text else "")

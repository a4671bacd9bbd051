# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to the compiled part."""
from __future__ import annotations

import operator
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from . import _core
from ._errors import InvalidError, read_text

StrPath = str | os.PathLike[str]

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def bytes_of(size: int | str, name: str) -> int:
    """Returns a size in bytes. It is given as a number, or as a text such as "64MiB"."""
    if not isinstance(size, str):
        try:
            return operator.index(size)
        except TypeError:
            raise InvalidError(f"{name} is {size!r}; give a whole number of bytes, or a text such as '64MiB'") from None
    number = size.rstrip("BKMGTi")
    unit = size[len(number):]
    try:
        return int(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise InvalidError(f"{name} is {size!r}; give a whole number of bytes, or a text such as '64MiB'") from None


def is_second(value: str, name: str, first: str, second: str) -> bool:
    """Returns whether an argument with two values has the second one."""
    if value not in (first, second):
        raise InvalidError(f"{name} is {value!r}; give {first!r} or {second!r}")
    return value == second


def give(request: object, **fields: Any) -> None:
    """Sets fields of a request. The compiled part names neither the argument nor its value if the type is wrong."""
    for name, value in fields.items():
        try:
            setattr(request, name, value)
        except TypeError:
            raise TypeError(f"{name} is {value!r}, which has the wrong type or is out of range") from None


def written_dims(dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]], overrides: Iterable[str],
                 at_most: Mapping[str, int]) -> list[str]:
    """Returns the bindings as a plan file lists them: "batch=8", "image=[1,3,224,224]", "w=?", "frames<=500"."""
    extents = {name: ",".join("?" if one < 0 else str(one) for one in shape) for name, shape in shapes.items()}
    return sorted([f"{name}={extent}" for name, extent in dims.items()]
                  + [f"{name}=[{shape}]" for name, shape in extents.items()]
                  + [f"{name}<={most}" for name, most in at_most.items()]
                  + [f"{name}=?" for name in overrides])


class Bindings(NamedTuple):
    """What determines the sizes of a model."""

    dims: dict[str, int]
    shapes: dict[str, list[int]]
    overrides: list[str]
    at_most: dict[str, int]


def read_dims(written: Sequence[str]) -> Bindings:
    """Returns the bindings of a plan file."""
    read = Bindings({}, {}, [], {})
    for line in written:
        name, _, value = line.rpartition("=")
        if value.startswith("["):
            read.shapes[name] = [-1 if one == "?" else int(one) for one in value[1:-1].split(",") if one]
        elif value == "?":
            read.overrides.append(name)
        elif name.endswith("<"):
            read.at_most[name[:-1]] = int(value)
        else:
            read.dims[name] = int(value)
    return read


def request_for(model: StrPath, dims: Mapping[str, int] | None = None,
                shapes: Mapping[str, Sequence[int]] | None = None, overrides: Iterable[str] = (),
                at_most: Mapping[str, int] | None = None) -> _core.Request:
    """Returns a request for a model with the given sizes."""
    if isinstance(overrides, str):
        raise TypeError(f"overrides is {overrides!r}; give a list of names, such as [{overrides!r}]")
    request = _core.Request()
    give(request, model=os.fspath(model), dims=dict(dims or {}),
         shapes={name: list(shape) for name, shape in (shapes or {}).items()}, overrides=list(set(overrides)),
         at_most=dict(at_most or {}))
    request.overrides = sorted(request.overrides)
    request.written_dims = written_dims(request.dims, request.shapes, request.overrides, request.at_most)
    request.tool = "lowtide " + version("lowtide")
    return request


def set_target(request: _core.Request, target: StrPath, threads: int | None) -> None:
    """Sets the target: "dense", "cpu" or the path of a target file."""
    if threads is not None and target != "cpu":
        raise InvalidError("threads needs kernels of this machine; give target='cpu'")
    give(request, threads=threads)
    if target not in ("dense", "cpu"):
        request.target_text = read_text(pathlib.Path(target))
    request.target = os.fspath(target)

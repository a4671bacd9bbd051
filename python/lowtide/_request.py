# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Requests to the compiled part."""
from __future__ import annotations

import contextlib
import operator
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from importlib.metadata import version
from typing import Any, NamedTuple

from . import _core
from ._errors import InvalidError, read_text

StrPath = str | os.PathLike[str]

_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?) ?([KMGT]i?B|B|)", re.IGNORECASE | re.ASCII)
_UNITS = {"": 1, "b": 1, **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)},
          **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}}


def bytes_of(size: int | str, name: str) -> int:
    """Returns a size in bytes, as every function of the package reads it (docs/python.md).

    It is a number, or a text such as "64MiB", "1.5 GiB" or "8GB": KiB, MiB, GiB and TiB are powers of 1,024, and kB,
    MB, GB and TB are powers of 1,000. A fraction needs a unit, and parts of a byte are left out.

    Args:
        name: of the argument, for messages.

    Raises:
        InvalidError: it is something else, or 4 EiB or more.
    """
    read: int | None = None
    if not isinstance(size, str | bool):
        with contextlib.suppress(TypeError):
            read = operator.index(size)
    elif isinstance(size, str) and (found := _SIZE.fullmatch(size.strip())) and (found[2] or "." not in found[1]):
        read = int(Fraction(found[1]) * _UNITS[found[2].lower()])
    if read is None:
        raise InvalidError(f"{name} is {size!r}; give a whole number of bytes, or a text such as '64MiB' (2^26 bytes) "
                           "or '64MB' (64 million)")
    if read >= 1 << 62:
        raise InvalidError(f"{name} is {size!r}; give less than 4 EiB")
    return read


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

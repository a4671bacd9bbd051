# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans and sessions for several sizes of one model."""
from __future__ import annotations

import os
import pathlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from . import _core
from ._errors import InvalidError, IoError, read_text, write_text
from ._module import shape_of
from ._plan import Plan, plan
from ._request import StrPath, give, set_target
from ._session import Session, check_mapping, session_request

_MOST_PLANS = 16  # as in a file of `lowtide plan --dim batch=1..8`


# The sizes of one plan: extents of symbols, and shapes of inputs.
Sizes = Mapping[str, "int | Sequence[int]"]


def _choices(symbol: str | None, extents: Iterable[int] | None, sizes: Iterable[Sizes] | None) -> list[Sizes]:
    """The sizes of each plan: one symbol with its extents in ascending order, or `sizes` as they are."""
    if sizes is not None:
        choices: list[Sizes] = [dict(one) for one in sizes]
    else:
        choices = [{str(symbol): one} for one in sorted(set(extents or []))]
    if not choices or len(choices) > _MOST_PLANS:
        what = "extents" if sizes is None else "sizes"
        raise InvalidError(f"there are {len(choices)} {what}; give 1 to {_MOST_PLANS}, such as [1, 2, 4, 8]")
    return choices


def _divided(choice: Sizes) -> tuple[dict[str, int], dict[str, Sequence[int]]]:
    """The symbols and the inputs of one choice."""
    dims, shapes = {}, {}
    for name, value in choice.items():
        if isinstance(value, Sequence):
            shapes[name] = value
        else:
            dims[name] = value
    return dims, shapes


class PlanRange:
    """Plans of one model for several sizes. Immutable.

    `plan_range` makes one, and `load_plan_range` reads one from a file.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = tuple(plans)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans, in ascending order of their extents, or in the order of `sizes`."""
        return self._plans

    @property
    def arena(self) -> int:
        """Bytes of an arena that holds each of the plans: the largest one."""
        return max(one.arena for one in self._plans)

    def to_json(self) -> str:
        """Returns the file with all plans, as `lowtide plan --dim batch=1..8 --output` writes it."""
        return _core.write_plans([one.to_json() for one in self._plans])

    def save(self, path: StrPath) -> None:
        """Writes the file with all plans. Raises IoError."""
        write_text(pathlib.Path(path), self.to_json())

    def __repr__(self) -> str:
        return f"<lowtide.PlanRange of {self._plans[0].model!r}: {len(self._plans)} plans, arena {self.arena} bytes>"


def plan_range(model: StrPath, symbol: str | None = None, extents: Iterable[int] | None = None, *,
               sizes: Iterable[Sizes] | None = None, dims: Mapping[str, int] | None = None,
               shapes: Mapping[str, Sequence[int]] | None = None, **options: Any) -> PlanRange:
    """Plans a model once for each extent of a symbol, or for each entry of `sizes`.

    Args:
        model: path of the file.
        symbol: a symbolic extent of the model, such as "batch".
        extents: its values, at most 16, such as range(1, 9) or [1, 2, 4, 8].
        sizes: in place of a symbol, the sizes of each plan, at most 16: extents of symbols and shapes of inputs, such
            as [{"x": (1, 3, 320, 320)}, {"x": (1, 3, 640, 640)}] or [{"height": 320, "width": 640}].
        dims, shapes: what all plans have.
        options: the other arguments of `plan`.

    Raises: as `plan`.
    """
    if (sizes is None) != (symbol is not None and extents is not None):
        raise InvalidError("give a symbol and its extents, or sizes", os.fspath(model))
    plans = []
    for choice in _choices(symbol, extents, sizes):
        own_dims, own_shapes = _divided(choice)
        plans.append(plan(model, dims={**(dims or {}), **own_dims}, shapes={**(shapes or {}), **own_shapes}, **options))
    return PlanRange(plans)


def load_plan_range(path: StrPath) -> PlanRange:
    """Reads a file with one or more plans. They are not verified: a RangeSession verifies them.

    Raises MalformedError, InvalidError, OverLimitError, UnsupportedError or IoError.
    """
    path = pathlib.Path(path)
    return PlanRange([Plan(handle) for handle in _core.read_plans(read_text(path), path.name)])


class RangeSession:
    """Runs a model with inputs of several shapes. There is a plan for each of them, and one arena for all.

    The members share the weights, so one more shape costs little memory. One thread at a time runs a range; another one
    waits.

        session = lowtide.RangeSession("model.onnx", "batch", [1, 2, 4, 8])
        y = session.run({"x": x})["y"]  # by the plan for the batch of x
        session = lowtide.RangeSession("model.onnx", sizes=[{"x": (1, 3, 320, 320)}, {"x": (1, 3, 640, 640)}])
        session = lowtide.RangeSession("model.prepared")  # all plans of `lowtide prepare --dim batch=1,2,4,8`
    """

    def __init__(self, model: StrPath, symbol: str | None = None, extents: Iterable[int] | None = None, *,
                 sizes: Iterable[Sizes] | None = None, plans: PlanRange | StrPath | None = None,
                 synthetic: int | None = None, threads: int | None = None, system_threads: int | None = None,
                 dims: Mapping[str, int] | None = None, shapes: Mapping[str, Sequence[int]] | None = None,
                 at_most: Mapping[str, int] | None = None, overrides: Iterable[str] = ()) -> None:
        """Prepares a model once for each extent of a symbol, for each entry of `sizes`, or for each plan.

        Args:
            model: path of the ONNX file, or of a file that `lowtide prepare` wrote. Such a file has its plans: without
                symbol, sizes and plans, all of them are opened, or those with `dims` and `shapes`. A symbol or `sizes`
                choose the plans with these sizes.
            symbol, extents: a symbolic extent and its values, at most 16. The model is planned for each of them.
            sizes: in place of a symbol, the sizes of each plan, as for `plan_range`.
            plans: plans of this model, or the path of their file. They are verified. Give either these, or a symbol, or
                sizes.
            synthetic, threads, system_threads, dims, shapes, at_most, overrides: as for `Session`.

        Raises: as `Session`.
        """
        self._model = os.fspath(model)
        ways = (plans is not None, sizes is not None, symbol is not None and extents is not None)
        has_all = sum(ways) == 0 and symbol is None and extents is None and _core.is_prepared_file(self._model)
        if sum(ways) == 0 and not os.path.exists(self._model):
            raise IoError("there is no such file", self._model)
        if sum(ways) != 1 and not has_all:
            raise InvalidError("give a symbol and its extents, or sizes, or plans", self._model)
        if plans is not None and not isinstance(plans, PlanRange):
            plans = load_plan_range(plans)
        given: list[tuple[Plan | None, Sizes]] = (
            [(one, {}) for one in plans.plans] if plans is not None
            else [(None, {})] if has_all else [(None, one) for one in _choices(symbol, extents, sizes)])
        overrides = list(overrides)
        requests = []
        for one, choice in given:
            own_dims, own_shapes = _divided(choice)
            requests.append(session_request(model, one, {**(dims or {}), **own_dims}, {**(shapes or {}), **own_shapes},
                                            overrides, at_most))
        for request in requests:
            set_target(request, "cpu", threads)
            give(request, synthetic=synthetic, system_threads=system_threads)
        handles = [one._handle for one in plans.plans] if plans is not None else []
        self._members = [Session._of(core, model) for core in _core.open_sessions(requests, handles)]
        self._members[0]._check_overrides(requests[0].overrides)
        # Outputs are read from the arena that the members share before another member may run.
        lock = threading.Lock()
        for member in self._members:
            member._lock = lock

    @property
    def members(self) -> list[Session]:
        """The sessions, in the order of the extents, sizes or plans. A run of one overwrites what another one left."""
        return list(self._members)

    @property
    def arena(self) -> int:
        """Bytes of the arena that the members share."""
        return max(one.memory["arena"] for one in self._members)

    def find(self, inputs: Mapping[str, npt.ArrayLike]) -> Session:
        """Returns the first member whose inputs have the shapes of these arrays. Raises InvalidError if none has."""
        check_mapping("inputs", inputs, self._members[0].inputs)
        shapes = {name: shape_of(value) for name, value in inputs.items()}
        for member in self._members:
            infos = {info.name: info for info in member.inputs}
            if all(name in infos and _fits(shape, infos[name].shape, infos[name].is_bounded)
                   for name, shape in shapes.items()):
                return member
        shown = ", ".join(f"{name!r} has the shape {list(shape)}" for name, shape in shapes.items())
        raise InvalidError(f"there is no plan for these inputs: {shown}", self._model)

    def run(self, inputs: Mapping[str, npt.ArrayLike], **options: Any) -> dict[str, npt.NDArray[Any]]:
        """Runs the member that `find` returns. The arguments, the result and the exceptions are those of `Session.run`.

        With `copy=False`, the views are valid until the next run of any member.
        """
        return self.find(inputs).run(inputs, **options)

    def __repr__(self) -> str:
        return f"<lowtide.RangeSession of {self._model!r}: {len(self._members)} plans, arena {self.arena} bytes>"


def _fits(shape: tuple[int, ...], planned: tuple[int, ...], is_bounded: bool) -> bool:
    if len(shape) != len(planned):
        return False
    return shape == planned or (is_bounded and all(one <= most for one, most in zip(shape, planned)))

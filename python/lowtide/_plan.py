# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans of models."""
from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _core
from ._errors import InvalidError, read_text, write_text
from ._module import Example, Model, is_module, model_file
from ._picture import picture
from ._request import StrPath, bytes_of, give, is_second, read_dims, request_for, set_target

_BUFFERS = np.dtype([("name", object), ("kind", object), ("region", object), ("offset", np.int64), ("bytes", np.int64),
                     ("begin", np.int64), ("end", np.int64)])
_TENSORS = np.dtype([("name", object), ("dtype", object), ("shape", object), ("buffer", np.int64), ("region", object),
                     ("offset", np.int64), ("bytes", np.int64)])


class Plan:
    """When each operator of a model runs, and where each tensor is. Immutable.

    `plan` and `load_plan` make plans. A plan has been verified when `verified` is true.
    """

    def __init__(self, handle: _core.PlanHandle) -> None:
        self._handle = handle

    @property
    def arena(self) -> int:
        """Bytes of the arena, the sum over all regions."""
        return self._handle.arena

    @property
    def bound(self) -> int:
        """Bytes below which no plan of this kind can be. The arena is never below it."""
        return self._handle.bound

    @property
    def bound_name(self) -> str:
        """What proves the bound: "live_set", "search", "cut", "working_set" or "none"."""
        return self._handle.bound_name

    @property
    def bound_verified(self) -> bool:
        """Whether independent code confirms the bound (`check_bound=True`)."""
        return self._handle.is_bound_verified

    @property
    def proven_optimal(self) -> bool:
        """Whether the arena equals the bound and the memory of every operator is counted."""
        return self._handle.is_optimal

    @property
    def peak(self) -> int:
        """Bytes of the buffers that are live at the same time, at most. `bound <= peak <= arena`."""
        return self._handle.load

    @property
    def peak_as_given(self) -> int:
        """Bytes that are live at the same time in the order of the file, without any sharing."""
        return self._handle.load_as_given

    @property
    def verified(self) -> bool:
        """Whether the verifier has replayed this plan and found nothing. Of a plan from a file this is false."""
        return self._handle.is_verified

    @property
    def shortfall(self) -> int:
        """Bytes by which the plan exceeds its budget or its target; 0 if it fits."""
        return self._handle.shortfall

    @property
    def fits(self) -> bool:
        """Whether the plan fits its budget and its target. If `uncounted` has operators, a run may need more."""
        return self.shortfall == 0

    @property
    def uncounted(self) -> list[str]:
        """Operators whose own memory is not known and not counted."""
        return self._handle.uncounted

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self._handle.steps

    @property
    def execution(self) -> str:
        """When the steps may run: "sequence", "streams", "waves" or "dataflow"."""
        return self._handle.execution

    @property
    def model(self) -> str:
        """File name of the model, without folders."""
        return self._handle.model

    @property
    def target(self) -> str:
        """Name of the target."""
        return self._handle.target

    @property
    def dims(self) -> list[str]:
        """The bindings that the plan was made with: "batch=8", "x=[1,3,640,640]", "frames<=500"."""
        return self._handle.dims

    @property
    def notes(self) -> list[str]:
        """Remarks of the importer about the model. A plan from a file has none."""
        return self._handle.notes

    @property
    def buffers(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """The buffers in the arena, as rows of a structured array.

        Fields: name (of its largest tensor), kind, region, offset and bytes (in the region), begin and end (the buffer
        is live in the steps begin <= step < end).
        """
        return np.array(self._handle.buffers(), dtype=_BUFFERS)

    @property
    def offsets(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """The tensors in the arena, as rows of a structured array.

        Fields: name, dtype, shape (a list of extents), buffer (its number in the plan file), region, offset (bytes from
        the start of the region) and bytes.
        """
        return np.array([tuple(row) for row in self._handle.tensors()], dtype=_TENSORS)

    def to_json(self) -> str:
        """Returns the plan file, as `lowtide plan --output` writes it."""
        return self._handle.json()

    def save(self, path: StrPath) -> None:
        """Writes the plan file. Raises IoError."""
        write_text(pathlib.Path(path), self.to_json())

    def to_html(self) -> str:
        """Returns one self-contained page that shows where every buffer is and when."""
        return self._handle.html()

    def _repr_html_(self) -> str:
        return picture(self)

    def __repr__(self) -> str:
        proof = "optimal" if self.proven_optimal else f"bound {self.bound}"
        return f"<lowtide.Plan of {self.model!r}: arena {self.arena} bytes, {proof}, {self.steps} steps>"


def load_plan(path: StrPath) -> Plan:
    """Reads a plan file. It is not verified: use `verify`, or a Session, which verifies it.

    Raises MalformedError, InvalidError, OverLimitError, UnsupportedError or IoError.
    """
    path = pathlib.Path(path)
    return Plan(_core.read_plan(read_text(path), path.name))


def plan(
    model: Model,
    args: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    target: StrPath = "dense",
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    at_most: Mapping[str, int] | None = None,
    overrides: Iterable[str] = (),
    budget: int | str | None = None,
    order: str = "auto",
    order_effort: int | None = None,
    effort: int | None = None,
    views: bool = True,
    parts: bool = True,
    in_place: bool = True,
    load_time: bool = True,
    inputs: Literal["caller", "arena"] = "caller",
    outputs: Literal["arena", "caller"] = "arena",
    streams: int = 1,
    run: Literal["streams", "waves", "dataflow"] = "streams",
    check_bound: bool = False,
) -> Plan:
    """Plans a model, as `lowtide plan` does, and verifies the plan.

    Args:
        model: path of the ONNX file, or a torch.nn.Module. A module is exported in evaluation mode by
            `torch.onnx.export(dynamo=True)`, to a temporary file without the weights. It stays as it was.
        args, kwargs: of a module: one call of it, such as (x,), or x alone. Its inputs have the names of the parameters
            of `forward()`.
        dynamic_shapes: of a module: which extents stay open, as for torch.onnx.export, such as {"x": {0: "batch"}}.
        target: "dense", "cpu" (the kernels of this machine), or the path of a target file.
        threads: threads of a run, 1 to 256, for the target "cpu". None: 1, or 2 with several streams.
        dims: extents of symbols, such as {"batch": 8}.
        shapes: extents of inputs, such as {"image": [1, 3, 224, 224]}; -1 keeps the extent of the file.
        at_most: upper bounds of extents that depend on data or are open, such as {"frames": 500} for a symbol, and
            {"pos": 500} or {"pos[0]": 500} for a tensor. The plan holds for all sizes up to them, and a run that
            exceeds one raises OverLimitError.
        overrides: inputs that have a default value in the file, and get another one in each run.
        budget: the most RAM of a run, in bytes or as "64MiB" or "64MB" (docs/python.md). A plan that exceeds it has
            `fits == False`.
        order: a scheduling strategy; "auto" tries all of them.
        order_effort, effort: work units of the searches over orders and offsets. The same units give the same plan.
        views, parts, in_place, load_time: switches of `lowtide plan`, for comparisons.
        inputs, outputs: who holds them: the caller, or the arena.
        streams, run: how steps run at the same time.
        check_bound: also confirm the bound with independent code.

    Ctrl-C raises KeyboardInterrupt once the stage in progress has ended. Other Python threads run meanwhile.

    Raises:
        Error: the model or an option is refused. Each code has a subclass.
        ImportError: a module needs onnx and onnxscript.
    """
    with model_file(model, Example(args, kwargs, dynamic_shapes), with_weights=False) as path:
        request = request_for(path, dims, shapes, overrides, at_most)
        set_target(request, target, threads)
        give(request, budget=None if budget is None else bytes_of(budget, "budget"), order=order,
             order_effort=order_effort, effort=effort, views=views, parts=parts, in_place=in_place,
             load_time=load_time, streams=streams, run=run, check_bound=check_bound)
        request.inputs_in_arena = is_second(inputs, "inputs", "caller", "arena")
        request.outputs_at_caller = is_second(outputs, "outputs", "arena", "caller")
        return Plan(_core.plan(request))


@dataclass(frozen=True)
class Explanation:
    """Why a plan needs its peak."""

    text: str
    """The text of `lowtide explain`, without a paragraph about quantized models."""
    levels: list[dict[str, Any]]
    """One entry for the graph, then one for each body inside it.

    Keys: inside (the body, or None), step (of the peak), load_bytes, bound_bytes, bound_name, must_bytes (live at this
    step in every order), buffers (the largest first; keys bytes, must_bytes, use, tensors).
    """

    def __str__(self) -> str:
        return self.text


def explain(
    model: Model,
    args: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    target: StrPath = "dense",
    threads: int | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    at_most: Mapping[str, int] | None = None,
    overrides: Iterable[str] = (),
    order: str = "auto",
    order_effort: int | None = None,
    views: bool = True,
    parts: bool = True,
    in_place: bool = True,
    load_time: bool = True,
    top: int = 8,
) -> Explanation:
    """Plans a model, and explains where the peak is, why no order needs less, and what would lower it.

    Args:
        top: rows of each table in the text.

    The other arguments and the exceptions are those of `plan`.
    """
    if not 0 <= top < 2**31:
        raise InvalidError(f"top is {top}; give 0 or a positive number")
    with model_file(model, Example(args, kwargs, dynamic_shapes), with_weights=False) as path:
        request = request_for(path, dims, shapes, overrides, at_most)
        set_target(request, target, threads)
        give(request, order=order, order_effort=order_effort, views=views, parts=parts, in_place=in_place,
             load_time=load_time)
        text, levels = _core.explain(request, top)
    # The folder of an exported module is gone.
    return Explanation(text.replace(f"{os.path.dirname(path)}{os.sep}", "") if is_module(model) else text, levels)


@dataclass(frozen=True)
class Violation:
    """Something that is wrong with a plan."""

    kind: str
    """Stable name, such as "overlap"."""
    message: str
    """One line that names step, node, tensors and bytes."""
    step: int | None
    """The step, if there is one."""
    body: str
    """The graph inside a node, or ""."""


def verify(model: StrPath, plan: Plan | StrPath, *, dims: Mapping[str, int] | None = None,
           shapes: Mapping[str, Sequence[int]] | None = None) -> list[Violation]:
    """Replays a plan from first principles, with code that no planner uses.

    Returns every violation. An empty list means that the plan is correct for the model. `dims` and `shapes` add to
    the bindings that the plan names.

    Raises:
        Error: the model or the plan file cannot be read.
    """
    plan = plan if isinstance(plan, Plan) else load_plan(os.fspath(plan))
    planned = read_dims(plan.dims)
    request = request_for(model, {**planned.dims, **(dims or {})}, {**planned.shapes, **(shapes or {})},
                          planned.overrides, planned.at_most)
    return [Violation(*row) for row in _core.verify(request, plan._handle)]

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models."""
from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import InvalidError, UnsupportedError
from ._module import Example, Model, array_of, is_module, model_file, name_of, shape_of, type_of
from ._plan import Plan, load_plan
from ._request import StrPath, bytes_of, give, is_second, read_dims, request_for, set_target

_TYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
    "i8": np.int8, "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
    "c64": np.complex64, "c128": np.complex128,
}
_NAMES = {**{str(np.dtype(one)): name for name, one in _TYPES.items()}, "bfloat16": "bf16"}


def _numpy_type(name: str) -> np.dtype[Any] | None:
    """Returns the numpy type of an element type. bf16 needs the package ml_dtypes."""
    if name == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            return None
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    return np.dtype(_TYPES[name]) if name in _TYPES else None


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a model."""

    name: str
    dtype: np.dtype[Any]
    """In the byte order of the machine."""
    shape: tuple[int, ...]
    """Extents. If `is_bounded`, they are upper bounds."""
    bytes: int
    """Dense size."""
    is_bounded: bool
    """Whether an extent depends on data. The extents of a result are those of its run."""
    in_arena: bool
    """Whether its bytes are in the arena. Such an input is copied there by `run`."""


class Executable:
    """A model that is ready to run, for any number of sessions. They share its plan, kernels and packed weights.

        model = lowtide.Executable("model.onnx")
        sessions = [model.session() for _ in range(4)]  # one per thread
    """

    def __init__(self, model: Model, plan_or_args: Any = None, /, *, plan: Plan | StrPath | None = None,
                 args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
                 synthetic: int | None = None, threads: int | None = None, system_threads: int | None = None,
                 inputs: Mapping[str, npt.ArrayLike] | None = None, dims: Mapping[str, int] | None = None,
                 shapes: Mapping[str, Sequence[int]] | None = None, at_most: Mapping[str, int] | None = None,
                 overrides: Iterable[str] = (), outputs: Literal["arena", "caller"] = "arena",
                 budget: int | str | None = None) -> None:
        """Prepares a model, with the arguments of `Session`."""
        self._model = name_of(model)
        plan, args = _plan_and_args(model, plan_or_args, plan, args)
        if plan is not None and budget is not None:
            raise InvalidError("a given plan has its budget; omit one of plan and budget", self._model)
        with model_file(model, Example(args, kwargs, dynamic_shapes), with_weights=True) as path:
            request = session_request(path, plan, dims, shapes, overrides, at_most)
            if inputs is not None:
                given = _shapes_of(inputs)
                request.given_types = _types_of(inputs)
                request.given = given if plan is None else {}
            set_target(request, "cpu", threads)
            give(request, synthetic=synthetic, system_threads=system_threads,
                 budget=None if budget is None else bytes_of(budget, "budget"))
            request.outputs_at_caller = is_second(outputs, "outputs", "arena", "caller")
            self._core = _core.ExecutableHandle(request, None if plan is None else plan._handle)
        self._overrides = request.overrides

    @property
    def plan(self) -> Plan:
        """The plan that runs."""
        return Plan(self._core.plan())

    @property
    def memory(self) -> dict[str, int]:
        """`Session.memory`. Each session has its own "arena" and "session"; the weights are there once."""
        return self._core.memory()

    def session(self) -> Session:
        """Returns a new session, with an arena of its own. `Session.clone` makes sessions that share one."""
        session = Session._of(_core.SessionHandle(self._core), self._model)
        session._check_overrides(self._overrides)
        return session

    def __repr__(self) -> str:
        return f"<lowtide.Executable of {self._model!r}: arena {self.memory['arena']} bytes>"


class Session:
    """Runs a model in one arena, by a verified plan.

    The weights are mapped from the file. The arena is allocated here once, and has the size that the plan states. One
    thread at a time runs a session; another one waits. Give each thread a session of its own to run them together: a
    `clone` shares everything but the arena.

        session = lowtide.Session("model.onnx")
        y = session.run({"x": x})["y"]
    """

    def __init__(self, model: Model, plan_or_args: Any = None, /, *, plan: Plan | StrPath | None = None,
                 args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
                 synthetic: int | None = None, threads: int | None = None, system_threads: int | None = None,
                 inputs: Mapping[str, npt.ArrayLike] | None = None, dims: Mapping[str, int] | None = None,
                 shapes: Mapping[str, Sequence[int]] | None = None, at_most: Mapping[str, int] | None = None,
                 overrides: Iterable[str] = (), outputs: Literal["arena", "caller"] = "arena",
                 budget: int | str | None = None) -> None:
        """Prepares a model.

        Args:
            model: path of the ONNX file, or of a file that `lowtide prepare` wrote, which has its plan and threads. If
                it has plans for several sizes, `dims`, `shapes` or `inputs` choose one. RangeSession opens all of them.
                Or a torch.nn.Module, which is exported as by `lowtide.plan`, with its weights as they are now. They
                are in a temporary file, which is mapped and then removed.
            plan_or_args: `plan` of a file, or `args` of a module.
            plan: a plan of this model, or the path of a plan file. It is verified. None: the model is planned for the
                kernels of this machine.
            args, kwargs, dynamic_shapes: of a module, as for `lowtide.plan`.
            synthetic: a seed. Constants whose file is absent get values that follow from it.
            threads: threads of a run, 1 to 256. None: those of the plan, otherwise 1. The results do not depend on it.
            system_threads: how many threads of the system run these, with the calling one. With 1, none is started.
                None: no more than there are processors.
            inputs: arrays by name, such as those of the first run. Their shapes bind the sizes that the model leaves
                open, and their types are those of inputs of a NetDef, which states none. They are not kept. A plan and
                a prepared file with one plan have their sizes, so the shapes have no effect with them.
            dims, shapes, at_most, overrides: the bindings of `lowtide.plan`. Those of the given plan are used, too.
            outputs: "caller" for outputs in memory of the caller, as in `lowtide.plan`. A given plan decides itself.
            budget: the most RAM of a run, in bytes or as "64MiB" or "64MB": the arena, and what the caller holds. If
                the plan exceeds it, nothing is prepared.

        Ctrl-C raises KeyboardInterrupt. Other Python threads run meanwhile.

        Raises:
            MismatchError: the plan is for another model or machine, or is wrong.
            UnsupportedError: the model has operators without kernel; the message lists them.
            OverLimitError: no plan was found that keeps the budget; the message has the missing bytes.
            Error: the model is refused for another reason.
            ImportError: a module needs onnx and onnxscript.
        """
        executable = Executable(model, plan_or_args, plan=plan, args=args, kwargs=kwargs, dynamic_shapes=dynamic_shapes,
                                synthetic=synthetic, threads=threads, system_threads=system_threads, inputs=inputs,
                                dims=dims, shapes=shapes, at_most=at_most, overrides=overrides, outputs=outputs,
                                budget=budget)
        self._set_up(_core.SessionHandle(executable._core), executable._model)
        self._check_overrides(executable._overrides)

    @classmethod
    def _of(cls, core: _core.SessionHandle, model: StrPath) -> Session:
        """Returns a session that has been opened."""
        session = cls.__new__(cls)
        session._set_up(core, model)
        return session

    def _set_up(self, core: _core.SessionHandle, model: StrPath) -> None:
        self._lock = threading.Lock()
        self._core = core
        self._inputs = {one.name: one for one in _infos(self._core.inputs, "input")}
        self._outputs = _infos(self._core.outputs, "output")
        self._at_caller = [replace(one, name=one.name.removesuffix(_AT_CALLER))
                           for one in _infos(self._core.states, "output")]
        self._given: set[str] = set()
        self._copied_inputs: dict[str, npt.NDArray[np.uint8]] = {}  # the bytes of those in the arena
        self._model = os.fspath(model)

    def _check_overrides(self, overrides: Iterable[str]) -> None:
        for name in overrides:
            if name not in self._inputs:
                known = ", ".join(repr(one) for one in self._core.default_inputs) or "none"
                raise InvalidError(f"the model has no input {name!r} that a caller may give; the inputs with a default "
                                   f"value: {known}", self._model)

    @property
    def inputs(self) -> list[TensorInfo]:
        """The inputs, in the order of the model."""
        return list(self._inputs.values())

    @property
    def outputs(self) -> list[TensorInfo]:
        """The outputs, in the order of the model. Those in memory of the caller follow the others."""
        return [*self._outputs, *self._at_caller]

    @property
    def plan(self) -> Plan:
        """The plan that runs."""
        return Plan(self._core.plan())

    @property
    def memory(self) -> dict[str, int]:
        """Bytes by use: "arena", "session" (tables outside of the arena), "weights_mapped" and "weights_copied"."""
        return self._core.memory()

    def run(self, inputs: Mapping[str, npt.ArrayLike] | None = None, *, copy: bool = True,
            out: Mapping[str, npt.NDArray[Any]] | None = None) -> dict[str, npt.NDArray[Any]]:
        """Runs the model once, without the GIL.

        Args:
            inputs: arrays, or tensors of PyTorch on the CPU, by name. They are read where they are and never copied, so
                each must be C-contiguous and have the type and the shape of the input. An input that is not given
                keeps the array of an earlier run, which the session keeps in memory until another one replaces it.
            copy: False returns read-only views of the arena instead of copies. They are valid until the next run, which
                overwrites them. They keep the arena in memory.
            out: arrays for outputs, by name, with the type and the shape of the output. With `outputs="caller"`, the
                run writes them without a copy, and an output without array gets a new one. Otherwise the output is
                copied there.

        Returns: the outputs by name.

        Ctrl-C raises KeyboardInterrupt when the run has ended.

        Raises:
            InvalidError: an array is missing, unknown, of another type or shape, not contiguous, or overlaps another
                one or the arena.
            MismatchError: the file of the weights has changed.
            Error: the run failed; `place` names the node. The session can run again.
        """
        given = self._check_out({} if out is None else out)
        with self._lock:
            self._core.release_states()
            self._bind_all({} if inputs is None else inputs)
            at_caller = {}
            for info in self._at_caller:
                array = given.get(info.name)
                array = np.empty(info.shape, info.dtype) if array is None else array
                self._core.bind_state(info.name + _AT_CALLER, array.reshape(-1).view(np.uint8))
                at_caller[info.name] = array
            self._core.run()
            results = {}
            for at, info in enumerate(self._outputs):
                array = given.get(info.name)
                results[info.name] = (self._output(at, info, copy) if array is None
                                      else _copied(self._output(at, info, False), array, info.name))
            return {**results, **at_caller}

    def clone(self, *, share_arena: bool = False) -> Session:
        """Returns another session of the same model, which shares its plan, kernels and weights.

        It has none of the arrays that this session was given.

        Args:
            share_arena: the new session runs in the arena of this one. Then one of the sessions of an arena runs at a
                time, and others wait. Each run overwrites what the one before has left there, also views of outputs
                (`copy=False`).
        """
        other = Session._of(self._core.clone(share_arena), self._model)
        if share_arena:
            other._lock = self._lock
        return other

    def stop(self) -> None:
        """Ends the run in progress with an InvalidError before its next step. Any thread may call it."""
        self._core.stop()

    def _check_out(self, out: Mapping[str, npt.NDArray[Any]]) -> Mapping[str, npt.NDArray[Any]]:
        check_mapping("out", out, self.outputs)
        infos = {info.name: info for info in self.outputs}
        for name, array in out.items():
            if name not in infos:
                known = ", ".join(repr(one) for one in infos)
                raise InvalidError(f"the model has no output {name!r}; its outputs are {known}", self._model)
            info = infos[name]
            if not isinstance(array, np.ndarray):
                raise TypeError(f"output {name!r} goes to an array of numpy, not to a {type(array).__name__}")
            if array.dtype != info.dtype or (array.shape != info.shape and not info.is_bounded):
                raise InvalidError(f"the array is {array.dtype} {array.shape}, but the model declares {info.dtype} "
                                   f"{info.shape}", f"output {name!r}")
            flags = array.flags
            if not (flags.c_contiguous and flags.aligned and flags.writeable):
                raise InvalidError("the array must be C-contiguous, aligned and writable", f"output {name!r}")
        for (first, one), (second, other) in itertools.combinations(out.items(), 2):
            if np.may_share_memory(one, other):  # exact for C-contiguous arrays
                raise InvalidError(f"the array overlaps that of output {first!r}; give another one",
                                   f"output {second!r}")
        return out

    def _bind_all(self, inputs: Mapping[str, npt.ArrayLike]) -> None:
        check_mapping("inputs", inputs, self.inputs)
        for name, value in inputs.items():
            self._bind(name, value)
            self._given.add(name)
        if missing := [info for name, info in self._inputs.items() if name not in self._given]:
            listed = ", ".join(f"{info.name!r} ({info.dtype} {info.shape})" for info in missing)
            raise InvalidError(f"inputs are missing; give arrays for {listed}", self._model)
        # What a run leaves in the arena is undefined.
        for name, raw in self._copied_inputs.items():
            np.copyto(self._core.arena_input(name), raw)

    def _bind(self, name: str, value: npt.ArrayLike) -> None:
        info = self._inputs.get(name)
        if info is None:
            known = ", ".join(repr(one) for one in self._inputs)
            hint = (f"; it has a default value, which the plan uses: give overrides=[{name!r}]"
                    if name in self._core.default_inputs else "")
            raise InvalidError(f"the model has no input {name!r}{hint}; its inputs are {known}", self._model)
        place = f"input {name!r}"
        array = array_of(value, place)
        if array.dtype != info.dtype:
            raise InvalidError(f"the array has the type {array.dtype}, but the model declares {info.dtype}", place)
        if not array.flags.c_contiguous:
            raise InvalidError(f"the array is not C-contiguous (strides {array.strides}); "
                               "pass numpy.ascontiguousarray(array)", place)
        if info.in_arena:
            if array.shape != info.shape:
                raise InvalidError(f"the array has the shape {array.shape}, but the model declares {info.shape}", place)
            self._copied_inputs[name] = array.reshape(-1).view(np.uint8)
            return
        if not array.flags.aligned:
            raise InvalidError(f"the array is not aligned to {array.dtype.itemsize} bytes; pass array.copy()", place)
        self._core.bind_input(name, _NAMES[str(info.dtype)], list(array.shape), array.reshape(-1).view(np.uint8))

    def _output(self, at: int, info: TensorInfo, copy: bool) -> npt.NDArray[Any]:
        extents, raw = self._core.output(at)
        view = raw.view(info.dtype).reshape(extents)
        return view.copy() if copy else view

    def __repr__(self) -> str:
        return f"<lowtide.Session of {self._model!r}: arena {self.memory['arena']} bytes>"


def session_request(model: StrPath, plan: Plan | None, dims: Mapping[str, int] | None,
                    shapes: Mapping[str, Sequence[int]] | None, overrides: Iterable[str],
                    at_most: Mapping[str, int] | None) -> _core.Request:
    """Returns a request with these bindings and those of the plan."""
    planned = read_dims(plan.dims if plan is not None else [])
    return request_for(model, {**planned.dims, **(dims or {})}, {**planned.shapes, **(shapes or {})},
                       [*planned.overrides, *overrides], {**planned.at_most, **(at_most or {})})


def _shapes_of(inputs: Mapping[str, npt.ArrayLike]) -> dict[str, list[int]]:
    if not isinstance(inputs, Mapping):
        raise TypeError(f"inputs is a {type(inputs).__name__}; give arrays by name, such as {{'x': array}}")
    return {name: list(shape_of(value)) for name, value in inputs.items()}


def _plan_and_args(model: Model, plan_or_args: Any, plan: Plan | StrPath | None, args: Any) -> tuple[Plan | None, Any]:
    """The plan, and the arguments of a module, of which one may be the second argument."""
    if plan_or_args is not None:
        is_plan = not is_module(model)
        if (plan if is_plan else args) is not None:
            raise InvalidError(f"{'plan' if is_plan else 'args'} is given twice", name_of(model))
        if not is_plan and isinstance(plan_or_args, Plan):
            raise InvalidError("the second argument is a plan; give the args of the module there, and plan=...",
                               name_of(model))
        plan, args = (plan_or_args, args) if is_plan else (plan, plan_or_args)
    return plan if plan is None or isinstance(plan, Plan) else load_plan(plan), args


def _types_of(inputs: Mapping[str, npt.ArrayLike]) -> dict[str, str]:
    """Element types as Lowtide names them. Others are left out, and are refused when the input is bound."""
    types = {name: type_of(value) for name, value in inputs.items()}
    return {name: _NAMES[one] for name, one in types.items() if one in _NAMES}


def check_mapping(argument: str, given: object, infos: Sequence[TensorInfo]) -> None:
    """Raises TypeError if arrays are not given by name."""
    if not isinstance(given, Mapping):
        name = infos[0].name if infos else "name"
        raise TypeError(f"{argument} is a {type(given).__name__}; give arrays by name, such as {{{name!r}: array}}")


_AT_CALLER = " (caller)"  # ends the name of a state that stands for an output


def _copied(result: npt.NDArray[Any], array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Copies a result to the array of the caller."""
    if result.shape != array.shape:
        raise InvalidError(f"the result has the shape {result.shape}, but the array has {array.shape}",
                           f"output {name!r}")
    np.copyto(array, result)
    return array


def _infos(ports: Sequence[tuple[str, str, list[int], int, bool, bool]], kind: str) -> list[TensorInfo]:
    infos = []
    for name, dtype, extents, size, is_bounded, in_arena in ports:
        numpy_type = _numpy_type(dtype)
        if numpy_type is None:
            raise UnsupportedError(f"the element type {dtype} has no numpy type", f"{kind} {name!r}")
        infos.append(TensorInfo(name, numpy_type, tuple(extents), size, is_bounded, in_arena))
    return infos

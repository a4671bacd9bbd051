# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch in place of model files: an export to a temporary ONNX file, which exists while it is read."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import sys
import tempfile
import traceback
import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import Error, InvalidError, IoError, UnsupportedError
from ._request import StrPath

if TYPE_CHECKING:
    import torch

Model: TypeAlias = "StrPath | torch.nn.Module"

_INLINE_BYTES = 1024  # smaller constants stay in the model, because shapes may be computed from them
_ALIGNMENT = 64  # of constants in the file of weights


class Example(NamedTuple):
    """How a module is called, and which extents may differ in other calls."""

    args: Any = None
    kwargs: Mapping[str, Any] | None = None
    dynamic_shapes: Any = None

    @property
    def is_given(self) -> bool:
        """Whether there is anything. A path has none of it."""
        return any(one is not None for one in self)


def is_module(model: object) -> bool:
    """Returns whether this is a torch.nn.Module. If nothing has imported torch, it is not."""
    nn = sys.modules.get("torch.nn")
    return nn is not None and isinstance(model, nn.Module)


def name_of(model: Model) -> str:
    """Returns the name for messages: the path of a file, or the class of a module."""
    return type(model).__name__ if is_module(model) else os.fspath(model)


@contextlib.contextmanager
def model_file(model: Model, example: Example, *, with_weights: bool) -> Iterator[StrPath]:
    """Gives the path of a model. A module is exported for this, and the files are removed at the end.

    Args:
        with_weights: also writes the larger constants of a module. Plans do not need them.

    Raises:
        ImportError: the export needs a package that is not installed.
        UnsupportedError: the module cannot be exported.
        IoError: the file cannot be written.
    """
    if not is_module(model):
        if example.is_given:
            raise InvalidError("args, kwargs and dynamic_shapes belong to a torch.nn.Module, and this is a file; "
                               "inputs, dims, shapes and at_most give the sizes of a file", name_of(model))
        yield model
        return
    program = _export(model, example)
    with tempfile.TemporaryDirectory(prefix="lowtide-", ignore_cleanup_errors=True) as folder:
        path = pathlib.Path(folder) / f"{name_of(model)}.onnx"
        try:
            _write(program.model, path, with_weights)
        except OSError as error:
            raise IoError(f"its export cannot be written to {folder}: {error.strerror}; TMPDIR names another folder",
                          name_of(model)) from error
        del program  # from here on, the weights are in the module and in the file
        try:
            yield path
        except Error as error:  # the path means nothing to the caller
            raise type(error)(error.message.replace(f"{folder}/", ""), error.place.replace(f"{folder}/", "")) from error


def _export(module: Any, example: Example) -> Any:
    """Returns the torch.onnx.ONNXProgram of a module in evaluation mode. The module stays as it was."""
    import torch

    name = name_of(module)
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{name} is a torch.nn.Module, and torch.onnx needs the packages onnx and onnxscript; "
                          f"pip install onnx onnxscript ({error})") from error
    args = () if example.args is None else example.args
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    training = {one: one.training for one in module.modules()}
    try:
        module.eval()
        with torch.no_grad():
            # To optimize, the exporter reads constants.
            program = torch.onnx.export(module, args, kwargs=dict(example.kwargs or {}), dynamo=True, verbose=False,
                                        dynamic_shapes=example.dynamic_shapes,
                                        optimize=all(map(_has_values, module.state_dict().values())))
    except Exception as error:
        raise UnsupportedError(*_reason_of(error, module)) from error
    finally:
        for one, was in training.items():
            one.training = was
    return program


def _reason_of(error: BaseException, module: Any) -> tuple[str, str]:
    """What torch.onnx says about the innermost cause, and the line of the module that it is about."""
    causes = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(causes[-1])).strip()
    reason = text.splitlines()[0] if text else type(causes[-1]).__name__
    traces = [text, *(trace for one in causes for trace in _traces_of(one))]
    found = [lines[-1] for trace in traces if (lines := _LINE.findall(trace))]
    place = ".".join([type(module).__name__, *_part_of(causes[-1], module)])
    if found:
        path, line, function, code = found[0]
        place += f": {path}:{line} in {function}: {code.strip()}"
    return f"torch.onnx cannot export it: {reason}", place


_LINE = re.compile(r'File "([^"]+)", line (\d+), in (\w+)\n *([^\n]*)')


def _traces_of(error: BaseException) -> Iterator[str]:
    """Traces of the lines of modules: where the exporter failed on a node, or where `forward()` raised."""
    import torch

    forward = []
    for summary, (frame, _) in zip(traceback.extract_tb(error.__traceback__), traceback.walk_tb(error.__traceback__)):
        node = frame.f_locals.get("node")
        if isinstance(node, torch.fx.Node) and node.meta.get("stack_trace"):
            yield node.meta["stack_trace"]
        is_own = not summary.filename.startswith((os.path.dirname(torch.__file__), __file__))
        if is_own and is_module(_first_argument(frame)):
            forward.append(summary)
    yield "".join(traceback.format_list(forward))


def _part_of(error: BaseException, module: Any) -> list[str]:
    """The name of the innermost module whose code raised, or nothing."""
    names = {id(one): name for name, one in module.named_modules()}
    inside = [names.get(id(_first_argument(frame)), "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [name for name in inside if name][-1:]


def _first_argument(frame: types.FrameType) -> Any:
    return frame.f_locals.get(next(iter(frame.f_code.co_varnames), ""))


def _write(model: Any, path: pathlib.Path, with_weights: bool) -> None:
    """Writes an onnx_ir.Model. Its bytes do not depend on `with_weights`, so both have the same plan.

    The constants are written one after another from where they are, so they are never in memory twice.
    """
    import onnx_ir

    location = path.name + ".data"
    end = 0
    with contextlib.ExitStack() as files:
        data = files.enter_context(open(path.with_name(location), "wb")) if with_weights else None
        for graph in model.graphs():
            for value in graph.initializers.values():
                tensor = value.const_value
                if tensor is None or tensor.dtype == onnx_ir.DataType.STRING:
                    continue
                has_values = _has_values(getattr(tensor, "raw", None))
                if tensor.nbytes <= _INLINE_BYTES and has_values:
                    continue
                if data is not None and not has_values:
                    raise InvalidError("the tensor has no values; a module on the device meta or under FakeTensorMode "
                                       "can only be planned", f"{path.stem}: {value.name}")
                begin = (end + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
                if data is not None:
                    data.write(bytes(begin - end))
                    tensor.tofile(data)
                end = begin + tensor.nbytes
                value.const_value = onnx_ir.ExternalTensor(location, begin, tensor.nbytes, tensor.dtype,
                                                           shape=tensor.shape, name=value.name, base_dir=path.parent)
    onnx_ir.save(model, path)


def _has_values(tensor: Any) -> bool:
    """Whether a tensor of PyTorch has memory. One under FakeTensorMode or on the device meta has none."""
    from torch._subclasses.fake_tensor import FakeTensor

    return not isinstance(tensor, FakeTensor) and not getattr(tensor, "is_meta", False)


def array_of(value: npt.ArrayLike, place: str) -> npt.NDArray[Any]:
    """Returns the array of an input. A tensor of PyTorch on the CPU keeps its memory."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return np.asarray(value)
    tensor: Any = value
    if tensor.device.type != "cpu":
        raise InvalidError(f"the tensor is on the device {tensor.device}; pass tensor.cpu()", place)
    if tensor.layout != torch.strided:
        raise InvalidError(f"the tensor has the layout {tensor.layout}; pass tensor.to_dense()", place)
    if not tensor.is_contiguous():
        raise InvalidError(f"the tensor is not contiguous (strides {tuple(tensor.stride())}); "
                           "pass tensor.contiguous()", place)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        array: npt.NDArray[Any] = tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    else:
        array = tensor.numpy()
    return array


def shape_of(value: npt.ArrayLike) -> tuple[int, ...]:
    """Returns the extents of an input. The tensor may be on any device."""
    return tuple(np.shape(value))


def type_of(value: npt.ArrayLike) -> str:
    """Returns the element type of an input, such as "float32". The tensor may be on any device."""
    dtype = getattr(value, "dtype", None)
    return str(np.asarray(value).dtype if dtype is None else dtype).removeprefix("torch.")

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The operators of one training step, as autograd runs them."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils import _pytree as pytree

from .._errors import InvalidError, UnsupportedError
from ._absent_cuda import operators_of_cuda
from ._device import CPU, can_record, device_of, is_host_number, present_device
from ._places import PLACE, named_place, place_of, place_of_call, place_of_error
from ._problem import BACKWARD, FORWARD
from ._units import has_layout_of, is_random, storage_of, values_of

LossFunction = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Captured:
    """Forward and backward pass of a module as one graph of ATen operators. In-place operators are as they are."""

    graph: torch.fx.GraphModule
    """Its placeholders are the parameters, the buffers, the tensors of the example, and the scale of the loss if it is
    scaled, in this order. It returns the loss, and the gradient of each parameter, or None."""
    parameters: dict[str, torch.nn.Parameter]
    """Those that a step updates, by name; of tied ones the first name. They require gradients."""
    constants: dict[str, torch.Tensor]
    """Frozen parameters and buffers, by name."""
    modules: dict[torch.fx.Node, str]
    """The path of the module that each operator of the forward pass is from, such as "blocks.0.conv"."""
    phases: dict[torch.fx.Node, str]
    """The pass that each operator is from. What a checkpoint runs again is of the backward pass."""
    device: torch.device = CPU
    """Where the step runs."""
    recorded: torch.device = CPU
    """The device of the tensors of the graph. It is the CPU for a step of CUDA that only is estimated."""

    def holder_of(self) -> dict[str, torch.fx.Node]:
        """The placeholder of each parameter, by the name of the parameter."""
        holders = (node for node in self.graph.graph.nodes if node.op == "placeholder")
        return dict(zip(self.parameters, holders, strict=False))


@dataclass
class _Recorded:
    """What is noted of nodes while a step is recorded, by their names."""

    places: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    """The module, and the line of the user's code."""
    phases: dict[str, str] = field(default_factory=dict)
    phase: str = FORWARD
    """The pass that is recorded now."""


def capture(module: torch.nn.Module, loss_fn: LossFunction | None, example: tuple[Any, ...], *,
            is_scaled: bool = False, device: torch.device | None = None) -> Captured:
    """Records one step on tensors without memory. The module, its random state and its buffers stay as they are.

    Args:
        module: in training mode, or not, as the step will be.
        loss_fn: takes the output of the module and the last entry of the example. None: the module returns the loss.
        example: what a step takes: the inputs of the module, and the target if there is a `loss_fn`.
        is_scaled: gradients are those of the loss times a number.
        device: where the step would run. None: where the parameters are.

    Without a GPU, a step of CUDA is recorded as if its tensors were on the CPU, because autograd asks for one.

    Raises:
        InvalidError: the loss is not one number, or no parameter requires a gradient.
        UnsupportedError: tensors are on several devices or on one for which steps are not planned, a parameter has
            hooks, or the step depends on values of tensors, as with `.item()`.
    """
    parameters = {name: one for name, one in module.named_parameters() if one.requires_grad}
    frozen = {name: one for name, one in module.named_parameters() if not one.requires_grad}
    constants: dict[str, torch.Tensor] = {**frozen, **dict(module.named_buffers())}
    if not parameters:
        raise InvalidError("no parameter of the module requires a gradient")
    leaves, spec = pytree.tree_flatten(tuple(example))
    inputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def step(trained: list[torch.Tensor], fixed: list[torch.Tensor], given: list[torch.Tensor],
             scales: list[torch.Tensor]) -> Any:
        tracked = [one.detach().requires_grad_() for one in trained]
        tensors = iter(given)
        batch = pytree.tree_unflatten([next(tensors) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves],
                                      spec)
        state = {**dict(zip(parameters, tracked, strict=True)), **dict(zip(constants, fixed, strict=True))}
        # The backward pass is inside as well, because checkpoints run the module again there.
        with _reparametrize_module(module, state, tie_weights=True):
            loss = _loss_of(module, loss_fn, batch)
            scaled = loss * scales[0] if scales else loss
            recorded.phase = BACKWARD
            gradients = torch.autograd.grad(scaled, tracked, allow_unused=True)
            recorded.phase = FORWARD
            _write_back(module, state)
            recorded.phase = BACKWARD
        return [loss.detach(), *_own_gradients(gradients, tracked, [*trained, *fixed, *given, *scales])]

    _check_hooks(parameters)
    here = checked_device({**parameters, **constants}, inputs)
    device = here if device is None or device.type == here.type else device
    given = [list(parameters.values()), list(constants.values()), inputs]
    if not can_record(here):
        given, here = _on_cpu(given), CPU
    recorded = _Recorded()
    setters: list[str] = []
    operators = operators_of_cuda() if (here, device.type) == (CPU, "cuda") else nullcontext()
    with _named_modules(module, recorded), _noted_setters(setters, device), torch.enable_grad(), operators:
        scales = [given[0][0].detach().new_ones((), dtype=torch.float32)] if is_scaled else []
        graph = _traced(module, step, *given, scales)
    _check_setters(setters, graph)
    _copy_constants(graph)
    modules = _noted_modules(module, graph, recorded.places)
    phases = {node: recorded.phases[node.name] for node in graph.graph.nodes if node.name in recorded.phases}
    check_nodes(graph, here)
    return Captured(graph, parameters, constants, modules, phases, device, here)


def _noted_modules(module: torch.nn.Module, graph: torch.fx.GraphModule,
                   recorded: dict[str, tuple[str | None, str]]) -> dict[torch.fx.Node, str]:
    """Notes at each node where it is from, and returns the paths of their modules."""
    modules: dict[torch.fx.Node, str] = {}
    for node in graph.graph.nodes:
        path, line = recorded.get(node.name, (None, ""))
        if path is not None:
            modules[node] = path
        if path or line:
            node.meta[PLACE] = named_place(module, path or "", line)
    return modules


def _loss_of(module: torch.nn.Module, loss_fn: LossFunction | None, batch: tuple[Any, ...]) -> torch.Tensor:
    loss = module(*batch) if loss_fn is None else loss_fn(module(*batch[:-1]), batch[-1])
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        shape = tuple(loss.shape) if isinstance(loss, torch.Tensor) else type(loss).__name__
        raise InvalidError(f"the loss is {shape}; return one number, such as the mean over the batch")
    if not loss.requires_grad:
        raise InvalidError("the loss depends on no parameter that requires a gradient; it may be detached")
    return loss


def _own_gradients(gradients: Sequence[torch.Tensor | None], parameters: list[torch.Tensor],
                   given: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Gradients as backward() leaves them in `.grad`: each with bytes of its own, in the layout of its parameter."""
    taken = {storage_of(one) for one in given}
    own: list[torch.Tensor | None] = []
    for gradient, parameter in zip(gradients, parameters, strict=True):
        if gradient is not None:
            if storage_of(gradient) in taken or not has_layout_of(gradient, parameter):
                with torch.no_grad():
                    gradient = torch.empty_like(parameter.detach()).copy_(gradient)
            taken.add(storage_of(gradient))
        own.append(gradient)
    return own


def _copy_constants(graph: torch.fx.GraphModule) -> None:
    """Gradients that are tensors from outside, which a backward() of the user returned, become copies of them."""
    outside = {storage_of(one) for node in graph.graph.find_nodes(op="get_attr") for one in values_of(node)}
    output = next(iter(graph.graph.find_nodes(op="output")))
    loss, *gradients = output.args[0]  # type: ignore[misc]
    own: list[Any] = [loss]
    for gradient in gradients:
        if isinstance(gradient, torch.fx.Node) and any(storage_of(one) in outside for one in values_of(gradient)):
            with graph.graph.inserting_before(output):
                copy = graph.graph.call_function(torch.ops.aten.clone.default, (gradient,))
            copy.meta["val"] = gradient.meta["val"].clone()
            gradient = copy
        own.append(gradient)
    output.args = (own,)
    graph.recompile()


def _write_back(module: torch.nn.Module, state: dict[str, torch.Tensor]) -> None:
    """What forward() assigned to a buffer, as in `self.mean = 0.9 * self.mean`, is written into the buffer."""
    for name, given in state.items():
        path, _, attribute = name.rpartition(".")
        present = getattr(module.get_submodule(path), attribute)
        if present is given:
            continue
        if not isinstance(present, torch.Tensor) or (present.shape, present.dtype) != (given.shape, given.dtype):
            raise UnsupportedError(f"forward() assigns another kind of value to {name!r}; write into the buffer "
                                   "instead, such as with copy_()")
        with torch.no_grad():
            given.copy_(present)


def checked_device(held: dict[str, torch.Tensor], inputs: Sequence[torch.Tensor]) -> torch.device:
    """The one device of tensors by name and of others. Numbers may be on the CPU, whatever the device is.

    Raises:
        UnsupportedError: they are on several devices, or on one for which steps are not planned.
    """
    named = [*((f"{name!r}", one) for name, one in held.items()), *(("a tensor of the batch", one) for one in inputs)]
    device = present_device(one for _, one in named)
    first = next((name for name, one in named if not is_host_number(one)), "")
    if device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"{first} is on the device {device}, and steps are planned on the CPU and on CUDA; move "
                               "the module and the batch to one of them")
    for name, one in named:
        if one.device != device and not is_host_number(one):
            raise UnsupportedError(f"{name} is on the device {one.device}, and {first} on {device}; a step is planned "
                                   f"on one device: move the module and the batch there, as with .to({str(device)!r})")
    return device


def check_nodes(graph: torch.fx.GraphModule, device: torch.device) -> None:
    """Raises UnsupportedError if an operator makes tensors on a third device, or random numbers on the CPU for another
    one."""
    for node in graph.graph.nodes:
        places = {one.device for one in values_of(node) if one.device.type != "meta"}
        for other in places - {device, CPU}:
            raise UnsupportedError(f"{node.name} makes a tensor on {other}, and the step is on {device}; a step is "
                                   "planned on one device: make it there", place_of(node))
        if is_random(node) and places and device not in places:  # kernels of CUDA may return seeds on the CPU, too
            raise UnsupportedError(f"{node.name} takes random numbers on the CPU, and the step is on {device}; take "
                                   f"them with device={str(device)!r}, or as inputs", place_of(node))


def _on_cpu(lists: list[list[torch.Tensor]]) -> list[list[torch.Tensor]]:
    """The same tensors without memory on the CPU. Those that share bytes still do."""
    mode = next(one.fake_mode for of_list in lists for one in of_list if isinstance(one, fake_tensor.FakeTensor))
    bytes_of: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def moved(one: torch.Tensor) -> torch.Tensor:
        key = storage_of(one), one.dtype
        if key not in bytes_of:
            bytes_of[key] = torch.empty(one.untyped_storage().nbytes() // one.element_size(), dtype=one.dtype)
        return bytes_of[key].as_strided(one.size(), one.stride(), one.storage_offset())

    with mode, torch.no_grad():
        return [[moved(one) for one in of_list] for of_list in lists]


def has_hooks(one: torch.Tensor) -> bool:
    """Whether backward() would call something with the gradient of the tensor."""
    return bool(one._backward_hooks or getattr(one, "_post_accumulate_grad_hooks", None))


def _check_hooks(parameters: dict[str, torch.nn.Parameter]) -> None:
    for name, one in parameters.items():
        if has_hooks(one):
            raise UnsupportedError(f"parameter {name!r} has hooks of its gradient, which a planned step does not call; "
                                   "remove them, and use gradients='keep' to change gradients behind the step")


def _traced(module: torch.nn.Module, step: Callable[..., Any], *arguments: list[torch.Tensor]) -> torch.fx.GraphModule:
    try:
        return make_fx(step, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)
    except (fake_tensor.DataDependentOutputException, fake_tensor.DynamicOutputShapeException,
            fake_tensor.UnsupportedOperatorException, GuardOnDataDependentSymNode) as error:
        raise UnsupportedError(f"the step depends on values that only a run knows ({_first_line(error)}); compute them "
                               "outside of the step, or give them as inputs", place_of_error(error, module)) from error
    except (NotImplementedError, RuntimeError) as error:
        raise UnsupportedError(f"the step cannot be recorded: {_first_line(error)}; if eager PyTorch runs it, it may "
                               "read values of tensors, as numpy() does, or have sparse gradients",
                               place_of_error(error, module)) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


SETTERS = ("set_rng_state", "manual_seed", "seed")
"""Functions of PyTorch that change the state of a generator."""
SETTERS_OF_ALL = ("set_rng_state_all", "manual_seed_all", "seed_all")
"""Those of torch.cuda that change the states of all devices."""


@contextmanager
def _noted_setters(called: list[str], device: torch.device) -> Iterator[None]:
    """Notes which setters of a state are called, which no graph records. Afterwards the generators are as before."""
    names = {torch: SETTERS, torch.random: SETTERS, torch.cuda: SETTERS + SETTERS_OF_ALL,
             torch.cuda.random: SETTERS + SETTERS_OF_ALL}
    places = [(owner, name, getattr(owner, name)) for owner, of_owner in names.items() for name in of_owner]

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def note_and_call(*args: Any, **kwargs: Any) -> Any:
            called.append(name)
            return function(*args, **kwargs)

        return note_and_call

    with device_of(device).forked_generators():
        for owner, name, function in places:
            label = f"cuda.{name}" if owner in (torch.cuda, torch.cuda.random) else name
            setattr(owner, name, noting(label, function))
        try:
            yield
        finally:
            for owner, name, function in places:
                setattr(owner, name, function)


def _check_setters(called: list[str], graph: torch.fx.GraphModule) -> None:
    """Raises if random operators depend on a state that the step sets."""
    if not called or not any(is_random(node) for node in graph.graph.nodes):
        return
    raise UnsupportedError(f"the step has random operators and calls torch.{called[0]}(), as torch.utils.checkpoint "
                           "does around what it runs again; leave checkpoints out, because a budget chooses what runs "
                           "again, or give random numbers as inputs")


@contextmanager
def _named_modules(module: torch.nn.Module, recorded: _Recorded) -> Iterator[None]:
    """Notes for each node the module whose forward() made it, the line of the user's code, and the pass."""
    path: list[str] = []
    handles = []
    make = torch.fx.Tracer.create_node

    def leave(_one: torch.nn.Module, _args: Any, _result: Any) -> None:
        path.pop()

    for name, one in module.named_modules():
        handles.append(one.register_forward_pre_hook(lambda _one, _args, name=name: path.append(name), prepend=True))
        handles.append(one.register_forward_hook(leave, always_call=True))

    def noting(tracer: torch.fx.Tracer, *args: Any, **kwargs: Any) -> torch.fx.Node:
        node = make(tracer, *args, **kwargs)
        if node.op == "call_function":
            recorded.places[node.name] = path[-1] if path else None, place_of_call()
            recorded.phases[node.name] = recorded.phase
        return node

    torch.fx.Tracer.create_node = noting  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.fx.Tracer.create_node = make  # type: ignore[method-assign]
        for handle in handles:
            handle.remove()

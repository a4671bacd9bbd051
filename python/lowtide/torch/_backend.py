# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A backend of torch.compile that plans forward and backward pass together, so that they keep a byte budget."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import ShortenTraceback
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule
from torch.fx.graph import _BoxedCodeGen
from torch.multiprocessing.reductions import StorageWeakRef
from torch.optim import Optimizer
from torch.utils._python_dispatch import _disable_current_modes

from .._errors import Error, InvalidError, OverLimitError, UnsupportedError
from .._ordering import BudgetSequence
from .._request import bytes_of
from ._build import budget_of, refuse_offload
from ._capture import checked_device
from ._device import CPU_DEVICE
from ._joint import Joint, JointProblem, problem_of, read_joint
from ._optimizers import SEPARATE, present_bytes, state_bytes
from ._partition import halves, measured, program_of_joint
from ._program import below_autograd
from ._report import report_of, shown_bytes
from ._search import kept, page_of, sequence_to_measure
from ._step import MOST_PLANS
from ._step_plan import MEASUREMENTS
from ._units import storage_of

PLAN = "lowtide_plan"
"""The key of a graph's `meta` with the number of its plan."""


@dataclass
class GraphPlan:
    """What a backend does for one graph."""

    problem: JointProblem
    sequence: BudgetSequence
    results: int
    """Of the forward pass."""
    trains: bool
    """Whether there is a backward pass."""
    measured: int | None = None
    """The peak of the latest Backend.measure()."""


@dataclass
class Backend:
    """What backend() returns: a backend for torch.compile()."""

    budget: int | None
    beside: int
    optimizer: Optimizer | None
    accumulates: bool
    plans: list[GraphPlan] = field(default_factory=list)
    """One for each graph, in the order in which they were compiled."""
    __name__ = "lowtide"

    def __post_init__(self) -> None:
        self._last: GraphPlan | None = None
        self._given: Sequence[Any] = ()
        self._waiting: list[StorageWeakRef] = []
        """With a budget: activations of the latest forward pass."""

    def __call__(self, graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """Compiles a graph. torch.compile() calls this."""
        self._given = inputs
        try:
            self._check_graph(graph, inputs)
            made = aot_autograd(fw_compiler=self._forward, bw_compiler=self._backward,
                                inference_compiler=self._inference, partition_fn=self._partition, decompositions={})
            with torch._functorch.config.patch(donated_buffer=False):
                return cast(Callable[..., Any], made(graph, inputs))
        except Error as error:
            raise _through_compilers(error) from error
        finally:
            self._given = ()

    def report(self) -> str:
        """What the plan of the latest call does: the peak and what holds it, what runs again, and why not less."""
        plan = self._planned_last()
        lines = [report_of(plan.problem, plan.sequence, has_budget=self.budget is not None)]
        if plan.measured is not None:
            lines.append(f"measured: {shown_bytes(plan.measured)}")
        if self.optimizer is None and plan.trains:
            lines.append("not counted: what an optimizer keeps; give optimizer= to count it")
        lines += filter(None, [plan.problem.device.remark()])
        return "\n".join(lines)

    def html(self) -> str:
        """A page that works offline, with the values of the plan of the latest call over its runs, and with what
        measure() found beside the prediction."""
        plan = self._planned_last()
        number = next(at for at, one in enumerate(self.plans) if one is plan)
        return page_of(plan.problem, plan.sequence, f"graph {number}", plan.measured)

    def measure(self, run: Callable[[], Any]) -> int:
        """Runs forward and backward pass, and returns the peak of what they held, with all that counts (docs/torch.md).

        Args:
            run: calls the compiled module and backward(), and nothing else. Gradients are empty before.
        """
        device = self.plans[-1].problem.device if self.plans else CPU_DEVICE
        with device.meter() as meter:
            run()
            peak = meter.peak
        plan = self._planned_last()
        plan.measured = plan.problem.bytes_before() + peak
        return plan.measured

    def _planned_last(self) -> GraphPlan:
        if self._last is None:
            raise InvalidError("nothing has run yet; call the compiled module")
        return self._last

    def _check_graph(self, graph: GraphModule, inputs: Sequence[Any]) -> None:
        reason = getattr(graph, "compile_subgraph_reason", None)
        if self.budget is not None and reason is not None and reason.graph_break:
            what = (str(reason.reason).strip() or "a graph break").splitlines()[0]
            place = reason.user_stack[-1] if reason.user_stack else None
            where = f" at {place.filename}:{place.lineno}" if place else ""
            raise UnsupportedError(f"torch.compile() breaks the graph{where} ({what}), and a budget holds for one "
                                   "graph; give fullgraph=True, which says what to change, or compile the parts with "
                                   "budgets of their own")
        checked_device({}, [one for one in inputs if isinstance(one, torch.Tensor)])

    # What AOTAutograd calls, in this order.

    def _partition(self, graph: GraphModule, _inputs: Any, *, num_fwd_outputs: int,
                   **_options: Any) -> tuple[GraphModule, GraphModule]:
        leaves = {at: one for at, one in enumerate(self._given)
                  if isinstance(one, torch.Tensor) and one.is_leaf and one.requires_grad}
        joint = read_joint(graph, num_fwd_outputs, leaves)
        plan = self._planned(joint, trains=True)
        program = program_of_joint(joint, plan.problem, list(plan.sequence.runs))
        forward, backward = halves(program, num_fwd_outputs, {one.name for one in joint.tangents})
        forward.meta[PLAN] = backward.meta[PLAN] = len(self.plans) - 1
        return forward, backward

    def _inference(self, graph: GraphModule, _inputs: Any) -> Callable[[list[Any]], Any]:
        output = next(iter(graph.graph.find_nodes(op="output")))
        joint = read_joint(graph, len(output.args[0]), {})
        plan = self._planned(joint, trains=False)
        run = _boxed(program_of_joint(joint, plan.problem, list(plan.sequence.runs)))

        def call(arguments: list[Any]) -> Any:
            self._begin(plan, arguments)
            return run(arguments)

        return _as_boxed(call)

    def _forward(self, graph: GraphModule, _inputs: Any) -> Callable[[list[Any]], Any]:
        plan = self.plans[graph.meta[PLAN]]
        run = _boxed(graph)

        def call(arguments: list[Any]) -> Any:
            self._begin(plan, arguments)
            if self.budget is None:
                return run(arguments)
            given = {storage_of(one) for one in arguments if isinstance(one, torch.Tensor)}
            made = run(arguments)
            given.update(storage_of(one) for one in made[:plan.results] if isinstance(one, torch.Tensor))
            self._waiting = [StorageWeakRef(one.untyped_storage()) for one in made[plan.results:]
                             if storage_of(one) not in given]
            return made

        return _as_boxed(call)

    def _backward(self, graph: GraphModule, _inputs: Any) -> Callable[[list[Any]], Any]:
        run = _boxed(graph)

        def call(arguments: list[Any]) -> Any:
            if self.budget is not None and torch._C._autograd._get_current_graph_task_keep_graph():
                raise UnsupportedError("backward(retain_graph=True) keeps all activations, which the budget does not "
                                       "count; call backward() once for each forward pass")
            return run(arguments)

        return _as_boxed(call)

    # Plans

    def _planned(self, joint: Joint, *, trains: bool) -> GraphPlan:
        if len(self.plans) >= MOST_PLANS:
            raise OverLimitError(f"this is graph number {MOST_PLANS + 1}, and a backend plans at most {MOST_PLANS}: "
                                 "sets of shapes, modes of the module, with and without gradients. Pad batches to "
                                 "fewer shapes, or make another backend")
        problem = problem_of(joint, self._bytes_beside(joint))
        problem.use_allocator()
        given = [None if place is None else self._given[place] for place in joint.places]
        plan = GraphPlan(problem, self._sequence(joint, problem, given), len(joint.results), trains)
        self.plans.append(plan)
        return plan

    def _bytes_beside(self, joint: Joint) -> dict[str, int]:
        """What is live at all times beside the inputs of a graph."""
        kept = _bytes_of_optimizer(self.optimizer, joint.units.device)
        found = {"beside": self.beside, **{f"optimizer {at}": size for at, size in enumerate(kept)}}
        if self.accumulates:
            found.update({f"gradient of an earlier batch {at}": one.numel() * one.element_size()
                          for at, one in enumerate(self._given)
                          if isinstance(one, torch.Tensor) and one.is_leaf and one.requires_grad})
        return {name: size for name, size in found.items() if size}

    def _sequence(self, joint: Joint, problem: JointProblem, given: Sequence[Any]) -> BudgetSequence:
        if self.budget is None:
            return kept(problem, None)
        sequence = sequence_to_measure(problem, self.budget, is_first=True)
        for left in reversed(range(MEASUREMENTS)):
            problem.costs = measured(joint, problem, list(sequence.runs), given)
            sequence = sequence_to_measure(problem, self.budget) if left > 0 else kept(problem, self.budget)
        return sequence

    # Runs

    def _begin(self, plan: GraphPlan, arguments: Sequence[Any]) -> None:
        self._last = plan
        if self.budget is None:
            return
        waiting = sum(_bytes_if_alive(one) for one in self._waiting)
        limit = 0 if plan.trains else self.budget - plan.sequence.peak
        if waiting > limit:
            raise InvalidError(f"a graph runs while {waiting:,} B of activations wait for backward(), and the budget "
                               "counts those of one forward pass; call backward() before, or drop its loss")
        if not plan.trains or self.accumulates:
            return
        if any(isinstance(one, torch.Tensor) and one.is_leaf and one.grad is not None for one in arguments):
            raise InvalidError("gradients of an earlier batch are there, which the budget does not count; call "
                               "zero_grad() before, or give backend(accumulates=True)")


def _through_compilers(error: Error) -> Exception:
    """The same error as one that torch.compile() passes on as it is."""
    kind = type(error)

    def begin(self: Any, message: str, place: str = "") -> None:
        ShortenTraceback.__init__(self, f"{place}: {message}" if place else message, first_useful_frame=None)
        self.message, self.place = message, place

    def reduced(self: Any) -> Any:
        return kind, (self.message, self.place)

    passed = type(kind.__name__, (kind, ShortenTraceback),
                  {"__init__": begin, "__reduce__": reduced, "__module__": kind.__module__})
    made: Exception = passed(error.message, error.place)
    return made


def _as_boxed(call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _boxed(graph: GraphModule) -> Callable[[list[Any]], Any]:
    """A graph as a function of a list that it empties, so that it can free what it is given."""
    graph.graph.set_codegen(_BoxedCodeGen())
    graph.recompile()

    def run(arguments: list[Any]) -> Any:
        with below_autograd():
            return graph.forward(arguments)

    return run


def _bytes_if_alive(one: StorageWeakRef) -> int:
    if one.expired():
        return 0
    storage = torch.UntypedStorage._new_with_weak_ptr(one.cdata)
    return 0 if storage is None else int(storage.nbytes())


def _bytes_of_optimizer(optimizer: Optimizer | None, device: torch.device) -> list[int]:
    """Bytes of each tensor that the optimizer keeps after its first step, or now if that is more."""
    if optimizer is None:
        return []
    parameters = {str(at): one for at, one in enumerate(one for group in optimizer.param_groups
                                                        for one in group["params"])}
    with unset_fake_temporarily(), _disable_current_modes():
        first = state_bytes(optimizer, parameters, device)
    return max(present_bytes(optimizer), [size for one in first.values() for size in one.values()], key=sum)


def backend(budget: int | str | None = None, *, optimizer: Optimizer | None = None, beside: int | str = 0,
            accumulates: bool = False, offload: str | None = None) -> Backend:
    """A backend for torch.compile(module, backend=..., fullgraph=True, dynamic=False).

    The loop and the optimizer stay the user's. Forward and backward pass of the compiled module are planned together.

    Args:
        budget: bytes of all that both passes hold at their worst moment, as a number or a text such as "4GiB" or "8GB":
            parameters, buffers, inputs, results, activations, gradients and scratch, and what the next arguments add.
            None: no limit; nothing runs again.
        optimizer: what it keeps after its first step counts at all times. Its step() itself is not planned.
        beside: bytes of anything else that must fit into the budget, such as a copy of the parameters.
        accumulates: `.grad` has gradients of earlier batches, which count beside the new ones. Otherwise a forward pass
            that finds some is refused.
        offload: must be None, because autograd holds what the backward pass reads.

    Raises:
        InvalidError: an argument is wrong. Compiled modules raise it at their first call if the budget cannot be kept.
    """
    refuse_offload(offload, "autograd holds what the backward pass of a compiled module reads, so nothing can leave")
    limit = budget_of(budget)
    more = bytes_of(beside, "beside")
    if more < 0:
        raise InvalidError(f"beside is {more} bytes; give 0 or more")
    if optimizer is not None and type(optimizer) not in SEPARATE:
        raise UnsupportedError(f"what {type(optimizer).__name__} keeps is not known; give its bytes with beside=")
    return Backend(limit, more, optimizer, accumulates)

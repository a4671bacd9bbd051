# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A training step that keeps a byte budget."""
from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import increment_version
from torch.fx import GraphModule
from torch.optim import Optimizer

from .._errors import InvalidError, MismatchError, OverLimitError, UnsupportedError
from .._ordering import BudgetSequence
from ._arena import Arena, arena_of, trim_heap
from ._build import Batch, BuiltStep, adding_step, build_step, checked_batch
from ._capture import Captured, LossFunction
from ._gradients import GradientOptions, Gradients
from ._host import host_bytes_of
from ._link import Copies, drained_on_errors
from ._offload import copies_for, program_for, with_link
from ._optimizers import measured_trials
from ._problem import StepProblem, UnitCost
from ._profile import measured_costs
from ._profile_file import ProfileFile
from ._program import below_autograd, placeholders_of
from ._report import report_of, text_of_measured
from ._search import LEAST, kept, lowest_sequence, page_of, solve
from ._watch import ModuleWatch, OptimizerWatch

MOST_PLANS = 8
"""A step plans for at most this many forms of batches and modes of the module."""
MEASUREMENTS = 2
"""Costs are measured this often before a plan is final, each time in the program of the plan before."""
ARENAS = 3
"""Sequences for which an arena is tried."""


@dataclass(frozen=True)
class StepPlan:
    """What a step does for one set of shapes."""

    captured: Captured
    problem: StepProblem
    sequence: BudgetSequence
    program: GraphModule
    gradients: Gradients
    arena: Arena | None = None
    written: tuple[int, ...] = ()
    """The arguments that the program writes over, by their places."""
    limit: int | None = None
    """Bytes that the sequence was searched for, if the arena needs more than its blocks."""

    @property
    def host_bytes(self) -> int:
        """Bytes of the host that hold what is outside, beside the budget."""
        return host_bytes_of(self.sequence)


class StepMeasure(NamedTuple):
    """What one step took."""

    peak: int
    """Bytes of all that a budget counts, at the worst moment."""
    seconds: float
    """On the CPU with one thread, CPU time; otherwise time of the clock."""


class TrainStep:
    """What train_step() returns. Calling it runs one step and returns the loss."""

    def __init__(self, module: torch.nn.Module, loss_fn: LossFunction | None, optimizer: Optimizer | None,
                 budget: int | str | None, options: GradientOptions, profile: ProfileFile | None = None, *,
                 arena: bool = False, offloads: bool = False) -> None:
        self._module = module
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._budget = budget
        self._options = options
        self._profile = profile
        self._has_arena = arena
        self._offloads = offloads
        self._copies: Copies | None = None
        self._plans: dict[Any, tuple[StepPlan, StepPlan]] = {}
        """For each form of batches: with updates, and without them."""
        self._last: StepPlan | None = None
        self._watch: ModuleWatch | None = None
        self._optimizer_watch: OptimizerWatch | None = None
        self._pending = 0
        self._norm: torch.Tensor | None = None
        self._has_run = False
        self._measured: tuple[StepPlan, StepMeasure] | None = None

    def __call__(self, *batch: Any, update: bool | None = None) -> torch.Tensor:
        """Runs forward pass, backward pass and update. Parameters, buffers and the optimizer change in place.

        Args:
            batch: as the example. Other shapes are planned at their first use.
            update: with `accumulate`: whether an update follows this batch, such as the last one of an epoch. None:
                if it completes the number of batches.

        Returns:
            The loss, without a graph of autograd.

        If it raises while operators run, parameters, gradients and statistics may be changed in part: load a
        checkpoint.
        """
        if update is not None and self._options.accumulate == 1:
            raise InvalidError("each call of this step updates; give train_step() accumulate=2 or more to choose")
        updates = self._pending + 1 >= self._options.accumulate if update is None else update
        checked = checked_batch(batch)
        before, plan = self._last, self._plans_for(checked)[0 if updates else 1]
        if before is not None and before is not plan and before.arena is not None:
            before.arena.give_back()  # two arenas would take more than the budget
        self._last = plan
        plan.gradients.begin()
        given = arguments_of(plan, checked)
        with (below_autograd(), nullcontext() if plan.arena is None else plan.arena.placed(),
              drained_on_errors(self._copies)):
            loss, *gradients = plan.program(*given)
        increment_version([given[at] for at in plan.written])
        if self._options.keeps:
            _accumulate(plan.captured, gradients)
        elif updates:
            self._end(plan)
        else:
            self._pending += 1
        self._has_run = True
        return loss

    def measure(self, *batch: Any, update: bool | None = None) -> StepMeasure:
        """Runs one step as a call does, and measures it. report() then has this beside the prediction.

        Args:
            batch, update: as of a call.

        Raises:
            InvalidError: no step has run yet. The first one makes what the optimizer keeps, and libraries make theirs.
        """
        if not self._has_run:
            raise InvalidError("no step has run yet, and the first one takes more than others; call the step before")
        self.plan(*batch)
        device = self._planned_last().problem.device
        timer = device.timer()
        timer.prepare()
        with device.meter() as meter:
            timer.start()
            self(*batch, update=update)
            timer.stop()
            took = meter.peak
        plan = self._planned_last()
        states = sum(map(plan.problem.bytes_of_state, plan.problem.states))
        measured = StepMeasure(states + took, timer.take()() / 1e9)
        self._measured = plan, measured
        return measured

    def _end(self, plan: StepPlan) -> None:
        """Behind a program with updates."""
        assert self._optimizer is not None
        plan.gradients.end(self._optimizer)
        self._norm = plan.gradients.norm
        if self._options.accumulate > 1:
            for one in plan.captured.parameters.values():
                one.grad = None
            self._pending = 0

    def plan(self, *batch: Any) -> StepPlan:
        """The plan for batches of this form that are updated with, without running it."""
        self._last = self._plans_for(checked_batch(batch))[0]
        return self._last

    def _plans_for(self, batch: Batch) -> tuple[StepPlan, StepPlan]:
        optimizer = self._optimizer_watch
        if self._watch is None or not self._watch.is_same() or (optimizer is not None and not optimizer.is_same()):
            self._plans.clear()
            self._last, self._watch = None, ModuleWatch(self._module)
            plans_updates = self._optimizer is not None and not self._options.keeps
            self._optimizer_watch = OptimizerWatch(self._optimizer) if plans_updates else None
        form = self._form_of(batch, self._watch)
        if form not in self._plans:
            if len(self._plans) >= MOST_PLANS:
                raise OverLimitError(f"this is the form of a batch number {MOST_PLANS + 1}, and a step plans for at "
                                     f"most {MOST_PLANS}: sets of shapes, and plain values in batches and in modules. "
                                     "Pad batches to fewer shapes, give values that change as tensors, or make "
                                     "another step")
            plain_values = self._watch.plain_values()
            planned = self._planned(batch)
            if self._watch.forget_changed(plain_values):
                self._plans.clear()
                form = self._form_of(batch, self._watch)
            self._plans[form] = planned
        return self._plans[form]

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: they plan again, with the tensors of their own module and optimizer. Parameters are
        copied without `.grad`."""
        return {**self.__dict__, "_plans": {}, "_last": None, "_watch": None, "_norm": None, "_copies": None,
                "_has_run": False, "_measured": None, "_optimizer_watch": None, "pending": self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        pending = state.pop("pending")
        self.__dict__.update(state)
        if self._options.accumulate > 1:
            self.load_state_dict(pending)

    def state_dict(self) -> dict[str, Any]:
        """What is between two updates: the number of batches since the latest one, and the gradients of each parameter
        that they added up. Saves nothing of the module, the optimizer and the scaler."""
        gradients = {name: one.grad for name, one in self._module.named_parameters() if one.grad is not None}
        return {"pending": self._pending, "gradients": gradients if self._options.accumulate > 1 else {}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where state_dict() was called.

        Raises:
            MismatchError: a gradient is of no parameter, or of another shape, or this step has none between updates.
                Nothing is changed.
        """
        pending = int(state["pending"])
        if self._options.accumulate == 1:
            if pending > 0 or state["gradients"]:
                raise MismatchError(f"the state is from between two updates, behind {pending} batches, and this step "
                                    "updates in each call; give train_step() accumulate=2 or more")
            return
        parameters = {name: one for name, one in self._module.named_parameters() if one.requires_grad}
        for name, gradient in state["gradients"].items():
            if name not in parameters or parameters[name].shape != gradient.shape:
                raise MismatchError(f"the state has a gradient of {name!r} with the shape {tuple(gradient.shape)}, and "
                                    "the module trains no such parameter; load the state of a step of this module")
        for name, one in parameters.items():
            gradient = state["gradients"].get(name)
            one.grad = None if gradient is None else torch.empty_like(one.detach()).copy_(gradient)
        self._pending = pending

    def report(self) -> str:
        """What the plan of the latest call does: the peak and what holds it, what runs again, and why not less."""
        plan = self._planned_last()
        text = report_of(plan.problem, plan.sequence, has_budget=self._budget is not None)
        remarks = [plan.problem.device.remark(), "" if plan.arena is None else plan.arena.remark()]
        if self._measured is not None and self._measured[0] is plan:
            remarks.insert(0, text_of_measured(plan.sequence.peak, *self._measured[1]))
        return "\n".join([text, *filter(None, remarks)])

    def html(self) -> str:
        """A page that works offline, with the values of the plan of the latest call over its runs, and with what
        measure() found beside the prediction."""
        plan = self._planned_last()
        budget = plan.sequence.budget if plan.limit is None else plan.limit
        measured = self._measured[1].peak if self._measured is not None and self._measured[0] is plan else None
        return page_of(plan.problem, None if self._budget is None else budget, type(self._module).__name__, measured)

    def _planned_last(self) -> StepPlan:
        if self._last is None:
            raise InvalidError("nothing is planned yet; call the step, or give train_step() an example")
        return self._last

    @property
    def grad_norm(self) -> torch.Tensor | None:
        """With `clip_norm`: the norm of all gradients at the latest update, before clipping."""
        return self._norm

    @property
    def last_plan(self) -> StepPlan | None:
        """The plan of the latest call."""
        return self._last

    def _form_of(self, batch: Batch, watch: ModuleWatch) -> Any:
        """What a plan is for, beside the tensors that it holds."""
        storages: dict[int, int] = {}  # which tensors of the batch share bytes
        forms = tuple((leaf.dtype, leaf.shape, leaf.stride(), leaf.device, leaf.requires_grad,
                       storages.setdefault(leaf.untyped_storage()._cdata, len(storages)))
                      if isinstance(leaf, torch.Tensor) else (type(leaf), leaf) for leaf in batch.leaves)
        return forms, str(batch.spec), watch.plain_values(), watch.device.autocast(), torch.get_num_threads()

    def _planned(self, batch: Batch) -> tuple[StepPlan, StepPlan]:
        built = build_step(self._module, self._loss_fn, self._optimizer, batch, self._options)
        built.check_runs()
        if self._has_arena and not built.problem.device.counts_objects:
            raise UnsupportedError("an arena is a part of the heap of the C library, and blocks on "
                                   f"{built.captured.device} are those of PyTorch's caching allocator; use arena=False")
        built.problem.use_allocator()
        if self._offloads:
            self._copies = self._copies or copies_for(built)
            built = with_link(built, self._copies, self._profile)
        if self._budget is None:
            sequence = kept(built.problem, None)
        elif self._profile is not None and self._profile.is_given:
            self._profile.apply(built, batch)
            sequence = kept(built.problem, self._budget)
        else:
            sequence = _measured_plan(built, self._budget, batch)
            if self._profile is not None:
                self._profile.add(built, batch)
        _keep_free(built, sequence)
        if self._has_arena:
            return (placed := _placed_plan(built, sequence, batch, grows=self._budget == LEAST)), placed
        updating = _plan_of(built, sequence)
        if self._options.accumulate == 1:
            return updating, updating
        adding = adding_step(built)
        return updating, _plan_of(adding, kept(adding.problem, self._budget))


def _plan_of(built: BuiltStep, sequence: BudgetSequence, arena: Arena | None = None) -> StepPlan:
    program = program_for(built, sequence, has_marks=arena is not None)
    written = placeholders_of(program, built.problem.written_states())
    return StepPlan(built.captured, built.problem, sequence, program, built.gradients, arena, written)


def _placed_plan(built: BuiltStep, sequence: BudgetSequence, batch: Batch, *, grows: bool) -> StepPlan:
    """A plan with an arena. Bytes between blocks count: if there are too many, the sequence gets as much less.

    Args:
        grows: the budget becomes larger instead.

    Raises:
        InvalidError: no arena was found that keeps the budget.
    """
    budget = sequence.budget
    for _ in range(ARENAS):
        arena = arena_of(built, list(sequence.runs), arguments_of(built, batch))
        excess = sequence.peak + arena.bytes - arena.bound - budget
        if excess <= 0 or grows:
            trim_heap()
            plan = _plan_of(built, replace(sequence, budget=budget + max(excess, 0)), arena)
            if grows:
                return replace(plan, limit=budget)
            return replace(plan, limit=sequence.budget if sequence.budget < budget else None)
        sequence = solve(built.problem, sequence.budget - excess)
        if not sequence.fits:
            break
    raise InvalidError(f"no arena was found for the budget of {budget:,} B: the blocks of its sequences leave gaps; "
                       "give a larger budget, or arena=False")


def _measured_plan(built: BuiltStep, budget: int | str, batch: Batch) -> BudgetSequence:
    """The sequence for costs that are measured in the memory of sequences before. They become those of the problem."""
    problem = built.problem
    problem.costs[len(problem.units.units):] = measured_trials(built.trials, problem.device)
    is_least = isinstance(budget, str)
    sequence = lowest_sequence(problem)[1] if is_least else kept(problem, budget, "; scratch of operators comes on top")
    for left in reversed(range(MEASUREMENTS)):
        problem.costs = _measured(built, sequence, batch)
        sequence = lowest_sequence(problem)[1] if is_least and left > 0 else kept(problem, budget)
    return sequence


def _measured(built: BuiltStep, sequence: BudgetSequence, batch: Batch) -> list[UnitCost]:
    """Costs of the units in the program of a sequence, as they are in its memory."""
    units = built.problem.units
    _keep_free(built, sequence)
    dry = program_for(built, sequence, is_dry=True)
    count = len(units.units)
    with drained_on_errors(built.copies):
        found = measured_costs(dry, units.units, arguments_of(built, batch), built.problem.costs[:count],
                               built.problem.device)
    built.problem.note_workspaces(found.kept)
    return found.costs + built.problem.costs[count:]


def _keep_free(built: BuiltStep, sequence: BudgetSequence) -> None:
    """What a step takes and gives back stays with the process for the next one, as far as the allocator can."""
    states = sum(map(built.problem.bytes_of_state, built.problem.states))
    built.problem.device.keep_free(max(sequence.peak - states, 0))


def arguments_of(plan: BuiltStep | StepPlan, batch: Batch) -> list[torch.Tensor]:
    """What a program takes."""
    scale = plan.gradients.scale()
    return [*plan.captured.parameters.values(), *plan.captured.constants.values(), *batch.tensors,
            *([] if scale is None else [scale])]


def _accumulate(captured: Captured, gradients: list[torch.Tensor | None]) -> None:
    for parameter, gradient in zip(captured.parameters.values(), gradients, strict=True):
        if gradient is None:
            continue
        if parameter.grad is None:
            parameter.grad = gradient
        else:
            parameter.grad += gradient

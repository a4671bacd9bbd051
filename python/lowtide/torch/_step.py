# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A training step that keeps a byte budget."""
from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import increment_version
from torch.optim import Optimizer

from .._errors import InvalidError, MismatchError, OverLimitError, UnsupportedError
from ._build import Batch, adding_step, build_step, checked_batch
from ._capture import Captured, LossFunction
from ._gradients import GradientOptions
from ._link import Copies, drained_on_errors
from ._offload import copies_for, with_link
from ._optimizers import state_bytes
from ._problem import UPDATE
from ._profile_file import ProfileFile
from ._program import below_autograd
from ._report import report_of, text_of_measured
from ._search import LEAST, kept, page_of
from ._step_plan import StepPlan, arguments_of, keep_free, measured_sequence, placed_plan, plan_of
from ._watch import ModuleWatch, OptimizerWatch

MOST_PLANS = 8
"""A step plans for at most this many forms of batches and modes of the module."""


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
        self._ran: list[StepPlan] = []
        """Plans by which a step has run."""
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
        checked = checked_batch(batch)
        updates = self._updates(update)
        plan = self._plans_for(checked)[0 if updates else 1]
        self._use(plan)
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
        self._note_run(plan)
        return loss

    def _updates(self, update: bool | None) -> bool:
        """Whether the next call updates."""
        if update is not None and self._options.accumulate == 1:
            raise InvalidError("each call of this step updates; give train_step() accumulate=2 or more to choose")
        return self._pending + 1 >= self._options.accumulate if update is None else update

    def measure(self, *batch: Any, update: bool | None = None) -> StepMeasure:
        """Runs one step as a call does, and measures it. report() then has this beside the prediction.

        Args:
            batch, update: as of a call.

        Raises:
            InvalidError: this is not a step like those that follow. The first one of a plan makes what libraries keep,
                and the first update what the optimizer keeps. With `accumulate`, gradients are held behind the first
                batch.
        """
        updating, adding = self._plans_for(checked_batch(batch))
        plan = updating if self._updates(update) else adding
        self._check_steady(plan, updating)
        device = plan.problem.device
        timer = device.timer()
        with device.meter() as meter:
            timer.start()
            self(*batch, update=update)
            timer.stop()
            took = meter.peak
        measured = StepMeasure(plan.problem.bytes_before() + took, timer.take()() / 1e9)
        self._measured = plan, measured
        return measured

    def _note_run(self, plan: StepPlan) -> None:
        if not any(one is plan for one in self._ran):
            self._ran.append(plan)

    def _check_steady(self, plan: StepPlan, updating: StepPlan) -> None:
        """Raises if the next call makes what is there in all later ones, which measure() would count twice.

        Args:
            updating: the plan for the same batch that says which parameters the step updates.
        """
        if not any(one is plan for one in self._ran):
            raise InvalidError("no step has run by this plan yet, and the first one takes more than others; call the "
                               "step before")
        if self._options.accumulate > 1 and self._pending == 0:
            raise InvalidError("no gradient is held before the first batch behind an update; measure a later batch")
        if self._optimizer_watch is None or self._optimizer is None:
            return
        updated = {one.parameter: updating.captured.parameters[one.parameter] for one in updating.problem.updates
                   if one.kind == UPDATE}
        makes = state_bytes(self._optimizer, updated, plan.captured.device)
        first = next((name for name, made in makes.items() if made and not self._optimizer.state.get(updated[name])),
                     None)
        if first is not None:
            raise InvalidError(f"the optimizer keeps nothing for {first!r} yet, and makes it at its first update; call "
                               "the step until it has updated")

    def _use(self, plan: StepPlan) -> None:
        """The latest plan. Only its arena has memory, because two would take more than the budget."""
        if self._last is not None and self._last is not plan and self._last.arena is not None:
            self._last.arena.give_back()
        self._last = plan

    def _forget_plans(self) -> None:
        """Nothing of them stays: they hold tensors of the module."""
        if self._last is not None and self._last.arena is not None:
            self._last.arena.give_back()
        self._plans.clear()
        self._ran.clear()
        self._last = self._measured = None

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
        plan = self._plans_for(checked_batch(batch))[0]
        self._use(plan)
        return plan

    def _plans_for(self, batch: Batch) -> tuple[StepPlan, StepPlan]:
        optimizer = self._optimizer_watch
        if self._watch is None or not self._watch.is_same() or (optimizer is not None and not optimizer.is_same()):
            self._forget_plans()
            self._watch = ModuleWatch(self._module)
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
                self._forget_plans()
                form = self._form_of(batch, self._watch)
            self._plans[form] = planned
        return self._plans[form]

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: they plan again, with the tensors of their own module and optimizer. Parameters are
        copied without `.grad`."""
        return {**self.__dict__, "_plans": {}, "_last": None, "_watch": None, "_norm": None, "_copies": None,
                "_ran": [], "_measured": None, "_optimizer_watch": None, "pending": self.state_dict()}

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
        measured = self._measured[1].peak if self._measured is not None and self._measured[0] is plan else None
        sequence = plan.sequence if plan.limit is None else replace(plan.sequence, budget=plan.limit)
        return page_of(plan.problem, sequence, type(self._module).__name__, measured)

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
            sequence = measured_sequence(built, self._budget, batch)
            if self._profile is not None:
                self._profile.add(built, batch)
        if self._has_arena:
            return (placed := placed_plan(built, sequence, batch, grows=self._budget == LEAST)), placed
        keep_free(built, sequence)
        updating = plan_of(built, sequence)
        if self._options.accumulate == 1:
            return updating, updating
        adding = adding_step(built)
        return updating, plan_of(adding, kept(adding.problem, None if self._budget is None else sequence.budget))


def _accumulate(captured: Captured, gradients: list[torch.Tensor | None]) -> None:
    for parameter, gradient in zip(captured.parameters.values(), gradients, strict=True):
        if gradient is None:
            continue
        if parameter.grad is None:
            parameter.grad = gradient
        else:
            parameter.grad += gradient

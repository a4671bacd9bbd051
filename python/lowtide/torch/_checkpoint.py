# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans of budgets as policies of torch.utils.checkpoint, for loops that stay as they are."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.optim import Optimizer
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from .._errors import Error, InvalidError, UnsupportedError
from .._ordering import keep_budget
from ._build import BuiltStep, budget_of, build_step, checked_batch, refuse_offload
from ._capture import LossFunction
from ._device import Device
from ._gradients import GradientOptions
from ._profile import measured_costs
from ._program import program_of
from ._regions import (
    OperatorCall,
    Region,
    checked_paths,
    default_paths,
    part_of,
    regions_of,
    sequence_of,
    with_regions,
)
from ._report import shown_bytes
from ._search import total_of
from ._step_plan import arguments_of

EFFORT = 100_000_000
"""Work units of the search for each of a few budgets, whose reruns policies begin with."""
PLANS = 5
ROUNDS = 4
"""Policies that are measured. If one takes more than the budget, the next one is planned for less."""
TRIALS = 64
"""Values that are saved, or not, one after another, to need less time within the budget."""


@dataclass(frozen=True)
class RegionPolicy:
    """What checkpoint_policy() returns: for each region, the operator calls whose results are saved."""

    regions: dict[str, frozenset[OperatorCall]]
    """By the path of the module, of those that are checkpoints. All other calls run again in the backward pass."""
    budget: int
    """Bytes."""
    peak: int
    """Bytes that the step is predicted to hold at its worst moment, with parameters, buffers and the batch."""
    overhead: float
    """The time that runs again add, as a share of one run of each operator, by measured costs."""
    measured: int
    """Bytes that a step on the example took. It is a measurement, not a proof."""
    measured_plain: int
    """The same without checkpoints."""
    _mutable: frozenset[str]
    """Regions in which a saved value is written over before it is saved."""

    def context_fn(self, region: str) -> Callable[[], tuple[Any, Any]]:
        """For `torch.utils.checkpoint.checkpoint(..., use_reentrant=False, context_fn=...)` around one region.

        Raises InvalidError if this is none of `regions`.
        """
        if region not in self.regions:
            known = "are " + ", ".join(map(repr, self.regions)) if self.regions else "are none, because all is saved"
            raise InvalidError(f"{region!r} is no region of this policy; its regions {known}. Call other parts without "
                               "checkpoint()")
        return _contexts(self.regions[region], region in self._mutable, Counter)

    @contextmanager
    def applied(self, module: torch.nn.Module) -> Iterator[None]:
        """Within it, calls of the regions of a module are checkpoints. The module is as before afterwards.

        Raises InvalidError if the module does not have these regions.
        """
        with _applied(module, {path: self.context_fn(path) for path in self.regions}):
            yield

    def __str__(self) -> str:
        return (f"budget {shown_bytes(self.budget)}, kept on the example: {shown_bytes(self.measured)} measured, "
                f"{shown_bytes(self.peak)} predicted, {shown_bytes(self.measured_plain)} without checkpoints\n"
                f"runs again in {len(self.regions)} regions add {self.overhead:.1%} of time by measured costs")


def checkpoint_policy(module: torch.nn.Module, loss_fn: LossFunction | None, example: tuple[Any, ...], *,
                      budget: int | str, regions: Sequence[str] | None = None,
                      optimizer: Optimizer | None = None, offload: str | None = None) -> RegionPolicy:
    """Plans which operator calls of a module are saved and which run again, for loops with backward() of their own.

    A policy says less than a plan of train_step(): it cannot choose the order, a region runs again at once and not
    where its values are needed, gradients live to the end, and Python may hold values longer than operators need them.
    So the budget is not proven. Steps on the example measure what a policy takes, and it is refused if this is more.

    Args:
        module, loss_fn, example: as for train_step().
        budget: as for train_step(), with the gradients of all parameters.
        regions: paths of modules that your loop wraps in checkpoint(), each called once in a step. None: the members of
            lists and sequences of the module that have parts themselves, as far as they can be regions.
        optimizer: what it keeps now counts.
        offload: must be None, because autograd holds what is saved.

    Raises:
        InvalidError: no policy was found that keeps the budget on the example; or an argument is wrong, such as a path
            without a module, or a region within another one.
        UnsupportedError: a given region cannot be one, with the reason; or as train_step().
    """
    refuse_offload(offload, "autograd holds what a policy saves, so nothing can leave")
    limit = budget_of(budget)
    if limit is None:
        raise InvalidError("a policy is for a budget; give its bytes, or train without checkpoints")
    given = checked_batch(example)
    batch = given.entries
    paths = default_paths(module) if regions is None else checked_paths(module, regions)
    calls: Counter[str] = Counter()
    with _counting(module, paths, calls):
        built = build_step(module, loss_fn, optimizer, given, GradientOptions(keeps=True))
    built.check_runs()
    found = {path: one if calls[path] == 1 else f"is called {calls[path]} times in a step"
             for path, one in regions_of(built, paths).items()}
    reasons = [f"region {path!r} {one}" for path, one in found.items() if isinstance(one, str)]
    chosen = [one for one in found.values() if isinstance(one, Region)]
    if reasons and (regions is not None or not chosen):
        raise UnsupportedError(f"{reasons[0]}; leave it out, or use train_step()")
    if not chosen:
        raise UnsupportedError("the module has no part that consists of several modules; give regions, or use "
                               "train_step()")
    units = built.problem.units
    dry = program_of(built.captured.graph, units, None, range(len(units.units)), units.results)
    device = built.problem.device
    measured = measured_costs(dry, units.units, arguments_of(built, given), built.problem.costs, device)
    built.problem.costs = measured.costs
    built.problem.note_workspaces(measured.kept)
    plain = min(_taken(module, loss_fn, batch, device) for _ in range(2))  # libraries keep caches at first
    search = _Search(built, chosen, limit, plain)
    for _ in range(ROUNDS):
        policy = _measured_policy(module, loss_fn, batch, search, search.best(may_drop=regions is None))
        if policy.measured <= limit:
            return policy
        search.note_measured(policy.measured)
    raise search.refusal()


class _Search:
    """Looks for what to save, by predictions of the peak."""

    def __init__(self, built: BuiltStep, regions: list[Region], budget: int, plain: int) -> None:
        self.built = built
        self.regions = regions
        self.budget = budget
        self.target = budget
        """Bytes that predictions must not exceed."""
        self._measured: int | None = None
        self._every = regions
        self.mapping = built.problem.as_mapping()
        self.states = sum(one["bytes"] for one in self.mapping["states"])
        self.measured_plain = plain + self.states
        """Bytes that a step takes without checkpoints."""
        self._total = total_of(self.mapping)
        self._free = [group for region in regions for group in region.free]
        self._cost = [one.nanoseconds for one in built.problem.costs]

    def predicted(self, saved: set[int]) -> tuple[int, float]:
        """The peak, and the time that runs again add as a share. Each region keeps a state of the generator."""
        problem = self.built.problem
        sequence = sequence_of(self.built, self.regions, saved)
        mapping = with_regions(problem, self.mapping, self.regions, saved)
        answer = keep_budget({**mapping, "groups": [sequence]}, self._total, effort=0)
        return answer.peak + len(self.regions) * problem.rounded(problem.device.generator_bytes), answer.overhead

    def best(self, may_drop: bool) -> set[int]:
        """What is saved at the least time among the policies that are tried. Raises InvalidError if none fits."""
        if may_drop:
            self.regions = []
            if self.predicted(set())[0] <= self.target:
                return set()
        self.regions = self._every
        tried = [(self.predicted(saved), saved) for saved in self._begin()]
        fitting = [(overhead, sorted(saved)) for (peak, overhead), saved in tried if peak <= self.target]
        if not fitting:
            raise self.refusal(min(peak for (peak, _overhead), _saved in tried))
        saved = set(min(fitting)[1])
        for one in self._every if may_drop else []:
            kept = self.regions
            self.regions = [other for other in kept if other is not one]
            if not self.regions or self.predicted(saved)[0] > self.target:
                self.regions = kept
        again = [group for region in self.regions for group in region.free if not saved.issuperset(group)]
        for group in sorted(again, key=self._worth, reverse=True)[:TRIALS]:
            if self.predicted(saved | set(group))[0] <= self.target:
                saved |= set(group)
        return saved

    def note_measured(self, taken: int) -> None:
        """A policy took more than the budget, so predictions must be lower by as much."""
        self._measured = taken if self._measured is None else min(taken, self._measured)
        self.target -= taken - self.budget

    def refusal(self, predicted: int | None = None) -> InvalidError:
        """That no policy keeps the budget."""
        lowest = (f"the lowest predicted peak is {predicted:,} B" if self._measured is None else
                  f"the lowest peak that was measured is {self._measured:,} B")
        return InvalidError(f"no policy was found that keeps the budget of {self.budget:,} B; {lowest}. Give a larger "
                            "budget, more or smaller regions, or use train_step(), which also chooses the order")

    def _worth(self, group: list[int]) -> float:
        """Time for each byte that is saved."""
        units = self.built.problem.units.units
        return sum(self._cost[at] for at in group) / max(sum(one.size for at in group for one in units[at].outputs), 1)

    def _begin(self) -> Iterator[set[int]]:
        """Nothing, and what plans of a few budgets compute once."""
        yield set()
        highest = self.predicted({at for group in self._free for at in group})[0]
        for part in range(PLANS):
            limit = highest - part * (highest - self.states) // PLANS
            try:
                runs = Counter(int(one) for one in keep_budget(self.mapping, limit, effort=EFFORT).runs)
            except Error:
                continue
            yield {at for group in self._free if all(runs[one] == 1 for one in group) for at in group}


def _measured_policy(module: torch.nn.Module, loss_fn: LossFunction | None, batch: tuple[Any, ...], search: _Search,
                     saved: set[int]) -> RegionPolicy:
    peak, overhead = search.predicted(saved)
    regions = {region.path: frozenset(call for unit in region.units if unit in saved | region.forced
                                      for call in region.calls[unit]) for region in search.regions}
    mutable = frozenset(one.path for one in search.regions if one.writes_saved)
    seen: dict[str, Counter[Any]] = {one.path: Counter() for one in search.regions}
    contexts = {path: _contexts(calls, path in mutable, partial(seen.__getitem__, path))
                for path, calls in regions.items()}
    with _applied(module, contexts):
        measured = _taken(module, loss_fn, batch, search.built.problem.device)
    for region in search.regions:
        if seen[region.path] != region.counts:
            raise UnsupportedError(f"region {region.path!r} does not call the operators that were recorded; leave it "
                                   "out, or use train_step()")
    return RegionPolicy(regions, search.budget, peak, overhead, measured + search.states, search.measured_plain,
                        mutable)


def _taken(module: torch.nn.Module, loss_fn: LossFunction | None, batch: tuple[Any, ...], device: Device) -> int:
    """Bytes that forward and backward pass take, at most. The module and the generator are as before afterwards."""
    kept = [(part._buffers, name, one, one.clone()) for part in module.modules()
            for name, one in part._buffers.items() if one is not None]
    parameters = [one for one in module.parameters() if one.requires_grad]
    try:
        with device.forked_generators(), torch.enable_grad(), device.meter() as meter:
            loss = module(*batch) if loss_fn is None else loss_fn(module(*batch[:-1]), batch[-1])
            torch.autograd.grad(loss, parameters, allow_unused=True)
            peak = meter.peak
    finally:
        with torch.no_grad():
            for buffers, name, one, before in kept:
                one.copy_(before)
                buffers[name] = one  # forward() may have assigned another one
    return peak


def _contexts(saved: frozenset[OperatorCall], is_mutable: bool,
              counter: Callable[[], Counter[Any]]) -> Callable[[], tuple[Any, Any]]:
    def contexts() -> tuple[Any, Any]:
        counts = counter()

        def decide(_context: Any, operator: Any, *_arguments: Any, **_options: Any) -> CheckpointPolicy:
            call = operator, counts[operator]
            counts[operator] += 1
            return CheckpointPolicy.MUST_SAVE if call in saved else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(decide, allow_cache_entry_mutation=is_mutable)  # type: ignore

    return contexts


@contextmanager
def _applied(module: torch.nn.Module, contexts: dict[str, Callable[[], tuple[Any, Any]]]) -> Iterator[None]:
    parts = {path: part_of(module, path) for path in contexts}
    before = {path: one.__dict__.get("forward") for path, one in parts.items()}

    def wrapped(forward: Callable[..., Any], path: str) -> Callable[..., Any]:
        return lambda *given, **options: checkpoint(forward, *given, use_reentrant=False, context_fn=contexts[path],
                                                    **options)

    for path, one in parts.items():
        one.forward = wrapped(one.forward, path)
    try:
        yield
    finally:
        for path, one in parts.items():
            if before[path] is None:
                del one.forward
            else:
                one.forward = before[path]


@contextmanager
def _counting(module: torch.nn.Module, paths: list[str], calls: Counter[str]) -> Iterator[None]:
    handles = []
    try:
        for path in paths:
            one = module.get_submodule(path)
            handles.append(one.register_forward_pre_hook(lambda _one, _given, path=path: calls.update([path])))
        yield
    finally:
        for handle in handles:
            handle.remove()

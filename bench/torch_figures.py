# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of one model: what budgets cost, and what other ways to save memory cost."""
import time

import torch
from torch_models import models
from torch_variants import Case

import lowtide
from lowtide.torch import _search, train_step

BUDGETS = 5
STEPS = 20
SHARES = (0.0, 0.25, 0.5, 1.0)
COMPILED = ("resnet18", "gpt")
"""Compiled with PyTorch's own budget, which is slow to compile."""
SAVED = (0.8, 0.75, 0.7, 0.6, 0.4, 0.2, 0.0)
"""Shares of the bytes of gradients that updates in the backward pass may save."""
QUICK_STEPS = 3
QUICK_EFFORT = 20_000_000


def limited_effort():
    _search.EFFORT = QUICK_EFFORT


class Measured:
    """Variants of one step by name, with what is known of each."""

    def __init__(self, case):
        self.case = case
        self.steps = {}
        self.rows = {}

    def add(self, name, step, **known):
        self.steps[name] = step
        self.rows[name] = {"name": name, "peak": self.case.peak(step), **known}
        return self.rows[name]

    def plan(self, name, budget, **known):
        """Adds a planned step, or why there is none."""
        begin = time.process_time()
        try:
            step, plan = self.case.planned(budget)
        except lowtide.Error as error:
            self.rows[name] = {"name": name, "budget": budget, "refused": str(error), **known}
            return self.rows[name]
        known["budget"] = plan.sequence.budget if budget == "least" else budget
        return self.add(name, step, predicted=plan.sequence.peak, overhead=plan.sequence.overhead,
                        least_overhead=plan.sequence.cost_bound / plan.sequence.base_cost - 1,
                        plan_seconds=time.process_time() - begin, **known)

    def time(self):
        for name, seconds in self.case.times(self.steps).items():
            self.rows[name]["seconds"] = seconds


def figures_of(model, name, given):
    """All figures of one model, by variant."""
    torch.manual_seed(given.seed)
    case = Case(model, given.seed, QUICK_STEPS if given.quick else STEPS)
    measured = Measured(case)
    measured.add("eager", case.eager)
    groups = {"blocks": 1, "root": round(len(case.module.blocks) ** 0.5)} if hasattr(case.module, "blocks") else {
        "blocks": 1}
    for kind, group in groups.items():
        measured.add(f"checkpoint {kind}", case.checkpointed(group))
    measured.plan("free", None)
    measured.add("arena", case.planned(arena=True)[0])
    add_budgets(measured)
    measured.plan("at checkpoint blocks", measured.rows["checkpoint blocks"]["peak"])
    if name in COMPILED and not given.quick:
        for share in SHARES:
            row = measured.add(f"share {share}", case.compiled(share))
            measured.plan(f"at share {share}", row["peak"])
    measured.time()
    same = bits_of(measured)
    return {"is_transformer": model.is_transformer, "variants": list(measured.rows.values()), "same_bits": same,
            "steps": len(case.batches), "floor": measured.floor, "update": update_of(name, given)}


def add_budgets(measured):
    """Plans for budgets in equal steps from the floor to the peak, and for the least one that was found."""
    probe = measured.case.planned(1 << 40)[1]
    mapping = probe.problem.as_mapping()
    low = lowtide.budget_curve(mapping, points=2, effort=_search.EFFORT // 2)
    floor, peak = low.floor, probe.sequence.peak
    least = lowtide.keep_budget(mapping, floor, effort=_search.EFFORT)
    measured.floor = {"bytes": floor, "obstacle": obstacle_of(probe.problem, mapping, floor), "found": least.peak}
    begin = measured.plan("least", "least")["budget"]
    for at in range(BUDGETS):
        measured.plan(f"budget {at}", begin + (peak - begin) * at // (BUDGETS - 1), kind="budget")


def obstacle_of(problem, mapping, floor):
    """The operator and its module that need all of the floor alone, if one does."""
    below = lowtide.keep_budget(mapping, floor - 1, effort=_search.EFFORT)
    if below.obstacle is None:
        return None
    return f"{mapping['nodes'][below.obstacle]['name']} of {problem.origins[below.obstacle]}"


def bits_of(measured):
    """Whether all plans have the losses, gradients, statistics and parameters of eager steps."""
    wanted = measured.case.trajectory(measured.case.eager)
    return {name: measured.case.trajectory(step) == wanted for name, step in measured.steps.items()
            if name in ("free", "arena") or name.startswith("budget")}


def saving_step(case, whole, gradients):
    """The step with the least of some budgets that can be kept, and the share of the bytes of gradients it saves."""
    for saved in SAVED:
        try:
            return saved, train_step(case.module, torch.nn.functional.cross_entropy, case.optimizer,
                                     budget=whole - int(saved * gradients), example=case.batches[0])
        except lowtide.Error:
            continue
    raise SystemExit("no step keeps the peak of the eager one")


def update_of(name, given):
    """Peaks of steps with AdamW for one sample, where gradients are much of what is live: eager ones, and planned ones
    for a budget that is lower by most of the bytes of gradients."""
    if given.quick:
        return None
    model = models(batch=0)[name]
    case, other = (Case(model, given.seed, optimizer=torch.optim.AdamW) for _ in range(2))
    batch = case.batches[0]
    whole = case.peak(lambda *batch: (case.eager(*batch), case.optimizer.step(), case.clear()))
    gradients = sum(one.numel() * one.element_size() for one in case.module.parameters())
    saved, step = saving_step(other, whole, gradients)
    fused = other.peak(step)
    case.restart()
    losses = [case.eager(*batch)]
    case.optimizer.step()
    other.restart()
    losses.append(step(*batch))
    same = torch.equal(*losses) and all(torch.equal(*pair) for pair in zip(case.changing(), other.changing()))
    return {"eager_peak": whole, "saved": saved, "fused_peak": fused, "gradients": gradients, "same_bits": same,
            "overhead": step.last_plan.sequence.overhead}

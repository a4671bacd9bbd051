#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of lowtide.torch with eager PyTorch on one GPU.

    bench/torch_cuda.py [--device cuda|cpu] [--only MODEL]... [--quick] [--seconds N]

The interpreter needs lowtide and PyTorch. The models are some of torch_step.py, with larger batches. On a GPU, peaks
are those of the caching allocator, and times are of the clock, with all work of the device done. On the CPU, both are
those of torch_step.py. Prints one JSON object. No model begins after N seconds, 400 if not given. Exit codes: 0; 1 if a
budget is exceeded or bits differ; 2 without a GPU, or if a step cannot be planned there. With --quick, two small models
are measured, which says nothing about times.
"""
import argparse
import json
import sys
import time

import torch
import torch_models
from torch.nn import functional
from torch_figures import limited_effort
from torch_variants import ROUNDS, Case

import lowtide
from lowtide.torch import train_step
from lowtide.torch._link import link_of

MODELS = ("resnet50", "unet", "gpt_dropout")
BATCH = 16
"""On a GPU, batches are this many times those of torch_step.py."""
SHARES = (0.5, 0.1)
"""Budgets between the least one and the peak."""
COMPILED = (0.5, 0.1)
"""Values of activation_memory_budget."""


class OnDevice:
    """A model of torch_models whose module and batches are on a device."""

    def __init__(self, model, device):
        self.model, self.device = model, device

    def module(self, seed=1):
        return self.model.module(seed).to(self.device)

    def batches(self, count, seed=2):
        return [tuple(one.to(self.device) for one in batch) for batch in self.model.batches(count, seed)]


class GpuCase(Case):
    """A case whose peaks and times are those of a GPU."""

    def peak(self, step):
        self.warm(step)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        step(*self.batches[0])
        torch.cuda.synchronize()
        self.clear()
        return torch.cuda.max_memory_allocated()

    def times(self, steps):
        found = {}
        for step in steps.values():
            step(*self.batches[0])
        for _ in range(ROUNDS):
            for name, step in steps.items():
                torch.cuda.synchronize()
                begin = time.perf_counter()
                step(*self.batches[0])
                torch.cuda.synchronize()
                found[name] = min(found.get(name, float("inf")), time.perf_counter() - begin)
        return found


class Measured:
    """The ways of the step of one model: what each takes."""

    def __init__(self, case):
        self.case = case
        self.steps = {}
        self.rows = {}
        self._bits = case.trajectory(case.eager)
        self.add("eager", case.eager)

    def add(self, name, step, budget=None, plan=None, has_bits=True):
        """Measures the peak, and compares the bits of the steps with eager ones."""
        row = {"peak": self.case.peak(step)}
        if has_bits:
            row["same_bits"] = self.case.trajectory(step) == self._bits
        if budget is not None:
            row.update(budget=budget, predicted=plan.sequence.peak, kept=row["peak"] <= budget,
                       predicted_overhead=round(plan.sequence.overhead, 4), host_bytes=plan.host_bytes,
                       transfers=len(getattr(plan.sequence, "transfers", ())))
        self.steps[name], self.rows[name] = step, row

    def planned(self, name, budget, **options):
        """Adds a planned step, or why there is none."""
        try:
            step = train_step(self.case.module, functional.cross_entropy, self.case.optimizer, budget=budget,
                              example=self.case.batches[0], gradients="keep", **options)
        except lowtide.InvalidError as error:  # others say that such a step cannot be planned at all
            self.rows[name] = {"budget": budget, "refused": error.message}
            return None

        def run(*batch):
            self.case.clear()
            return step(*batch)

        self.add(name, run, budget, step.last_plan)
        return step.last_plan

    def finish(self):
        """Times of all ways, as shares of the eager one."""
        times = self.case.times(self.steps)
        for name, seconds in times.items():
            self.rows[name].update(seconds=seconds, time=round(seconds / times["eager"], 3))
        return self.rows


def figures_of(case):
    """Budgets with reruns and with the memory of the host, checkpoints, and PyTorch's own budget."""
    found = Measured(case)
    plan = found.planned("no limit", 1 << 40)
    curve = lowtide.budget_curve(plan.problem.as_mapping(), points=8, effort=1_000_000_000)
    kept = [point.budget for point in curve.points if point.fits]
    for share in SHARES:
        budget = int(kept[-1] + share * (kept[0] - kept[-1]))
        found.planned(f"budget {share}", budget)
        found.planned(f"budget {share}, offload", budget, offload="host")
    found.planned("below reruns, offload", int(kept[-1] - 0.05 * (kept[0] - kept[-1])), offload="host")
    found.add("checkpoints", case.checkpointed(1), has_bits=False)
    found.planned("at the peak of checkpoints", found.rows["checkpoints"]["peak"])
    for share in COMPILED:
        found.add(f"activation_memory_budget {share}", case.compiled(share), has_bits=False)
        found.planned(f"at the peak of activation_memory_budget {share}",
                      found.rows[f"activation_memory_budget {share}"]["peak"])
    return found.finish()


def cases_of(given):
    """By name, what makes a case."""
    all_models = torch_models.small_models() if given.quick else torch_models.models(
        BATCH if given.device == "cuda" else 1)
    names = [name for name in all_models if given.quick or name in MODELS]
    make = GpuCase if given.device == "cuda" else Case
    return {name: (lambda name=name: make(OnDevice(all_models[name], given.device), steps=5))
            for name in names if not given.only or name in given.only}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", action="append", help="measure this model; may be repeated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=400)
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        print("torch_cuda.py: there is no GPU that PyTorch can use; --device cpu runs the same checks on the CPU",
              file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    if given.quick:
        limited_effort()
    begin, rows = time.perf_counter(), {}
    for name, make in cases_of(given).items():
        if time.perf_counter() - begin > given.seconds:
            rows[name] = "not begun: the time was up"
            continue
        try:
            rows[name] = figures_of(make())
        except lowtide.UnsupportedError as error:
            print(f"torch_cuda.py: {name} cannot be planned on {given.device}: {error}", file=sys.stderr)
            return 2
    link = link_of(torch.device(given.device))
    print(json.dumps({"device": torch.cuda.get_device_name() if given.device == "cuda" else "cpu",
                      "torch": torch.__version__, "link": link._asdict(), "models": rows}, indent=1))
    measured = [row for of_model in rows.values() if isinstance(of_model, dict) for row in of_model.values()]
    return 0 if all(row.get("kept", True) and row.get("same_bits", True) for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())

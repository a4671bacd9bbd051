#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of lowtide.torch with eager PyTorch on one GPU.

    bench/torch_cuda.py [--device cuda|cpu] [--only MODEL]... [--quick] [--seconds N]

The interpreter needs lowtide and PyTorch. The models are some of torch_step.py, with larger batches. On a GPU, peaks
are those of the caching allocator, which gets expandable segments unless PYTORCH_ALLOC_CONF is set, and times are of
the clock, with all work of the device done. On the CPU, both are those of torch_step.py.

Prints a line for each way of a step as it is measured, and then one JSON object with all figures and the checks. Each
model has its share of N seconds, 420 if not given, and what does not begin within it is named. Exit codes: 0; 1 if a
check fails; 2 without a GPU, or if a step cannot be planned there. With --quick, two small models are measured, which
says nothing about times and asks for no saved bytes.
"""
import argparse
import json
import os
import sys
import time

if "PYTORCH_CUDA_ALLOC_CONF" not in os.environ:
    os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # one workspace of one size, so that products repeat bits

import torch
import torch_models
from torch.nn import functional
from torch_checks import checks_of
from torch_figures import limited_effort, saving_step
from torch_variants import ROUNDS, Case

import lowtide
from lowtide.torch import train_step
from lowtide.torch._device import device_of
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

    device = device_of(torch.device("cpu"))

    def peak(self, step):
        """What the step has of its own before, and what it adds, with workspaces of libraries."""
        self.warm(step)
        self.device.drop_caches()
        with self.device.meter() as meter:
            step(*self.batches[0])
            torch.cuda.synchronize()
            added = meter.peak
        self.clear()
        return self.held() + added

    def held(self):
        rounded = self.device.rounding([])
        sizes = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes()
                 for one in (*self.changing(), *self.batches[0]) if one.is_cuda}
        return sum(map(rounded, sizes.values()))

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

    def __init__(self, case, name, deadline):
        self.case = case
        self.name = name
        self.deadline = deadline
        self.steps = {}
        self.rows = {}
        self._bits = case.trajectory(case.eager)
        self.add("eager", case.eager)

    def is_late(self, name):
        """Whether the time of the model is up. Then the row says so."""
        late = time.perf_counter() > self.deadline
        if late:
            self._note(name, {"left_out": "the time of this model was up"})
        return late

    def add(self, name, step, budget=None, plan=None, has_bits=True):
        """Measures the peak, and compares the bits of the steps with eager ones."""
        row = {"peak": self.case.peak(step)}
        if has_bits:
            row["same_bits"] = self.case.trajectory(step) == self._bits
        if budget is not None:
            row.update(budget=budget, predicted=plan.sequence.peak, kept=row["peak"] <= budget,
                       predicted_overhead=round(plan.sequence.overhead, 4), host_bytes=plan.host_bytes,
                       transfers=len(getattr(plan.sequence, "transfers", ())))
        self.steps[name] = step
        self._note(name, row)

    def planned(self, name, budget, **options):
        """Adds a planned step, or why there is none."""
        if self.is_late(name):
            return None
        try:
            step = train_step(self.case.module, functional.cross_entropy, self.case.optimizer, budget=budget,
                              example=self.case.batches[0], gradients="keep", **options)
        except lowtide.InvalidError as error:  # others say that such a step cannot be planned at all
            self._note(name, {"budget": budget, "refused": error.message})
            return None

        def run(*batch):
            self.case.clear()
            return step(*batch)

        self.add(name, run, budget, step.last_plan)
        return step.last_plan

    def updated(self, make):
        """Adds a step for one sample whose updates run in the backward pass."""
        name = "AdamW, one sample, updates in the backward pass"
        if not self.is_late(name):
            self._note(name, updates_of(make))

    def finish(self):
        """Times of all ways, as shares of the eager one."""
        times = self.case.times(self.steps)
        for name, seconds in times.items():
            self.rows[name].update(seconds=seconds, time=round(seconds / times["eager"], 3))
        return self.rows

    def _note(self, name, row):
        self.rows[name] = row
        words = {"kept": "budget kept", "same_bits": "same bits"}
        known = [f"{word} {row[key]}" for key, word in words.items() if key in row]
        shown = row.get("left_out") or row.get("refused") or ", ".join([f"{row['peak'] / 2**20:10.2f} MiB", *known])
        print(f"{self.name:12} {name:50} {shown}", file=sys.stderr, flush=True)


def figures_of(make, make_single, name, seconds):
    """Budgets with reruns and with the memory of the host, checkpoints, PyTorch's own budget, and updates."""
    found = Measured(make(steps=5), name, time.perf_counter() + seconds)
    if (plan := found.planned("no limit", 1 << 40)) is None:
        return found.finish()
    curve = lowtide.budget_curve(plan.problem.as_mapping(), points=8, effort=1_000_000_000)
    kept = [point.budget for point in curve.points if point.fits]
    for share in SHARES:
        budget = int(kept[-1] + share * (kept[0] - kept[-1]))
        found.planned(f"budget {share}", budget)
        found.planned(f"budget {share}, offload", budget, offload="host")
    found.planned("below reruns, offload", int(kept[-1] - 0.05 * (kept[0] - kept[-1])), offload="host")
    found.add("checkpoints", found.case.checkpointed(1), has_bits=False)
    found.planned("at the peak of checkpoints", found.rows["checkpoints"]["peak"])
    found.updated(make_single)
    for share in COMPILED:
        name = f"activation_memory_budget {share}"
        if not found.is_late(name):
            found.add(name, found.case.compiled(share), has_bits=False)
            found.planned(f"at the peak of {name}", found.rows[name]["peak"])
    return found.finish()


def updates_of(make):
    """Steps with AdamW: eager ones, and planned ones for budgets that are lower by most of the bytes of gradients."""
    case, other = (make(optimizer=torch.optim.AdamW) for _ in range(2))
    whole = case.peak(lambda *batch: (case.eager(*batch), case.optimizer.step(), case.clear()))
    gradients = sum(one.numel() * one.element_size() for one in case.module.parameters())
    share, step = saving_step(other, whole, gradients)
    fused = other.peak(step)
    case.restart()
    losses = [case.eager(*case.batches[0])]
    case.optimizer.step()
    other.restart()
    losses.append(step(*case.batches[0]))
    same = torch.equal(*losses) and all(torch.equal(*pair) for pair in zip(case.changing(), other.changing()))
    return {"eager_peak": whole, "peak": fused, "gradients": gradients, "saved": (whole - fused) / gradients,
            "budget": whole - int(share * gradients), "kept": fused <= whole - int(share * gradients),
            "predicted": step.last_plan.sequence.peak, "same_bits": same,
            "predicted_overhead": round(step.last_plan.sequence.overhead, 4)}


def repeats_bits(make):
    """Whether two runs of the same eager steps have the same bits. If not, no plan can have those of eager steps."""
    case = make(steps=5)
    return case.trajectory(case.eager) == case.trajectory(case.eager)


def cases_of(given):
    """By name, what makes a case, and what makes one for a single sample."""
    on_gpu = given.device == "cuda"
    usual = torch_models.small_models() if given.quick else torch_models.models(BATCH if on_gpu else 1)
    single = usual if given.quick else torch_models.models(batch=0)
    make = GpuCase if on_gpu else Case

    def maker(model):
        return lambda **options: make(OnDevice(model, given.device), **options)

    return {name: (maker(usual[name]), maker(single[name])) for name in usual
            if (given.quick or name in MODELS) and (not given.only or name in given.only)}


def prepare(given):
    """Lets kernels repeat their bits as far as PyTorch has such ones."""
    torch.set_num_threads(1)
    if given.device == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        GpuCase.device = device_of(torch.device("cuda", torch.cuda.current_device()))
    if given.quick:
        limited_effort()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", action="append", help="measure this model; may be repeated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=420)
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        print("torch_cuda.py: there is no GPU that PyTorch can use; --device cpu runs the same checks on the CPU",
              file=sys.stderr)
        return 2
    prepare(given)
    end, rows, repeats = time.perf_counter() + given.seconds, {}, {}
    cases = cases_of(given)
    for at, (name, (make, make_single)) in enumerate(cases.items()):
        seconds = max(end - time.perf_counter(), 0) / (len(cases) - at)
        try:
            repeats[name] = repeats_bits(make)
            rows[name] = figures_of(make, make_single, name, seconds)
        except lowtide.UnsupportedError as error:
            print(f"torch_cuda.py: {name} cannot be planned on {given.device}: {error}", file=sys.stderr)
            return 2
    checks = checks_of(rows, repeats, has_times=not given.quick)
    device = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    link = link_of(torch.device("cuda", torch.cuda.current_device()) if given.device == "cuda" else torch.device("cpu"))
    print(json.dumps({"device": device, "torch": torch.__version__, "link": link._asdict(), "eager_repeats": repeats,
                      "checks": checks, "models": rows}, indent=1))
    return 0 if all(one["passed"] for one in checks.values() if one["decides"]) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of lowtide.torch with eager PyTorch, its checkpoints and its own budget.

    bench/torch_step.py [--only MODEL]... [--seed N] [--quick] [--no-record]

The interpreter needs lowtide and PyTorch. Each model is measured in a process of its own with one thread. Times are CPU
times of the process: all ways of the step take turns, and the minimum of 5 rounds counts. Peaks are bytes of
parameters, buffers, optimizer, batch, and what a step adds to them by a memory meter, in the same way for all. Figures
go to bench/results/torch_step.json. With --quick, two small models are measured, which says nothing about times.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import record
import torch
import torch_models
from torch_figures import figures_of, limited_effort
from torch_plans import planning_times

import lowtide


def in_process(name, given):
    """The figures of one model, from a process of its own."""
    words = [sys.executable, __file__, "--worker", name, "--seed", str(given.seed)] + ["--quick"] * given.quick
    begin = time.perf_counter()
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"{name}: exit code {done.returncode}")
    row = json.loads(done.stdout.splitlines()[-1])
    print(f"{name:14} {time.perf_counter() - begin:6.1f} s", file=sys.stderr)
    return row


def worker(name, given):
    torch.set_num_threads(1)
    if given.quick:
        limited_effort()
    if name == "planning":
        return planning_times(torch_models.deep_model() if not given.quick else torch_models.small_models()["resnet18"])
    found = torch_models.small_models() if given.quick else torch_models.models()
    return {"model": name, **figures_of(found[name], name, given)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="measure this model; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-record", action="store_true", help="print the figures and write no file")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(worker(given.worker, given)))
        return
    names = [*(torch_models.small_models() if given.quick else torch_models.models()), "planning"]
    rows = {name: in_process(name, given) for name in names if not given.only or name in given.only}
    planning = rows.pop("planning", None)
    figures = {"versions": {"torch": torch.__version__, "lowtide": lowtide.__version__}, "seed": given.seed,
               "models": list(rows.values()), "planning": planning}
    if given.no_record or given.quick:
        print(json.dumps(figures, indent=1))
    else:
        record.write("torch_step", figures, "planner")


if __name__ == "__main__":
    main()

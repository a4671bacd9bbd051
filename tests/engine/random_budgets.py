#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans random models, verifies the plans, and runs the models within less memory than their plan needs.

    tests/engine/random_budgets.py --lowtide PROGRAM [--models N] [--first SEED]

The outputs are compared with those of the plan. Nodes run again, or results move to other memory and back. Each run
keeps its budget and has equal bits with and without reuse, or the program says that no plan is found. The outputs may
differ from those without a budget by roundings, because the budget may choose kernels with less scratch.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from random_graphs import input_value, keep_last_outputs
from random_models import difference, has_halves, random_model

SHARES = (0.95, 0.85, 0.7)
LINKS = ([], ["--link", "12e9"])


def run(words: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(words, capture_output=True, text=True, check=False)


def values_of(folder: pathlib.Path) -> dict[str, np.ndarray]:
    return {path.name: np.load(path) for path in folder.glob("*.npy")}


class Tally:
    """What the runs within budgets gave."""

    def __init__(self) -> None:
        self.ran = 0
        self.refused = 0
        self.faults: list[str] = []


def write_case(seed: int, folder: pathlib.Path) -> list[str]:
    """Writes a model and its inputs, and returns the words that name them."""
    model, inputs = random_model(seed, most_steps=40)
    keep_last_outputs(model)
    onnx.save(model, folder / "model.onnx")
    words = [str(folder / "model.onnx"), "--synthetic", "1"]
    read = {one.name for one in model.graph.input}
    for at, tensor in enumerate(inputs):
        if tensor.name in read:
            np.save(folder / f"{tensor.name}.npy", input_value(tensor, np.random.default_rng((seed, at))))
            words += ["--input", f"{tensor.name}={folder / tensor.name}.npy"]
    return words


def fault_within(lowtide: str, words: list[str], budget: int, folder: pathlib.Path, tally: Tally) -> str:
    """Runs a model within a budget. Returns what is wrong, or an empty text."""
    expected = values_of(folder / "free")
    within = folder / "within"
    within.mkdir()
    result = run([lowtide, "run", *words, "--budget", str(budget), "--compare", "--output-dir", str(within)])
    own = values_of(within)
    for path in within.iterdir():
        path.unlink()
    within.rmdir()
    if result.returncode == 1:
        tally.refused += 1
        return "" if not own else "outputs of a run that was refused"
    if result.returncode != 0:
        return f"exit code {result.returncode}: {result.stderr.strip()}"
    tally.ran += 1
    if own.keys() != expected.keys():
        return "other outputs"
    is_half = has_halves(folder / "model.onnx")
    return next((fault for name in own if (fault := difference(name, own[name], expected[name], is_half))), "")


def check(lowtide: str, seed: int, folder: pathlib.Path, tally: Tally) -> None:
    words = write_case(seed, folder)
    plan = str(folder / "plan.json")
    planned = run([lowtide, "plan", words[0], "--target", "cpu", "--json", "-o", plan])
    verified = run([lowtide, "verify", words[0], plan])
    free = run([lowtide, "run", *words, "--output-dir", str(folder / "free")])
    for result in (planned, verified, free):
        if result.returncode:
            tally.faults.append(f"model {seed}: {result.stdout[:500]} {result.stderr.strip()}")
            return
    ram = json.loads(planned.stdout)["bytes"]["ram"]
    for share in SHARES:
        for link in LINKS:
            fault = fault_within(lowtide, [*words, *link], int(ram * share), folder, tally)
            if fault:
                tally.faults.append(f"model {seed} in {int(ram * share)} bytes {' '.join(link)}: {fault}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    options = parser.parse_args()
    tally = Tally()
    for seed in range(options.first, options.first + options.models):
        with tempfile.TemporaryDirectory() as name:
            check(options.lowtide, seed, pathlib.Path(name), tally)
    for text in tally.faults:
        print(text)
    wrong = len(tally.faults)
    print(f"{options.models} models: {tally.ran} runs within budgets, {tally.refused} refused, {wrong} wrong")
    return 1 if tally.faults or tally.ran < options.models else 0


if __name__ == "__main__":
    sys.exit(main())

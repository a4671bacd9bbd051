#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans models within shares of their arena, with recomputation and, with --link, with swaps, and runs what fits.

For each model and share: the outcome, and the overhead of the estimated time. With --run, what fits runs with one and
with two threads, on weights and inputs that are made up. Every value is compared with a run without reuse of bytes, and
the outputs with those of the plan without a budget.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


DIMS = json.loads((pathlib.Path(__file__).parent / "dims.json").read_text())


def program(arguments, *words):
    """The finished process, or None if it took too long."""
    try:
        return subprocess.run([arguments.lowtide, *words], capture_output=True, timeout=arguments.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None


def plan(arguments, model, *words):
    """The report about a plan, or None."""
    done = program(arguments, "plan", str(model), "--target", arguments.target, "--json", "--quiet",
                   *DIMS.get(model.name, []), *words)
    return json.loads(done.stdout) if done and done.returncode in (0, 1) and done.stdout else None


def limits(arguments, budget):
    return ["--budget", f"{budget}B", *(["--link", arguments.link] if arguments.link else [])]


def outputs(arguments, model, plan_file, threads, checks):
    """The bytes of all outputs, by name, or None if the run fails."""
    with tempfile.TemporaryDirectory() as folder:
        done = program(arguments, "run", str(model), "--plan", str(plan_file), "--synthetic", "1", "--quiet",
                       "--threads", str(threads), "--output-dir", folder, *checks)
        if done is None or done.returncode != 0:
            return None
        return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def run_text(arguments, model, folder, budget):
    """What the runs of a plan with recomputation show."""
    is_same = True
    for threads in ("1", "2"):  # a plan is for a number of threads
        base = plan(arguments, model, "--threads", threads, "-o", str(folder / "base.json"))
        made = plan(arguments, model, "--threads", threads, *limits(arguments, budget), "-o", str(folder / "plan.json"))
        if base is None or made is None:
            return "too slow"
        found = outputs(arguments, model, folder / "plan.json", threads, ["--compare", "--poison"])
        if found is None:
            return "A RUN FAILS OR DIFFERS"
        is_same = is_same and found == outputs(arguments, model, folder / "base.json", threads, [])
    # With another lowering or other kernels, sums may have another order.
    return "same bits" if is_same else "all values equal; outputs differ from those of other kernels"


def outcome(report):
    """The outcome and the overhead of a report with a budget."""
    found = report["budget"]["recomputation"]
    if found is None:
        return ("proven without recomputation" if report["budget"]["proven_infeasible"] else
                "fits without" if report["budget"]["fits"] else "not tried"), ""
    if found["outcome"] != "found":
        return {"infeasible": "proven", "not_found": "not found"}[found["outcome"]], ""
    bound = (found["cost_bound"] - found["base_cost"]) / found["base_cost"] if found["base_cost"] else 0
    return "fits", f"{100 * found['overhead']:.2f} % (bound {100 * max(bound, 0):.2f} %)"


def measure(arguments, model, share, base, folder):
    """One line about a model at a share of its arena."""
    sizes = base["bytes"]
    budget = sizes["ram"] - sizes["arena"] + sizes["arena"] * share // 100
    report = plan(arguments, model, *limits(arguments, budget), "-o", str(folder / "plan.json"))
    if report is None:
        return ["too slow"]
    said, overhead = outcome(report)
    line = [said, overhead]
    if said == "fits" and arguments.run:
        line.append(run_text(arguments, model, folder, budget))
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lowtide", required=True, help="the program")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--shares", default="90,80,60", help="percentages of the arena")
    parser.add_argument("--link", help="the rate of a link to memory outside, such as 12e9")
    parser.add_argument("--run", action="store_true", help="also run the plans that fit")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one command")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    for model in arguments.models:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            base = plan(arguments, model, "-o", str(folder / "base.json"))
            if base is None:
                print(f"{model.stem}\tcannot be planned", flush=True)
                continue
            for share in map(int, arguments.shares.split(",")):
                line = measure(arguments, model, share, base, folder)
                print("\t".join([model.stem, f"{base['bytes']['arena']}", f"{share} %", *line]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

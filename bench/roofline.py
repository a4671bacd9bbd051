#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of each step with what the core allows.

    bench/roofline.py FOLDER... [--lowtide PROGRAM] [--limits PROGRAM] [--only NAME] [--rounds N] [--no-record]

A step cannot be faster than its multiply-accumulates at the rate of the core, nor than reading its tensors once.
bench/core_limits.cc measures both rates in registers, in each cache and in memory. Constants come from the smallest
level that holds all that the model reads and writes, and other tensors from the smallest that holds those of the step.
Winograd's algorithm needs 16 products in place of 36. The time of a step is its least mean of all rounds. Models whose
products are not known, such as those with all work in a branch, are left out, and those that refuse made-up inputs.
Runs take one thread. Figures go to bench/results/roofline.json.
"""
import collections
import json
import subprocess
import sys

import record

LIMITS = record.ROOT / "build/release/bench/core_limits"
BAD_INPUT = 3  # the exit code of lowtide
SHOWN = 3  # operators with the most time above their limits


def rate_of(levels, size):
    return next(level["bytes_per_second"] for level in levels if size <= level["bytes"])


def limit_ms(step, limits, total):
    """The least milliseconds of a step."""
    macs = step["macs"] * (4 / 9 if "winograd" in step["kernel"] else 1)
    others = step["bytes"] - step["constant_bytes"]
    reading = (step["constant_bytes"] / rate_of(limits["levels"], total)
               + others / rate_of(limits["levels"], others))
    return 1e3 * max(macs / limits["macs_per_second"], reading)


def row_of(given, source, words, limits):
    reports = []
    for _ in range(given.rounds):
        run = record.timed([given.lowtide, "bench", source, "--json", "--quiet", "--runs", given.runs, *words])
        if run.code == BAD_INPUT:  # shapes depend on inputs, which are made up
            return None
        reports.append(run.json())
    steps = reports[0]["steps"]
    if any(step["macs"] is None for step in steps):
        return None
    total = reports[0]["bytes"]["arena"] + reports[0]["bytes"]["weights"]
    measured = bound = products = 0
    above = collections.Counter()
    for at, step in enumerate(steps):
        taken = min(report["steps"][at]["ms"] for report in reports)
        least = limit_ms(step, limits, total)
        measured, bound, products = measured + taken, bound + least, products + step["macs"]
        above[step["type"]] += taken - least
    return {"model": source.stem, "options": " ".join(words), "macs": products, "limit_ms": round(bound, 4),
            "ms": round(measured, 4), "share": round(bound / measured, 3),
            "above": {name: round(ms, 4) for name, ms in above.most_common(SHOWN) if ms > 0.01 * measured}}


def main():
    parser = record.model_arguments(__doc__)
    parser.add_argument("--limits", default=LIMITS, help="the program of core_limits.cc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20, help="of a round")
    given = parser.parse_args()
    limits = json.loads(subprocess.run([given.limits], check=True, capture_output=True, text=True).stdout)
    rows = []
    for source, words in record.models_of(given):
        row = row_of(given, source, words, limits)
        if row is None:
            print(f"{source.stem}: does not run on made-up inputs, or not all products are known", file=sys.stderr)
            continue
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    if not given.no_record:
        record.write("roofline", {"limits": limits, "rounds": given.rounds, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

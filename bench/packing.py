#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs the problems in bench/instances with little, standard and much effort. Records height, bound and time.

    bench/packing.py [PROBLEM.csv...] [--lowtide PROGRAM] [--runs 3]

Figures go to bench/results/packing.json. Times are medians of the runs.
"""
import argparse
import pathlib
import statistics

import record

# Work units by the name of the effort.
EFFORTS = {"little": 500_000, "standard": 200_000_000, "much": 2_000_000_000}


def packed(lowtide, path, effort, runs):
    done = [record.timed([lowtide, "pack", path, "--json", "-q", "--effort", effort]) for _ in range(runs)]
    figures = done[0].json()
    heights = {run.json()["height"] for run in done}
    if len(heights) != 1:
        raise SystemExit(f"{path.name}: not the same height each time: {sorted(heights)}")
    return {"height": figures["height"], "bound": figures["bound"], "proven_optimal": figures["proven_optimal"],
            "strategy": figures["strategy"],
            "seconds": statistics.median(run.json()["seconds"]["pack"] for run in done),
            "peak_bytes": max(run.peak_bytes for run in done)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("more", nargs="*", type=pathlib.Path, help="more problems (CSV)")
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--runs", type=int, default=3, help="runs per problem and effort; times are medians")
    given = parser.parse_args()
    results = {}
    for path in sorted((record.ROOT / "bench/instances").glob("*.csv")) + given.more:
        entry = {"buffers": len(path.read_text().split()) - 1}
        for effort, units in EFFORTS.items():
            if effort == "much" and entry["standard"]["proven_optimal"]:
                continue  # the optimum is known
            entry[effort] = packed(given.lowtide, path, units, 1 if effort == "much" else given.runs)
        results[path.stem.removesuffix(".1048576")] = entry
        print(path.stem, entry, flush=True)
    record.write("packing", {"efforts": EFFORTS, "problems": results}, "packer")


if __name__ == "__main__":
    main()

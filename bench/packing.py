#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs the problems in bench/instances and records height, bound and time: as is, with little effort, and with much."""
import argparse
import math
import pathlib
import statistics

import record

HERE = pathlib.Path(__file__).resolve().parent
# Names of what is shown: effort, and what it is for.
EFFORTS = {"little": 500_000, "standard": 200_000_000, "much": 2_000_000_000}


def packed(lowtide, path, effort, runs):
    done = [record.timed([lowtide, "pack", str(path), "--json", "-q", "--effort", str(effort)]) for _ in range(runs)]
    figures = done[0].json()
    heights = {run.json()["height"] for run in done}
    if len(heights) != 1:
        raise SystemExit(f"{path.name}: not the same height each time: {sorted(heights)}")
    return {"height": figures["height"], "bound": figures["bound"], "proven_optimal": figures["proven_optimal"],
            "strategy": figures["strategy"], "seconds": statistics.median(run.json()["seconds"]["pack"] for run in done),
            "peak_bytes": max(run.peak_bytes for run in done)}


def geometric_mean(ratios):
    return math.exp(statistics.mean(math.log(ratio) for ratio in ratios))


def row(name, entry):
    standard = entry["standard"]
    cells = [name, f"{entry['buffers']:,}", f"{standard['bound']:,}"]
    for effort in EFFORTS:
        figures = entry.get(effort)
        if figures is None:
            cells += ["", ""]
            continue
        height = f"{figures['height'] / figures['bound']:.4f}"
        cells += ["**optimal**" if figures["proven_optimal"] else height, f"{figures['seconds']:.3f} s"]
    return "| " + " | ".join(cells) + " |"


def table(results):
    lines = ["| Problem | Buffers | Bound | Little effort | | Standard | | Much | |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += [row(name, entry) for name, entry in results.items()]
    challenging = [entry for name, entry in results.items() if len(name) == 1]
    if len(challenging) == 11:
        means = []
        for effort in EFFORTS:
            # Where less effort proved the optimum, more would find the same.
            best = [entry.get(effort) or entry["standard"] for entry in challenging]
            means.append(f"{geometric_mean([figures['height'] / figures['bound'] for figures in best]):.4f}")
        lines.append(f"| A-K, geometric mean | | | {means[0]} | | {means[1]} | | {means[2]} | |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lowtide", default=str(HERE.parent / "build/release/src/lowtide/cli/lowtide"))
    parser.add_argument("--runs", type=int, default=3, help="of each; times are medians")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    parser.add_argument("more", nargs="*", type=pathlib.Path, help="more problems (CSV)")
    arguments = parser.parse_args()
    results = {}
    for path in sorted((HERE / "instances").glob("*.csv")) + arguments.more:
        name = path.stem.removesuffix(".1048576")
        entry = {"buffers": len(path.read_text().split()) - 1}
        for effort, units in EFFORTS.items():
            if effort == "much" and entry["standard"]["proven_optimal"]:
                continue  # nothing is left to gain
            entry[effort] = packed(arguments.lowtide, path, units, 1 if effort == "much" else arguments.runs)
        results[name] = entry
        print(row(name, entry), flush=True)
    record.write(HERE / "results/packing.json", {"efforts": EFFORTS, "problems": results})
    if arguments.readme:
        record.replace_between(HERE.parent / "README.md", "packing", table(results))
    else:
        print(table(results))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the curve of 20 budgets from the peak down to the floor, on the graphs of budgets.py.

    bench/curves.py [--lowtide PROGRAM] --graphs FOLDER

Every sequence is replayed here, and less memory must never cost less. Figures go to bench/results/curves.json.
"""
import argparse
import json
import pathlib
import sys

import budgets
import record

POINTS = 20


def measured(lowtide, path):
    graph = json.loads(path.read_text())
    run = record.timed([lowtide, "order", path, "--curve", "--points", POINTS, "--json"])
    answer = run.json()
    points = answer["points"]
    for point in points:
        if point["feasible"]:
            cost, used = budgets.replayed(graph, point["order"])
            if (cost, used) != (point["cost"], point["peak_bytes"]) or used > point["budget"]:
                raise SystemExit(f"{path.name}: a sequence does not give what the program states")
    found = [point for point in points if point["feasible"]]
    for large, small in zip(found, found[1:]):
        if small["budget"] > large["budget"] or small["cost"] < large["cost"]:
            raise SystemExit(f"{path.name}: the curve is not monotone")
    kept = ("budget", "feasible", "proven_infeasible", "peak_bytes", "cost", "cost_bound", "cost_proven_optimal")
    return {"graph": path.stem, "base_cost": answer["base_cost"], "floor": answer["floor"],
            "floor_reached": answer["floor_reached"], "cpu_seconds": round(run.cpu_seconds, 1),
            "points": [{key: point[key] for key in kept} for point in points]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--graphs", type=pathlib.Path, required=True)
    given = parser.parse_args()
    rows = []
    for name, _ in budgets.PROBLEMS:
        row = measured(given.lowtide, given.graphs / f"{name}.json")
        rows.append(row)
        proven = sum(point["cost_proven_optimal"] for point in row["points"])
        print(f"{name:24} {proven} of {len(row['points'])} proven  {row['cpu_seconds']:6.1f} s", file=sys.stderr)
    record.write("curves", {"curves": rows}, "planner")


if __name__ == "__main__":
    main()

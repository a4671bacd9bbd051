#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares reruns, transfers over a link, and both, on the graphs and budgets of budgets.py.

    bench/levers.py [--lowtide PROGRAM] --graphs FOLDER

Without reruns: every node has the hint `keep`. A link needs to know how long a unit of cost takes. LINKS says what is
assumed. Figures go to bench/results/levers.json.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import budgets
import record

# Bytes per second in each direction, and the time of a unit of cost. MONeT measured in units of 10 us on a P100, which
# PCI Express connects with about 12 GB/s. For other training steps, the same is assumed. The random graphs have small
# numbers for bytes and costs; with these, their peak moves about once in the time of all nodes.
GPU = ("12e9", "10us")
LINKS = {"rlg_n100": ("1e6", "1us"), "rlg_n500": ("1e6", "1us")}


def hints(graph):
    """Every node runs once."""
    return json.dumps({"hints": [{"name": node["name"], "hint": "keep"} for node in graph["nodes"]]})


def overhead(answer, key):
    return answer[key] / answer["base_time_ns"] - 1


def measured(lowtide, path, budget, folder):
    rate, unit = LINKS.get(path.stem, GPU)
    command = [lowtide, "order", path, "--budget", budget, "--json"]
    (folder / "hints.json").write_text(hints(json.loads(path.read_text())))
    ways = {"reruns": [], "transfers": ["--link", rate, "--cost-unit", unit, "--hints", folder / "hints.json"],
            "both": ["--link", rate, "--cost-unit", unit]}
    row = {"graph": path.stem, "budget": budget, "link": rate, "cost_unit": unit}
    for name, options in ways.items():
        run = record.timed([*command, *options])
        answer = run.json()
        found = {"feasible": answer["feasible"], "proven_infeasible": answer["proven_infeasible"],
                 "cpu_seconds": round(run.cpu_seconds, 1)}
        if name == "reruns":
            found["overhead"], found["bound"] = answer["overhead"], answer["cost_bound"] / answer["base_cost"] - 1
        else:
            found["overhead"], found["bound"] = overhead(answer, "time_ns"), overhead(answer, "time_bound_ns")
            found["moved_bytes"] = answer["bytes_out"] + answer["bytes_in"]
        found["reruns"] = sum(one["times"] for one in answer["recomputed"])
        row[name] = found
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--graphs", type=pathlib.Path, required=True)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, shares in budgets.PROBLEMS:
            path = given.graphs / f"{name}.json"
            for share in shares:
                budget = budgets.budget_of(json.loads(path.read_text()), share)
                row = measured(given.lowtide, path, budget, pathlib.Path(folder))
                row["share"] = share
                rows.append(row)
                print(f"{name:24} {share:5} " + "  ".join(
                    f"{way} {100 * row[way]['overhead']:8.4f} % {row[way]['cpu_seconds']:5.1f} s"
                    for way in ("reruns", "transfers", "both")), file=sys.stderr)
    record.write("levers", {"levers": rows}, "planner")


if __name__ == "__main__":
    main()

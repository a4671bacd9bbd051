#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of reruns that keep a budget, and the bound of this cost, on graphs of other planners.

    bench/budgets.py [--lowtide PROGRAM] --graphs FOLDER

The folder has the graphs of PROBLEMS as JSON (docs/order-format.md), with costs. A budget is a share of the peak of the
file's order, or GiB. Every sequence is replayed here, too. Figures go to bench/results/budgets.json.
"""
import argparse
import json
import pathlib
import sys

import record

# Graph, budgets. Shares of the peak are numbers below 1, and other budgets are GiB with all bytes that are always live.
PROBLEMS = [("rlg_n100", (0.9, 0.8, 0.7)), ("rlg_n500", (0.9, 0.8, 0.7)),
            ("resnet50_b256_train", (0.9, 0.8, 0.7, 0.5)), ("mobilenet_b512_train", (0.8, 0.6, 0.5)),
            ("unet_b32_train", (0.8, 0.6, 0.5)), ("monet_unet_b11", (5, 6, 7)), ("monet_vgg16_b176", (7, 8, 9, 10))]


def replayed(graph, runs):
    """The cost and the peak of a sequence, by the rules of docs/order-format.md."""
    sizes = [node["bytes"] for node in graph["nodes"]]
    inputs = [set() for _ in sizes]
    for source, reader in graph["edges"]:
        inputs[reader].add(source)
    latest, last_use = {}, list(range(len(runs)))
    for at, node in enumerate(runs):
        for source in inputs[node]:
            last_use[latest[source]] = at
        latest[node] = at
    for node in graph.get("outputs", []):
        last_use[latest[node]] = len(runs) - 1
    if len(latest) != len(sizes):
        raise SystemExit("a node never runs")
    ends = [0] * (len(runs) + 1)
    for at, node in enumerate(runs):
        ends[last_use[at] + 1] += sizes[node]
    live, peak = 0, 0
    for at, node in enumerate(runs):
        live += sizes[node] - ends[at]
        peak = max(peak, live)
    return sum(graph["nodes"][node]["cost"] for node in runs), peak + graph.get("fixed_bytes", 0)


def budget_of(graph, share):
    if share >= 1:
        return share * 2**30
    return int(replayed(graph, list(graph.get("order", range(len(graph["nodes"])))))[1] * share)


def measured(lowtide, path, share):
    graph = json.loads(path.read_text())
    given = graph.get("order", range(len(graph["nodes"])))
    peak = replayed(graph, list(given))[1]
    budget = budget_of(graph, share)
    run = record.timed([lowtide, "order", path, "--budget", budget, "--json"])
    answer = run.json()
    cost, used = replayed(graph, answer["order"])
    if (cost, used) != (answer["cost"], answer["peak_bytes"]) or (answer["feasible"] and used > budget):
        raise SystemExit(f"{path.name}: the sequence does not give what the program states")
    keys = ("cost", "base_cost", "cost_bound", "cost_bound_name", "feasible", "proven_infeasible")
    return {"graph": path.stem, "nodes": answer["nodes"], "share": share, "budget": budget, "as_given": peak,
            "runs": len(answer["order"]), **{key: answer[key] for key in keys},
            "cpu_seconds": round(run.cpu_seconds, 2), "peak_memory_bytes": run.peak_bytes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--graphs", type=pathlib.Path, required=True)
    given = parser.parse_args()
    rows = []
    for name, shares in PROBLEMS:
        for share in shares:
            row = measured(given.lowtide, given.graphs / f"{name}.json", share)
            rows.append(row)
            print(f"{name:24} {share:5} cost {row['cost']:>8} bound {row['cost_bound']:>8} base {row['base_cost']:>8} "
                  f"{row['cpu_seconds']:7.2f} s", file=sys.stderr)
    record.write("budgets", {"budgets": rows}, "planner")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the peak of each strategy's order and of the best order, and the bound over all orders.

    bench/orders.py [--lowtide PROGRAM] --models FOLDER... --graphs FOLDER...

Models are ONNX files, graphs are JSON (docs/order-format.md). Generated graphs of growing size are added. Each is a
chain of cells, and a cell has nodes in random layers, as in networks found by architecture search. Figures go to
bench/results/orders.json.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import record

NAMED = ["as_given", "depth_first", "reverse_post_order", "breadth_first", "deepest_input_first",
         "greedy_by_freed_bytes",
         "least_peak_first", "depth_first_by_fan_out", "best_of_xla", "best_of_inductor"]
CELL = 100  # nodes


def of_model(lowtide, path):
    def answer(order):
        run = record.timed([lowtide, "plan", path, "-q", "--json", "--order", order, *record.DIMS.get(path.name, [])])
        return run, run.json()

    named = {name: answer(name)[1]["bytes"]["load"] for name in NAMED}
    run, best = answer("auto")
    return {"graph": path.stem, "nodes": best["model"]["nodes"], "named": named, "load": best["bytes"]["load"],
            "bound": best["bytes"]["bound"], "strategy": best["schedule"]["strategy"], **cost_of(run)}


def of_graph(lowtide, path):
    named = {name: record.timed([lowtide, "order", path, "--json", "--order", name]).json()["load"] for name in NAMED}
    run = record.timed([lowtide, "order", path, "--json"])
    best = run.json()
    return {"graph": path.stem, "nodes": best["nodes"], "named": named, "load": best["load"], "bound": best["bound"],
            "strategy": best["strategy"], **cost_of(run)}


def cost_of(run):
    return {"seconds": round(run.seconds, 3), "peak_memory_bytes": run.peak_bytes}


def cells(nodes):
    """A chain of cells of CELL nodes, in layers of 6. A node reads two or three nodes of the two
    previous layers. The last node of a cell reads all nodes of the cell that have no other reader."""
    rng = random.Random(nodes)
    sizes, edges, entry = [], [], None
    while len(sizes) < nodes:
        begin = len(sizes)
        for at in range(CELL - 1):
            layer = at // 6
            earlier = range(begin + max(0, layer - 2) * 6, begin + layer * 6)
            reads = [] if entry is None else [entry]
            if layer:
                reads = rng.sample(earlier, min(len(earlier), rng.choice((2, 3))))
            edges += [(one, len(sizes)) for one in reads]
            sizes.append(rng.randrange(100, 6000, 10))
        used = {one for one, _ in edges if one >= begin}
        entry = len(sizes)
        edges += [(one, entry) for one in range(begin, entry) if one not in used]
        sizes.append(1000)
    return {"nodes": [{"bytes": size} for size in sizes], "edges": edges}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--models", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--graphs", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    given = parser.parse_args()
    rows = []

    def add(row):
        rows.append({**row, "proven_optimal": row["load"] == row["bound"]})
        least = min(row["named"].values())
        print(f"{row['graph']:34} named {least:>14} found {row['load']:>14} bound {row['bound']:>14} "
              f"{row['seconds']:8.3f} s {row['peak_memory_bytes'] / 2**20:8.1f} MiB", file=sys.stderr)
        if row["load"] > least:
            raise SystemExit("a named order is better than the one that auto found")

    for path in sorted(path for folder in given.models for path in folder.glob("*.onnx")):
        add(of_model(given.lowtide, path))
    for path in sorted(path for folder in given.graphs for path in folder.glob("*.json")):
        add(of_graph(given.lowtide, path))
    with tempfile.TemporaryDirectory() as folder:
        for nodes in given.sizes:
            path = pathlib.Path(folder) / f"cells, {nodes:,}.json"
            path.write_text(json.dumps(cells(nodes)))
            add(of_graph(given.lowtide, path))
    record.write("orders", {"orders": rows}, "planner")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Largest load of the order of every strategy, beside the best order and the bound over all orders.

    bench/orders.py --lowtide build/release/src/lowtide/cli/lowtide --models FOLDER... --graphs FOLDER [--readme README.md]

Models are ONNX files, graphs are JSON (docs/order-format.md). Generated graphs of growing size are added: cells of random
layered nodes, one behind the other, as in networks that were searched or drawn at random. Figures go to
bench/results/orders.json; with --readme a table goes between the orders markers. Models whose order as given is proven
optimal are only counted there.
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import record

NAMED = ["as_given", "depth_first", "reverse_post_order", "breadth_first", "longest_path", "greedy_by_freed_bytes",
         "least_peak_first", "depth_first_by_fan_out", "best_of_xla", "best_of_inductor"]
CELL = 100  # nodes


def row(name, loads, best, nodes, seconds, memory):
    return {"graph": name, "nodes": nodes, "named": loads, "load": best["load"], "bound": best["bound"],
            "strategy": best["strategy"], "proven_optimal": best["load"] == best["bound"], "seconds": round(seconds, 3),
            "peak_memory_bytes": memory}


def of_model(lowtide, path, dims):
    def answer(order):
        run = record.timed([lowtide, "plan", str(path), "-q", "--json", "--order", order, *dims.get(path.name, [])])
        return run, run.json()
    loads = {name: answer(name)[1]["bytes"]["load"] for name in NAMED}
    run, best = answer("auto")
    figures = {"load": best["bytes"]["load"], "bound": best["bytes"]["bound"], "strategy": best["schedule"]["strategy"]}
    return row(path.stem, loads, figures, best["model"]["nodes"], run.seconds, run.peak_bytes)


def of_graph(lowtide, path, name=None):
    loads = {one: record.timed([lowtide, "order", str(path), "--json", "--order", one]).json()["load"] for one in NAMED}
    run = record.timed([lowtide, "order", str(path), "--json"])
    best = run.json()
    return row(name or path.stem, loads, best, best["nodes"], run.seconds, run.peak_bytes)


def cells(nodes):
    """Cells of CELL nodes in layers of 6, each reading two or three of the two layers before; one node joins a cell."""
    rng = random.Random(nodes)
    sizes, edges, entry = [], [], None
    while len(sizes) < nodes:
        begin = len(sizes)
        for at in range(CELL - 1):
            layer = at // 6
            earlier = range(begin + max(0, layer - 2) * 6, begin + layer * 6)
            reads = rng.sample(earlier, min(len(earlier), rng.choice((2, 3)))) if layer else [] if entry is None else [entry]
            edges += [(one, len(sizes)) for one in reads]
            sizes.append(rng.randrange(100, 6000, 10))
        used = {one for one, _ in edges if one >= begin}
        entry = len(sizes)
        edges += [(one, entry) for one in range(begin, entry) if one not in used]
        sizes.append(1000)
    return {"nodes": [{"bytes": size} for size in sizes], "edges": edges}


def mebibytes(count):
    return f"{count / 2**20:,.2f}" if count >= 2**20 else f"{count / 2**20:,.3f}"


def markdown(rows):
    shown = [one for one in rows if not (one["proven_optimal"] and one["load"] == one["named"]["as_given"])]
    lines = ["| Graph | Nodes | As given | Reverse post-order | Longest path | Best of XLA's | Best of Inductor's | Lowtide | Bound | Time |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for one in shown:
        named = [mebibytes(one["named"][name]) for name in
                 ("as_given", "reverse_post_order", "longest_path", "best_of_xla", "best_of_inductor")]
        lines.append("| {} | {:,} | {} | **{}** | {} | {:.2f} s |".format(
            one["graph"], one["nodes"], " | ".join(named), mebibytes(one["load"]),
            "proven" if one["proven_optimal"] else mebibytes(one["bound"]), one["seconds"]))
    optimal = sum(one["proven_optimal"] for one in rows)
    lines += ["", f"MiB. Of {len(rows)} graphs {optimal} are proven optimal; on {len(rows) - len(shown)} of them that is "
              "the order as given, and these are not listed."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--models", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--graphs", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--dims", type=pathlib.Path, default=pathlib.Path(__file__).parent / "dims.json")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results/orders.json")
    arguments = parser.parse_args()
    dims = json.loads(arguments.dims.read_text())
    rows = []

    def add(one):
        rows.append(one)
        least = min(one["named"].values())
        print(f"{one['graph']:34} named {least:>14} found {one['load']:>14} bound {one['bound']:>14} "
              f"{one['seconds']:8.3f} s {one['peak_memory_bytes'] / 2**20:8.1f} MiB", file=sys.stderr)
        if one["load"] > least:
            raise SystemExit("a named order is better than what was found")

    for path in sorted(path for folder in arguments.models for path in folder.glob("*.onnx")):
        add(of_model(arguments.lowtide, path, dims))
    for path in sorted(path for folder in arguments.graphs for path in folder.glob("*.json")):
        add(of_graph(arguments.lowtide, path))
    with tempfile.TemporaryDirectory() as folder:
        for nodes in arguments.sizes:
            path = pathlib.Path(folder) / "cells.json"
            path.write_text(json.dumps(cells(nodes)))
            add(of_graph(arguments.lowtide, path, f"cells, {nodes:,}"))
    record.write(arguments.results, {"orders": rows})
    if arguments.readme:
        record.replace_between(arguments.readme, "orders", markdown(rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures memory and speed of streams, waves and dataflow for each model, and the cost of planning large networks.

    bench/concurrency.py MODEL... [--build build/release] [--streams 2 4]

For each model, execution model and number of streams: the arena of the plan relative to that of one stream, the
estimated speed, and the Pareto front. For 100,000 nodes: time and memory of the happens-before relation at several
widths, and of whole plans for two streams and for waves of two. Figures go to bench/results/concurrency.json.
"""
import argparse
import pathlib
import tempfile

import record


def row_of(point, one):
    return {"streams": point["streams"], "arena_bytes": point["arena_bytes"],
            "arena_of_one_stream": round(point["arena_bytes"] / max(one["arena_bytes"], 1), 4),
            "speed": round(one["estimated_picoseconds"] / max(point["estimated_picoseconds"], 1), 3),
            "waits": point["waits"]}


def plan_row(lowtide, model, run, streams=None):
    """One plan. `streams` is None for dataflow, which has no number of streams."""
    words = [lowtide, "plan", model, "--run", run, "--json", "-q", *record.DIMS.get(model.name, [])]
    if streams is not None:
        words += ["--streams", streams]
    plan = record.timed(words)
    answer = plan.json()
    one = answer["points"][0]
    chosen = next(point for point in answer["points"] if point["chosen"])
    row = {"model": model.stem, "run": run, "asked": streams, **row_of(chosen, one), "waves": chosen["waves"],
           "verified": answer["verified"], "seconds": round(plan.seconds, 2)}
    if streams is None:
        return row
    curve = record.timed([*words, "--trade-offs"])
    front = [point for point in curve.json()["points"] if point["on_frontier"] and point["run"] in ("sequence", run)]
    front.sort(key=lambda point: (point["arena_bytes"], -point["estimated_picoseconds"]))
    return {**row, "curve_seconds": round(curve.seconds, 2), "curve": [row_of(point, one) for point in front]}


def model_rows(lowtide, model, counts):
    for run in ("streams", "waves"):
        for streams in counts:
            yield plan_row(lowtide, model, run, streams)
    yield plan_row(lowtide, model, "dataflow")


def relation_row(program, nodes, width):
    run = record.timed([program, nodes, width])
    return {**run.json(), "peak_memory_bytes": run.peak_bytes}


def large_row(build, nodes, folder, form):
    model, plan = pathlib.Path(folder) / "large.onnx", pathlib.Path(folder) / "plan.json"
    record.timed([build / "bench/make_network", nodes, model])
    lowtide = build / "src/lowtide/cli/lowtide"
    run = record.timed([lowtide, "plan", model, "--streams", 2, "--run", form, "--json", "-q", "-o", plan])
    answer = run.json()
    check = record.timed([lowtide, "verify", model, plan, "--json", "-q"])
    return {"run": form, "nodes": answer["model"]["nodes"], "plan_seconds": round(run.seconds, 2),
            "peak_memory_bytes": run.peak_bytes, "points": len(answer["points"]), "streams": answer["streams"],
            "verify_seconds": round(check.json()["seconds"]["verify"], 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=record.ROOT / "build/release")
    parser.add_argument("--streams", nargs="+", type=int, default=[2, 4])
    given = parser.parse_args()
    rows = []
    for model in sorted(given.models):
        for row in model_rows(given.build / "src/lowtide/cli/lowtide", model, given.streams):
            rows.append(row)
            print({key: value for key, value in row.items() if key != "curve"}, flush=True)
    relations = [relation_row(given.build / "bench/happens_before", 100_000, width)
                 for width in (2, 32, 256, 1024, 3072)]
    with tempfile.TemporaryDirectory() as folder:
        large = [large_row(given.build, 100_000, folder, form) for form in ("streams", "waves")]
    record.write("concurrency", {"models": rows, "relations": relations, "large": large}, "planner")


if __name__ == "__main__":
    main()

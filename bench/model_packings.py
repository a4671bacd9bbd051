#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs the packing problems of all ONNX models in some folders, for several orders, and with and without
views and results in place.

    bench/model_packings.py FOLDER... [--lowtide PROGRAM]

Records how many answers are proven optimal and how long packing took, in bench/results/model_packings.json.
"""
import argparse
import csv
import json
import pathlib
import tempfile

import record

ORDERS = ("as_given", "depth_first", "greedy_by_freed_bytes", "auto")
SWITCHES = ([], ["--no-in-place"], ["--no-views"])


def write_problem(plan, path):
    """Writes the buffers in the arena of a plan as a packing problem. Returns whether there are any."""
    alignment = plan["machine"]["regions"][0]["alignment"]
    rows = []
    for number, (_, size, begin, end, _, offset, _) in enumerate(plan["buffers"]):
        if offset is not None and end > begin:
            rows.append((number, begin, end, size, alignment))
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("id", "lower", "upper", "size", "alignment"), *rows])
    return bool(rows)


def problems(lowtide, model, folder):
    """Writes each distinct problem of the model to a file, and yields its path."""
    seen = set()
    for order in ORDERS:
        for switches in SWITCHES:
            plan = folder / "plan.json"
            run = record.timed([lowtide, "plan", model, "-q", "--json", "--order", order, *switches, "-o", plan,
                                *record.DIMS.get(model.name, [])])
            run.json()
            path = folder / f"{model.stem}.{order}.{len(seen)}.csv"
            if write_problem(json.loads(plan.read_text()), path) and path.read_bytes() not in seen:
                seen.add(path.read_bytes())
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in sorted(path for models in given.folders for path in models.glob("*.onnx")):
            for path in problems(given.lowtide, model, pathlib.Path(folder)):
                answer = record.timed([given.lowtide, "pack", path, "--json", "-q"]).json()
                rows.append({"problem": path.stem, **{key: answer[key] for key in (
                    "buffers", "height", "bound", "proven_optimal", "strategy")}, "seconds": answer["seconds"]["pack"]})
                if not answer["proven_optimal"] or answer["seconds"]["pack"] > 0.05:
                    print(rows[-1], flush=True)
    if not rows:
        raise SystemExit("no packing problem: the folders hold no ONNX model that has one")
    slowest = max(rows, key=lambda row: row["seconds"])
    summary = {"problems": len(rows), "proven_optimal": sum(row["proven_optimal"] for row in rows),
               "within_50_ms": sum(row["seconds"] <= 0.05 for row in rows),
               "slowest": slowest["problem"], "slowest_seconds": slowest["seconds"]}
    record.write("model_packings", {"summary": summary, "problems": rows}, "planner")
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()

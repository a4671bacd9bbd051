#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs every problem that arises from a folder of ONNX models: each order, with and without views and in-place.

    bench/model_packings.py FOLDER... [--lowtide PROGRAM]

Records how many are proven at their bound and how long packing took, to bench/results/model_packings.json.
"""
import argparse
import csv
import json
import pathlib
import tempfile

import record

HERE = pathlib.Path(__file__).resolve().parent
ORDERS = ("as_given", "depth_first", "greedy_by_freed_bytes", "auto")
WAYS = ([], ["--no-in-place"], ["--no-views"])


def write_problem(plan, path):
    """The buffers of a plan that lie in its arena, as a packing problem. False: there are none."""
    alignment = plan["machine"]["regions"][0]["alignment"]
    rows = []
    for number, (_, size, begin, end, _, offset, _) in enumerate(plan["buffers"]):
        if offset is not None and end > begin:
            rows.append((number, begin, end, size, alignment))
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("id", "lower", "upper", "size", "alignment"), *rows])
    return bool(rows)


def problems(lowtide, model, dims, folder):
    """Path of each distinct problem of the model."""
    seen = set()
    for order in ORDERS:
        for way in WAYS:
            plan = folder / "plan.json"
            run = record.timed([lowtide, "plan", str(model), "-q", "--json", "--order", order, *way, "-o", str(plan),
                                *dims.get(model.name, [])])
            run.json()
            path = folder / f"{model.stem}.{order}.{len(seen)}.csv"
            if write_problem(json.loads(plan.read_text()), path) and path.read_bytes() not in seen:
                seen.add(path.read_bytes())
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", default=str(HERE.parent / "build/release/src/lowtide/cli/lowtide"))
    parser.add_argument("--dims", type=pathlib.Path, default=HERE / "dims.json")
    arguments = parser.parse_args()
    dims = json.loads(arguments.dims.read_text())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model in sorted(path for given in arguments.folders for path in given.glob("*.onnx")):
            for path in problems(arguments.lowtide, model, dims, pathlib.Path(folder)):
                answer = record.timed([arguments.lowtide, "pack", str(path), "--json", "-q"]).json()
                rows.append({"problem": path.stem, **{key: answer[key] for key in (
                    "buffers", "height", "bound", "proven_optimal", "strategy")}, "seconds": answer["seconds"]["pack"]})
                if not answer["proven_optimal"] or answer["seconds"]["pack"] > 0.05:
                    print(rows[-1], flush=True)
    slowest = max(rows, key=lambda row: row["seconds"])
    summary = {"problems": len(rows), "proven_optimal": sum(row["proven_optimal"] for row in rows),
               "within_50_ms": sum(row["seconds"] <= 0.05 for row in rows),
               "slowest": slowest["problem"], "slowest_seconds": slowest["seconds"]}
    record.write(HERE / "results/model_packings.json", {"summary": summary, "problems": rows})
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()

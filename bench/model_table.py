#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans every ONNX model of some folders. Figures go to bench/results/models.json.

    bench/model_table.py FOLDER... [--lowtide PROGRAM]
"""
import argparse
import pathlib
import sys

import record


def row_of(lowtide, model):
    """The figures of one model: the smallest wall time of three runs, and their largest memory."""
    command = [lowtide, "plan", model, "--json", *record.DIMS.get(model.name, [])]
    runs = [record.timed(command) for _ in range(3)]
    answer = runs[0].json()
    sizes = answer["bytes"]
    return {"model": model.stem, "nodes": answer["model"]["nodes"],
            "options": " ".join(record.DIMS.get(model.name, [])),
            **{key: sizes[key] for key in ("temporaries_sum", "load_as_given", "load", "bound", "arena")},
            "gap": answer["gap"], "order": answer["schedule"]["strategy"],
            "order_optimal": answer["schedule"]["proven_optimal"], "offsets": answer["allocate"]["strategy"],
            "verified": answer["verified"], "seconds": round(min(run.seconds for run in runs), 3),
            "peak_memory_bytes": max(run.peak_bytes for run in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    given = parser.parse_args()
    rows = []
    for model in sorted(path for folder in given.folders for path in folder.glob("*.onnx")):
        rows.append(row_of(given.lowtide, model))
        print("{model:34} {arena:>12} {bound:>12} {seconds:6.3f} s".format(**rows[-1]), file=sys.stderr)
    record.write("models", {"models": rows}, "planner")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the baselines with the original planners: the number of shared buffers, and the number of names left.

Also records how many bytes the baselines need for models.

The originals' counts for ResNet-50 (3 and 5 shared buffers) are published by their authors; the others were taken by
running the originals' planners on the same nets.
"""
import argparse
import json
import pathlib

import record

# (names left, shared buffers) of the original
ORIGINAL = {
    ("resnet50", "caffe2_simple"): (325, 3),
    ("resnet50", "caffe2_dag"): (327, 5),
    ("chain of 10", "caffe2_simple"): (4, 2),
    ("chain of 10", "caffe2_dag"): (4, 2),
    ("ladder of 8", "caffe2_simple"): (5, 3),
    ("ladder of 8", "caffe2_dag"): (5, 3),
    ("4 branches of 5", "caffe2_simple"): (7, 5),
    ("4 branches of 5", "caffe2_dag"): (11, 8),
    ("tree with two losses", "caffe2_simple"): (25, 3),
    ("tree with two losses", "caffe2_dag"): (28, 4),
    ("tree, sum written over", "caffe2_simple"): (25, 3),
    ("tree, sum written over", "caffe2_dag"): (29, 4),
    ("gradients of 5 layers", "caffe2_gradients"): (32, 2),
}


def counts(program):
    run = record.timed([program])
    if run.code != 0:
        raise SystemExit(f"{program} failed with {run.code}")
    rows = [json.loads(line) for line in run.output.splitlines()]
    for row in rows:
        row["original_left"], row["original_shared"] = ORIGINAL[row["net"], row["baseline"]]
        row["same"] = (row["left"], row["shared"]) == (row["original_left"], row["original_shared"])
        print(f"{row['net']:24} {row['baseline']:18} {row['shared']:2} shared ({row['original_shared']}), "
              f"{row['left']:4} of {row['names']} left ({row['original_left']})", flush=True)
    return rows


def models(lowtide, folders):
    results = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*.onnx")):
        report = record.timed([lowtide, "compare", str(path), "--json", "-q", *record.DIMS.get(path.name, [])]).json()
        arena = report["bytes"]["arena"]
        needed = {baseline["baseline"]: baseline.get("bytes") for baseline in report["baselines"]}
        results[path.name] = {"arena": arena, "bound": report["bytes"]["bound"], "baselines": needed}
        factors = (baseline["bytes"] / arena if arena and "bytes" in baseline else float("nan")
                   for baseline in report["baselines"])
        print(f"{path.name:36} {arena:12,}", " ".join(f"{factor:6.2f}" for factor in factors), flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline-counts", required=True, help="the program built from bench/baseline_counts.cc")
    parser.add_argument("--lowtide", help="the lowtide program; needed for --models")
    parser.add_argument("--models", nargs="+", type=pathlib.Path, default=[])
    arguments = parser.parse_args()
    figures = {"counts": counts(arguments.baseline_counts)}
    if arguments.lowtide and arguments.models:
        figures["models"] = models(arguments.lowtide, arguments.models)
    record.write("baseline_counts", figures, "everything")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts allocations, system calls and page faults in the runs of all models of a folder.

usage: run_costs.py --trap build/dev/tests/tools/run_trap [--runs N] [--seconds S] [--dim NAME=N] [--csv FILE] FOLDER...

A model has at most N runs (10,000 unless given). It ends after S seconds (60 unless given), but has at least 100 runs.
Weights without a file and inputs are synthetic. All counts should be 0, in the first run and in the others. The exit
code is 1 if one is not.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

COUNTS = ("allocations", "system_calls", "page_faults")


def count(trap, model, words):
    """The line of the program for one model."""
    result = subprocess.run([trap, *words, str(model)], capture_output=True, text=True)
    if not result.stdout:
        return {"model": str(model), "refused": result.stderr.strip() or f"exit code {result.returncode}"}
    return json.loads(result.stdout)


def row_of(line):
    row = {"model": pathlib.Path(line["model"]).stem, "runs": line.get("runs", 0)}
    for part in ("first", "others"):
        row.update({f"{part} {key}": line.get(part, {}).get(key, "") for key in COUNTS})
    row["refused"] = line.get("refused", "").replace("\n", " ")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trap", required=True)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N",
                        help="a symbolic extent, for models that are refused without it")
    parser.add_argument("--csv")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    words = ["--runs", str(arguments.runs), "--seconds", str(arguments.seconds)]
    dims = [word for dim in arguments.dim for word in ("--dim", dim)]
    rows = []
    for model in sorted(model for folder in arguments.folders for model in folder.rglob("*.onnx")):
        line = count(arguments.trap, model, words)
        if "refused" in line and dims:
            line = count(arguments.trap, model, [*words, *dims])
        row = row_of(line)
        rows.append(row)
        counts = "  ".join(f"{key} {value}" for key, value in row.items() if key not in ("model", "refused"))
        print(f"{row['model']}: {row['refused'][:100] or counts}", flush=True)
    if arguments.csv and rows:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    costly = [row for row in rows if any(row[f"{part} {key}"] for part in ("first", "others") for key in COUNTS)]
    print(f"{len(rows)} models, {sum(bool(row['refused']) for row in rows)} refused, {len(costly)} with costs")
    return 1 if costly else 0


if __name__ == "__main__":
    sys.exit(main())

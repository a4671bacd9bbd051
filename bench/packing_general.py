#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes problems with gaps and fixed offsets out of those in bench/instances, whose optimum is known, and packs them.

An instance is packed first. Where buffers of one size lie at one offset, one after the other, they become one buffer with
gaps; every tenth buffer is fixed where it lies. What was packed still packs them, so the optimum is what it was, and
no byte of slack is gained.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile

import record

HERE = pathlib.Path(__file__).resolve().parent


def read(path):
    with open(path, newline="") as file:
        return [{key: int(value) if key != "id" else value for key, value in row.items() if value != ""}
                for row in csv.DictReader(file)]


def joined(rows):
    """One buffer out of each run of buffers with one offset and size that live one after the other."""
    places = collections.defaultdict(list)
    for row in rows:
        places[row["offset"], row["size"], row.get("alignment", 1)].append(row)
    out = []
    for alike in places.values():
        alike.sort(key=lambda row: row["lower"])
        whole = dict(alike[0], gaps=[])
        for row in alike[1:]:
            if whole["upper"] < row["lower"]:
                whole["gaps"].append((whole["upper"], row["lower"]))
            whole["upper"] = row["upper"]
        out.append(whole)
    return out


def write(path, rows, fixed):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "lower", "upper", "size", "offset", "gaps"])
        for at, row in enumerate(rows):
            offset = row["offset"] if fixed and at % 10 == 0 else ""
            gaps = " ".join(f"{begin}-{end}" for begin, end in row.get("gaps", []))
            writer.writerow([row["id"], row["lower"], row["upper"], row["size"], offset, gaps])


def packed(lowtide, path):
    figures = record.timed([lowtide, "pack", str(path), "--json", "-q"]).json()
    return {"buffers": figures["buffers"], "height": figures["height"], "bound": figures["bound"],
            "proven_optimal": figures["proven_optimal"], "strategy": figures["strategy"],
            "decisions": figures["decisions"], "seconds": figures["seconds"]["pack"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lowtide", default=str(HERE.parent / "build/release/src/lowtide/cli/lowtide"))
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path in sorted((HERE / "instances").glob("*.csv")):
            name = path.stem.removesuffix(".1048576")
            command = [arguments.lowtide, "pack", str(path), "-q", "--json", "-o", str(folder / "packed.csv")]
            whole = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows = read(folder / "packed.csv")
            results[name] = {"optimum_is_known": whole["proven_optimal"]}
            for form, buffers, fixed in [("gaps", joined(rows), False), ("fixed", rows, True),
                                         ("gaps and fixed", joined(rows), True)]:
                write(folder / "general.csv", buffers, fixed)
                entry = packed(arguments.lowtide, folder / "general.csv")
                entry["buffers_with_gaps"] = sum(1 for row in buffers if row.get("gaps"))
                results[name][form] = entry
                print(name, form, entry, flush=True)
    record.write(HERE / "results/packing_general.json", {"problems": results})


if __name__ == "__main__":
    main()

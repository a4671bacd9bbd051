#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes problems with gaps and fixed offsets from those in bench/instances, whose optimum is known, and packs them.

An instance is packed first. Buffers of equal size and offset that live one after another become one buffer with gaps.
Every tenth buffer is fixed at its offset. The packing of the instance is also a packing of the new problem, so the
optimum is the same. Figures go to bench/results/packing_general.json.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile

import record


def read(path):
    with path.open(newline="") as file:
        return [{key: int(value) if key != "id" else value for key, value in row.items() if value != ""}
                for row in csv.DictReader(file)]


def joined(rows):
    """One buffer for each run of buffers with equal offset and size that live one after another."""
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
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "lower", "upper", "size", "offset", "gaps"])
        for at, row in enumerate(rows):
            offset = row["offset"] if fixed and at % 10 == 0 else ""
            gaps = " ".join(f"{begin}-{end}" for begin, end in row.get("gaps", []))
            writer.writerow([row["id"], row["lower"], row["upper"], row["size"], offset, gaps])


def packed(lowtide, path):
    figures = record.timed([lowtide, "pack", path, "--json", "-q"]).json()
    return {"buffers": figures["buffers"], "height": figures["height"], "bound": figures["bound"],
            "proven_optimal": figures["proven_optimal"], "strategy": figures["strategy"],
            "decisions": figures["decisions"], "seconds": figures["seconds"]["pack"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    given = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path in sorted((record.ROOT / "bench/instances").glob("*.csv")):
            name = path.stem.removesuffix(".1048576")
            command = [given.lowtide, "pack", path, "-q", "--json", "-o", folder / "packed.csv"]
            whole = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows = read(folder / "packed.csv")
            results[name] = {"optimum_is_known": whole["proven_optimal"]}
            for form, buffers, fixed in [("gaps", joined(rows), False), ("fixed", rows, True),
                                         ("gaps and fixed", joined(rows), True)]:
                write(folder / "general.csv", buffers, fixed)
                entry = packed(given.lowtide, folder / "general.csv")
                entry["buffers_with_gaps"] = sum(1 for row in buffers if row.get("gaps"))
                results[name][form] = entry
                print(name, form, entry, flush=True)
    record.write("packing_general", {"problems": results}, "packer")


if __name__ == "__main__":
    main()

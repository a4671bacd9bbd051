#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs large generated problems and records how height, time and memory grow, in bench/results/large_packings.json.

There are two kinds. `random`: one buffer begins at each step. 70 % live 2 to 4 steps, 25 % 3 to 31, and 5 % 31 to
2,001; sizes are from 64 bytes to 256 KiB. `unrolled`: training steps of ResNet-50 (bench/instances/resnet50_train.csv),
one after another. Each problem is packed with an effort of 200 units per buffer ("quick") and with the default effort.
"""
import argparse
import csv
import pathlib
import random
import tempfile

import record

STEP = record.ROOT / "bench/instances/resnet50_train.csv"


def random_rows(count):
    generator = random.Random(1)
    for at in range(count):
        kind = generator.random()
        shortest, longest = (1, 3) if kind < 0.7 else (2, 30) if kind < 0.95 else (30, 2000)
        steps = generator.randint(shortest, longest)
        yield at, at, at + steps + 1, 64 * generator.randint(1, 4096)


def unrolled_rows(count):
    with STEP.open() as file:
        step = [(int(row["lower"]), int(row["upper"]), int(row["size"])) for row in csv.DictReader(file)]
    length = max(upper for _, upper, _ in step)
    for at in range(count):
        lower, upper, size = step[at % len(step)]
        begin = at // len(step) * length
        yield at, begin + lower, begin + upper, size


def packed(lowtide, path, kind, count, effort):
    options = ["--effort", 200 * count] if effort == "quick" else []
    run = record.timed([lowtide, "pack", path, "--json", "-q", *options])
    answer = run.json()
    return {"kind": kind, "buffers": count, "effort": effort, "height": answer["height"], "bound": answer["bound"],
            "ratio": answer["height"] / answer["bound"], "strategy": answer["strategy"],
            "seconds": answer["seconds"]["pack"], "whole_seconds": run.seconds,
            "peak_bytes_per_buffer": run.peak_bytes / count}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "problem.csv"
        for kind, generate in (("random", random_rows), ("unrolled", unrolled_rows)):
            for count in (10_000, 100_000, 1_000_000):
                with path.open("w", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow(("id", "lower", "upper", "size"))
                    # Written row by row, because the memory of this process would count as memory of the program.
                    writer.writerows(generate(count))
                for effort in ("quick", "default"):
                    rows.append(packed(given.lowtide, path, kind, count, effort))
                    print(rows[-1], flush=True)
    growth = {kind: record.exponent([row for row in rows if (row["kind"], row["effort"]) == (kind, "quick")], "seconds",
                                    "buffers") for kind in ("random", "unrolled")}
    record.write("large_packings", {"exponent_of_growth": growth, "problems": rows}, "packer")


if __name__ == "__main__":
    main()

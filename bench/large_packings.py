#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Packs large generated problems and records how height, time and memory grow.

Two kinds. `random`: one buffer begins at each step; 70 % live 1 to 3 steps, 25 % 2 to 30, 5 % 30 to 2,000, with sizes from 64
bytes to 256 KiB. `unrolled`: training steps of ResNet-50 (bench/instances/resnet50_train.csv), one after the other. Effort is
200 units a buffer ("quick"), and the default of the command line.
"""
import argparse
import csv
import math
import pathlib
import random
import tempfile

import record

HERE = pathlib.Path(__file__).resolve().parent
STEP = HERE / "instances/resnet50_train.csv"


def random_rows(count):
    generator = random.Random(1)
    for at in range(count):
        kind = generator.random()
        steps = generator.randint(1, 3) if kind < 0.7 else generator.randint(2, 30) if kind < 0.95 else generator.randint(
            30, 2000)
        yield at, at, at + steps + 1, 64 * generator.randint(1, 4096)


def unrolled_rows(count):
    with STEP.open() as file:
        step = [(int(row["lower"]), int(row["upper"]), int(row["size"])) for row in csv.DictReader(file)]
    length = max(upper for _, upper, _ in step)
    for at in range(count):
        lower, upper, size = step[at % len(step)]
        begin = at // len(step) * length
        yield at, begin + lower, begin + upper, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=str(HERE.parent / "build/release/src/lowtide/cli/lowtide"))
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "problem.csv"
        for kind, generate in (("random", random_rows), ("unrolled", unrolled_rows)):
            for count in (10_000, 100_000, 1_000_000):
                with path.open("w", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow(("id", "lower", "upper", "size"))
                    writer.writerows(generate(count))  # one by one: what this process takes would count as the child's
                for effort, options in (("quick", ["--effort", str(200 * count)]), ("default", [])):
                    run = record.timed([arguments.lowtide, "pack", str(path), "--json", "-q", *options])
                    answer = run.json()
                    rows.append({"kind": kind, "buffers": count, "effort": effort, "height": answer["height"],
                                 "bound": answer["bound"], "ratio": answer["height"] / answer["bound"],
                                 "strategy": answer["strategy"], "seconds": answer["seconds"]["pack"],
                                 "whole_seconds": run.seconds, "peak_bytes_a_buffer": run.peak_bytes / count})
                    print(rows[-1], flush=True)
    growth = {}
    for kind in ("random", "unrolled"):
        first, *_, last = [row for row in rows if row["kind"] == kind and row["effort"] == "quick"]
        growth[kind] = math.log(last["seconds"] / first["seconds"]) / math.log(last["buffers"] / first["buffers"])
    record.write(HERE / "results/large_packings.json", {"exponent_of_growth": growth, "problems": rows})
    print(growth)
    if arguments.readme:
        record.replace_between(HERE.parent / "README.md", "large", table(rows))


def table(rows):
    lines = ["| Buffers | | Quick: height / bound | Time | Default: height / bound | Time | Bytes a buffer, whole process |",
             "|--:|---|--:|--:|--:|--:|--:|"]
    for quick, default in zip(rows[::2], rows[1::2]):
        lines.append(f"| {quick['buffers']:,} | {quick['kind']} | {quick['ratio']:.4f} | {quick['seconds']:.2f} s | "
                     f"{default['ratio']:.4f} | {default['seconds']:.2f} s | {quick['peak_bytes_a_buffer']:,.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

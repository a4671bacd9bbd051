#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `lowtide plan` and `inspect` on generated networks of growing size.

    bench/growth.py --lowtide build/release/src/lowtide/cli/lowtide --make-network build/release/bench/make_network [--most 1000000]

The exponent is the slope of log(seconds) over log(nodes) between the smallest and the largest size of at least 10,000
nodes: 1 is linear. Figures go to bench/results/growth.json; with --readme also between the growth markers.
"""
import argparse
import math
import pathlib
import sys
import tempfile

import record


def measure(lowtide, make_network, nodes, folder):
    model = pathlib.Path(folder) / f"{nodes}.onnx"
    made = record.timed([make_network, str(nodes), str(model)])
    if made.code != 0:
        raise SystemExit(f"make_network failed with {made.code}")
    inspect = record.timed([lowtide, "inspect", str(model), "--json"])
    plan = record.timed([lowtide, "plan", str(model), "--json", "-o", str(pathlib.Path(folder) / "plan.json")])
    answer = plan.json()
    model.unlink()
    return {"nodes": answer["model"]["nodes"], "inspect_seconds": round(inspect.seconds, 3),
            "plan_seconds": round(plan.seconds, 3), "passes": answer["seconds"], "peak_memory_bytes": plan.peak_bytes,
            "gap": answer["gap"], "verified": answer["verified"]}


def exponent(rows, key):
    far = [row for row in rows if row["nodes"] >= 10_000]
    if len(far) < 2:
        return None
    first, last = far[0], far[-1]
    return round(math.log(last[key] / first[key]) / math.log(last["nodes"] / first["nodes"]), 3)


def markdown(rows, slope):
    lines = ["| Nodes | `inspect` | `plan -o` | Memory | Gap |", "|--:|--:|--:|--:|--:|"]
    for row in rows:
        lines.append(f"| {row['nodes']:,} | {row['inspect_seconds']:.2f} s | {row['plan_seconds']:.2f} s | "
                     f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB | {row['gap']:.2%} |")
    lines += ["", f"Time grows with the number of nodes to the power of {slope}."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--make-network", required=True)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results/growth.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        nodes = 1000
        while nodes <= arguments.most:
            rows.append(measure(arguments.lowtide, arguments.make_network, nodes, folder))
            print(rows[-1], file=sys.stderr)
            nodes *= 10
    slope = exponent(rows, "plan_seconds")
    record.write(arguments.results, {"rows": rows, "exponent": slope})
    if arguments.readme:
        record.replace_between(arguments.readme, "growth", markdown(rows, slope))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `lowtide plan` and `inspect` on generated networks of growing size.

    bench/growth.py [--lowtide PROGRAM] [--make-network PROGRAM] [--most 1000000]

The exponent says how seconds grow with the number of nodes, from 10,000 on: 1 is linear. Figures go to
bench/results/growth.json.
"""
import argparse
import pathlib
import sys
import tempfile

import record


def measure(lowtide, make_network, nodes, folder):
    model = pathlib.Path(folder) / f"{nodes}.onnx"
    made = record.timed([make_network, nodes, model])
    if made.code != 0:
        raise SystemExit(f"make_network failed with {made.code}")
    inspect = record.timed([lowtide, "inspect", model, "--json"])
    inspect.json()  # stops if the command failed
    plan = record.timed([lowtide, "plan", model, "--json", "-o", pathlib.Path(folder) / "plan.json"])
    answer = plan.json()
    model.unlink()
    return {"nodes": answer["model"]["nodes"], "inspect_seconds": round(inspect.seconds, 3),
            "plan_seconds": round(plan.seconds, 3), "passes": answer["seconds"], "peak_memory_bytes": plan.peak_bytes,
            "gap": answer["gap"], "verified": answer["verified"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--make-network", default=record.ROOT / "build/release/bench/make_network")
    parser.add_argument("--most", type=int, default=1_000_000)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        nodes = 1000
        while nodes <= given.most:
            rows.append(measure(given.lowtide, given.make_network, nodes, folder))
            print(rows[-1], file=sys.stderr)
            nodes *= 10
    record.write("growth", {"rows": rows, "exponent": record.exponent(rows, "plan_seconds")}, "planner")


if __name__ == "__main__":
    main()

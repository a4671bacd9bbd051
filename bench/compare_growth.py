#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `lowtide compare` on chains of Softmax of growing length.

    bench/compare_growth.py [--lowtide PROGRAM] [--most 1000000]

Seconds are CPU time, not wall-clock time. The exponent says how they grow with the nodes, from 10,000 nodes on: 1 is
linear. `refused` counts the baselines that refuse the graph. Figures go to bench/results/compare_growth.json.
"""
import argparse
import pathlib
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/cli"))
import small_models


def measure(lowtide, nodes, folder):
    model = pathlib.Path(folder) / f"{nodes}.onnx"
    model.write_bytes(small_models.chain(nodes, batch=1))
    compare = record.timed([lowtide, "compare", model, "--json"])
    baselines = compare.json()["baselines"]
    model.unlink()
    return {"nodes": nodes, "cpu_seconds": round(compare.cpu_seconds, 3), "peak_memory_bytes": compare.peak_bytes,
            "baselines": len(baselines), "refused": sum(baseline["refusal"] is not None for baseline in baselines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--most", type=int, default=1_000_000)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        nodes = 1000
        while nodes <= given.most:
            rows.append(measure(given.lowtide, nodes, folder))
            print(rows[-1], file=sys.stderr)
            nodes *= 10
    record.write("compare_growth", {"rows": rows, "exponent": record.exponent(rows, "cpu_seconds")}, "everything")


if __name__ == "__main__":
    main()

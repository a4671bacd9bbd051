#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `lowtide compare` on chains of Softmax of growing length.

    bench/compare_growth.py --lowtide build/release/src/lowtide/cli/lowtide [--most 1000000] [--build release]

Seconds are of the processor, not of the wall clock. The exponent is the slope of log(seconds) over log(nodes) between the
smallest and the largest length of at least 10,000 nodes: 1 is linear. `refused` counts the baselines that say that the
graph is too large for them. Figures go to bench/results/compare_growth.json.
"""
import argparse
import math
import pathlib
import sys
import tempfile

import record

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/cli"))
import small_models


def measure(lowtide, nodes, folder):
    model = pathlib.Path(folder) / f"{nodes}.onnx"
    model.write_bytes(small_models.chain(nodes, batch=1))
    compare = record.timed([lowtide, "compare", str(model), "--json"])
    presets = compare.json()["presets"]
    model.unlink()
    return {"nodes": nodes, "cpu_seconds": round(compare.cpu_seconds, 3), "peak_memory_bytes": compare.peak_bytes,
            "presets": len(presets), "refused": sum(preset["refusal"] is not None for preset in presets)}


def exponent(rows):
    far = [row for row in rows if row["nodes"] >= 10_000]
    if len(far) < 2:
        return None
    first, last = far[0], far[-1]
    return round(math.log(last["cpu_seconds"] / first["cpu_seconds"]) / math.log(last["nodes"] / first["nodes"]), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--build", default="release", help="how the program was built; is written beside the figures")
    default = pathlib.Path(__file__).parent / "results/compare_growth.json"
    parser.add_argument("--results", type=pathlib.Path, default=default)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        nodes = 1000
        while nodes <= arguments.most:
            rows.append(measure(arguments.lowtide, nodes, folder))
            print(rows[-1], file=sys.stderr)
            nodes *= 10
    record.write(arguments.results, {"build": arguments.build, "rows": rows, "exponent": exponent(rows)})


if __name__ == "__main__":
    main()

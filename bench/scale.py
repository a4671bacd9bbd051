#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""CPU seconds and memory of `lowtide` on generated graphs that are each large in one respect (scale_models.py).

    bench/scale.py [--lowtide PROGRAM]

Counted effort is meant to keep each command within 15 seconds of CPU time and 512 MiB, whatever the graph looks like.
Figures go to bench/results/scale.json.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import record
import scale_models

LIMITS = {"cpu_seconds": 15, "memory_bytes": 512 * 2**20}
COMMANDS = ("plan", "plan --streams 64", "explain")


def measure(lowtide, graph, model):
    for command in COMMANDS:
        done = record.timed([lowtide, *command.split(), model, "--json"])
        done.json()  # fails if the command did
        yield {"graph": graph, "command": command, "cpu_seconds": round(done.cpu_seconds, 2),
               "peak_memory_bytes": done.peak_bytes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.onnx"
        for graph in scale_models.CASES:
            # A separate process, because a command's peak memory includes that of the process that starts it.
            subprocess.run([sys.executable, scale_models.__file__, graph, model], check=True)
            for row in measure(given.lowtide, graph, model):
                rows.append(row)
                print(row, file=sys.stderr)
    record.write("scale", {"rows": rows, "limits": LIMITS}, "planner")


if __name__ == "__main__":
    main()

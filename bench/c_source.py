#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares exported C source with TFLite Micro: time on this machine, code, stack and arena of a Cortex-M3.

    "$(scripts/python_env tests/tflm/requirements.txt)" bench/c_source.py MODEL.tflite... [--lowtide PROGRAM]
                                                        [--rounds N] [--runs N] [--compiler GCC] [--no-record]

Both compute the same inputs, and their outputs must have the same bits. The source is compiled with -O2. The runtime is
that of PyPI, with its reference kernels. Both take turns; a time is that of the fastest round. Figures go to
bench/results/c_source.json.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/tflm"))
sys.path.insert(0, str(record.ROOT / "tests/c_run"))
import exported
import library_stack
import runtime as runtimes

TIMED = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "model.h"
int main(void) {
  struct timespec begin, end;
  NAME_init();
  NAME_run();
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int run = 0; run < RUNS; ++run) NAME_run();
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.9f\\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  return 0;
}
"""


def times_of(given, case, data, runtime):
    """Seconds of a run in C and in the runtime."""
    source = case.folder / "timed.c"
    source.write_text(TIMED.replace("NAME", case.report["name"]).replace("RUNS", str(given.runs)))
    program = case.folder / "timed"
    exported.call(given.compiler, "-std=c99", "-O2", "-I", case.folder, source, *case.sources[1:], "-lm", "-o", program)
    seconds = {"c": [], "tflm": []}
    for _ in range(given.rounds):
        seconds["c"].append(float(exported.call(program)) / given.runs)
        seconds["tflm"].append(runtime.run(data, timed=given.runs).seconds / given.runs)
    return {name: min(found) for name, found in seconds.items()}


def row_of(given, path, runtime):
    data = path.read_bytes()
    row = {"model": path.stem}
    with tempfile.TemporaryDirectory() as folder:
        case = exported.Case(data, folder, runtime)
        case.run_here(given.compiler, "-O2")
        seconds = times_of(given, case, data, runtime)
        row |= {"arena": case.report["arena_bytes"], "weights": case.report["weights_bytes"],
                "stack_bound": case.report["stack_bytes"]}
        if not exported.missing_tools():
            name = case.report["name"]
            program = case.link("mps2-an385")
            row["arena_linked"] = exported.sections(program)[".arena"]
            graph = exported.CallGraph(case.folder / "model.c", "mps2-an385", "-O2")
            library = library_stack.measured(tuple(graph.library), "mps2-an385")
            row["stack"] = graph.deepest(f"{name}_run", library)
            compiled = case.folder / "model.o"
            exported.call(exported.ARM + "gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c99", "-O2", "-c",
                          case.folder / "model.c", "-o", compiled)
            row["code"] = sum(size for section, size in exported.sections(compiled).items()
                              if section.startswith((".text", ".rodata")))
            for board in ("mps2-an385", "mps2-an500"):
                case.run_on(board)
    row |= {"c_ms": round(seconds["c"] * 1e3, 4), "tflm_ms": round(seconds["tflm"] * 1e3, 4),
            "ratio": round(seconds["c"] / seconds["tflm"], 3)}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20, help="of a round")
    parser.add_argument("--no-record", action="store_true")
    given = parser.parse_args()
    exported.PROGRAM = str(given.lowtide)
    rows = []
    with runtimes.Runtime() as runtime:
        for path in given.models:
            rows.append(row_of(given, path, runtime))
            print(rows[-1], file=sys.stderr, flush=True)
    version = subprocess.run([given.compiler, "--version"], capture_output=True, text=True, check=True).stdout
    if not given.no_record:
        record.write("c_source", {"compiler": re.sub(r"\s+", " ", version.splitlines()[0]), "rounds": given.rounds,
                                  "runs": given.runs, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

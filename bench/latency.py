#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how long a model takes to run in Lowtide, ONNX Runtime and OpenVINO.

    "$(scripts/python_env bench/requirements.txt)" bench/latency.py FOLDER... [--lowtide PROGRAM]
                                                   [--only NAME] [--threads N] [--rounds N] [--no-record]

Every tool runs every model in a process of its own, from the same file, with the same number of threads. The tools take
turns for several rounds, so that a busy neighbor slows all of them. A round has as many runs as take half a second, at
least 3 and at most 200: rounds are short and many, because two processors of a virtual machine may share one core for
a few seconds. Weights that are not beside a model are synthetic, and open extents get the values of
bench/dims.json.

`outside_kernels` is the share of Lowtide's time in which no step computes, in the round where it is smallest, with the
clock that measures it. `min` is the shortest run of all rounds, and `median` is the smallest median of a round. The
ratio compares Lowtide's `min` with that of the faster peer. Figures go to bench/results/latency.json.
"""
import importlib.metadata
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

PEERS = ("onnxruntime", "openvino")
TOOLS = ("lowtide", *PEERS)
PEER_LATENCY = record.ROOT / "bench/peer_latency.py"
SECONDS_OF_ROUND = 0.5
FEWEST_RUNS, MOST_RUNS = 3, 200


def lowtide_times(lowtide, folder, runs, threads):
    """The shortest and the median time, in milliseconds, and the share of a run outside of kernels."""
    command = [lowtide, "bench", folder / "model.onnx", "--runs", str(runs), "--threads", str(threads), "--json", "-q"]
    names = model_case.input_names(folder / "model.onnx")
    for name, file in zip(names, sorted(folder.glob("input_*.npy")), strict=True):
        command += ["--input", f"{name}={file}"]
    report = record.timed(command).json()
    return report["latency_ms"]["min"], report["latency_ms"]["p50"], report["outside_kernels"]["share"]


def peer_times(tool, folder, runs, threads):
    command = [sys.executable, PEER_LATENCY, tool, folder, str(runs), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200])
    times = json.loads(done.stdout)
    return min(times), statistics.median(times), None


def times_of(tool, given, folder, runs, threads):
    if tool == "lowtide":
        return lowtide_times(given.lowtide, folder, runs, threads)
    return peer_times(tool, folder, runs, threads)


def row_of(given, source, words, threads):
    row = {"model": source.stem, "options": " ".join(words), "threads": threads}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model_case.write_case(source, words, folder)
        longest, *_ = lowtide_times(given.lowtide, folder, FEWEST_RUNS, threads)
        runs = max(FEWEST_RUNS, min(MOST_RUNS, int(SECONDS_OF_ROUND * 1e3 / longest)))
        rounds = {tool: [] for tool in TOOLS}
        for _ in range(given.rounds):
            for tool in TOOLS:
                if rounds[tool] is None:
                    continue
                try:
                    rounds[tool].append(times_of(tool, given, folder, runs, threads))
                except RuntimeError as error:
                    rounds[tool] = None
                    row[f"{tool}_refusal"] = str(error)
    for tool in TOOLS:
        found = rounds[tool]
        row[tool] = found and {"min": round(min(one[0] for one in found), 3),
                               "median": round(min(one[1] for one in found), 3)}
    row["outside_kernels"] = round(min(one[2] for one in rounds["lowtide"]), 5)
    fastest = min((row[tool]["min"] for tool in PEERS if row[tool]), default=None)
    row["ratio"] = fastest and round(row["lowtide"]["min"] / fastest, 3)
    return row


def show(row):
    times = " ".join("{:>9}".format("refused" if row[tool] is None else f"{row[tool]['min']:.2f}") for tool in TOOLS)
    print(f"{row['model']:34} {row['threads']}  {times}  {row['ratio']}", file=sys.stderr, flush=True)


def mean_ratio(rows):
    """The geometric mean."""
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    return round(math.exp(statistics.fmean(map(math.log, ratios))), 3) if ratios else None


def main():
    parser = record.model_arguments(__doc__)
    parser.add_argument("--threads", action="append", type=int, help="a number of threads; default: 1 and 2")
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    rows = []
    for source, words in record.models_of(given):
        for threads in given.threads or [1, 2]:
            rows.append(row_of(given, source, words, threads))
            show(rows[-1])
    means = {str(threads): mean_ratio([row for row in rows if row["threads"] == threads])
             for threads in sorted({row["threads"] for row in rows})}
    print(f"geometric mean of the ratios, by threads: {means}", file=sys.stderr)
    versions = {tool: importlib.metadata.version(tool) for tool in PEERS}
    if not given.no_record:
        record.write("latency", {"versions": versions, "rounds": given.rounds, "mean_ratio": means, "rows": rows},
                     "everything")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer the slow runs of short models take than the others, and what 1,000 small operators cost.

    "$(scripts/python_env bench/requirements.txt)" bench/tails.py FOLDER... [--lowtide PROGRAM] [--only NAME]
                                                   [--runs N] [--longest MS] [--no-record]

Each model that runs in 3 ms or less on one thread runs 10,000 times in Lowtide and in ONNX Runtime, one after another,
on one thread. Models of which all rounds take less than 20 seconds have up to five of them, and each tool shows its
best one, because a busy neighbor spoils short ones. `p50` and `p99` are in milliseconds. A machine interrupts every
program: the control is a product of NumPy that takes about as long as Lowtide's run, and repeats it as often.

The small operators are 1,000 Neg, Abs and Sigmoid in a row, on 16 floats. Lowtide makes one loop of them, and runs each
of them with `--without chains`. Times are in microseconds, the shortest of 2,000 runs. Figures go to
bench/results/tails.json.
"""
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import latency
import numpy as np
import onnx
import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

OPERATORS = 1000
RUNS_OF_OPERATORS = 2000
SECONDS, MOST_ROUNDS = 20, 5  # of rounds of all tools


def percentile(times, percent):
    """Nearest rank."""
    return sorted(times)[max(-(-len(times) * percent // 100), 1) - 1]


def summary(times):
    return {"p50": percentile(times, 50), "p99": percentile(times, 99)}


def lowtide_report(lowtide, folder, runs, *words):
    command = [lowtide, "bench", folder / "model.onnx", "--runs", str(runs), "--json", "-q", *words]
    names = model_case.input_names(folder / "model.onnx")
    for name, file in zip(names, sorted(folder.glob("input_*.npy")), strict=True):
        command += ["--input", f"{name}={file}"]
    return record.timed(command).json()["latency_ms"]


def peer_times(folder, runs):
    command = [sys.executable, latency.PEER_LATENCY, "onnxruntime", folder, str(runs), "1"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_control(milliseconds, runs):
    """Prints the times of a product that takes about as long."""
    rows, columns, shortest = 8, 256, 0
    while shortest < milliseconds:
        rows = max(rows + 1, min(2 * rows, int(rows * milliseconds / shortest))) if shortest else rows
        matrix, vector = np.ones((rows, columns), np.float32), np.ones(columns, np.float32)
        shortest = math.inf
        for _ in range(50):
            begin = time.perf_counter()
            matrix @ vector
            shortest = min(shortest, (time.perf_counter() - begin) * 1e3)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        matrix @ vector
        times.append((time.perf_counter() - begin) * 1e3)
    print(json.dumps(times))


def control_times(milliseconds, runs):
    command = [sys.executable, __file__, "--control", str(milliseconds), str(runs)]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=alone).stdout)


def row_of(given, source, words):
    """None for a model that takes too long."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model_case.write_case(source, words, folder)
        if lowtide_report(given.lowtide, folder, latency.FEWEST_RUNS)["min"] > given.longest:
            return None
        rounds = {"lowtide": [], "onnxruntime": [], "control": []}
        seconds, begin = 0, time.perf_counter()
        while not rounds["lowtide"] or (seconds < SECONDS and len(rounds["lowtide"]) < MOST_ROUNDS):
            own = lowtide_report(given.lowtide, folder, given.runs)
            rounds["lowtide"].append({key: own[key] for key in ("p50", "p99")})
            rounds["onnxruntime"].append(summary(peer_times(folder, given.runs)))
            rounds["control"].append(summary(control_times(own["p50"], given.runs)))
            seconds = time.perf_counter() - begin
    row = {"model": source.stem, "options": " ".join(words)}
    for tool, found in rounds.items():
        best = min(found, key=lambda one: one["p99"] / one["p50"])
        row[tool] = {key: round(value, 6) for key, value in best.items()}
        row[tool]["ratio"] = round(best["p99"] / best["p50"], 3)
    return row


def small_operators(given):
    types = ("Neg", "Abs", "Sigmoid")
    nodes = [onnx.helper.make_node(types[at % len(types)], [f"x{at}"], [f"x{at + 1}"]) for at in range(OPERATORS)]
    ports = [onnx.helper.make_tensor_value_info(f"x{at}", onnx.TensorProto.FLOAT, [16]) for at in (0, OPERATORS)]
    graph = onnx.helper.make_graph(nodes, "small", ports[:1], ports[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(model, folder / "model.onnx")
        np.save(folder / "input_0.npy", np.linspace(-1, 1, 16, dtype=np.float32))
        own = lowtide_report(given.lowtide, folder, RUNS_OF_OPERATORS)["min"]
        apart = lowtide_report(given.lowtide, folder, RUNS_OF_OPERATORS, "--without", "chains")["min"]
        peer = min(peer_times(folder, RUNS_OF_OPERATORS))
    return {name: round(value * 1e3, 2) for name, value in
            (("lowtide", own), ("lowtide_without_chains", apart), ("onnxruntime", peer))}


def main():
    if sys.argv[1:2] == ["--control"]:
        return print_control(float(sys.argv[2]), int(sys.argv[3]))
    parser = record.model_arguments(__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--longest", type=float, default=3, help="of a run, in milliseconds")
    given = parser.parse_args()
    operators = small_operators(given)
    print(operators, file=sys.stderr, flush=True)
    rows = []
    for source, words in record.models_of(given):
        row = row_of(given, source, words)
        if row is not None:
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    versions = {"onnxruntime": importlib.metadata.version("onnxruntime")}
    if not given.no_record:
        record.write("tails", {"versions": versions, "runs": given.runs, "operators": operators, "rows": rows},
                     "everything")
    return None


if __name__ == "__main__":
    main()

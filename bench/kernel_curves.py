#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the points of `lowtide plan --curve` on this machine: what less memory costs by other kernels, other
rewrites and reruns.

    "$(scripts/python_env bench/requirements.txt)" bench/kernel_curves.py FOLDER... [--lowtide PROGRAM] [--only NAME]
                                                   [--points N] [--rounds N] [--no-record]

First `lowtide bench --profile` measures the kernels of the model. Each plan that the curve with `--costs` has below the
plan without a limit then runs with `lowtide bench --budget --costs`, on one thread, and takes turns with the plan
without a limit. `estimated` and `measured` are how much longer it takes: by the measured costs, and by the smallest
median of a round. `measured_by_model` is the same for the plan that `bench --budget` makes without measured costs, by
the plain model of one core. Models whose curve is one point have no row. Figures go to
bench/results/kernel_curves.json.
"""
import pathlib
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

SECONDS_OF_ROUND = 0.7


def points_of(given, model, costs):
    """The plans of the curve, each once, as (RAM, share of the time without a limit, reruns)."""
    report = record.timed([given.lowtide, "plan", model, "--target", "cpu", "--costs", costs, "--curve",
                           "--points", str(given.points), "--json", "-q"]).json()
    curve = report["curve"]
    found = {}
    for point in curve["points"]:
        if point["ram"] is not None:
            found[point["ram"]] = (point["ram"], point["cost"] / curve["base_cost"] - 1, point["reruns"])
    return list(found.values())


def times_of(given, base, words):
    """The smallest medians of the plan with a budget and of the one without, and the last report."""
    times = {"with": [], "without": []}
    runs = 3
    for at in range(given.rounds + 1):
        report = record.timed([*base, *words, "--runs", str(runs)]).json()
        if at == 0:  # how long it takes
            runs = max(3, min(200, int(SECONDS_OF_ROUND * 1e3 / report["latency_ms"]["min"])))
            continue
        times["with"].append(report["latency_ms"]["p50"])
        times["without"].append(report["budget"]["latency_without_ms"])
    return min(times["with"]), min(times["without"]), report


def rows_of(given, source, words):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model_case.write_case(source, words, folder)
        base = [given.lowtide, "bench", folder / "model.onnx", "--json", "-q"]
        for port, file in zip(model_case.input_names(folder / "model.onnx"), sorted(folder.glob("input_*.npy")),
                              strict=True):
            base += ["--input", f"{port}={file}"]
        costs = folder / "costs.json"
        record.timed([*base, "--runs", "1", "--profile", costs])
        points = points_of(given, folder / "model.onnx", costs)
        for ram, estimated, reruns in points[1:]:
            budget = ["--budget", str(ram)]
            ms, ms_without, report = times_of(given, base, [*budget, "--costs", costs])
            ms_by_model, ms_beside_model, _ = times_of(given, base, budget)
            rows.append({"model": source.stem, "options": " ".join(words), "ram": ram, "ram_without": points[0][0],
                         "reruns": reruns, "arena": report["bytes"]["arena"], "ms": round(ms, 3),
                         "ms_without": round(ms_without, 3), "estimated": round(estimated, 4),
                         "measured": round(ms / ms_without - 1, 4),
                         "measured_by_model": round(ms_by_model / ms_beside_model - 1, 4)})
    return rows


def main():
    parser = record.model_arguments(__doc__)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for source, words in record.models_of(given):
        for row in rows_of(given, source, words):
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    if not given.no_record:
        record.write("kernel_curves", {"rounds": given.rounds, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

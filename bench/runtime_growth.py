#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how much memory a process takes to load a model and run it, in Lowtide, ONNX Runtime and OpenVINO.

    "$(scripts/python_env bench/requirements.txt)" bench/runtime_growth.py FOLDER... [--lowtide PROGRAM]
                                                   [--only NAME] [--no-record]

Growth is the high-water mark of a process after it has loaded the model and run it three times, minus its resident
memory before the load, minus the bytes of the weights. Every tool runs every model in a process of its own, with one
thread, from the same file. Weights that are not beside a model are synthetic, and open extents get the values of
bench/dims.json.

"Before the load" is the time when the tool has everything that does not depend on a model. ONNX Runtime makes its
environment when Python imports it. OpenVINO has a core, which has opened the plugin for CPUs. Lowtide is the program
`lowtide bench`, which has registered the operators of ONNX and made the engine of oneDNN. Inputs are read after it, so
they count for all tools. OpenVINO computes with 32-bit floats, as the model says, and not with bfloat16.

The table has the models whose plan as written has a peak above 4 MiB. Figures go to bench/results/runtime_growth.json.
"""
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

LEAST_PEAK = 4 * 2**20
RUNS = 3
PEERS = ("onnxruntime", "openvino")
PEER_GROWTH = record.ROOT / "bench/peer_growth.py"
# Measured at this size too, because its figures are quoted often.
MORE_CASES = {"ppocr_v4_det.onnx": [["--shape", "x=1x3x960x960"]]}


def growth_of_peer(tool, folder):
    command = [sys.executable, PEER_GROWTH, tool, folder, str(RUNS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return int(done.stdout.split()[-1]), None
    return None, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200]


def growth_of_lowtide(lowtide, folder):
    """As growth_of_peer(), and the answer of the program."""
    command = [lowtide, "bench", folder / "model.onnx", "--runs", str(RUNS), "--json", "-q"]
    answer = record.timed(command).json()
    sizes = answer["bytes"]
    return sizes["process_growth"] + sizes["weights"], sizes


def peak_of(lowtide, source, words):
    """The peak of the plan of the model as written."""
    return record.timed([lowtide, "plan", source, "--json", "-q", *words]).json()["bytes"]["load"]


def row_of(lowtide, source, words):
    """The figures of one model, or None if its peak is not above LEAST_PEAK."""
    peak = peak_of(lowtide, source, words)
    if peak <= LEAST_PEAK:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        weights = model_case.write_case(source, words, folder)
        own, sizes = growth_of_lowtide(lowtide, folder)
        row = {"model": source.stem, "options": " ".join(words), "peak": peak, "weights": weights,
               "arena": sizes["arena"], "packed": sizes["packed"], "lowtide": own - weights}
        for tool in PEERS:
            growth, refusal = growth_of_peer(tool, folder)
            row[tool] = None if growth is None else growth - weights
            if refusal:
                row[f"{tool}_refusal"] = refusal
    smaller = min((row[tool] for tool in PEERS if row[tool] is not None), default=None)
    row["ratio"] = round(row["lowtide"] / smaller, 3) if smaller and smaller > 0 else None
    return row


def show(row):
    sizes = " ".join("{:>8}".format("refused" if row[key] is None else f"{row[key] / 1e6:.1f}")
                     for key in ("peak", "weights", "lowtide", *PEERS))
    print(f"{row['model']:34} {sizes}  {row['ratio']}", file=sys.stderr, flush=True)


def cases_of(given):
    """Each model with its options, and the further cases."""
    for source, usual in record.models_of(given):
        yield source, usual
        for words in MORE_CASES.get(source.name, []):
            yield source, words


def main():
    parser = record.model_arguments(__doc__)
    given = parser.parse_args()
    rows = []
    for source, words in cases_of(given):
        if row := row_of(given.lowtide, source, words):
            show(row)
            rows.append(row)
    versions = {tool: importlib.metadata.version(tool) for tool in PEERS}
    if not given.no_record:
        record.write("runtime_growth", {"versions": versions, "runs": RUNS, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

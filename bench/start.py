#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how long it takes from nothing to the first output of a model, in Lowtide, ONNX Runtime and OpenVINO.

    "$(scripts/python_env bench/requirements.txt)" bench/start.py FOLDER... [--lowtide PROGRAM] [--only NAME]
                                                   [--rounds N] [--no-record]

For Lowtide, this is the time of a whole process: `lowtide run` of the model, which also plans it, and of the file that
`lowtide prepare` made of it. For the peers, the clock starts when Python and NumPy are loaded, before the library of
the runtime is, and stops at the first output. So the start of Python is not in their figures. One thread each. The
tools take turns for several rounds, and the shortest time counts. The system has all files in memory, because each was
read before.

The table has the models with more than 10 MB of weights. "open" is the time in which `lowtide bench` opens the prepared
file. Figures go to bench/results/start.json.
"""
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

LEAST_WEIGHTS = 10**7
PEERS = ("onnxruntime", "openvino")
PEER_START = record.ROOT / "bench/peer_start.py"


def inputs_of(folder):
    names = model_case.input_names(folder / "model.onnx")
    files = sorted(folder.glob("input_*.npy"))
    return [word for name, file in zip(names, files, strict=True) for word in ("--input", f"{name}={file}")]


def milliseconds(command):
    run = record.timed(command)
    if run.code != 0:
        raise SystemExit(f"{command}: exit code {run.code}")
    return run.seconds * 1e3


def peer_time(tool, folder):
    """None: the tool refuses the model."""
    done = subprocess.run([sys.executable, PEER_START, tool, folder], capture_output=True, text=True)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


def time_once(given, folder, inputs):
    prepared = folder / "prepared"
    bench = [given.lowtide, "bench", prepared, "--runs", "1", "--json", "-q", *inputs]
    return {"lowtide": milliseconds([given.lowtide, "run", folder / "model.onnx", "-q", *inputs]),
            "prepared": milliseconds([given.lowtide, "run", prepared, "-q", *inputs]),
            "open": record.timed(bench).json()["open_ms"],
            **{tool: peer_time(tool, folder) for tool in PEERS}}


def shortest(rounds, key):
    times = [one[key] for one in rounds]
    return None if None in times else round(min(times), 1)


def row_of(given, source, words):
    """None: the model has too few weights."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model_case.write_case(source, words, folder)
        record.timed([given.lowtide, "prepare", folder / "model.onnx", "-o", folder / "prepared", "-q"])
        inputs = inputs_of(folder)
        bench = [given.lowtide, "bench", folder / "prepared", "--runs", "1", "--json", "-q", *inputs]
        weights = record.timed(bench).json()["bytes"]["weights"]
        if weights <= LEAST_WEIGHTS:
            return None
        rounds = [time_once(given, folder, inputs) for _ in range(given.rounds)]
    row = {"model": source.stem, "options": " ".join(words), "weights": weights,
           **{key: shortest(rounds, key) for key in ("lowtide", "prepared", "open", *PEERS)}}
    row["ratio"] = row["onnxruntime"] and round(row["prepared"] / row["onnxruntime"], 3)
    return row


def main():
    parser = record.model_arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for source, words in record.models_of(given):
        if row := row_of(given, source, words):
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    versions = {tool: importlib.metadata.version(tool) for tool in PEERS}
    if not given.no_record:
        record.write("start", {"versions": versions, "rounds": given.rounds, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of models with that of their forms in 8 bits, in Lowtide and ONNX Runtime.

    "$(scripts/python_env bench/requirements.txt)" bench/int8.py FOLDER... [--lowtide PROGRAM] [--only NAME]
                                                   [--threads N] [--rounds N] [--no-record]

The quantizer of ONNX Runtime makes the second form: QuantizeLinear and DequantizeLinear around each operator, u8 for
results and i8 for weights, one scale per channel. It calibrates on the made-up input, so only times mean anything. Both
forms take turns with the peer, as in bench/latency.py. `min` is the shortest run of all rounds. The ratio is the time
of the model in Lowtide, divided by that of its form in 8 bits. Figures go to bench/results/int8.json.
"""
import contextlib
import importlib.metadata
import logging
import pathlib
import shutil
import sys
import tempfile

import latency
import numpy as np
import record

sys.path.insert(0, str(record.ROOT / "tests/tools"))
import model_case

MODELS = ("resnet50", "vit_b_16")


class OneInput:
    """What the quantizer calibrates on."""

    def __init__(self, values):
        self.values = [values]

    def get_next(self):
        return self.values.pop() if self.values else None


def write_int8(case, folder):
    """Writes the form in 8 bits of a case of model_case.py."""
    from onnxruntime import quantization

    inputs = sorted(case.glob("input_*.npy"))
    names = model_case.input_names(case / "model.onnx")
    values = {name: np.load(file) for name, file in zip(names, inputs, strict=True)}
    logging.disable(logging.WARNING)
    quantization.quantize_static(str(case / "model.onnx"), str(folder / "model.onnx"), OneInput(values),
                                 quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8,
                                 weight_type=quantization.QuantType.QInt8)
    for file in inputs:
        shutil.copy(file, folder)


def row_of(given, source, words, threads):
    row = {"model": source.stem, "threads": threads}
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        forms = {"float": pathlib.Path(first), "int8": pathlib.Path(second)}
        model_case.write_case(source, words, forms["float"])
        with contextlib.redirect_stdout(sys.stderr):
            write_int8(forms["float"], forms["int8"])
        times = {}
        for _ in range(given.rounds):
            for form, folder in forms.items():
                for tool in ("lowtide", "onnxruntime"):
                    found, *_ = latency.times_of(tool, given, folder, given.runs, threads)
                    times.setdefault(f"{tool}_{form}", []).append(found)
    row.update({name: round(min(found), 3) for name, found in times.items()})
    row["ratio"] = round(row["lowtide_float"] / row["lowtide_int8"], 3)
    return row


def main():
    parser = record.model_arguments(__doc__)
    parser.add_argument("--threads", action="append", type=int, help="a number of threads; default: 1 and 2")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--runs", type=int, default=5, help="of a round")
    given = parser.parse_args()
    given.only = given.only or list(MODELS)
    rows = []
    for source, words in record.models_of(given):
        for threads in given.threads or [1, 2]:
            rows.append(row_of(given, source, words, threads))
            print(rows[-1], file=sys.stderr, flush=True)
    versions = {"onnxruntime": importlib.metadata.version("onnxruntime")}
    if not given.no_record:
        record.write("int8", {"versions": versions, "rounds": given.rounds, "rows": rows}, "everything")


if __name__ == "__main__":
    main()

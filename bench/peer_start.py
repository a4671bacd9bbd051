# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the milliseconds that another runtime takes to start, to load a model and to run it. bench/start.py runs it.

    peer_start.py TOOL FOLDER

FOLDER is that of tests/tools/model_case.py. Python and NumPy are loaded before the clock starts, and the library of the
runtime after it.
"""
import pathlib
import sys
import time

import numpy as np
import peer_latency


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    inputs = [np.load(file) for file in sorted(folder.glob("input_*.npy"))]
    begin = time.perf_counter()
    peer_latency.LOAD[tool](str(folder / "model.onnx"), 1)(inputs)
    print((time.perf_counter() - begin) * 1e3)


if __name__ == "__main__":
    main()

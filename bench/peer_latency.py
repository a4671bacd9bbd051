# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the times of runs of a model in another runtime, in milliseconds. bench/latency.py runs it.

    peer_latency.py TOOL FOLDER RUNS THREADS

FOLDER is that of tests/tools/model_case.py. A runtime that refuses the model with fixed extents gets the one with open
extents. The first two runs are not timed. All optimizations of the runtime are on.
OpenVINO computes with 32-bit floats, as the model says.
"""
import json
import pathlib
import sys
import time

import numpy as np


def load_onnxruntime(path, threads):
    """Returns a function that runs the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs)))


def load_openvino(path, threads):
    """As load_onnxruntime()."""
    import openvino

    words = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(path, "CPU", words).create_infer_request()
    return lambda inputs: request.infer(inputs)


LOAD = {"onnxruntime": load_onnxruntime, "openvino": load_openvino}
UNTIMED = 2


def main():
    tool, folder, runs, threads = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    inputs = [np.load(file) for file in sorted(folder.glob("input_*.npy"))]
    try:
        run = LOAD[tool](str(folder / "model.onnx"), threads)
    except Exception:  # each runtime has its own
        if not (folder / "open.onnx").exists():
            raise
        run = LOAD[tool](str(folder / "open.onnx"), threads)
    times = []
    for _ in range(UNTIMED + runs):
        begin = time.perf_counter()
        run(inputs)
        times.append((time.perf_counter() - begin) * 1e3)
    print(json.dumps(times[UNTIMED:]))


if __name__ == "__main__":
    main()

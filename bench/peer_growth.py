# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the bytes by which another runtime lets this process grow. bench/runtime_growth.py runs it.

    peer_growth.py TOOL FOLDER RUNS

FOLDER is that of tests/tools/model_case.py. The growth includes the weights and the inputs. Nothing is imported that
the tool does not need, because memory that Python has freed would serve the tool.
"""
import pathlib
import sys

import numpy as np


def status(key):
    """A line of the status of this process, in bytes."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024


def ready_onnxruntime(path):
    """Returns a function that loads the model, which returns a function that runs it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3

    def load():
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [port.name for port in session.get_inputs()]
        return lambda inputs: session.run(None, dict(zip(names, inputs)))

    return load


def ready_openvino(path):
    """As ready_onnxruntime()."""
    import openvino

    core = openvino.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # opens the plugin
    words = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}

    def load():
        request = core.compile_model(path, "CPU", words).create_infer_request()
        return lambda inputs: request.infer(inputs)

    return load


READY = {"onnxruntime": ready_onnxruntime, "openvino": ready_openvino}


def main():
    tool, folder, runs = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    load = READY[tool](str(folder / "model.onnx"))
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins again
    before = status("VmRSS:")
    run = load()
    inputs = [np.load(file) for file in sorted(folder.glob("input_*.npy"))]
    for _ in range(runs):
        run(inputs)
    print(status("VmHWM:") - before)


if __name__ == "__main__":
    main()

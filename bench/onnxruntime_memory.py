#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that Lowtide predicts for ONNX Runtime with what ONNX Runtime takes from the system.

    "$(scripts/python_env)" bench/onnxruntime_memory.py FOLDER... [--lowtide PROGRAM] [--tracer LIBRARY]
    "$(scripts/python_env)" bench/onnxruntime_memory.py --kernels

Every model of the folders is measured as given, and as ONNX Runtime saves it after its basic, extended and all
optimizations. Each of these files then runs twice without further optimization, with one thread, in a process of its
own. Weights that are not beside a model are random. Open extents get the values of bench/dims.json with the inputs of a
run, and the session does not know them before. Figures go to bench/results/onnxruntime_memory.json.

With --kernels, models of one operator each show whether the kernel writes over its input, and its scratch. Nothing is
recorded.
"""
import argparse
import concurrent.futures
import ctypes
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import record
from onnx import TensorProto, helper, numpy_helper

TRACER = record.ROOT / "build/release/bench/allocation_tracer.so"
LEVELS = ("given", "basic", "extended", "all")
TOLERANCE = 0.15
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}

VALUES = {"sr": 16_000}  # by input name: the value that a model requires there; silero_vad: the sampling rate

# The options in the order of `lowtide compare --json`: arena_extend_strategy (null: no arena), enable_mem_pattern.
OPTIONS = (("kNextPowerOfTwo", True), ("kNextPowerOfTwo", False), ("kSameAsRequested", True),
           ("kSameAsRequested", False), (None, True), (None, False))
MEASURED = (0, 2)  # of OPTIONS, for models: the defaults, and segments as requested


def session_options(level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def extents_of(words):
    """The extents that options from bench/dims.json set: by symbol, and by input."""
    dims, shapes = {}, {}
    for option, word in zip(words[::2], words[1::2], strict=True):
        name, value = word.split("=")
        if option == "--dim":
            dims[name] = int(value)
        else:
            shapes[name] = [int(extent) for extent in value.split("x")]
    return dims, shapes


def feeds_of(session, dims, shapes):
    random = np.random.default_rng(0)
    feeds = {}
    for value in session.get_inputs():
        shape = shapes.get(value.name) or [extent if isinstance(extent, int) else dims.get(extent, 1)
                                           for extent in value.shape]
        is_real = value.type == "tensor(float)"
        numbers = random.random(shape) if is_real else np.full(shape, VALUES.get(value.name, 1))
        feeds[value.name] = np.asarray(numbers, dtype=TYPES[value.type])
    return feeds


def measure(path, words, at):
    """The bytes of the first and the second run under OPTIONS[at], without those that the session took before."""
    tracer = ctypes.CDLL(None)
    for name in ("lowtide_trace_requested", "lowtide_trace_peak"):
        getattr(tracer, name).restype = ctypes.c_int64
    growth, has_pattern = OPTIONS[at]
    dims, shapes = extents_of(words)
    options = session_options()
    options.enable_mem_pattern = has_pattern
    options.enable_cpu_mem_arena = growth is not None
    if growth == "kSameAsRequested":
        arena = onnxruntime.OrtArenaCfg({"max_mem": 0, "arena_extend_strategy": 1, "initial_chunk_size_bytes": -1,
                                         "max_dead_bytes_per_chunk": -1})
        memory = onnxruntime.OrtMemoryInfo("Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0,
                                           onnxruntime.OrtMemType.DEFAULT)
        onnxruntime.create_and_register_allocator(memory, arena)
        options.add_session_config_entry("session.use_env_allocators", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session, dims, shapes)
    taken = []
    for _ in range(2):
        tracer.lowtide_trace_reset()
        session.run(None, feeds)
        taken.append(tracer.lowtide_trace_requested() if growth else tracer.lowtide_trace_peak())
    return [taken[0], taken[0] + taken[1]] if growth else taken


def measured(path, words, at, tracer):
    command = [sys.executable, __file__, "--measure", str(path), str(at), *words]
    done = subprocess.run(command, env={**os.environ, "LD_PRELOAD": str(tracer)}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{path.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def predicted(path, words, lowtide):
    """Lowtide's arena, and its prediction for each of OPTIONS, or the reason why there is none."""
    command = [lowtide, "compare", path, "--no-load-time", "--json", "-q", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    answer = json.loads(done.stdout)
    runtime = answer["onnxruntime"]
    if runtime["refusal"]:
        return None, runtime["refusal"]
    for (growth, has_pattern), row in zip(OPTIONS, runtime["options"], strict=True):
        assert (row["arena_extend_strategy"], row["enable_mem_pattern"]) == (growth, has_pattern)
    return answer["bytes"]["arena"], [[row[key] - row["load_bytes"] for key in ("first_run_bytes", "second_run_bytes")]
                                      for row in runtime["options"]]


def write_with_weights(source, folder):
    """A copy of the model, with random weights if its external data are missing."""
    model = onnx.load(source, load_external_data=False)
    sizes = {}
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            entry = {item.key: item.value for item in tensor.external_data}
            end = int(entry.get("offset", 0)) + int(entry["length"])
            sizes[entry["location"]] = max(sizes.get(entry["location"], 0), end)
    for name, size in sizes.items():
        weights = np.random.default_rng(1).standard_normal(size // 4 + 1, dtype=np.float32) * np.float32(0.02)
        weights.tofile(folder / name)
    onnx.save(model, folder / "given.onnx")


def write_levels(folder):
    """What ONNX Runtime makes of given.onnx at each level of optimization."""
    for level in LEVELS[1:]:
        options = session_options(getattr(onnxruntime.GraphOptimizationLevel, "ORT_ENABLE_" + level.upper()))
        options.optimized_model_filepath = str(folder / f"{level}.onnx")
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", f"{level}.bin")
        options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
        onnxruntime.InferenceSession(folder / "given.onnx", options, providers=["CPUExecutionProvider"])


def is_close(guess, truth):
    return abs(guess - truth) <= TOLERANCE * truth


def row_of(path, name, words, given):
    arena, guess = predicted(path, words, given.lowtide)
    truth = [measured(path, words, at, given.tracer) for at in MEASURED]
    guess = guess if arena is None else [guess[at] for at in MEASURED]
    row = {"model": name, "level": path.stem, "arena": arena, "measured": truth}
    row.update({"refusal": guess, "predicted": None} if arena is None else {"refusal": None, "predicted": guess})
    row["close"] = arena is not None and all(is_close(*pair) for pair in zip(guess[0], truth[0], strict=True))
    return row


def show(row):
    guess = row["predicted"][0] if row["predicted"] else (0, 0)
    print("{:32} {:9} {:>13,} {:>13,} {:>13,} {:>13,}  {}".format(
        row["model"], row["level"], guess[0], row["measured"][0][0], guess[1], row["measured"][0][1],
        row["refusal"] or ("" if row["close"] else "differs")), file=sys.stderr, flush=True)


def rows_of_models(given):
    rows = []
    for source in sorted(path for folder in given.folders for path in folder.glob("*.onnx")):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_with_weights(source, folder)
            write_levels(folder)
            row = functools.partial(row_of, name=source.stem, words=record.DIMS.get(source.name, []), given=given)
            # Bytes are counted, not timed, so two processes may run at once.
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                done = list(pool.map(row, [folder / f"{level}.onnx" for level in LEVELS]))
        for one in done:
            show(one)
        rows += done
    return rows


SHAPE = [1, 8, 32, 32]
UNARY = ["Abs", "BatchNormalization", "Cast", "Celu", "Clip", "Elu", "Erf", "Exp", "Flatten", "Floor", "Gelu",
         "HardSigmoid", "HardSwish", "Identity", "LayerNormalization", "LeakyRelu", "LogSoftmax", "Neg", "Reciprocal",
         "Relu", "Reshape", "Selu", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Squeeze",
         "Tanh", "ThresholdedRelu", "Transpose", "Unsqueeze"]
BINARY = ["Add", "Concat", "Div", "MatMul", "Max", "Min", "Mul", "Pow", "Sub", "Sum"]
CONVS = [{"filters": [16, 8, 3, 3]}, {"filters": [8, 1, 3, 3], "group": 8}, {"filters": [16, 4, 3, 3], "group": 2},
         {"filters": [16, 8, 1, 1]}, {"filters": [16, 8, 1, 1], "strides": [2, 2]}, {"filters": [2048, 8, 3, 3]},
         {"filters": [16, 8, 5, 5], "dilations": [2, 2]}]


def probe(op, others=(), **attributes):
    """a = Exp(x), b = op(a, ...), y = Exp(b): the kernel may write over a, and b is not an output."""
    constants = [numpy_helper.from_array(value, f"c{at}") for at, value in enumerate(others)]
    nodes = [helper.make_node("Exp", ["x"], ["a"]),
             helper.make_node(op, ["a", *(constant.name for constant in constants)], ["b"], **attributes),
             helper.make_node("Exp", ["b"], ["y"])]
    graph = helper.make_graph(nodes, op, [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def probes():
    shape = np.array(SHAPE, np.int64)
    ones = np.ones(8, np.float32)
    constants = {"BatchNormalization": [ones] * 4, "LayerNormalization": [np.ones(32, np.float32)] * 2,
                 "Reshape": [shape], "Squeeze": [shape[:1] - 1], "Unsqueeze": [shape[:1] - 1]}
    attributes = {"Cast": {"to": TensorProto.FLOAT}, "Transpose": {"perm": [0, 1, 3, 2]}, "Concat": {"axis": 1}}
    for op in UNARY:
        yield op, probe(op, constants.get(op, []), **attributes.get(op, {}))
    for op in BINARY:
        yield op, probe(op, [np.ones(SHAPE, np.float32)], **attributes.get(op, {}))
    for case in CONVS:
        weight = np.ones(case["filters"], np.float32)
        rest = {key: value for key, value in case.items() if key != "filters"}
        pads = {"pads": [weight.shape[2] // 2] * 4} if weight.shape[2] > 1 else {}
        yield f"Conv {case}", probe("Conv", [weight], **rest, **pads)
    yield "ConvTranspose", probe("ConvTranspose", [np.ones((8, 4, 3, 3), np.float32)])


def check_kernels(given):
    """Compares the peak of each kernel, without an arena and without a memory pattern."""
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "probe.onnx"
        for op, model in probes():
            onnx.save(model, path)
            _, guess = predicted(path, [], given.lowtide)
            truth = measured(path, [], len(OPTIONS) - 1, given.tracer)[0]
            print(f"{op:60} {guess[-1][0]:>12,} {truth:>12,}", flush=True)
            if guess[-1][0] != truth:
                wrong.append(op)
    if wrong:
        raise SystemExit("the prediction is wrong for these kernels: " + ", ".join(wrong))


def main():
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[4:], int(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--lowtide", default=record.LOWTIDE)
    parser.add_argument("--tracer", default=TRACER)
    parser.add_argument("--kernels", action="store_true")
    given = parser.parse_args()
    if given.kernels:
        check_kernels(given)
        return
    figures = {"version": onnxruntime.__version__, "rows": rows_of_models(given)}
    record.write("onnxruntime_memory", figures, "everything")


if __name__ == "__main__":
    main()

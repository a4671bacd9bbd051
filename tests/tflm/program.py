# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Asks the lowtide program about .tflite files: whether it accepts one, and what it computes."""
import json
import pathlib
import subprocess
import tempfile

import files
import numpy as np

REFUSED = (1, 3)  # exit codes of an answer that is no, and of bad input


def verify(program, data):
    """Whether `lowtide verify` accepts the bytes of a file. Raises RuntimeError if it crashes."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(data)
        file.flush()
        return call(program, "verify", file.name) is None


def planned(program, data):
    """The file that `lowtide plan --tflm` writes, and what it says about the runtime; or None, if it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder) / "before.tflite", pathlib.Path(folder) / "after.tflite"
        before.write_bytes(data)
        done = subprocess.run([program, "plan", str(before), "--tflm", str(after), "--json"], capture_output=True,
                              text=True, timeout=300)
        if done.returncode:
            return None
        return after.read_bytes(), json.loads(done.stdout)["tflm"]


def run(program, data, inputs):
    """The outputs that `lowtide run` writes for one set of inputs, and None; or None, and why it refuses the file."""
    graph = files.read(data).subgraphs[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "model.tflite").write_bytes(data)
        options = ["--output-dir", str(folder / "out")]
        for number, (tensor, value) in enumerate(zip(graph.inputs, inputs, strict=True)):
            np.save(folder / f"{number}.npy", value)
            options += ["--input", f"{graph.tensors[tensor].name}={folder / f'{number}.npy'}"]
        refusal = call(program, "run", str(folder / "model.tflite"), *options)
        if refusal is not None:
            return None, refusal
        return [np.load(folder / "out" / f"{graph.tensors[one].name}.npy") for one in graph.outputs], None


def call(program, *arguments):
    """None if the program succeeds, or what it says when it refuses. Raises RuntimeError if it does neither."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode == 0:
        return None
    if done.returncode not in REFUSED:
        raise RuntimeError(f"{program} {arguments[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stderr.strip() or f"exit code {done.returncode}"


def same(found, expected):
    """All outputs have the same types, shapes and bits."""
    return len(found) == len(expected) and all(
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        for one, other in zip(found, expected))

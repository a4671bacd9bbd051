# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What sessions do to their process, which is another one in each test (docs/embedding.md)."""
import subprocess
import sys

import onnx.helper as oh
import pytest
from conftest import save
from onnx import TensorProto

import lowtide

BEGIN = """
import os, pathlib, re, sys
import numpy as np
import lowtide

def catches(signal):
    mask = re.search("SigCgt:\\\\s*([0-9a-f]+)", pathlib.Path("/proc/self/status").read_text())[1]
    return bool(int(mask, 16) >> (signal - 1) & 1)

def tasks():
    return len(os.listdir("/proc/self/task"))

def has_onednn():
    return "libdnnl" in pathlib.Path("/proc/self/maps").read_text()

SIGBUS = 7
before = tasks()
x = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)

def run(**options):
    session = lowtide.Session(sys.argv[1], **options)
    np.testing.assert_allclose(session.run({"x": x})["y"], x @ x, rtol=1e-4, atol=1e-4)
    return session
"""


@pytest.fixture
def square(tmp_path):
    """x f32[64,64] -> x times x."""
    f32 = TensorProto.FLOAT
    return save(tmp_path, [oh.make_node("MatMul", ["x", "x"], ["y"])], [("x", f32, [64, 64])], [("y", f32, [64, 64])])


@pytest.mark.parametrize("code", [
    "run(); assert catches(SIGBUS) and tasks() == before",
    "lowtide.configure_process(catch_file_faults=False); run(); assert not catches(SIGBUS)",
    "lowtide.configure_process(trim_heap=False); run(); assert catches(SIGBUS), 'an option that is not given stays'",
    "lowtide.configure_process(load_onednn=False); run(); assert not has_onednn()",
    "lowtide.configure_process(keep_runs_off_heap=True, make_memory_files=False); run(threads=2)",
    "run(threads=8, system_threads=1); assert tasks() == before",
    "session = run(threads=8, system_threads=3); assert tasks() == before + 2",
    "session = run(threads=8); assert tasks() == before + min(8, len(os.sched_getaffinity(0))) - 1",
    "a, b = run(), run(threads=3, system_threads=3)\n"
    "assert a.run({'x': x})['y'].tobytes() == b.run({'x': x})['y'].tobytes()",
])
def test_options_of_the_process(square, code):
    subprocess.run([sys.executable, "-c", BEGIN + code, square], check=True)


def test_wrong_options_are_refused(square):
    with pytest.raises(TypeError):
        lowtide.configure_process(trim="no")
    with pytest.raises(lowtide.UnsupportedError, match="system_threads is 0"):
        lowtide.Session(square, system_threads=0)
    for threads in (0, 257):
        with pytest.raises(lowtide.UnsupportedError, match=f"{threads} threads are .* from 1 to 256"):
            lowtide.Session(square, threads=threads)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What steps on CUDA do that a machine without a GPU can tell."""
import os
import pathlib
import subprocess
import sys

import pytest
import torch

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = os.environ.get("CXX") or "c++"


def library(folder):
    """Compiles fake_cuda.cc."""
    root, made = pathlib.Path(torch.__file__).parent, folder / "libfake_cuda.so"
    subprocess.run([*COMPILER.split(), "-std=c++20", "-O0", "-shared", "-fPIC", "-isystem", root / "include",
                    HERE / "fake_cuda.cc", "-o", made, f"-L{root / 'lib'}", "-lc10", "-ltorch_cpu",
                    f"-Wl,-rpath,{root / 'lib'}"], check=True)
    return made


@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="this PyTorch has CUDA, so nothing can stand for it")
def test_steps_on_tensors_of_cuda_without_memory(tmp_path):
    """Only a new process can load what stands for CUDA before PyTorch."""
    folders = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "fake_cuda", "-p", "no:cacheprovider", "-p",
                           "no:logging", "--tb=short", HERE / "cases_on_cuda.py"], cwd=tmp_path, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(folders),
                                                    "LOWTIDE_FAKE_CUDA": str(library(tmp_path))})
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout

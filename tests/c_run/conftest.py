# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The runtime of TFLite Micro, and models that are exported once."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tflm"))

import exported
import runtime as runtimes

KWS = exported.ROOT / "tests/files/tflite/kws_dscnn_int8.tflite"


@pytest.fixture(scope="session")
def runtime():
    runtimes.check_present()
    with runtimes.Runtime() as one:
        yield one


@pytest.fixture(scope="session")
def boards():
    """The boards of QEMU can run programs."""
    if missing := exported.missing_tools():
        pytest.fail(f"missing: {', '.join(missing)}; scripts/install_dependencies --tests installs what boards need")


@pytest.fixture(scope="session")
def kws(tmp_path_factory, runtime):
    """The keyword model as C source, with what the runtime computes for three inputs."""
    return exported.Case(KWS.read_bytes(), tmp_path_factory.mktemp("kws"), runtime, "--name", "kws")

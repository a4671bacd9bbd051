# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The runtime that the tests share, and the models that are in the repository."""
import pathlib

import pytest
import runtime as runtimes

MODELS = sorted((pathlib.Path(__file__).resolve().parent.parent / "files/tflite").glob("*.tflite"))


@pytest.fixture(scope="session")
def runtime():
    """The runtime of TFLite Micro."""
    runtimes.check_present()
    with runtimes.Runtime() as one:
        yield one


def pytest_generate_tests(metafunc):
    if "sample" in metafunc.fixturenames:
        metafunc.parametrize("sample", [one.read_bytes() for one in MODELS], ids=[one.stem for one in MODELS])

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The model file of a session that runs: it may be replaced or deleted, and must not be written."""
import os
import time

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from conftest import save
from onnx import TensorProto

import lowtide

X = np.arange(4096, dtype=np.float32)


@pytest.fixture
def table(tmp_path):
    """A model that reads a constant of four pages in its file."""
    f32 = TensorProto.FLOAT
    numbers = np.arange(4096, dtype=np.float32)
    return save(tmp_path, [oh.make_node("Add", ["x", "w"], ["y"])], [("x", f32, [4096])], [("y", f32, [4096])],
                [onnx.numpy_helper.from_array(numbers, "w")])


def test_a_changed_file_is_refused(table):
    session = lowtide.Session(table)
    session.run({"x": X})
    time.sleep(0.02)
    table.write_bytes(table.read_bytes() + b"\0")
    with pytest.raises(lowtide.MismatchError):
        session.run()


def test_a_file_that_is_replaced_leaves_sessions_alone(table, tmp_path):
    """A deploy moves another file to the path. The session has mapped the old one."""
    session = lowtide.Session(table)
    before = session.run({"x": X})["y"].copy()
    other = tmp_path / "other.onnx"
    other.write_bytes(b"something else")
    os.replace(other, table)
    np.testing.assert_array_equal(session.run({"x": X})["y"], before)
    os.remove(table)
    np.testing.assert_array_equal(session.run({"x": X})["y"], before)

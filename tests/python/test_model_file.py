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
    """A model that reads four pages of numbers in the file w.bin, where they are aligned and stay."""
    f32 = TensorProto.FLOAT
    numbers = np.arange(4096, dtype=np.float32)
    path = save(tmp_path, [oh.make_node("Add", ["x", "w"], ["y"])], [("x", f32, [4096])], [("y", f32, [4096])],
                [onnx.numpy_helper.from_array(numbers, "w")])
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="w.bin")
    return path


def test_a_changed_file_is_refused(table):
    session = lowtide.Session(table)
    assert session.memory["weights_mapped"] == X.nbytes
    session.run({"x": X})
    time.sleep(0.02)
    file = table.with_name("w.bin")
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(lowtide.MismatchError):
        session.run()


def test_a_file_that_is_replaced_leaves_sessions_alone(table, tmp_path):
    """A deploy moves another file to the path. The session has mapped the old one."""
    session = lowtide.Session(table)
    before = session.run({"x": X})["y"].copy()
    for file in (table, table.with_name("w.bin")):
        other = tmp_path / "other"
        other.write_bytes(b"something else")
        os.replace(other, file)
        np.testing.assert_array_equal(session.run({"x": X})["y"], before)
        os.remove(file)
        np.testing.assert_array_equal(session.run({"x": X})["y"], before)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Sizes that a model leaves open, and sizes that depend on data."""
import numpy as np
import onnx
import onnx.helper as oh
import pytest
from conftest import save
from onnx import TensorProto

import lowtide


def test_inputs_bind_open_sizes(batched):
    with pytest.raises(lowtide.UnresolvedError, match=r"--shape x=\?x8(.|\n)*inputs=\{...\} of a Session"):
        lowtide.Session(batched)
    x = np.arange(24, dtype=np.float32).reshape(3, 8) - 12
    session = lowtide.Session(batched, inputs={"x": x})
    assert session.inputs[0].shape == (3, 8)
    assert session.plan.dims == ["x=[3,8]"]
    np.testing.assert_array_equal(session.run({"x": x})["y"], -np.maximum(x, 0))
    # Its plan runs without the array, which is not kept.
    again = lowtide.Session(batched, session.plan)
    np.testing.assert_array_equal(again.run({"x": x})["y"], -np.maximum(x, 0))
    with pytest.raises(lowtide.InvalidError, match="extent 1 is given as 7, but it is fixed in the file at 8"):
        lowtide.Session(batched, inputs={"x": np.zeros((3, 7), np.float32)})
    with pytest.raises(lowtide.InvalidError, match="extent 0 is given as 3, but its symbol 'batch' is given as 4 by"):
        lowtide.Session(batched, inputs={"x": x}, dims={"batch": 4})
    with pytest.raises(TypeError, match="give arrays by name"):
        lowtide.Session(batched, inputs=[x])


def test_upper_bounds_of_open_extents(batched):
    session = lowtide.Session(batched, at_most={"batch": 4}, inputs={"x": np.zeros((3, 8), np.float32)})
    assert session.inputs[0].is_bounded and session.inputs[0].shape == (4, 8)
    assert session.plan.dims == ["batch<=4", "x=[?,8]"]
    for rows in (0, 1, 4):
        x = np.arange(8 * rows, dtype=np.float32).reshape(rows, 8) - 8
        np.testing.assert_array_equal(session.run({"x": x})["y"], -np.maximum(x, 0))
    with pytest.raises(lowtide.InvalidError, match=r"f32\[<=4,8\], but f32\[5,8\] is given"):
        session.run({"x": np.zeros((5, 8), np.float32)})
    assert lowtide.verify(batched, session.plan) == []


@pytest.fixture
def counted(tmp_path):
    """y = the numbers below n, f32. Its length depends on data."""
    constants = [onnx.numpy_helper.from_array(np.array(number, np.int64), name)
                 for name, number in (("zero", 0), ("one", 1))]
    nodes = [oh.make_node("Range", ["zero", "n", "one"], ["numbers"], "range"),
             oh.make_node("Cast", ["numbers"], ["y"], to=TensorProto.FLOAT)]
    return save(tmp_path, nodes, [("n", TensorProto.INT64, [])], [("y", TensorProto.FLOAT, ["length"])], constants)


def test_upper_bounds_of_lengths_that_depend_on_data(counted):
    with pytest.raises(lowtide.UnresolvedError, match=r"--at-most numbers=N(.|\n)*at_most=\{...\}"):
        lowtide.plan(counted)
    plan = lowtide.plan(counted, at_most={"numbers": 20})
    assert plan.dims == ["numbers<=20"] and plan.verified
    assert lowtide.verify(counted, plan) == []
    session = lowtide.Session(counted, at_most={"numbers": 20})
    for length in (20, 3, 0):
        result = session.run({"n": np.array(length, np.int64)})["y"]
        np.testing.assert_array_equal(result, np.arange(length, dtype=np.float32))
    with pytest.raises(lowtide.OverLimitError, match=r"'numbers' is i64\[<=20\]; plan for larger sizes with --at-most"):
        session.run({"n": np.array(21, np.int64)})
    assert len(session.run({"n": np.array(2, np.int64)})["y"]) == 2, "the session can run again"


def test_inputs_of_a_net_have_the_types_of_their_arrays(tmp_path):
    net = tmp_path / "net.pbtxt"
    net.write_text('external_input: "table" external_input: "ids" external_output: "y"\n'
                   'op { input: "table" input: "ids" output: "y" type: "Gather" }\n')
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    for dtype in (np.int32, np.int64):
        inputs = {"table": table, "ids": np.array([3, 1], dtype)}
        session = lowtide.Session(net, inputs=inputs)
        assert {one.name: one.dtype for one in session.inputs} == {"table": np.float32, "ids": dtype}
        assert session.plan.dims == ["ids=[2]", "table=[4,3]"]
        np.testing.assert_array_equal(session.run(inputs)["y"], table[[3, 1]])
        # The plan has the sizes, and the arrays have the types.
        again = lowtide.Session(net, session.plan, inputs=inputs)
        np.testing.assert_array_equal(again.run(inputs)["y"], table[[3, 1]])
    shaped = lowtide.Session(net, inputs=inputs, shapes={"table": (4, 3), "ids": (2,)})
    np.testing.assert_array_equal(shaped.run(inputs)["y"], table[[3, 1]])

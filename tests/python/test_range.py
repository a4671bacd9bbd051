# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.plan_range and lowtide.RangeSession."""
import json
import subprocess
import threading

import numpy as np
import onnx.helper as oh
import pytest
from conftest import PROGRAM, save
from onnx import TensorProto

import lowtide


def rows(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)


def test_plans_equal_the_program(batched, tmp_path):
    plans = lowtide.plan_range(batched, "batch", range(1, 4))
    plans.save(tmp_path / "own.json")
    subprocess.run([PROGRAM, "plan", batched, "--dim", "batch=1..3", "-o", tmp_path / "program.json"], check=True)
    assert json.loads((tmp_path / "own.json").read_text()) == json.loads((tmp_path / "program.json").read_text())
    assert [one.dims for one in plans.plans] == [["batch=1"], ["batch=2"], ["batch=3"]]
    assert plans.arena == max(one.arena for one in plans.plans) == plans.plans[2].arena
    read = lowtide.load_plan_range(tmp_path / "program.json")
    assert [one.to_json() for one in read.plans] == [one.to_json() for one in plans.plans]


@pytest.mark.parametrize("given", ["symbol", "plans", "path"])
def test_each_batch_runs_by_its_plan(batched, tmp_path, given):
    plans = lowtide.plan_range(batched, "batch", [4, 1, 2], target="cpu")
    plans.save(tmp_path / "p.json")
    session = (lowtide.RangeSession(batched, "batch", [1, 2, 4]) if given == "symbol" else
               lowtide.RangeSession(batched, plans=plans if given == "plans" else tmp_path / "p.json"))
    assert len(session.members) == 3
    assert session.arena == plans.arena
    for count in (4, 1, 2, 4):
        x = rows(count, seed=count)
        np.testing.assert_array_equal(session.run({"x": x})["y"], -np.maximum(x, 0))
    assert session.find({"x": rows(2)}) is session.members[1]


def test_members_share_one_arena(batched):
    session = lowtide.RangeSession(batched, "batch", [1, 2])
    first = session.run({"x": np.full((1, 8), 2, np.float32)}, copy=False)["y"]
    assert first[0, 0] == -2
    session.run({"x": np.full((2, 8), 3, np.float32)})
    assert first[0, 0] == -3


def test_shapes_without_a_plan_are_refused(batched):
    session = lowtide.RangeSession(batched, "batch", [1, 2])
    with pytest.raises(lowtide.InvalidError, match=r"no plan for these inputs: 'x' has the shape \[3, 8\]"):
        session.run({"x": rows(3)})
    with pytest.raises(lowtide.InvalidError, match="no plan for these inputs: 'z'"):
        session.run({"z": rows(1)})


def test_wrong_requests_are_refused(batched, tmp_path):
    for extents in ([], range(1, 18)):
        with pytest.raises(lowtide.InvalidError, match=f"there are {len(extents)} extents; give 1 to 16"):
            lowtide.plan_range(batched, "batch", extents)
    with pytest.raises(lowtide.InvalidError, match="give a symbol and its extents, or sizes, or plans"):
        lowtide.RangeSession(batched)
    with pytest.raises(lowtide.InvalidError, match="has no symbol 'length'"):
        lowtide.RangeSession(batched, "length", [1])
    plans = lowtide.plan_range(batched, "batch", [1, 2], target="cpu")
    f32 = TensorProto.FLOAT
    other = save(tmp_path, [oh.make_node("Relu", ["x"], ["a"]), oh.make_node("Abs", ["a"], ["y"])],
                 [("x", f32, ["batch", 8])], [("y", f32, ["batch", 8])])
    with pytest.raises(lowtide.MismatchError, match="the plan is for the model with sha256"):
        lowtide.RangeSession(other, plans=plans)


def test_members_take_turns_in_their_arena(batched):
    """y is a large part of the arena, and each member writes another number into it."""
    extents = (1, 500, 1000)
    session = lowtide.RangeSession(batched, "batch", extents)
    wrong = []

    def run(member, extent):
        x = np.full((extent, 8), extent, np.float32)
        for _ in range(300):
            if not (member.run({"x": x})["y"] == -extent).all():
                wrong.append(extent)

    threads = [threading.Thread(target=run, args=one) for one in zip(session.members, extents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_inputs_of_a_range_are_given_by_name(batched):
    with pytest.raises(TypeError, match="inputs is a ndarray; give arrays by name, such as {'x': array}"):
        lowtide.RangeSession(batched, "batch", [1]).run(rows(1))


def test_sizes_of_several_inputs_go_together(batched, tmp_path):
    sizes = [{"x": (3, 8)}, {"batch": 1}]
    plans = lowtide.plan_range(batched, sizes=sizes, target="cpu")
    assert [one.dims for one in plans.plans] == [["x=[3,8]"], ["batch=1"]]
    session = lowtide.RangeSession(batched, sizes=sizes)
    for count in (3, 1):
        assert session.run({"x": rows(count)})["y"].shape[0] == count
    with pytest.raises(lowtide.InvalidError, match="no plan"):
        session.run({"x": rows(2)})
    for wrong in ({}, {"symbol": "batch"}, {"sizes": sizes, "symbol": "batch", "extents": [1]}):
        with pytest.raises(lowtide.InvalidError, match="give a symbol"):
            lowtide.RangeSession(batched, **wrong)
    with pytest.raises(lowtide.InvalidError, match="there are 0 sizes"):
        lowtide.plan_range(batched, sizes=[])


def prepare(model, path, *words):
    subprocess.run([PROGRAM, "prepare", model, *words, "-o", path, "-q"], check=True, stdout=subprocess.DEVNULL)
    return path


def test_a_prepared_range_opens_with_all_its_plans(batched, tmp_path):
    prepared = prepare(batched, tmp_path / "prepared", "--dim", "batch=1,2,4")
    session = lowtide.RangeSession(prepared)
    assert [one.plan.dims for one in session.members] == [["batch=1"], ["batch=2"], ["batch=4"]]
    assert session.arena == lowtide.RangeSession(batched, "batch", [1, 2, 4]).arena
    for count in (4, 1, 2):
        x = rows(count, seed=count)
        np.testing.assert_array_equal(session.run({"x": x})["y"], -np.maximum(x, 0))
    with pytest.raises(lowtide.InvalidError, match="no plan for these inputs"):
        session.run({"x": rows(3)})


def test_sizes_choose_among_the_plans_of_a_prepared_range(batched, tmp_path):
    prepared = prepare(batched, tmp_path / "prepared", "--shape", "x=1x8,2x8,4x8")
    for chosen in ({"shapes": {"x": (2, 8)}}, {"inputs": {"x": rows(2)}}):
        session = lowtide.Session(prepared, **chosen)
        assert session.inputs[0].shape == (2, 8)
        np.testing.assert_array_equal(session.run({"x": rows(2)})["y"], -np.maximum(rows(2), 0))
    assert len(lowtide.RangeSession(prepared, sizes=[{"x": (4, 8)}, {"x": (1, 8)}]).members) == 2
    assert len(lowtide.RangeSession(prepared, shapes={"x": (4, -1)}).members) == 1
    with pytest.raises(lowtide.InvalidError, match="has plans for .* RangeSession"):
        lowtide.Session(prepared)
    with pytest.raises(lowtide.InvalidError, match=r"there is no plan for 'x=\[3,8\]'"):
        lowtide.Session(prepared, shapes={"x": (3, 8)})
    with pytest.raises(lowtide.InvalidError, match="lowtide prepare"):
        lowtide.RangeSession(prepared, plans=lowtide.plan_range(batched, "batch", [1, 2], target="cpu"))


def test_a_prepared_file_of_one_plan_is_a_range_of_one(batched, tmp_path):
    session = lowtide.RangeSession(prepare(batched, tmp_path / "prepared", "--dim", "batch=3"))
    assert len(session.members) == 1
    np.testing.assert_array_equal(session.run({"x": rows(3)})["y"], -np.maximum(rows(3), 0))


def test_an_absent_file_is_an_error_of_reading(tmp_path):
    with pytest.raises(lowtide.IoError, match="no such file"):
        lowtide.RangeSession(tmp_path / "absent.prepared")

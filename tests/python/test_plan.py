# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.plan, explain, verify and Plan."""
import os
import pickle
import re
import resource
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import PPOCR, PROGRAM, program_json

import lowtide


def test_plan_equals_the_program():
    plan = lowtide.plan(PPOCR, shapes={"x": [1, 3, 320, 320]})
    shown = program_json("plan", PPOCR, "--shape", "x=1x3x320x320")
    assert (plan.arena, plan.bound) == (shown["bytes"]["arena"], shown["bytes"]["bound"])
    assert (plan.bound_name, plan.peak) == (shown["bound_name"], shown["bytes"]["load"])
    assert (plan.verified, plan.proven_optimal) == (True, shown["proven_optimal"])
    assert plan.steps == shown["steps"]
    assert plan.model == "ppocr_v4_det.onnx"
    assert plan.target == "dense"


def test_plan_file_equals_the_program(mlp, tmp_path):
    file = tmp_path / "by_program.json"
    subprocess.run([PROGRAM, "plan", mlp, "--output", file], check=True, capture_output=True)
    assert lowtide.plan(mlp).to_json() == file.read_text()


def test_saved_plan_is_read_again(mlp, tmp_path):
    plan = lowtide.plan(mlp)
    plan.save(tmp_path / "p.json")
    again = lowtide.load_plan(tmp_path / "p.json")
    assert again.to_json() == plan.to_json()
    assert (again.arena, again.bound) == (plan.arena, plan.bound)
    assert not again.verified


def test_rows_describe_the_arena(mlp):
    plan = lowtide.plan(mlp)
    tensors, buffers = plan.offsets, plan.buffers
    assert set(tensors["name"]) == {"a", "b", "y", "z"}
    assert set(tensors["bytes"]) == {2 * 4 * 4}
    assert list(tensors["shape"]) == [[2, 4]] * 4
    assert (buffers["offset"] + buffers["bytes"]).max() == plan.arena
    assert (buffers["begin"] < buffers["end"]).all()
    assert set(buffers["region"]) == {"arena"}
    ends = buffers["offset"] + buffers["bytes"]
    for row in tensors:
        assert ((buffers["offset"] <= row["offset"]) & (row["offset"] + row["bytes"] <= ends)).any()
    assert set(buffers["name"]) <= set(tensors["name"])


def test_budget_that_is_not_met_is_an_answer(mlp):
    plan = lowtide.plan(mlp, budget=10)
    assert not plan.fits
    assert plan.shortfall == program_json("plan", mlp, "--budget", "10")["budget"]["shortfall"] > 0
    assert lowtide.plan(mlp, budget="1MiB").fits


def test_dims_bind_symbols(batched):
    small, large = lowtide.plan(batched, dims={"batch": 2}), lowtide.plan(batched, shapes={"x": [64, 8]})
    assert small.arena < large.arena
    assert (small.dims, large.dims) == (["batch=2"], ["x=[64,8]"])
    assert lowtide.verify(batched, small) == lowtide.verify(batched, large) == []


def test_target_cpu_and_target_file(mlp, tmp_path):
    assert lowtide.plan(mlp, target="cpu").target != "dense"
    file = tmp_path / "chip.toml"
    file.write_text('name = "chip"\n[[region]]\nname = "sram"\ncapacity = "32B"\nalignment = 16\n')
    plan = lowtide.plan(mlp, target=file)
    assert plan.target == "chip"
    assert not plan.fits
    assert set(plan.buffers["region"]) == {"sram"}


def test_options_change_the_plan(mlp, batched):
    sizes = {"dims": {"batch": 64}}
    assert lowtide.plan(batched, in_place=False, **sizes).arena > lowtide.plan(batched, **sizes).arena
    assert lowtide.plan(mlp, outputs="caller").arena != lowtide.plan(mlp).arena
    assert lowtide.plan(mlp, run="dataflow").execution == "dataflow"
    assert lowtide.plan(mlp, run="waves", streams=2).execution in ("waves", "sequence")
    assert lowtide.plan(mlp, check_bound=True).bound_verified


def test_page_and_picture(mlp):
    plan = lowtide.plan(mlp)
    assert plan.to_html().startswith("<!")
    picture = plan._repr_html_()
    xml.etree.ElementTree.fromstring(picture)
    assert picture.count("<rect") == len(plan.buffers)
    assert f"{plan.arena:,} bytes" in picture
    assert str(plan.arena) in repr(plan)


def test_picture_escapes_names(tmp_path):
    import onnx.helper as oh
    from conftest import save
    path = save(tmp_path, [oh.make_node("Relu", ["x"], ["<script>&\""])], [("x", 1, [4])], [("<script>&\"", 1, [4])])
    picture = lowtide.plan(path)._repr_html_()
    assert "<script>" not in picture
    xml.etree.ElementTree.fromstring(picture)


@pytest.mark.parametrize("target", ["dense", "cpu"])
def test_explanation_equals_the_program(mlp, target):
    """For the target cpu, both say what lowering changed, and what the model needs as written."""
    explanation = lowtide.explain(mlp, target=target)
    options = ("--target", "cpu") if target == "cpu" else ()
    wide = {**os.environ, "COLUMNS": "1000"}  # lines stay whole
    shown = subprocess.run([PROGRAM, "explain", mlp, *options], text=True, capture_output=True, check=True,
                           env=wide).stdout
    assert str(explanation) == shown
    assert ("As written, the model needs an arena" in shown) == (target == "cpu")
    level, expected = explanation.levels[0], program_json("explain", mlp, *options)["levels"][0]
    assert level["inside"] is None
    for key in ("load_bytes", "bound_bytes", "bound_name", "must_bytes"):
        assert level[key] == expected[key]
    assert [one["tensors"] for one in level["buffers"]] == [one["tensors"] for one in expected["buffers"]]


def test_verify_finds_what_was_changed(mlp, tmp_path):
    plan = lowtide.plan(mlp)
    assert lowtide.verify(mlp, plan) == []
    wrong = re.sub(r'"arena": ?(\d+)', lambda found: f'"arena": {int(found[1]) + 64}', plan.to_json(), count=1)
    if wrong == plan.to_json():
        wrong = re.sub(r'"arena": ?\[(\d+)', lambda found: f'"arena": [{int(found[1]) + 64}', plan.to_json(), count=1)
    assert wrong != plan.to_json()
    (tmp_path / "wrong.json").write_text(wrong)
    violations = lowtide.verify(mlp, tmp_path / "wrong.json")
    assert violations
    assert all(one.kind and one.message for one in violations)


def test_verify_names_another_model(mlp, batched):
    violations = lowtide.verify(batched, lowtide.plan(mlp))
    assert [one.kind for one in violations] == ["wrong_model"]


@pytest.mark.parametrize("options", [
    {"order": "nonsense"}, {"streams": 0}, {"budget": 0}, {"budget": "64XB"}, {"budget": 2**80}, {"inputs": "nowhere"},
    {"run": "waves"}, {"run": "dataflow", "streams": 2}, {"run": "sequence"}, {"effort": -1}, {"threads": 2}])
def test_wrong_options_are_refused(mlp, options):
    with pytest.raises(lowtide.InvalidError) as caught:
        lowtide.plan(mlp, **options)
    assert caught.value.code == "invalid"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("options", [
    {"streams": "2"}, {"order": 3}, {"dims": {"batch": "8"}}, {"unknown": 1}, {"views": None},
    {"overrides": "x"}, {"overrides": [3]}])
def test_wrong_types_are_type_errors(mlp, options):
    """The message names the argument."""
    with pytest.raises(TypeError, match=next(iter(options))):
        lowtide.plan(mlp, **options)


def test_a_negative_number_of_rows_is_refused(mlp):
    with pytest.raises(lowtide.InvalidError, match="top is -1; give 0 or a positive number"):
        lowtide.explain(mlp, top=-1)


def test_a_plan_file_is_replaced_as_a_whole(mlp, tmp_path):
    path = tmp_path / "p.json"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        with pytest.raises(lowtide.IoError, match="File too large"):
            lowtide.plan(mlp).save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    path.chmod(0o640)
    (tmp_path / "link").symlink_to(path)
    lowtide.plan(mlp).save(tmp_path / "link")
    assert lowtide.load_plan(path).arena > 0
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "m.onnx", "p.json"]
    lowtide.plan(mlp).save("/dev/null")


def test_each_error_has_a_class(tmp_path, mlp, batched):
    with pytest.raises(lowtide.IoError) as caught:
        lowtide.plan(tmp_path / "absent.onnx")
    assert caught.value.code == "io" and "absent.onnx" in caught.value.place
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(lowtide.MalformedError):
        lowtide.plan(tmp_path / "text.onnx")
    with pytest.raises(lowtide.UnresolvedError, match="batch"):
        lowtide.plan(batched)
    with pytest.raises(lowtide.UnsupportedError, match="threads"):
        lowtide.plan(mlp, target="cpu", threads=257)
    with pytest.raises(lowtide.MalformedError):
        lowtide.load_plan(mlp)
    with pytest.raises(lowtide.IoError):
        lowtide.plan(mlp).save(tmp_path / "no folder" / "p.json")
    with pytest.raises(lowtide.IoError):
        lowtide.plan(mlp, target=tmp_path / "absent.toml")
    assert issubclass(lowtide.NoMemoryError, MemoryError)
    assert not issubclass(lowtide.InternalError, lowtide.Error)


def test_errors_can_be_pickled(tmp_path):
    with pytest.raises(lowtide.IoError) as caught:
        lowtide.plan(tmp_path / "absent.onnx")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.place) == (lowtide.IoError, str(caught.value), caught.value.place)


def test_interrupt_stops_planning():
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() < begin + 60:
            lowtide.plan(PPOCR, shapes={"x": [1, 3, 960, 960]})
    timer.join()
    assert lowtide.plan(PPOCR, shapes={"x": [1, 3, 64, 64]}).verified


def test_plans_are_made_side_by_side(mlp):
    arenas = []
    threads = [threading.Thread(target=lambda: arenas.append(lowtide.plan(mlp).arena)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(arenas) == 4 and len(set(arenas)) == 1


def test_arrays_outlive_their_plan(mlp):
    rows = lowtide.plan(mlp).offsets
    assert rows["bytes"].sum() == 4 * 32
    assert rows.dtype["offset"] == np.int64

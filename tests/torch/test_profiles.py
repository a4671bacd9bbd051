# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Files with what the operators of a step took."""
import json

import pytest
import torch
from conftest import Pair, batches_of, budgets_of, pair_of
from torch import nn

import lowtide
from lowtide.torch._build import checked_batch


@pytest.fixture
def no_measuring(monkeypatch):
    """A function after whose call a measurement is an error."""
    def forbid(*_arguments):
        raise AssertionError("something is measured")

    def begin():
        monkeypatch.setattr("lowtide.torch._step_plan.measured_costs", forbid)
        monkeypatch.setattr("lowtide.torch._step_plan.measured_trials", forbid)
    return begin


def text_of(plan):
    """All that a plan is."""
    return json.dumps(plan.problem.as_mapping()), list(plan.sequence.runs), plan.program.code


@pytest.mark.parametrize("name, options", [("unet", {"accumulate": 2, "clip_norm": 1.0}), ("lstm", {})])
def test_a_plan_from_a_file_measures_nothing(name, options, tmp_path, no_measuring):
    """It is the plan of the step that wrote the file, byte for byte. Only runs know the workspaces of LSTM layers."""
    [batch], path = batches_of(name, 1), tmp_path / "step.profile.json"
    pair = pair_of(name, "adamw")
    budget = budgets_of(pair.step(**options), batch)[-1]
    first = pair.step(budget=budget, profile=path, example=batch, **options)
    written = path.read_bytes()
    no_measuring()
    for _ in range(2):
        pair = pair_of(name, "adamw")
        step = pair.step(budget=budget, profile=str(path), example=batch, **options)
        plans = [one._plans_for(checked_batch(batch)) for one in (first, step)]
        assert [text_of(one) for one in plans[0]] == [text_of(one) for one in plans[1]]
        assert path.read_bytes() == written
    if not options:
        pair.run(step, [batch, batch])


def test_a_file_serves_other_budgets(tmp_path, no_measuring):
    [batch] = batches_of("unet", 1)
    budgets = budgets_of(pair_of("unet").step(), batch)
    pair_of("unet").step(budget=budgets[0], profile=tmp_path / "p", example=batch)
    no_measuring()
    step = pair_of("unet").step(budget=budgets[-1] + 4096, profile=tmp_path / "p", example=batch)
    assert step.last_plan.sequence.peak <= budgets[-1] + 4096


def test_a_file_has_each_form_of_batches(tmp_path, no_measuring):
    [long] = batches_of("unet", 1)
    short = tuple(one[:2] for one in long)
    step = pair_of("unet").step(budget="64MiB", profile=tmp_path / "p")
    step.plan(*long)
    step.plan(*short)
    no_measuring()
    step = pair_of("unet").step(budget="64MiB", profile=tmp_path / "p")
    step.plan(*short)
    step.plan(*long)
    with pytest.raises(lowtide.MismatchError, match=r"float32\[4, 3, 16, 16\].*this batch is float32\[1, 3, 16, 16\]"):
        step.plan(*(one[:1] for one in long))


def linear(width=4, **options):
    module = nn.Sequential(nn.Linear(4, width), nn.Linear(width, 4))
    return Pair(module, lambda parameters: torch.optim.SGD(parameters, lr=0.1, **options))


BATCH = (torch.ones(2, 4), torch.zeros(2, dtype=torch.long))


@pytest.fixture
def written(tmp_path):
    """The file of a small step."""
    path = tmp_path / "step.profile.json"
    linear().step(budget="1MiB", profile=path, example=BATCH)
    return path


@pytest.mark.parametrize("make, message", [
    (lambda: linear(5), r"another module: it has '0.weight float32\[4, 4\] trained', and yours has '0.weight float32"),
    (lambda: linear(momentum=0.9), "computes something else"),
    (lambda: linear(fused=True), "was measured with optimizer SGD fused=None"),
    (lambda: Pair(nn.Linear(4, 4), "adamw"), "was measured with optimizer SGD")])
def test_a_file_of_another_step_is_refused(make, message, written):
    before = written.read_bytes()
    with pytest.raises(lowtide.MismatchError, match=message) as caught:
        make().step(budget="1MiB", profile=written, example=BATCH)
    assert str(caught.value).startswith(str(written)) and "delete the file" in str(caught.value)
    assert written.read_bytes() == before


def test_a_file_of_another_number_of_threads_is_refused(written):
    torch.set_num_threads(2)
    with pytest.raises(lowtide.MismatchError, match="1 threads, and the step has 2; call torch.set_num_threads"):
        linear().step(budget="1MiB", profile=written, example=BATCH)


@pytest.mark.parametrize("change, message", [
    ({"torch": "2.12.0"}, "was measured with torch 2.12.0"), ({"lowtide": "0.0.9"}, "lowtide 0.0.9"),
    ({"cpu": "z80"}, "cpu z80")])
def test_a_file_of_another_release_or_machine_is_refused(change, message, written):
    written.write_text(json.dumps({**json.loads(written.read_text()), **change}))
    with pytest.raises(lowtide.MismatchError, match=message):
        linear().step(budget="1MiB", profile=written)


def damaged(written, damage):
    """The content with one change to its only step."""
    whole = json.loads(written.read_text())
    damage(whole["steps"][0])
    return json.dumps(whole)


@pytest.mark.parametrize("damage", [
    lambda step: step.pop("nodes"), lambda step: step["nodes"].pop(), lambda step: step["nodes"][0].update(ns=-1),
    lambda step: step["nodes"][0].update(ns=True), lambda step: step["nodes"][0]["bytes"].append(1),
    lambda step: step["nodes"][1].update(name="x"), lambda step: step["nodes"][0].update(scratch=1e3),
    lambda step: step["nodes"].append(7), lambda step: step.update(threads="1")])
def test_damaged_steps_are_refused(damage, written):
    written.write_text(damaged(written, damage))
    with pytest.raises(lowtide.MalformedError, match="delete the file"):
        linear().step(budget="1MiB", profile=written, example=BATCH)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "lowtide step profile", "version": 2}', "1" * 5000,
                                  "[" * 100_000])
def test_files_of_another_format_are_refused(text, tmp_path):
    (tmp_path / "p").write_text(text)
    with pytest.raises(lowtide.MalformedError, match="delete the file"):
        linear().step(budget="1MiB", profile=tmp_path / "p")


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path, no_measuring):
    no_measuring()
    with pytest.raises(lowtide.IoError, match="folder does not exist"):
        linear().step(budget="1MiB", profile=tmp_path / "none/p", example=BATCH)
    with pytest.raises(lowtide.IoError, match="cannot be read"):
        linear().step(budget="1MiB", profile=tmp_path, example=BATCH)


def test_a_refused_budget_writes_no_file(tmp_path):
    with pytest.raises(lowtide.InvalidError):
        linear().step(budget=100, profile=tmp_path / "p", example=BATCH)
    assert list(tmp_path.iterdir()) == []


def test_a_profile_needs_a_budget(tmp_path):
    with pytest.raises(lowtide.InvalidError, match="give a budget"):
        linear().step(profile=tmp_path / "p")

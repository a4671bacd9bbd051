# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What a plan says of itself, and what a step really takes."""
import json
import pathlib
import re
from dataclasses import replace

import pytest
import torch
from conftest import batches_of, budgets_of, pair_of
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.amp import GradScaler

import lowtide
from lowtide._memory_meter import MemoryMeter
from lowtide.torch import __main__ as program
from lowtide.torch import estimate, train_step

ROOT = pathlib.Path(__file__).resolve().parents[2]


def limited(name, **options):
    """A pair, a step within the lowest budget that is tried, and a batch."""
    pair, batch = pair_of(name, "adamw"), batches_of(name, 1)[0]
    step = pair.step(budget=budgets_of(pair.step(**options), batch)[-1], **options)
    step(*batch)
    return pair, step, batch


def keys_of(report):
    """The keys as the document writes them: "obstacle", "obstacle.bytes", "curve[].budget"."""
    for key, value in report.items():
        yield key
        inner = value[0] if isinstance(value, list) else value
        if isinstance(inner, dict):
            yield from (f"{key}{'[]' if isinstance(value, list) else ''}.{one}" for one in inner)


@pytest.mark.parametrize("name, options", [
    ("residual", {}), ("unet", {}), ("gpt", {}), ("vit", {"accumulate": 2, "clip_norm": 1.0}),
    ("gpt", {"scaler": GradScaler("cpu"), "clip_norm": 1.0})])
def test_a_step_takes_what_its_plan_says(name, options):
    """The meter sees what is taken above the states, which are there before the step: held gradients as well."""
    _pair, step, batch = limited(name, **options)
    for _ in range(options.get("accumulate", 1)):  # libraries keep caches from their first calls
        step(*batch)
    with MemoryMeter() as meter:
        step(*batch)
    planned = step.last_plan
    states = planned.problem.bytes_of_states()
    assert meter.peak + states <= planned.sequence.budget
    assert meter.peak + states >= 0.8 * planned.sequence.peak  # objects count in these small models


def test_a_normalization_costs_more_than_what_is_written_over_it():
    """The nodes between both, which take the first result of the normalization, do not end its run."""
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(inplace=True))
    step = train_step(module, lambda y, _: y.mean(), torch.optim.SGD(module.parameters(), lr=0.1), budget="64MiB",
                      example=(torch.ones(8, 3, 64, 64), 0))
    problem = step.last_plan.problem
    cost = {unit.name: cost for unit, cost in zip(problem.units.units, problem.costs, strict=False)}
    assert cost["native_batch_norm"].nanoseconds > 3 * cost["mean"].nanoseconds


def test_a_report_names_the_peak_and_what_runs_again():
    _pair, step, _batch = limited("residual")
    shown = step.report()
    assert shown.startswith("budget ")
    assert "are live at all times: parameters, buffers, optimizer, batch\n" in shown
    assert re.search(r"\d+ runs again add \d+\.\d% of time", shown)
    page = step.html()
    assert page.startswith("<!DOCTYPE html>") and "convolution" in page
    free = pair_of("residual", "adamw").step()
    free(*batches_of("residual", 1)[0])
    assert "nothing runs again" in free.report()


def phases_of(problem):
    """The phases by the names of nodes."""
    nodes = problem.as_mapping()["nodes"]
    assert all(one.get("phase") in ("forward", "backward", "update") for one in nodes)
    return {one["name"]: one["phase"] for one in nodes}


def test_nodes_have_the_pass_that_they_are_from():
    pair, batch = pair_of("residual", "adamw"), batches_of("residual", 1)[0]
    step = pair.step(clip_norm=1.0)
    problem = step.plan(*batch).problem
    phases = phases_of(problem)
    assert {phase for name, phase in phases.items() if "backward" in name} == {"backward"}
    loss = next(one.name for one in problem.units.units if "nll_loss" in one.name)
    ends = [at for at, unit in enumerate(problem.units.units) if unit.name == loss]
    passes = list(phases.values())[:len(problem.units.units)]
    assert passes == ["forward"] * (ends[0] + 1) + ["backward"] * (len(passes) - ends[0] - 1)
    assert list(phases.values())[len(passes):] == ["update"] * len(problem.updates)
    assert any(name.startswith("norm of") for name in phases)
    page = step.html()
    assert '"bands":{"names":["forward","backward","update"],' in page


def test_what_a_checkpoint_runs_again_is_of_the_backward_pass():
    layer = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh())

    class Checked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.last = layer, torch.nn.Linear(8, 1)

        def forward(self, x):
            return self.last(torch.utils.checkpoint.checkpoint(self.layer, x, use_reentrant=False)).sum()

    module = Checked()
    step = train_step(module, None, torch.optim.SGD(module.parameters(), lr=0.1), example=(torch.ones(2, 4),))
    phases = phases_of(step.last_plan.problem)
    passes = [phase for name, phase in phases.items() if re.fullmatch(r"\d+ tanh(_\d+)?", name)]
    assert passes == ["forward", "backward"]


def test_the_new_content_of_a_buffer_is_of_the_forward_pass():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
            return self.layer(x - self.mean).sum()

    module = Counting()
    step = train_step(module, None, torch.optim.SGD(module.parameters(), lr=0.1), example=(torch.ones(2, 4),))
    units = step.last_plan.problem.units.units
    phases = list(phases_of(step.last_plan.problem).values())
    writing = [at for at, unit in enumerate(units) if unit.overwritten_states()]
    assert [phases[at] for at in writing] == ["forward"]


def test_an_estimate_needs_no_memory_and_agrees_with_the_plan():
    pair, batch = pair_of("gpt", "adamw"), batches_of("gpt", 1)[0]
    found = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch)
    step = pair.step()
    assert found.peak <= step.plan(*batch).sequence.peak
    assert found.floor <= found.least <= found.peak
    budgets = [point.budget for point in found.curve]
    assert budgets == sorted(budgets, reverse=True)
    overheads = [point.overhead for point in found.curve]
    assert overheads == sorted(overheads) and overheads[0] == 0
    assert sum(one.bytes for one in found.held) + found.states == found.peak
    assert str(found).startswith("peak ")


def test_a_curve_has_no_budget_without_a_plan(monkeypatch):
    """The search finds nothing for the two smallest budgets of five."""
    def unlucky(*given, **options):
        curve = lowtide.budget_curve(*given, **options)
        missed = tuple(replace(point, outcome="not_found") for point in curve.points[-2:])
        return replace(curve, points=curve.points[:-2] + missed)

    pair, batch = pair_of("gpt", "adamw"), batches_of("gpt", 1)[0]
    found = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, points=5)
    assert len(found.curve) >= 3 and str(found).endswith("no plan was found for less") == (found.least > found.floor)
    monkeypatch.setattr("lowtide.torch._estimate.budget_curve", unlucky)
    less = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, points=5)
    assert less.curve == found.curve[:3] and less.floor == found.floor
    assert less.least == less.curve[-1].budget
    assert str(less).endswith("no plan was found for less")


def test_an_estimate_names_what_needs_the_floor():
    """The gradient of tanh needs its result and two gradients of as many bytes, 64 * 2048 * 4 of each. No other
    operator needs three of them, and the refusal of a smaller budget names the same one."""
    module = torch.nn.Sequential(torch.nn.Linear(8, 2048), torch.nn.Tanh(), torch.nn.Linear(2048, 8))
    batch = torch.ones(64, 8), torch.zeros(64, dtype=torch.long)
    given = module, torch.nn.functional.cross_entropy, torch.optim.SGD(module.parameters(), lr=0.1)
    found = estimate(*given, example=batch, points=2)
    assert found.obstacle.bytes == found.floor
    assert found.floor - found.states >= 3 * 64 * 2048 * 4
    assert re.fullmatch(r"\d+ tanh_backward", found.obstacle.name) and found.obstacle.module == "1"
    with pytest.raises(lowtide.InvalidError, match=f"{found.obstacle.name} of 1 needs more"):
        train_step(*given, budget=found.floor - 1, example=batch)


def test_an_estimate_counts_results_that_stay_beside_an_operator():
    """Two LSTM layers have gradients that are kept. Whichever backward pass comes last runs beside those of the
    other."""
    pair, [batch] = pair_of("lstm"), batches_of("lstm", 1)
    given = pair.planned, pair.loss_fn
    found = estimate(*given, example=batch, points=2, gradients="keep")
    assert "rnn_layer_backward" in found.obstacle.name and found.obstacle_beside == 1
    assert found.obstacle.bytes == found.floor == found.least
    reason = "for what it reads and makes, beside the results of another operator, which stay"
    assert f"{found.obstacle.name} of {found.obstacle.module} needs it {reason}" in str(found)
    with pytest.raises(lowtide.InvalidError, match=f"needs more {reason}"):
        train_step(*given, budget=found.floor - 1, example=batch, gradients="keep")


def test_a_module_without_memory_is_estimated():
    def make():
        return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)), torch.ones(8, 64)

    module, x = make()
    real = estimate(module, lambda y, _: y.mean(), torch.optim.SGD(module.parameters()), example=(x, 0))
    with FakeTensorMode():
        module, x = make()
        fake = estimate(module, lambda y, _: y.mean(), torch.optim.SGD(module.parameters()), example=(x, 0))
    assert fake.peak == real.peak


@pytest.mark.parametrize("options, others", [
    ({}, ""), ({"accumulate": 2}, ", held gradients"), ({"scaler": GradScaler("cpu")}, ", scale of the loss"),
    ({"accumulate": 2, "scaler": GradScaler("cpu")}, ", held gradients, scale of the loss")])
def test_what_is_live_at_all_times_is_named(options, others):
    module = torch.nn.Linear(4, 4)
    optimizer, batch = torch.optim.AdamW(module.parameters()), (torch.ones(2, 4), torch.zeros(2).long())
    found = estimate(module, torch.nn.functional.cross_entropy, optimizer, example=batch, points=2, **options)
    assert found.kinds == f"parameters, buffers, optimizer, batch{others}"
    assert f" of it are live at all times: {found.kinds}\n" in str(found)


def test_an_estimate_needs_an_optimizer_or_kept_gradients():
    with pytest.raises(lowtide.InvalidError, match="gradients='keep'"):
        estimate(torch.nn.Linear(2, 2), lambda y, _: y.mean(), example=(torch.ones(1, 2), 0))


def test_the_program_prints_an_estimate(tmp_path, monkeypatch, capsys):
    (tmp_path / "small_step.py").write_text("""
import torch
def step():
    model = torch.nn.Linear(4, 4)
    return model, torch.nn.functional.cross_entropy, torch.optim.SGD(model.parameters()), (
        torch.ones(2, 4), torch.zeros(2, dtype=torch.long))
def wrong(): return 1
""")
    monkeypatch.chdir(tmp_path)
    assert program.main(["small_step:step"]) == 0
    assert capsys.readouterr().out.startswith("peak ")
    assert program.main(["small_step:step", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema_version"] == 1
    document = (ROOT / "docs/json-output.md").read_text().split("## `python -m lowtide.torch`")[1].split("\n## ")[0]
    documented = {"schema_version", *re.findall(r"^\| `([^`]+)` \|", document, re.M)}
    assert not set(keys_of(report)) - documented
    assert all(key.startswith("obstacle.") for key in documented - set(keys_of(report)))  # no single operator
    assert program.main(["small_step:wrong"]) == 3
    assert "must return (module, loss_fn, optimizer, example)" in capsys.readouterr().err
    assert program.main(["small_step"]) == 2
    assert program.main(["no_such_module:step"]) == 3


def test_the_examples_of_the_document_run(capsys):
    names = {}
    for example in re.findall(r"```python\n(.*?)```", (ROOT / "docs/torch.md").read_text(), re.S):
        exec(compile(example, "docs/torch.md", "exec"), names)
    shown = capsys.readouterr().out
    assert shown.startswith("budget 12.00 MiB, kept") and "\nfloor " in shown

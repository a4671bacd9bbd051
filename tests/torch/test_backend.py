# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that torch.compile() gives to the backend: bits of eager steps, and peaks within budgets."""
import copy
import re
from dataclasses import replace

import pytest
import torch
from conftest import EFFORT, assert_same, batches_of
from programs import PROGRAMS
from test_structures import Repeated, vectors
from torch import nn
from torch.nn import functional

import lowtide
from lowtide.torch import _backend, _partition, backend

LARGE = 1 << 40


@pytest.fixture(autouse=True)
def layers_that_repeat_are_compiled():
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


class Compiled:
    """Two equal modules: one for eager steps, one that is compiled together with the loss."""

    def __init__(self, module, loss_fn=functional.cross_entropy):
        self.eager, self.planned = module, copy.deepcopy(module)
        self.loss_fn = loss_fn
        self.optimizers = [torch.optim.SGD(one.parameters(), lr=0.05, momentum=0.9)
                           for one in (self.eager, self.planned)]

    def eager_loss(self, *batch):
        return self.loss_fn(self.eager(*batch[:-1]), batch[-1])

    def compiled(self, **options):
        """The backend, and the compiled function from a batch to its loss."""
        torch._dynamo.reset()
        made = backend(**options)
        return made, torch.compile(lambda *batch: self.loss_fn(self.planned(*batch[:-1]), batch[-1]), backend=made,
                                   fullgraph=True, dynamic=False)

    def budgets(self, batch, points=8):
        """Budgets that can be kept, from the peak without reruns to the lowest one, a bit above those of a curve.

        Nothing of the module changes.
        """
        made, loss = self.compiled(budget=LARGE)
        before, random = copy.deepcopy(self.planned.state_dict()), torch.get_rng_state()
        loss(*batch)
        self.planned.load_state_dict(before)
        torch.set_rng_state(random)
        curve = lowtide.budget_curve(made.plans[0].problem.as_mapping(), points=points, effort=EFFORT)
        margin = 512 + (curve.points[0].budget - curve.points[-1].budget) // 14
        return [point.budget + margin for point in curve.points if point.fits]

    def run(self, loss, batches, after=lambda _module: None):
        """Compares steps: losses, gradients, and all that they change.

        Args:
            after: what the loop does with a module between backward() and the update.
        """
        found = []
        for module, optimizer, function in ((self.eager, self.optimizers[0], self.eager_loss),
                                            (self.planned, self.optimizers[1], loss)):
            torch.manual_seed(5)
            steps = []
            for batch in batches:
                optimizer.zero_grad()
                one = function(*batch)
                one.backward()
                after(module)
                steps.append((one.detach(), [None if each.grad is None else each.grad.clone()
                                             for each in module.parameters()]))
                optimizer.step()
            optimizer.zero_grad()
            found.append((steps, module.state_dict(), torch.get_rng_state()))
        assert_same(found[0], found[1], "steps")

    def measured(self, made, loss, batch):
        """The peak of forward and backward pass. The module stays as it is."""
        before = copy.deepcopy(self.planned.state_dict())
        peak = made.measure(lambda: loss(*batch).backward())
        self.planned.load_state_dict(before)
        self.optimizers[1].zero_grad()
        return peak


def compiled_program(name):
    torch.manual_seed(1)
    return Compiled(PROGRAMS[name][0]())


def reruns(made, at=0):
    runs = made.plans[at].sequence.runs.tolist()
    return len(runs) - len(set(runs))


@pytest.mark.parametrize("name", ["residual", "unet", "gpt_dropout", "lstm"])
def test_steps_equal_eager_steps_within_budgets(name):
    both, batches = compiled_program(name), batches_of(name, 3)
    budgets = both.budgets(batches[0])
    for budget in {budgets[len(budgets) // 2], budgets[-1]} if name in ("residual", "gpt_dropout") else budgets[-1:]:
        made, loss = both.compiled(budget=budget)
        both.run(loss, batches)
        assert made.plans[0].sequence.peak <= budget
        assert both.measured(made, loss, batches[0]) <= budget
        assert budget > budgets[-1] or reruns(made) > 0, "nothing ran again"


def test_less_budget_is_less_memory(monkeypatch):
    """pytorch/pytorch#197838: peaks of 15 budgets stay below them, and never rise when the budget falls.

    Estimated times make plans the same each time.
    """
    measure = _partition.measured_costs

    def measured_scratch(program, units, arguments, estimates, device):
        found = measure(program, units, arguments, estimates, device)
        return replace(found, costs=[replace(cost, nanoseconds=known.nanoseconds)
                                     for cost, known in zip(found.costs, estimates, strict=True)])

    monkeypatch.setattr("lowtide.torch._partition.measured_costs", measured_scratch)
    monkeypatch.setattr("lowtide.torch._search.EFFORT", EFFORT // 10)
    layers = [one for _ in range(4) for one in (nn.Linear(64, 64), nn.Tanh())]
    both = Compiled(nn.Sequential(*layers))
    batch = torch.randn(512, 64), torch.randint(64, (512,))
    budgets = both.budgets(batch, points=15)
    most, least = budgets[0], budgets[-1]
    peaks = []
    for part in range(15):
        budget = most - part * (most - least) // 14
        made, loss = both.compiled(budget=budget)
        loss(*batch).backward()  # libraries keep caches from their first calls
        both.optimizers[1].zero_grad()
        peaks.append(both.measured(made, loss, batch))
        assert peaks[-1] <= budget
    assert peaks[-1] < 0.75 * peaks[0]
    assert all(after <= before + 4096 for before, after in zip(peaks, peaks[1:])), peaks


def test_the_lowest_peak_of_a_refusal_is_kept(monkeypatch):
    """Measured times differ, so searches by them would find another one each time."""
    monkeypatch.setattr("lowtide.torch._search.EFFORT", EFFORT // 10)
    both, batch = compiled_program("residual"), batches_of("residual", 1)[0]
    budget = both.budgets(batch)[-1]
    with pytest.raises(lowtide.InvalidError, match="B, and there may be one; the lowest peak that was found is") as (
            refused):
        while budget > 0:
            both.compiled(budget=budget)[1](*batch)
            budget -= 1024
    lowest = int(re.search(r"that was found is ([\d,]+) B", str(refused.value))[1].replace(",", ""))
    for _ in range(3):
        made, loss = both.compiled(budget=lowest)
        loss(*batch).backward()
        both.optimizers[1].zero_grad()
        assert both.measured(made, loss, batch) <= lowest


def test_a_page_has_both_passes_and_what_was_measured():
    pair, batch = compiled_program("residual"), batches_of("residual", 1)[0]
    budget = pair.budgets(batch)[-1]
    made, loss = pair.compiled(budget=budget, optimizer=pair.optimizers[1])
    with pytest.raises(lowtide.InvalidError, match="nothing has run yet"):
        made.html()
    loss(*batch).backward()
    pair.optimizers[1].zero_grad()
    [plan] = made.plans
    problem = plan.problem
    phases = dict(zip([one["name"] for one in problem.as_mapping()["nodes"]], problem.phases, strict=True))
    assert set(problem.phases) == {"forward", "backward"}
    assert {phase for name, phase in phases.items() if "_backward" in name} == {"backward"}
    assert {phase for name, phase in phases.items() if re.search(r"\d convolution(_\d+)?$", name)} == {"forward"}
    page = made.html()
    assert '"bands":{"names":["forward","backward"],' in page and '"label":"Measured"' not in page
    peak = pair.measured(made, loss, batch)
    assert f'{{"label":"Measured","value":"{peak / 1024:.2f} KiB"' in made.html()


def test_dropout_that_runs_again_has_its_first_mask():
    """pytorch/pytorch#190758: gradients of modules with dropout are wrong after recomputation."""
    both = Compiled(nn.Sequential(*(one for _ in range(4) for one in (nn.Dropout(0.2), nn.Linear(64, 64)))))
    batches = [(torch.randn(256, 64), torch.randint(64, (256,))) for _ in range(3)]
    made, loss = both.compiled(budget=both.budgets(batches[0])[-1])
    both.run(loss, batches)
    units = made.plans[0].problem.units.units
    runs = made.plans[0].sequence.runs.tolist()
    # Only results of dropout wait for the backward pass.
    assert any(runs.count(at) > 1 for at, unit in enumerate(units) if unit.is_random)


def test_statistics_are_updated_once_per_step():
    """pytorch/pytorch#96136 and #62471: checkpoints update running statistics twice."""
    both = Compiled(nn.Sequential(*(one for _ in range(4) for one in (
        nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())), nn.Flatten(), nn.Linear(256, 5)))
    batches = [(torch.randn(8, 4, 8, 8), torch.randint(5, (8,))) for _ in range(10)]
    made, loss = both.compiled(budget=both.budgets(batches[0])[-1])
    both.run(loss, batches)
    assert both.planned[1].num_batches_tracked == 10
    units = made.plans[0].problem.units.units
    runs = made.plans[0].sequence.runs.tolist()
    assert any(runs.count(at) > 1 for at, unit in enumerate(units) if unit.statistics), "no normalization ran again"


def test_a_layer_is_used_six_times():
    """microsoft/DeepSpeed#2103: checkpoints of a layer with several uses fail."""
    both, batches = Compiled(Repeated()), vectors(4)
    made, loss = both.compiled(budget=both.budgets(batches[0])[-1])
    both.run(loss, batches)
    assert both.planned.norm.num_batches_tracked == 24  # 4 steps
    assert reruns(made) > 0


def test_the_loop_clips_gradients():
    both, batches = Compiled(nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 8))), vectors(3)
    _made, loss = both.compiled(budget="64KiB")
    both.run(loss, batches, lambda module: nn.utils.clip_grad_norm_(module.parameters(), 0.1))


def test_the_loop_accumulates_gradients():
    """pytorch/torchtune#1934 and pytorch/pytorch#124523: gradients of several batches, then one update."""
    both = Compiled(nn.Sequential(nn.Linear(8, 256), nn.Tanh(), nn.Linear(256, 8)))
    batches = vectors(4)
    made, loss = both.compiled(budget="128KiB", accumulates=True)
    for function, module in ((both.eager_loss, both.eager), (loss, both.planned)):
        for batch in batches[:3]:
            function(*batch).backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
    assert_same([one.grad for one in both.eager.parameters()], [one.grad for one in both.planned.parameters()], "sums")
    parameters = 4 * sum(one.numel() for one in both.planned.parameters())
    peak = made.measure(lambda: loss(*batches[3]).backward())
    assert 3 * parameters < peak <= 128 << 10  # parameters, sums and new gradients


def test_gradients_of_earlier_batches_are_refused():
    both, batches = Compiled(nn.Linear(8, 8)), vectors(2)
    _made, loss = both.compiled(budget="64KiB")
    loss(*batches[0]).backward()
    with pytest.raises(lowtide.InvalidError, match=r"accumulates=True"):
        loss(*batches[1])


def test_what_an_optimizer_keeps_counts():
    both, [batch] = Compiled(nn.Linear(8, 8)), vectors(1)
    free, loss = both.compiled(budget=LARGE)
    loss(*batch)
    optimizer = torch.optim.AdamW(both.planned.parameters())
    made, loss = both.compiled(budget=LARGE, optimizer=optimizer, beside="1kB")
    loss(*batch)
    rounded = made.plans[0].problem.rounded
    kept = [4 * 64, 4 * 64, 4 * 8, 4 * 8, 4, 4]  # two moments, and a count of steps per parameter
    states = made.plans[0].problem.states
    assert sorted(size for name, size in states.items() if name.startswith("optimizer ")) == sorted(kept)
    more = sum(map(rounded, kept)) + rounded(1000)  # each of them is a block of the heap
    assert made.plans[0].sequence.peak - free.plans[0].sequence.peak == more
    assert "not counted" in free.report() and "not counted" not in made.report()
    assert "optimizer, batch, what is beside, objects of autograd\n" in made.report()


def test_evaluation_between_steps_has_plans_of_its_own():
    both, batches = compiled_program("residual"), batches_of("residual", 2)
    made, loss = both.compiled(budget=LARGE)
    both.run(loss, batches)
    both.eager.eval(), both.planned.eval()
    with torch.no_grad():
        assert torch.equal(loss(*batches[0]), both.eager_loss(*batches[0]))
    both.eager.train(), both.planned.train()
    both.run(loss, batches)
    assert [one.trains for one in made.plans] == [True, False]
    assert both.planned[2].first_norm.num_batches_tracked == 4


def test_each_shape_has_a_plan_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("lowtide.torch._backend.MOST_PLANS", 2)
    both, [(x, y)] = Compiled(nn.Linear(8, 8)), vectors(1)
    made, loss = both.compiled(budget="64KiB")
    both.run(loss, [(x, y), (x[:3], y[:3]), (x, y)])
    assert len(made.plans) == 2
    with pytest.raises(lowtide.OverLimitError, match="graph number 3"):
        loss(x[:2], y[:2])


def test_half_precision_around_the_compiled_module():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
    both = Compiled(module, lambda y, labels: functional.cross_entropy(y.float(), labels))
    _made, loss = both.compiled(budget="64KiB")
    eager_loss = both.eager_loss

    def under_autocast(function):
        def call(*batch):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return function(*batch)
        return call
    both.eager_loss = under_autocast(eager_loss)
    both.run(under_autocast(loss), vectors(3))


def test_a_module_alone_is_compiled():
    """The loss is outside. What it holds does not count, but the gradient that it gives does."""
    both, batches = Compiled(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 8))), vectors(3)
    torch._dynamo.reset()
    made = backend("64KiB")
    module = torch.compile(both.planned, backend=made, fullgraph=True, dynamic=False)
    both.run(lambda x, y: functional.cross_entropy(module(x), y), batches)
    assert list(made.plans[0].problem.tangents.values()) == [4 * 4 * 8]


@pytest.mark.parametrize("budget", [None, "64KiB"])
def test_only_a_budget_looks_at_activations(monkeypatch, budget):
    """Without one, a forward pass does nothing beside its operators."""
    seen, storage_of = [], _backend.storage_of
    monkeypatch.setattr(_backend, "storage_of", lambda one: seen.append(1) or storage_of(one))
    both = Compiled(nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8)))
    _made, loss = both.compiled(budget=budget)
    both.run(loss, vectors(2))
    assert bool(seen) == (budget is not None)


class Returning(nn.Module):
    """Results that are inputs, views and values of the forward pass, and an input with a layer before it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        y = torch.tanh(self.first(x))
        z = torch.tanh(self.second(y))
        return x, z.t()[:5], self.first.weight.t(), (y * z).mean()


def test_results_may_be_views_and_inputs():
    both, given = Compiled(Returning()), torch.randn(64, 64)
    torch._dynamo.reset()
    module = torch.compile(both.planned, backend=backend("256KiB"), fullgraph=True, dynamic=False)
    found = []
    for function, parameters in ((both.eager, both.eager.parameters()), (module, both.planned.parameters())):
        x = given.clone().requires_grad_()
        results = function(x * 2)
        sum(one.square().mean() for one in results).backward()
        found.append(([one.detach() for one in results], x.grad, [one.grad for one in parameters]))
    assert_same(found[0], found[1], "results and gradients")


def test_an_infeasible_budget_names_the_operator():
    both = Compiled(nn.Sequential(nn.Linear(8, 2048), nn.Tanh(), nn.Linear(2048, 8)))
    batch = torch.ones(64, 8), torch.zeros(64, dtype=torch.long)
    _made, loss = both.compiled(budget="1MiB")
    with pytest.raises(lowtide.InvalidError, match=r"of 1,048,576 B: \d+ tanh\w* .*lowest peak"):
        loss(*batch)


def test_broken_graphs_are_refused():
    class Breaking(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            y = self.layer(x)
            torch._dynamo.graph_break()
            return self.layer(y)
    torch._dynamo.reset()
    with pytest.raises(lowtide.UnsupportedError, match="breaks the graph at .*fullgraph=True"):
        torch.compile(Breaking(), backend=backend("64KiB"))(torch.ones(4, 8))


def test_open_sizes_are_refused():
    torch._dynamo.reset()
    with pytest.raises(lowtide.UnsupportedError, match="dynamic=False"):
        torch.compile(nn.Linear(8, 8), backend=backend("64KiB"), dynamic=True)(torch.ones(4, 8))


def test_activations_of_two_forward_passes_are_refused():
    both, [batch] = Compiled(nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))), vectors(1)
    _made, loss = both.compiled(budget="64KiB")
    first = loss(*batch)
    with pytest.raises(lowtide.InvalidError, match="wait for backward"):
        loss(*batch)
    del first
    with pytest.raises(lowtide.UnsupportedError, match="retain_graph"):
        loss(*batch).backward(retain_graph=True)
    loss(*batch).backward()


@pytest.mark.parametrize("options", [{"budget": 0}, {"budget": "5XB"}, {"beside": -1}, {"beside": "much"},
                                     {"beside": True}])
def test_wrong_sizes_are_refused(options):
    with pytest.raises(lowtide.InvalidError, match=f"{next(iter(options))}"):
        backend(**options)


def test_other_optimizers_are_refused():
    with pytest.raises(lowtide.UnsupportedError, match="LBFGS.*beside="):
        backend("1MiB", optimizer=torch.optim.LBFGS([nn.Parameter(torch.ones(1))]))

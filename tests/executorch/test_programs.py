# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with Lowtide's plans, compared with those of ExecuTorch's planner."""
import copy
import functools
import pathlib
import random
import re
from types import SimpleNamespace

import pytest
import torch
from conftest import Case, size_of
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.tensor import TensorSpec
from nets import NETS, made
from torch import nn

import lowtide
from lowtide import executorch as door
from lowtide.executorch import _graph, _order, _share

DOCUMENT = (pathlib.Path(__file__).resolve().parents[2] / "docs/executorch.md").read_text()


class Stateful(nn.Module):
    """A buffer that is updated twice, views, parts of a tensor, and an input that is an output; and maybe a branch."""

    def __init__(self, has_branch):
        super().__init__()
        self.has_branch = has_branch
        self.layer = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.register_buffer("seen", torch.zeros(4, 8))

    def forward(self, x):
        self.seen.add_(x)
        y = self.layer(x + self.seen)
        self.seen.mul_(0.5)
        first, second = y.view(2, 2, 16).split(1, 0)
        z = torch.relu(y)
        if self.has_branch:
            z = z + torch.cond(x.sum() > 0, lambda t: t * 2 - 1, lambda t: (t + 1) * t, (y,))
        return self.norm(z).view(-1) + (first + second).sum() + self.seen.sum(), y.view(-1), x


def stateful(has_branch=False):
    """A case whose outputs are close to those of the module."""
    torch.manual_seed(0)
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["seen"])], emit_mutable_buffer_names=True)
    module, x = Stateful(has_branch).eval(), torch.randn(4, 8)
    case = Case(module, (x,), config)
    for found in case.expected:
        assert all(map(functools.partial(torch.allclose, rtol=1e-4, atol=1e-4), found, module(x)))
    return case


@pytest.mark.parametrize("name", NETS)
def test_nets_need_their_live_bytes_alone(name):
    case = Case(*made(name))
    planned = case.plan()
    memory = case.check(planned)
    assert memory.size == memory.live == planned.orders["forward"].peak and memory.proven_optimal
    bound = planned.orders["forward"].bound
    assert f"| {name} | {case.greedy:,} | {memory.size:,} | {bound:,} |" in DOCUMENT


def test_results_in_place_have_the_same_bits():
    class ElementWise(nn.Module):
        """Each operator reads the result of an operator, which nothing else reads."""

        def forward(self, x, row):
            with_row = [lambda y: y + row, lambda y: row - y, lambda y: y * row, lambda y: y / row,
                        lambda y: torch.maximum(row, y), lambda y: torch.minimum(y, row)]
            alone = [torch.abs, torch.ceil, torch.cos, torch.erf, torch.exp, torch.floor, torch.log1p, torch.neg,
                     torch.reciprocal, torch.relu, torch.round, torch.rsqrt, torch.sigmoid, torch.sign, torch.sin,
                     torch.sqrt, torch.tan, torch.tanh, torch.trunc, nn.functional.elu, nn.functional.gelu, torch.log,
                     nn.functional.leaky_relu, nn.functional.hardtanh, lambda y: y.clamp(0.3, 0.7), lambda y: y ** 3,
                     lambda y: y * y]
            return tuple((function(x + number) * 0.5).sum(0) for number, function in enumerate((*with_row, *alone)))

    torch.manual_seed(0)
    case = Case(ElementWise(), (torch.rand(7, 33), torch.rand(33) + 1))
    marked = set()
    share = _share.share_in_place

    def counted(graph_module):
        number = share(graph_module)
        marked.update(node.target._schema.name.removeprefix("aten::") for node in graph_module.graph.nodes
                      if "_share_alloc_with_arg_idx" in node.meta)
        return number
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lowtide.executorch._plan.share_in_place", counted)
        in_place = case.check(case.plan(in_place=True))
    assert marked == _share.ELEMENT_WISE
    # A term has 7 * 33 * 4 = 924 B, in 928, and a sum has 33 * 4 = 132, in 144. In the term before the last, x, what
    # the operator reads and what it makes are live with 31 sums. In place, x, the sum of x and a number, and this
    # number, in 16 B, are live with 32 sums.
    assert (case.check(case.plan()).size, in_place.size) == (3 * 928 + 31 * 144, 2 * 928 + 32 * 144 + 16)


@pytest.mark.parametrize("has_branch", [False, True])
def test_buffers_branches_and_views_keep_their_meaning(has_branch):
    case = stateful(has_branch)
    assert not torch.equal(case.expected[0][0], case.expected[1][0])  # the buffer takes part
    for options in ({}, {"in_place": True}, {"order": False}):
        planned = case.plan(**options)
        case.check(planned)
        assert not (has_branch and planned.orders["forward"] and planned.orders["forward"].moved)


@pytest.mark.parametrize("name", ["stateful", "inception"])
def test_every_order_that_the_problem_allows_has_the_same_bits(name, monkeypatch):
    case = stateful() if name == "stateful" else Case(*made(name))
    for seed in range(4):
        drawn = random.Random(seed)

        def shuffled(problem, drawn=drawn, **_):
            before = [set() for _ in problem["nodes"]]
            for (source, _), reader in problem["edges"]:
                before[reader].add(source)
            for first, second in problem["before"]:
                before[second].add(first)
            order = []
            while len(order) < len(before):
                ready = [at for at, sources in enumerate(before) if at not in order and sources <= set(order)]
                order.append(drawn.choice(ready))
            return SimpleNamespace(order=order, peak=0, peak_as_given=1, bound=0)
        monkeypatch.setattr(_order, "order", shuffled)
        planned = case.plan(in_place=seed % 2 == 1)
        for expected, found in zip(case.expected, case.run(planned.program), strict=True):
            assert all(map(torch.equal, expected, found)), seed


def test_extents_with_upper_bounds_are_planned_for_them():
    class Rows(nn.Module):
        def forward(self, x, y):
            return torch.relu(x + 1) * x.sum(0), torch.tanh(y - 1) + (x * 2).sum()

    both = {0: torch.export.Dim("rows", max=9)}, {0: torch.export.Dim("columns", max=9)}
    case = Case(Rows(), (torch.randn(4, 8), torch.randn(5, 8)), dynamic_shapes=both)
    for options in ({}, {"in_place": True}):
        planned = case.plan(**options)
        case.check(planned)
        x, y = torch.randn(9, 8), torch.randn(2, 8)
        (first, second), *_ = case.run(planned.program, (x, y))
        assert torch.allclose(first, Rows()(x, y)[0]) and torch.allclose(second, Rows()(x, y)[1])


def test_capacities_are_kept_or_refused_with_the_bound():
    case = Case(*made("wired_2"))
    size = case.plan().memories["forward"][0].size
    assert case.plan(capacities={1: size}).fits
    refused = case.plan(capacities={1: size - 1})
    assert not refused.fits and refused.program is None and refused.memories["forward"][0].bound == size
    assert "1 B too few: no offsets fit, for this order" in str(refused)
    config = ExecutorchBackendConfig(memory_planning_pass=door.PlanningPass(capacities={1: "1kB"}))
    with pytest.raises(lowtide.OverLimitError, match="capacity is 1,000 B") as error:
        copy.deepcopy(case.edge).to_executorch(config)
    assert error.value.place == "memory 1"


def test_the_algorithm_works_in_the_pass_of_executorch():
    case = Case(*made("cells_1"))
    for algorithm in (door.Planner(), MemoryPlanningAlgorithmSuite([greedy, door.Planner().assign])):
        config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(memory_planning_algo=algorithm))
        program = copy.deepcopy(case.edge).to_executorch(config)
        assert size_of(program) < case.greedy
        assert all(map(torch.equal, case.expected[0], case.run(program)[0]))


def spec_of(size, begin, end, memory=None, base=None, offset=0):
    """A tensor of bytes that is live from begin to end, both included."""
    spec = TensorSpec(torch.uint8, torch.Size([size]))
    spec.lifetime, spec.mem_id, spec.storage_base, spec.storage_base_offset = [begin, end], memory, base, offset
    return spec


@pytest.mark.parametrize("seed", range(30))
def test_drawn_tensors_are_apart_and_never_above_greedy(seed):
    drawn = random.Random(seed)
    specs = []
    for _ in range(drawn.randrange(1, 40)):
        begin = drawn.randrange(20)
        specs.append(spec_of(drawn.randrange(200), begin, begin + drawn.randrange(6), drawn.choice([None, 1, 2, 3])))
    base = spec_of(160, 0, 20, 2)
    specs += [base, spec_of(30, 3, 4, base=base, offset=48)]
    graph = SimpleNamespace(input_mem_buffer_sizes=[0, 64] if seed % 2 else [])
    padding = drawn.choice([0, 64])
    least = greedy(16, list(specs), graph, None, padding).bufsizes
    sizes = door.Planner()(16, specs, graph, None, padding)
    assert len(sizes) == len(least) and all(size <= other for size, other in zip(sizes, least))
    assert specs[-1].mem_id == 2 and specs[-1].mem_offset == base.mem_offset + 48
    for at, one in enumerate(specs[:-1]):
        assert one.mem_offset % 16 == 0 and one.mem_offset + one.nbytes() <= sizes[one.mem_id] - padding
        assert one.mem_id != 1 or one.mem_offset >= (64 if seed % 2 else 0)
        for other in specs[:at]:
            assert (one.mem_id != other.mem_id or one.lifetime[1] < other.lifetime[0]
                    or other.lifetime[1] < one.lifetime[0] or one.mem_offset + one.nbytes() <= other.mem_offset
                    or other.mem_offset + other.nbytes() <= one.mem_offset)


def test_members_of_lists_are_updated():
    """_foreach_neg_ writes over all tensors of its list."""
    graph = torch.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    x.meta["spec"], y.meta["spec"] = spec_of(64, 0, 1), spec_of(32, 0, 1)
    graph.call_function(torch.ops.aten._foreach_neg_.default, ([x, y],))
    graph.output((x, y))
    [run] = _graph.runs_of(torch.fx.GraphModule(nn.Module(), graph)).runs
    assert list(map(id, run.updates)) == [id(x.meta["spec"]), id(y.meta["spec"])]
    assert not run.writes


def test_tensors_that_share_what_is_not_there_are_refused():
    base = spec_of(64, 0, 1)
    for spec, specs, why in ((spec_of(32, 0, 1, base=base), [], "is not planned"),
                             (spec_of(32, 0, 1, base=base, offset=48), [base], "32 B from byte 48"),
                             (spec_of(16, 0, 1, base=base, offset=8), [base], "not a multiple of the alignment 16")):
        with pytest.raises(lowtide.InvalidError, match=why):
            door.Planner()(16, [*specs, spec], None, None)


def test_the_example_of_the_document_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in re.findall(r"```python\n(.*?)```", DOCUMENT, re.S):
        exec(compile(example, "docs/executorch.md", "exec"), names)
    assert capsys.readouterr().out.startswith("forward: memory 1: ")

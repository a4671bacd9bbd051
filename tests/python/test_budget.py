# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.keep_budget and lowtide.budget_curve."""
import json
import random

import pytest
from conftest import program_json

import lowtide

# While c runs, a, b and c are live, 210 bytes, beside the weight of 64. The output of "in" is read by d, too: 8 bytes
# less if "in" runs again.
SMALL = {"states": [{"name": "weight", "bytes": 64}],
         "nodes": [{"name": "in", "bytes": 8, "cost": 1}, {"name": "a", "bytes": 100, "cost": 3},
                   {"name": "b", "bytes": 100, "cost": 2}, {"name": "c", "bytes": 10, "cost": 5},
                   {"name": "d", "bytes": 60, "cost": 1}],
         "edges": [[0, 1], ["weight", 1], [0, 2], [1, 3], [2, 3], [0, 4], [3, 4]], "outputs": [4]}


def drawn(seed):
    """A forward pass, and a backward pass that reads its outputs in the opposite order."""
    draw = random.Random(seed)
    length = 12
    nodes = [{"name": f"f{at}", "bytes": draw.randrange(50, 200), "cost": draw.randrange(1, 9)} for at in range(length)]
    nodes += [{"name": f"b{at}", "bytes": draw.randrange(50, 200), "cost": draw.randrange(1, 9),
               "scratch": draw.randrange(40)} for at in reversed(range(length))]
    nodes[3]["seed_bytes"] = 16
    edges = [[at, at + 1] for at in range(2 * length - 1)]
    edges += [[at, 2 * length - 1 - at] for at in range(length - 1)]
    edges += [[at, at + 3] for at in range(0, length - 3, 4)]
    return {"nodes": nodes, "edges": edges, "outputs": [2 * length - 1]}


def assert_equal(found, shown):
    """The answer of Python is that of the program."""
    outcome = "found" if shown["feasible"] else "infeasible" if shown["proven_infeasible"] else "not_found"
    assert found.outcome == outcome
    assert (found.budget, found.peak) == (shown["budget"], shown["peak_bytes"])
    assert (found.cost, found.cost_bound) == (shown["cost"], shown["cost_bound"])
    assert found.proven_optimal == shown["cost_proven_optimal"]
    assert list(found.runs) == shown["order"]


def test_a_budget_makes_a_node_run_again():
    whole = lowtide.keep_budget(SMALL, 282)
    assert (whole.peak, list(whole.runs), whole.overhead) == (64 + 8 + 100 + 100 + 10, [0, 1, 2, 3, 4], 0)
    kept = lowtide.keep_budget(SMALL, 281)
    assert (kept.peak, list(kept.runs)) == (64 + 100 + 100 + 10, [0, 1, 2, 3, 0, 4])
    assert (kept.base_cost, kept.cost, kept.overhead) == (12, 13, 1 / 12)
    assert kept.fits and kept.proven_optimal and kept.obstacle is None
    assert [tuple(one) for one in kept.at_peak] == [(1, 0, "output", 100), (2, 0, "output", 100), (3, 0, "output", 10)]


def test_a_budget_that_is_not_kept_is_an_answer():
    sequence = lowtide.keep_budget(SMALL, 273)
    assert (sequence.outcome, sequence.obstacle, sequence.fits) == ("infeasible", 3, False)
    assert sequence.peak == 274 and not sequence.proven_optimal and sequence.obstacle_beside == ()


def test_the_last_of_the_outputs_runs_beside_the_others():
    """Nodes 1 and 2 read 10 bytes, take 20 of scratch, and make outputs of 5. The last of them has the other's."""
    nodes = [{"bytes": 10, "cost": 1}, {"bytes": 5, "scratch": 20, "cost": 1}, {"bytes": 5, "scratch": 20, "cost": 1}]
    graph = {"version": 1, "nodes": nodes, "edges": [[0, 1], [0, 2]], "outputs": [1, 2]}
    sequence = lowtide.keep_budget(graph, 39)
    assert (sequence.outcome, sequence.obstacle, sequence.obstacle_beside) == ("infeasible", 2, (1,))
    assert lowtide.keep_budget(graph, 40).fits


@pytest.mark.parametrize("seed", range(3))
def test_budgets_equal_those_of_the_program(seed, tmp_path):
    graph = drawn(seed)
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))
    highest = lowtide.order(path).peak
    for part in (20, 14, 10, 4):
        budget = highest * part // 20
        shown = program_json("order", path, "--budget", budget, "--effort", 1_000_000)
        found = lowtide.keep_budget(graph, budget, effort=1_000_000)
        assert_equal(found, shown)
        assert found.base_cost == shown["base_cost"] and found.overhead == shown["overhead"]
        assert found.obstacle == shown["infeasible_node"]
        assert list(found.obstacle_beside) == shown["infeasible_beside"]
        assert [one._asdict() for one in found.at_peak] == [
            {key: value[key] for key in ("node", "output", "kind", "bytes")} for value in shown["peak"]["values"]]


@pytest.mark.parametrize("seed", range(2))
def test_curves_equal_those_of_the_program(seed, tmp_path):
    graph = drawn(seed)
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))
    shown = program_json("order", path, "--curve", "--points", 5, "--effort", 5_000_000)
    found = lowtide.budget_curve(path, points=5, effort=5_000_000)
    assert found.floor == shown["floor"] and len(found.points) == len(shown["points"]) == 5
    for one, other in zip(found.points, shown["points"]):
        assert_equal(one, other)
        assert one.base_cost == shown["base_cost"]


def test_less_memory_never_costs_less():
    curve = lowtide.budget_curve(drawn(7), points=10, effort=5_000_000)
    kept = [point for point in curve.points if point.fits]
    assert [point.budget for point in curve.points] == sorted((point.budget for point in curve.points), reverse=True)
    assert [point.cost for point in kept] == sorted(point.cost for point in kept)
    assert all(point.peak <= point.budget for point in kept)
    assert curve.points[-1].budget >= curve.floor


def test_budgets_may_be_texts():
    assert lowtide.keep_budget(SMALL, "1KiB").budget == 1024


def test_costs_of_nothing_have_no_overhead():
    graph = {"nodes": [{"bytes": 4, "cost": 0}, {"bytes": 4, "cost": 0}], "edges": [[0, 1]]}
    assert lowtide.keep_budget(graph, 8).overhead == 0


@pytest.mark.parametrize("graph, budget, message", [
    (SMALL, 63, "64 B"), (SMALL, "5XB", "5XB"), (SMALL, 0, "budget"), (SMALL, -1, "budget"),
    ({"nodes": [{"bytes": 4}], "edges": []}, 100, "cost"),
    ({"nodes": [{"bytes": 4, "cost": -1}], "edges": []}, 9, "cost"),
    ({"nodes": [{"bytes": 4, "cost": 1}], "edges": [[0, 3]]}, 100, "3"), ({}, 100, "nodes"),
    ("/absent.json", 100, "/absent.json")])
def test_wrong_budgets_and_graphs_are_refused(graph, budget, message):
    with pytest.raises(lowtide.Error, match=message):
        lowtide.keep_budget(graph, budget)


@pytest.mark.parametrize("call", [
    lambda: lowtide.keep_budget(SMALL, 300, effort=-1), lambda: lowtide.budget_curve(SMALL, effort=-1),
    lambda: lowtide.budget_curve(SMALL, points=1), lambda: lowtide.budget_curve(SMALL, points=-3),
    lambda: lowtide.budget_curve({"nodes": [{"bytes": 4}], "edges": []})])
def test_wrong_options_are_refused(call):
    with pytest.raises(lowtide.Error):
        call()


def test_a_page_has_phases_and_what_was_measured():
    graph = {**SMALL, "nodes": [{**one, "phase": "backward" if one["name"] == "d" else "forward"}
                                for one in SMALL["nodes"]]}
    page = lowtide.budget_page(graph, 275)  # "in" is dropped before c, and runs again before d
    assert ('"bands":{"names":["forward","backward"],"name":[0,0,1],"begin":[0,4,5],"end":[4,5,6],'
            '"again":[0,1,0]}') in page
    assert '"label":"Measured"' not in page and '"label":"Predicted"' not in page
    peak = lowtide.keep_budget(SMALL, 400).peak
    assert peak == 64 + 218  # in, a, b and c; the last is made before a and b end
    page = lowtide.budget_page(SMALL, 400, measured=2 * peak)
    assert '"bands":' not in page
    assert f'{{"label":"Predicted","value":"{peak} B","detail":"the peak, with what is always live"}}' in page
    assert f'{{"label":"Measured","value":"{2 * peak} B","detail":"100.0 % above the prediction"}}' in page
    timed = {**graph, "units": {"cost": "1 us"}}
    over_link = lowtide.budget_page(timed, 400, link=lowtide.Link(1_000_000), measured=peak)
    assert '"detail":"as predicted"' in over_link and '"bands":' in over_link


def test_a_page_has_the_runs_that_are_given():
    """Node 2 overwrites the output of node 1, so a list of groups does not allow such a sequence."""
    graph = {"nodes": [{"bytes": 8, "cost": 1}, {"bytes": 4, "cost": 2}, {"overwrites": 1, "bytes": 4, "cost": 1},
                       {"bytes": 2, "cost": 1}],
             "edges": [[0, 1], [2, 3], [0, 3]], "outputs": [3]}
    page = lowtide.budget_page(graph, 14, runs=[0, 1, 2, 0, 3])
    assert '{"label":"Runs","value":"5"' in page and '{"label":"Budget","value":"14 B"' in page
    above = lowtide.budget_page(graph, 5, runs=[0, 1, 2, 3])
    assert '{"label":"Runs","value":"4"' in above, "it may exceed the budget"
    for runs, message in (([0, 2, 1, 3], "the runs are no sequence of the graph: "), ([0, 1, 2], "are no sequence"),
                          ([], "are no sequence"), ([0, 1, 2, 4], "the runs have 4, and no such node runs"),
                          ([-1], "the runs have -1")):
        with pytest.raises(lowtide.InvalidError, match=message):
            lowtide.budget_page(graph, 14, runs=runs)
    with pytest.raises(lowtide.InvalidError, match="omit runs, or the link"):
        lowtide.budget_page(graph, 14, runs=[0, 1, 2, 3], link=lowtide.Link(1))


@pytest.mark.parametrize("measured", [-1, 1 << 62])
def test_sizes_that_no_process_has_are_refused(measured):
    with pytest.raises(lowtide.InvalidError, match=f"measured is {measured} bytes"):
        lowtide.budget_page(SMALL, 400, measured=measured)


@pytest.mark.parametrize("phase, message", [("x" * 41, "at most 40 characters"), (7, "expected a string"),
                                            ("\x1b[2J", "only characters that can be seen")])
def test_phases_that_cannot_be_shown_are_refused(phase, message):
    graph = {"nodes": [{"name": "a", "bytes": 1, "cost": 1, "phase": phase}], "edges": []}
    with pytest.raises(lowtide.Error, match=message) as refused:
        lowtide.keep_budget(graph, 10)
    assert "$.nodes[0].phase" in refused.value.place

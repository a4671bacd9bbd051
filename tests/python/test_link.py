# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.keep_budget with a link."""
import json

import pytest
from conftest import program_json
from test_budget import SMALL, assert_equal, drawn

import lowtide

TIMED = {**SMALL, "units": {"cost": "1 us"}}
GIGABYTE = lowtide.Link(1_000_000_000)


def test_an_output_leaves_and_comes_back():
    # While c runs, a, b, c and the weight are live, 274 bytes. "in" has 8 bytes, which take 8 ns. They leave beside a
    # and b, and d waits for them, which is less than the 1000 ns of another run.
    found = lowtide.keep_budget(TIMED, 281, link=GIGABYTE)
    assert isinstance(found, lowtide.TransferSequence)
    assert (found.peak, list(found.runs), found.fits) == (64 + 100 + 100 + 10, [0, 1, 2, 3, 4], True)
    assert (found.base_cost, found.cost, found.stall) == (12_000, 12_008, 8)
    out, back = found.transfers
    assert (out.node, out.output, out.run, out.direction, out.bytes) == (0, 0, 0, "out", 8)
    assert (back.node, back.run, back.direction, back.issue, back.complete) == (0, 0, "in", 3, 4)
    assert (back.begin, back.end) == (1000 + 3000 + 2000 + 5000, 11_008)
    assert out.complete <= 3 and out.end - out.begin == 8
    assert [tuple(one) for one in found.at_peak] == [(1, 0, "output", 100), (2, 0, "output", 100), (3, 0, "output", 10)]


def test_a_slow_link_leaves_the_choice_to_reruns():
    found = lowtide.keep_budget(TIMED, 281, link=lowtide.Link(1_000_000, latency_ns=500))
    assert (list(found.runs), found.transfers, found.cost) == ([0, 1, 2, 3, 0, 4], (), 13_000)


@pytest.mark.parametrize("seed", range(3))
def test_answers_equal_those_of_the_program(seed, tmp_path):
    graph = {**drawn(seed), "units": {"cost": "1 us"}}
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph))
    highest = lowtide.order(path).peak
    moved = 0
    for part in (16, 13, 10, 6):
        options = ("--budget", highest * part // 20, "--effort", 2_000_000)
        shown = program_json("order", path, *options, "--link", 200_000_000, "--link-latency", "100ns")
        found = lowtide.keep_budget(graph, options[1], effort=options[3], link=lowtide.Link(200_000_000, 100))
        assert_equal(found, {**shown, "cost": shown["time_ns"], "cost_bound": shown["time_bound_ns"]})
        assert [one._asdict() for one in found.transfers] == shown["transfers"]
        assert found.stall == shown["stall_ns"]
        assert sum(one.bytes for one in found.at_peak) == found.peak
        moved += len(found.transfers)
    assert moved > 0


def test_values_from_outside_are_fetched():
    graph = {"units": {"cost": "1 us"}, "links": [{"name": "disk", "bytes_per_second": 1_000_000_000, "latency_ns": 0}],
             "nodes": [{"name": "w", "bytes": 500, "cost": 0, "from": "disk"}, {"name": "a", "bytes": 8, "cost": 1}],
             "edges": [[0, 1]], "outputs": [1]}
    found = lowtide.keep_budget(graph, 600, link=GIGABYTE)
    assert list(found.runs) == [1]
    assert found.fetches == (lowtide.Fetch(0, "disk", 0, 0, 500, 0, 500),)  # 500 bytes take 500 ns
    assert (found.cost, found.stall, found.peak) == (1500, 500, 508)
    assert [(one.node, one.bytes) for one in found.at_peak] == [(0, 500), (1, 8)]


def test_a_page_shows_what_comes_back_as_two_values():
    page = lowtide.budget_page(TIMED, 281, link=GIGABYTE, name="moved")
    assert page.startswith("<!DOCTYPE html>") and "moved" in page
    assert page != lowtide.budget_page(TIMED, 281, name="moved")


@pytest.mark.parametrize("link, message", [((0, 0), "0 bytes per second"), ((5, -1), "-1 ns"),
                                           ((1 << 62, 0), "bytes per second")])
def test_links_out_of_range_are_refused(link, message):
    with pytest.raises(lowtide.InvalidError, match=message):
        lowtide.keep_budget(TIMED, 281, link=lowtide.Link(*link))


def test_a_link_needs_the_time_of_a_cost():
    with pytest.raises(lowtide.InvalidError, match="units"):
        lowtide.keep_budget(SMALL, 281, link=GIGABYTE)

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.pack and lowtide.order."""
import numpy as np
import pytest
from conftest import program_json

import lowtide
from lowtide import Buffer
from lowtide._request import bytes_of


def test_pack_shares_bytes():
    packing = lowtide.pack([(0, 2, 60), (1, 4, 40), (2, 4, 60)])
    assert packing.height == packing.bound == 100
    assert packing.proven_optimal and packing.fits
    assert packing.offsets.dtype == np.int64
    assert sorted(packing.offsets) in ([0, 0, 60], [0, 40, 40])


def test_pack_takes_an_array():
    rows = np.array([[0, 10, 64], [10, 20, 96]], dtype=np.int32)
    assert lowtide.pack(rows).height == 96


def test_pack_equals_the_program(tmp_path):
    random = np.random.default_rng(3)
    begin = random.integers(0, 100, 200)
    rows = np.stack([begin, begin + random.integers(1, 20, 200), random.integers(1, 500, 200)], axis=1)
    lines = [f"{at},{lower},{upper},{size}" for at, (lower, upper, size) in enumerate(rows)]
    (tmp_path / "p.csv").write_text("\n".join(["id,lower,upper,size", *lines]) + "\n")
    shown = program_json("pack", tmp_path / "p.csv")
    packing = lowtide.pack(rows)
    assert (packing.height, packing.bound) == (shown["height"], shown["bound"])


def test_pack_respects_alignment_offset_and_gaps():
    packing = lowtide.pack([Buffer(0, 9, 10), Buffer(0, 9, 10, alignment=64), Buffer(0, 9, 8, offset=200),
                            Buffer(0, 10, 100, gaps=[(2, 5)]), Buffer(2, 5, 100)])
    assert packing.offsets[1] % 64 == 0
    assert packing.offsets[2] == 200


def test_pack_uses_conflicts_in_place_of_times():
    buffers = [(0, 1, 64), (5, 6, 64), (0, 1, 64)]
    assert lowtide.pack(buffers).height == 128
    assert lowtide.pack(buffers, conflicts=[(0, 1), (1, 2), (0, 2)]).height == 192


def test_capacity_that_is_too_small_is_an_answer():
    packing = lowtide.pack([(0, 2, 64), (0, 2, 64)], capacity=100)
    assert packing.outcome == "infeasible" and not packing.fits
    assert lowtide.pack([(0, 2, 64), (0, 2, 64)], capacity="1KiB").fits


def test_a_capacity_is_a_number_or_a_text():
    """The two buffers need 2,000 bytes. kB are powers of 1,000, and KiB of 1,024."""
    buffers = [(0, 2, 1000), (0, 2, 1000)]
    for text in ("2kB", "2KB", "0.002 MB", "2000B", "2000", "1.96KiB", np.int64(2000)):
        assert lowtide.pack(buffers, capacity=text).fits, text
    for text in ("1.999kB", "1.95KiB", "1999.9B"):
        assert not lowtide.pack(buffers, capacity=text).fits, text


def test_every_size_in_python_has_the_same_units():
    units = {"8GB": 8 * 10**9, "8GiB": 2**33, "8gib": 2**33, "1.5 MiB": 3 << 19, "0.3kB": 300, "1TB": 10**12, "7": 7}
    for text, size in units.items():
        assert bytes_of(text, "budget") == size
    graph = {"version": 1, "nodes": [{"name": "a", "bytes": 1000, "cost": 1}], "edges": [], "outputs": [0]}
    assert lowtide.keep_budget(graph, "1kB").budget == 1000
    assert lowtide.keep_budget(graph, "1KiB").budget == 1024


@pytest.mark.parametrize("size", ["", "GB", "-5", "1e3", "1.5", "8 gigabytes", "8Gi", "0x10", "\u0664", True, 2.5,
                                  None, [1]])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(lowtide.InvalidError, match="capacity is .*'64MiB'.*'64MB'"):
        bytes_of(size, "capacity")
    with pytest.raises(lowtide.InvalidError, match="less than 4 EiB"):
        bytes_of("5000000 TB", "capacity")


def test_pack_of_nothing():
    packing = lowtide.pack([])
    assert (packing.height, len(packing.offsets)) == (0, 0)


@pytest.mark.parametrize("buffers, options", [
    ([(0, 1)], {}), ([(0, 1, -5)], {}), ([(3, 3, 5)], {}), ([(0, 1, 5, 3)], {}), ([(0, 1, 2.5)], {}),
    ([(0, 1, 2**70)], {}), ([Buffer(0, 1, 5, offset=-1)], {}), ([Buffer(0, 9, 5, gaps=[(4, 2)])], {}),
    ([(0, 1, 5)], {"conflicts": [(0, 7)]}), ([(0, 1, 5)], {"conflicts": [(0, 0)]}), ([(0, 1, 5)], {"capacity": "5XB"}),
    ([(0, 1, 5)], {"effort": -1}), ([(0, 1, 5)], {"threads": 0}),
    ([Buffer(0, 2, 8, offset=0, name="a"), Buffer(0, 2, 8, offset=4, name="b")], {})])
def test_wrong_packing_problems_are_refused(buffers, options):
    with pytest.raises((lowtide.Error, TypeError)):
        lowtide.pack(buffers, **options)


GRAPH = {"nodes": [{"name": "in", "bytes": 8}, {"name": "a", "bytes": 100}, {"name": "b", "bytes": 100},
                   {"name": "c", "bytes": 4}, {"name": "d", "bytes": 4}, {"name": "end", "bytes": 4}],
         "edges": [[0, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 5]], "outputs": [5]}


def test_order_lowers_the_peak():
    ordering = lowtide.order(GRAPH)
    assert ordering.peak < ordering.peak_as_given
    assert ordering.peak == ordering.bound and ordering.proven_optimal
    assert sorted(ordering.order) == list(range(6))
    position = {int(node): at for at, node in enumerate(ordering.order)}
    assert all(position[first] < position[second] for first, second in GRAPH["edges"])


def test_order_equals_the_program(tmp_path):
    import json
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    shown = program_json("order", tmp_path / "g.json")
    ordering = lowtide.order(tmp_path / "g.json")
    assert (ordering.peak, ordering.bound, list(ordering.order)) == (shown["load"], shown["bound"], shown["order"])


@pytest.mark.parametrize("graph, code", [
    ({}, "invalid"), ({"nodes": [{"bytes": 4}], "edges": [[0, 3]]}, "invalid"),
    ({"nodes": [{"bytes": 4}, {"bytes": 4}], "edges": [[0, 1], [1, 0]]}, "invalid"),
    ({"nodes": [{"bytes": -1}], "edges": []}, "invalid"), ("/absent.json", "io")])
def test_wrong_graphs_are_refused(graph, code):
    with pytest.raises(lowtide.Error) as caught:
        lowtide.order(graph)
    assert caught.value.code in (code, "invalid")
    assert not caught.value.place.startswith(":")


def test_unknown_strategy_is_refused():
    with pytest.raises(lowtide.InvalidError, match="nonsense"):
        lowtide.order(GRAPH, strategy="nonsense")
    with pytest.raises(lowtide.InvalidError):
        lowtide.order(GRAPH, effort=-1)

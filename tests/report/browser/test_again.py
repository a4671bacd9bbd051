# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans of a budget: whether they fit, and values that are in the arena more than once."""

import pytest


def test_the_verdict_comes_first_and_says_what_was_asked_for(open_page):
    opened = open_page("budget.html")
    opened.shoot("budget")
    head = opened.text("#metrics")
    # The input has 4 KiB and the arena 32.
    assert head.startswith("Budget 40 KiB, of which inputs 4 KiB Fits 4 KiB to spare Estimated time +5.3 % ")
    assert "1 node runs again, 1 tensor moves Least time +2.1 % proven, by milestones" in head
    # The bounds of plans that run each node once say nothing here.
    assert "Gap" not in head and "Bound" not in head
    panel = opened.text("#panel")
    assert panel.startswith("Fits 40 KiB Budget 40 KiB, of which inputs 4 KiB. 36 KiB (36,864 B) are counted. Why ")
    assert "What runs again 1 tensor leaves the arena and comes back, 8 KiB out and 8 KiB in. 1 node runs" in panel
    assert "budget 40 KiB, less inputs 4 KiB" in opened.run("() => lowtide.svg()")


def test_a_plan_that_does_not_fit_has_no_good_news_beside_it(open_page):
    opened = open_page("no_fit.html")
    opened.shoot("no_fit")
    head = opened.text("#metrics")
    assert head.startswith("Budget 600 KiB, of which inputs 64 KiB Does not fit 40 KiB too large, proven Arena 576 KiB")
    assert "Gap 0 % no order needs less" in head
    good = opened.run("() => Array.from(document.querySelectorAll('.metric.good .label'), (one) => one.textContent)")
    assert good == ["Check"]
    panel = opened.text("#panel")
    assert panel.startswith("Does not fit 600 KiB ")
    assert "Proven for the model as written: no plan fits, because the lower bound and what the caller holds" in panel


def test_a_plan_file_alone_shows_what_runs_again(open_page):
    opened = open_page("transfers.html")
    head = opened.text("#metrics")
    assert "More work 1 node runs again, 1 tensor moves 1 more run" in head
    # 24 KiB is the bound for all plans, also for those that run nodes again.
    assert "Floor 24 KiB no plan needs less: working_set" in head
    assert "Gap" not in head


def test_returns_connect_each_value_with_the_one_before(open_page):
    opened = open_page("transfers.html")
    told = opened.run(
        """() => { const sheet = lowtide.state.shown; const name = (value) => sheet.tensorNameOf(value);
           return sheet.returns.map(({from, value, left, step, isMoved}) =>
             [name(from), name(value), left, step, isMoved]); }"""
    )
    # conv1 writes a at step 0. Step 1 copies it out, step 3 copies it in, and step 4 computes it again.
    assert told == [["a", "a #3", 1, 3, True], ["a", "a #4", 1, 4, False]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_second_runs_are_hatched_and_linked_to_the_first(open_page, theme):
    opened = open_page("transfers.html", theme)
    boxes = {name: opened.box(opened.buffer(name)) for name in ("a #3", "a #4", "out")}

    def colours(box):
        middle = (box["y0"] + box["y1"]) / 2
        return {tuple(opened.pixel(box["x1"] - 60 + by, middle)) for by in range(50)}

    assert len(colours(boxes["a #4"])) > len(colours(boxes["out"]))  # hatched
    edge = opened.pixel(boxes["a #3"]["x0"] + 1, boxes["a #3"]["y0"] + 12)
    assert edge == opened.css("change-shared")
    assert "runs again" in opened.text(".legend") and "comes back" in opened.text(".legend")
    drawn = opened.run("() => lowtide.svg()")
    assert drawn.count("C") >= 2 and drawn.count('stroke-dasharray="4 3"') == 1
    opened.page.click(".legend >> text=runs again")
    opened.settle()
    assert opened.run("() => lowtide.state.colourBy") == "runs"
    opened.shoot(f"runs_{theme}")
    assert opened.text(".legend") == "again later runs again comes back once"


def test_all_runs_of_a_selected_value_are_outlined(open_page):
    opened = open_page("transfers.html")

    def outline(name, side="x0", by=-0.75):
        box = opened.box(opened.buffer(name))
        shown = opened.run(
            """([x, y]) => { const {overlay, ratio} = lowtide.charts[0]; const bounds = overlay.getBoundingClientRect();
               return Array.from(overlay.getContext('2d').getImageData((x - bounds.left) * ratio,
                 (y - bounds.top) * ratio, 1, 1).data); }""",
            [box[side] + by, box["y0"] + 4],
        )
        return shown[3] > 0

    assert not outline("a #3") and not outline("a #4")
    opened.click_buffer("a #4")
    assert outline("a", "x1", 0.75) and outline("a #3") and outline("a #4")
    assert not outline("out")
    panel = opened.text("#panel")
    assert "It is computed again: step 4 · Conv conv1, stream 0 has run before." in panel
    opened.click_buffer("a #3")
    assert "It came back: step 1 · copy a to dram, link from sram to dram moved it out of the arena" in opened.text(
        "#panel"
    )
    opened.click_buffer("a")
    assert "it comes back at step 3" in opened.text("#panel")


def test_a_table_lists_what_is_in_the_arena_again(open_page):
    opened = open_page("transfers.html")
    opened.page.click("#tabs >> text=Again (2)")
    opened.settle()
    rows = opened.run(
        """() => Array.from(document.querySelectorAll('#table tbody tr'), (row) =>
             Array.from(row.children, (cell) => cell.textContent))"""
    )
    assert rows == [
        ["a #3", "comes back", "8 KiB", "copy a to sram", "1", "3", "1"],
        ["a #4", "runs again", "8 KiB", "Conv conv1", "1", "4", "2"],
    ]
    opened.page.click("#table tbody tr >> nth=1")
    opened.settle()
    assert opened.text("#panel h2") == "a #4"


def test_plans_without_more_work_offer_nothing_of_it(open_page):
    opened = open_page("small.html")
    assert "Again" not in opened.text("#tabs")
    assert "Runs" not in opened.text("#toolbar")
    assert "More work" not in opened.text("#metrics")

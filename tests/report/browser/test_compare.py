# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Before and after."""

KIB = 1024


def test_differences_are_stated(open_page):
    opened = open_page("compare.html")
    opened.shoot("compare")
    words = opened.text("#comparison")
    # Before, cat is a copy that ends at 768 KiB.
    assert "arena 768 KiB → 576 KiB −192 KiB (−25 %)" in words
    # Before: 512 at step 1 (a, b) and step 4 (c, d, cat), 256 + 128 + 64 at step 2 (b, c, scratch). After: 576.
    assert "peak 512 KiB → 576 KiB +64 KiB (+13 %)" in words
    # b is written over a; the order is the same.
    assert "now in place 1 result" in words
    assert "moved in the order 0 steps" in words
    assert "was" not in opened.text("#metrics")


def test_other_sizes_are_stated(open_page):
    opened = open_page("compare_sizes.html")
    assert "Other sizes: batch=2 before, the sizes of the file after" in opened.text("#comparison")
    assert "Other sizes" not in open_page("compare.html").text("#comparison")


def test_both_are_side_by_side_on_one_scale(open_page):
    opened = open_page("compare.html")
    assert opened.run("() => lowtide.charts.length") == 2
    assert [element.inner_text() for element in opened.page.query_selector_all(".chart-title")] == [
        "Before: arena 768 KiB",
        "After: arena 576 KiB",
    ]
    before = opened.box(opened.buffer("logits", "against"), 0)
    after = opened.box(opened.buffer("logits"), 1)
    assert abs((before["y1"] - before["y0"]) - (after["y1"] - after["y0"])) < 0.01
    assert abs((before["x1"] - before["x0"]) - (after["x1"] - after["x0"])) < 0.01
    assert opened.run("() => lowtide.charts[0].loadTop === lowtide.charts[1].loadTop")
    opened.press("+")
    assert opened.run("() => lowtide.charts[0].view === lowtide.charts[1].view")


def test_what_changed_is_listed_and_coloured(open_page):
    opened = open_page("compare.html")
    opened.page.click("#toolbar >> text=Change")
    opened.page.click("#tabs >> text=Changes")
    rows = {
        row.query_selector_all("td")[0].inner_text(): row.query_selector_all("td")[1].inner_text()
        for row in opened.page.query_selector_all("#table tbody tr")
    }
    # Before, b had a buffer of its own, and so had c and d. Another address is not a change.
    # Before, the peak was at step 1, without cat and the scratch.
    assert rows == {
        "b": "shared differently",
        "cat": "at the peak only here",
        "scratch of Conv conv2": "at the peak only here",
    }
    changed = opened.css("change-peak")
    box = opened.box(opened.buffer("cat"), 1)
    found = opened.pixel(box["x0"] + 40, box["y0"] + 14, 1)
    assert sum(abs(a - b) for a, b in zip(found, changed)) < 60


def test_a_buffer_tells_what_it_was(open_page):
    opened = open_page("compare.html")
    opened.click_buffer("cat", chart=1)
    assert "Before: not at the peak, in the buffer of cat, steps [4,6), address 524,288." in opened.text("#panel")
    opened.click_buffer("logits", "against", 0)
    assert "buffer 9, before" in opened.text("#panel")
    assert "The same after." in opened.text("#panel")
    assert opened.text("#tabs").startswith("Before: In the peak")


def test_toggle_keeps_scale_and_selection(open_page):
    opened = open_page("compare.html")
    opened.click_buffer("cat", chart=1)
    opened.press("b")
    view = opened.view()
    assert opened.run("() => lowtide.charts.length") == 1
    first = opened.run("() => lowtide.state.inSight[0] === lowtide.state.shown")
    opened.press("b")
    assert opened.run("() => lowtide.state.inSight[0] === lowtide.state.shown") is not first
    assert opened.view() == view
    assert opened.text("#panel h2") == "cat"
    opened.page.click("#toolbar >> text=Side by side")
    opened.settle()
    assert opened.run("() => lowtide.charts.length") == 2


def test_a_real_pair(open_page):
    opened = open_page("network_compare.html", "dark")
    opened.shoot("network_compare_dark")
    opened.page.click("#toolbar >> text=Before")
    opened.settle()
    assert opened.run("() => lowtide.charts[0].facts.placed.length") == 87
    opened.page.click("#toolbar >> text=Kind")
    opened.settle()
    opened.shoot("network_before_dark")

# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of operators: its columns, its totals, and steps that are chosen in it."""

MACS = {"conv1": "9,437,184", "relu1": "none", "conv2": "2,097,152", "conv3": "not known", "dense": "16,777,216"}


def open_table(opened):
    opened.page.get_by_role("tab", name="Operators").click()
    opened.settle()


def rows(opened):
    """The cells of all rows."""
    return opened.run(
        "() => Array.from(document.querySelectorAll('#table tbody tr'), (row) => Array.from(row.cells, (cell) => "
        "cell.textContent))"
    )


def test_each_step_has_a_row_in_run_order(open_page):
    opened = open_page("small.html")
    assert opened.page.get_attribute("#table table", "aria-label") != "9 steps"  # other tables come first
    open_table(opened)
    opened.shoot("small_operators")
    table = rows(opened)
    assert [row[0] for row in table] == [str(step) for step in range(9)]
    assert {row[2]: row[7] for row in table if row[2] in MACS} == MACS
    # conv2 reads b (256 KiB) and w (36 KiB), writes c, and has scratch.
    assert table[2][1:7] == ["Conv", "conv2", "256 KiB", "128 KiB", "64 KiB", "36 KiB"]
    assert "At least 28,311,552 MACs in 9 steps" in opened.text("#tabs")


def test_measured_times_come_first(open_page):
    opened = open_page("measured.html")
    open_table(opened)
    opened.shoot("measured_operators")
    table = rows(opened)
    assert [row[0] for row in table] == [str(step) for step in reversed(range(9))]
    assert table[0][3:5] == ["9 µs", "20 %"]
    assert "9 steps; 45 µs per run, the mean of 20 runs" in opened.text("#tabs")
    opened.page.get_by_role("tab", name="All buffers").click()
    opened.settle()
    cells = {row[0]: row for row in rows(opened)}
    head = opened.run("() => Array.from(document.querySelectorAll('#table th'), (cell) => cell.textContent)")
    planned, seen = head.index("Bytes"), next(at for at, text in enumerate(head) if text.startswith("Seen"))
    assert sum(row[planned] == row[seen] for row in cells.values()) == len(cells) - 1  # one is half written


def test_columns_sort_and_other_tables_keep_their_order(open_page):
    opened = open_page("small.html")
    open_table(opened)
    opened.page.click("#table thead button:has-text('MACs')")
    opened.settle()
    assert [row[2] for row in rows(opened)][:3] == ["dense", "conv1", "conv2"]
    opened.page.get_by_role("tab", name="All buffers").click()
    opened.settle()
    assert opened.page.get_attribute("#table th:has-text('Size')", "aria-sort") == "descending"


def test_a_row_shows_its_step_in_the_picture(open_page):
    opened = open_page("small.html")
    open_table(opened)
    opened.page.click("#table tr[data-step='7']")
    opened.settle()
    assert opened.run("() => lowtide.state.step") == 7
    assert opened.page.get_attribute("#table tr[aria-selected=true]", "data-step") == "7"
    assert len(rows(opened)) == 9  # the table stays
    opened.page.focus("#table tr[data-step='3']")
    opened.press("Enter")
    assert opened.run("() => lowtide.state.step") == 3


def test_a_plan_without_its_graph_has_no_macs(open_page):
    opened = open_page("streams.html")
    open_table(opened)
    assert "MACs" not in opened.text("#dock")
    assert opened.page.locator("#table th").count() == 7


def test_names_can_be_read_in_a_narrow_window(open_page):
    for theme in ("light", "dark"):
        opened = open_page("small.html", theme=theme, width=390, height=844)
        open_table(opened)
        opened.shoot(f"small_operators_narrow_{theme}")
        assert opened.run("() => document.documentElement.scrollWidth") <= 390
        assert opened.page.locator("#table td.name").first.bounding_box()["width"] >= 120


def test_the_panel_says_what_runs_and_lists_copies(open_page):
    opened = open_page("small.html")
    panel = opened.text("#panel")
    assert "What runs 3 nodes left out and 1 BatchNormalization folded into a Conv." in panel
    assert "Steps that only move bytes 1 step, 64 KiB in each run:" in panel
    assert "64 KiB step 5 · MaxPool pool: a part is not one run of bytes in the whole" in panel
    opened.page.click("#panel .copies >> text=/step 5/")
    assert opened.run("() => lowtide.state.step") == 5
    opened.click_buffer("b")
    assert "Instead of conv, norm" in opened.text("#panel")
    plain = open_page("parts.html").text("#panel")
    assert "What runs" not in plain and "only move bytes" not in plain


def test_the_panel_says_what_a_quantized_model_needs(open_page):
    assert "Quantized model 2 operators are quantized." in open_page("small.html").text("#panel")
    assert "Quantized" not in open_page("parts.html").text("#panel")

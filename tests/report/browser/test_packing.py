# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a packing: a time axis to scale, buffers with gaps, and the words of a packing."""

import pytest

KIB = 1024


def place(opened, time, kib, end=90, top=256):
    """Where a time and an address of small_packing() are on the screen. It has 90 times, and 256 KiB plus 6 %."""
    layout = opened.run("() => lowtide.charts[0].layout.map")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    return (
        bounds["x"] + layout["x"] + layout["w"] * time / end,
        bounds["y"] + layout["y"] + layout["h"] * (1 - kib / (top * 1.06)),
    )


def close(found, wanted, most=2):
    return all(abs(a - b) <= most for a, b in zip(found, wanted))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_buffers_have_their_times_addresses_and_gaps(open_page, theme):
    opened = open_page("packing.html", theme)
    opened.shoot(f"packing_{theme}")
    opened.page.click("#toolbar >> text=Kind")
    opened.settle()
    ground = opened.css("map")
    # `resting` has [128, 192) KiB in [0, 30) and [60, 90), `late` [128, 256) in [30, 60).
    for time, kib in [(5, 150), (25, 150), (62, 150), (88, 150), (45, 220), (45, 150), (5, 70), (55, 70)]:
        assert not close(opened.pixel(*place(opened, time, kib)), ground, 30), (time, kib)
    for time, kib in [(5, 220), (75, 220), (75, 100), (85, 20)]:
        assert close(opened.pixel(*place(opened, time, kib)), ground), (time, kib)
    names = [opened.run("(at) => lowtide.state.shown.bufferText(at)", at) for at in range(5)]
    assert names == ["fixed", "low", "resting", "resting", "late"]


def test_head_and_panel_use_the_words_of_a_packing(open_page):
    opened = open_page("packing.html")
    head = opened.text("#metrics")
    assert "Height 256 KiB of 256 KiB" in head
    assert "Peak 256 KiB nothing lost to fragmentation" in head
    assert "Bound 256 KiB load at time 30" in head
    assert "Gap 0 % no offsets need less" in head
    assert "No reuse 320 KiB height 80 % of it" in head
    assert "Check verified offsets and bound" in head
    assert "From, to [0, 90)" in opened.text("#panel")
    assert "No offsets need less: the buffers live at time 30 need that much." in opened.text("#panel")
    opened.page.click("#panel summary")
    panel = opened.text("#panel")
    assert "Capacity 256 KiB" in panel and "Offsets best_fit (proven optimal)" in panel
    assert "movable 3 buffers, 256 KiB total" in panel and "fixed 1 buffer, 64 KiB total" in panel
    everything = opened.text("body")
    for word in ("tensor", "Tensor", "operator", "arena", "plan"):
        assert word not in everything, word
    assert opened.page.get_attribute("#search", "placeholder") == "Search buffers and sizes"


def test_a_buffer_with_a_gap_is_one_buffer(open_page):
    opened = open_page("packing.html")
    opened.page.mouse.click(*place(opened, 75, 150))
    opened.settle()
    opened.shoot("packing_selected")
    panel = opened.text("#panel")
    assert panel.startswith("resting × movable, buffer 2 of the file Size 64 KiB (65,536 B)")
    assert "Live time [0, 90) (90 long) Free in [30, 60)" in panel
    assert "In the peak no" in panel
    assert "Placed above low" in panel  # its first piece is; the second has free bytes below
    opened.page.click("#tabs >> text=All buffers")
    rows = opened.page.query_selector_all("#table tbody tr")
    assert [row.query_selector("td").inner_text() for row in rows] == ["late", "fixed", "low", "resting"]
    assert rows[3].get_attribute("aria-selected") == "true"
    assert "[0, 90) with 1 gap" in rows[3].inner_text()


def test_the_peak_is_marked_and_its_buffers_are_listed(open_page):
    opened = open_page("packing.html")
    assert "In the peak, time 30" in opened.text("#tabs")
    rows = [
        [cell.inner_text() for cell in row.query_selector_all("td")]
        for row in opened.page.query_selector_all("#table tbody tr")
    ]
    assert rows == [
        ["late", "movable", "128 KiB", "50 %", "[30, 60)", "30", "1", "131,072"],
        ["fixed", "fixed", "64 KiB", "25 %", "[0, 80)", "80", "1", "0"],
        ["low", "movable", "64 KiB", "25 %", "[0, 60)", "60", "4,096", "65,536"],
    ]
    # The load from each change to the next: 192, 256, 128 and 64 KiB.
    assert opened.run("() => Array.from(lowtide.charts[0].facts.load)") == [at * KIB for at in (192, 256, 128, 64)]
    opened.press("]")
    assert "At time 60" in opened.text("#tabs")
    opened.press("[", "[")
    assert "At time 0" in opened.text("#tabs")
    opened.page.fill(".step-controls input", "45")
    opened.press("Enter")
    assert "In the peak, time 45" in opened.text("#tabs")
    opened.press("p")
    assert "In the peak, time 30" in opened.text("#tabs")


def test_tooltips_show_name_size_life_and_load(open_page):
    opened = open_page("packing.html")
    opened.page.mouse.move(*place(opened, 10, 150))
    opened.settle()
    tip = opened.text("#tooltip")
    assert tip == "resting movable, 64 KiB (65,536 B) time [0, 90) with 1 gap, address 131,072"
    load = opened.run("() => lowtide.charts[0].layout.load")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.move(bounds["x"] + load["x"] + load["w"] * 70.5 / 90, bounds["y"] + load["y"] + 20)
    opened.settle()
    assert opened.text("#tooltip") == "time 70 live bytes 128 KiB (131,072 B)"


def test_search_finds_names_and_sizes(open_page):
    opened = open_page("packing.html")
    for query, found, kind in [("rest", [2, 3], "buffer"), ("128 kib", [4], "size")]:
        opened.page.fill("#search", query)
        opened.page.wait_for_selector("#results:not([hidden]) li")
        opened.page.wait_for_timeout(150)
        lit = opened.run("() => Array.from(lowtide.state.found.get(lowtide.state.shown))")
        assert [at for at, is_lit in enumerate(lit) if is_lit] == found
        assert kind in opened.text("#results")
    assert opened.run("() => lowtide.svg()").count("<title>") == 6  # five pieces and the picture


@pytest.mark.parametrize("width, height", [(1900, 1000), (760, 1000), (390, 844)])
@pytest.mark.parametrize("name", ["packing.html", "packing_20k.html", "packing_far.html"])
def test_page_fits_the_window(open_page, name, width, height):
    opened = open_page(name, "dark" if width == 390 else "light", width, height)
    opened.shoot(f"{name.removesuffix('.html')}_{width}")
    assert opened.run("() => document.documentElement.scrollWidth") <= width


def test_a_phone_shows_figures_and_picture_at_once(open_page):
    opened = open_page("packing.html", width=390, height=844, is_mobile=True, has_touch=True, device_scale_factor=2)
    opened.shoot("phone_packing")
    map_top = opened.run("() => lowtide.charts[0].layout.map.y + lowtide.charts[0].overlay.getBoundingClientRect().top")
    assert map_top < 844 * 0.55
    assert opened.run("() => document.documentElement.scrollWidth") == 390
    opened.page.tap("#open-help")
    words = opened.text("#help")
    assert "Height" in words and "Arena" not in words and "step" not in words


def test_drawing_20000_buffers_costs_pixels_not_buffers(open_page):
    opened = open_page("packing_20k.html")
    frames = opened.run(
        """async () => { const {view, charts: [chart]} = lowtide; const frames = [];
           view.zoom(0.02, 0.5, view.steps / 2, 0);
           for (let at = 0; at < 50; ++at) {
             view.pan((at % 20 < 10 ? 1 : -1) * (view.x1 - view.x0) * 0.01, 0); chart.request('scene');
             await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
             frames.push({...chart.frame});
           }
           return frames; }"""
    )
    assert max(frame["rectangles"] for frame in frames) <= 4000
    assert sum(frame["isKept"] for frame in frames) >= 45
    opened.page.click("#tabs >> text=All buffers")
    assert opened.page.locator("#table tbody tr").count() == 200
    assert "of 20,000" in opened.text("#table .more")
    opened.page.fill("#search", "kib")
    opened.page.wait_for_selector("#results:not([hidden]) li")
    assert opened.run("() => lowtide.svg().length") < 10_000_000


def test_an_axis_not_to_scale_has_one_unit_per_time(open_page):
    opened = open_page("packing_far.html")
    assert "Axis not to scale: one unit from each time to the next" in opened.text("#panel")
    assert "Peak 7 B nothing lost to fragmentation" in opened.text("#metrics")
    assert "In the peak, time 9,223,372,036,854,775,806" in opened.text("#tabs")
    opened.press("+", "+", "+", "ArrowLeft", "]", "[", "0", ".", "Enter", "Escape")


def test_the_page_says_that_a_packing_is_empty(open_page):
    opened = open_page("packing_empty.html")
    opened.shoot("packing_empty")
    assert "There are no buffers." in opened.text(".stage")
    assert "Check not verified" in opened.text("#metrics")
    opened.press("+", "ArrowLeft", "0", "p", ".", ",", "Enter", "]", "[", "c", "Escape")
    opened.page.click("#tabs >> text=All buffers")
    assert "No buffers." in opened.text("#table")


def test_hostile_names_are_only_text(open_page):
    opened = open_page("packing_hostile.html")
    for buffer in range(opened.run("() => lowtide.state.shown.bufferCount")):
        opened.run("(buffer) => lowtide.select(lowtide.state.shown, buffer, true)", buffer)
        opened.settle()
        assert opened.page.inner_text("#panel h2") != ""
    opened.page.click("#tabs >> text=All buffers")
    assert opened.run("() => document.body.dataset.owned") is None
    assert opened.page.locator("img, iframe, object").count() == 0
    assert opened.page.locator("script").count() == 2

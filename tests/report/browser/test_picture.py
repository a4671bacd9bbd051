# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What is drawn, and where."""

import pytest

KIB = 1024


def close(found, wanted, most=2):
    return all(abs(a - b) <= most for a, b in zip(found, wanted))


def shades(colour):
    """A class is drawn in three shades: the colour itself, a little lighter, a little darker."""
    return [
        colour,
        [round(part + (255 - part) * 0.06) for part in colour],
        [round(part * 0.92) for part in colour],
    ]


def is_shade(found, colour):
    return any(close(found, shade) for shade in shades(colour))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_rectangles_are_at_their_steps_and_addresses(open_page, theme):
    opened = open_page("small.html", theme, height=1200)
    opened.shoot(f"small_{theme}")
    opened.page.click("#toolbar >> text=Kind")
    opened.settle()
    layout = opened.run("() => lowtide.charts[0].layout.map")
    bounds = opened.run(
        "() => { const {left, top} = lowtide.charts[0].scene.getBoundingClientRect(); return {left, top}; }"
    )

    # Nine steps over the width; the arena of 576 KiB plus 6 % over the height.
    def at(step, kib):
        return (
            bounds["left"] + layout["x"] + layout["w"] * step / 9,
            bounds["top"] + layout["y"] + layout["h"] * (1 - kib / (576 * 1.06)),
        )

    temporary, output, ground = opened.css("kind-temporary"), opened.css("kind-output"), opened.css("map")
    # {a, b} has [0, 256) KiB in steps 0 to 3, {c, d, cat} [256, 512) in 2 to 5, {e, f} [0, 64) in 5 to 7.
    for step, kib in [(0.7, 40), (3.9, 250), (2.1, 262), (5.9, 500), (5.1, 5), (7.9, 60)]:
        assert is_shade(opened.pixel(*at(step, kib)), temporary), (step, kib)
    # Outputs stand on {e, f}: 4 KiB each from 64 KiB on, in steps 7 to 8 and 8.
    assert is_shade(opened.pixel(*at(7.5, 66)), output)
    assert is_shade(opened.pixel(*at(8.5, 70)), output)
    # Free: beside, above and between (half a step away from the lines of the grid).
    for step, kib in [(4.5, 100), (1.5, 300), (6.5, 300), (8.5, 20), (3.5, 560)]:
        assert close(opened.pixel(*at(step, kib)), ground), (step, kib)


def test_scratch_has_a_pattern_besides_its_colour(open_page):
    opened = open_page("small.html")
    opened.page.click("#toolbar >> text=Kind")
    opened.settle()
    box = opened.box(opened.buffer("scratch of Conv conv2"))
    middle = (box["y0"] + box["y1"]) / 2
    seen = {tuple(opened.pixel(x, middle + 12)) for x in range(int(box["x0"]) + 10, int(box["x1"]) - 10)}
    colour = opened.css("kind-scratch")
    assert any(is_shade(pixel, colour) for pixel in seen)
    assert any(not is_shade(pixel, colour) for pixel in seen)


def test_head_states_the_figures(open_page):
    opened = open_page("small.html")
    head = opened.text("#metrics")
    assert "Arena 576 KiB 589,824 B" in head
    assert "Peak 576 KiB nothing lost to fragmentation" in head
    assert "Bound 576 KiB proven lower bound" in head
    assert "Gap 0 % no order needs less" in head
    # 64 KiB of inputs and 36 of weights are outside of the arena.
    assert "Memory in all 676 KiB with inputs, weights" in head
    assert "Program 9 steps 6 buffers placed" in head
    # The names of strategies are details.
    assert "greedy" not in head and "best_fit" not in head


def test_head_says_whether_the_plan_was_verified(open_page):
    verified = open_page("small.html")
    assert "Check verified against the model" in verified.text("#metrics")
    verified.page.click("#panel summary")
    assert "Check verified against the model, step by step" in verified.text("#panel")
    alone = open_page("network.html")
    assert "Check not verified here run lowtide verify" in alone.text("#metrics")
    alone.page.click("#panel summary")
    assert "Check not verified here: run lowtide verify" in alone.text("#panel")


def test_counts_say_what_they_count(open_page):
    opened = open_page("small.html")
    # 9 steps; {a, b}, {c, d, cat}, {e, f}, scratch and two outputs have a place; the input and constants have none.
    placed = opened.run("() => Array.from(lowtide.state.shown.bufferRegion).filter((region) => region >= 0).length")
    assert f"Program 9 steps {placed} buffers placed" in opened.text("#metrics")
    title = opened.page.get_attribute(".metric:has-text('Program')", "title")
    assert "A step runs a node or copies bytes: 9 nodes, 9 steps, counted from 0." in title
    assert f"{placed} are placed in an arena, " in title


def test_very_large_gaps_are_factors(open_page):
    opened = open_page("small.html")
    # An arena of 589,824 bytes is 575 KiB above 1 KiB, and 589,820 above 4.
    for bound, text in ((1024, "575.0x"), (4, "147,455x")):
        opened.run(
            """(bound) => { const {state, update} = lowtide; state.shown.facts.bound = bound;
               update({inSight: [...state.inSight]}); }""",
            bound,
        )
        assert f"Gap {text} " in opened.text("#metrics")


def test_the_number_of_a_share_is_above_its_bar(open_page):
    opened = open_page("small.html")
    cell = opened.run(
        """() => { const {backgroundSize, backgroundPosition} =
             getComputedStyle(document.querySelector('#table td.share'));
           return {backgroundSize, backgroundPosition}; }"""
    )
    # A line of 2 pixels at the bottom of the cell.
    assert cell["backgroundSize"].endswith(" 2px")
    assert cell["backgroundPosition"].endswith("calc(100% - 1px)")


def test_gap_and_waste_are_counted(open_page):
    opened = open_page("regions.html")
    head = opened.text("#metrics")
    # Arenas of 48 + 192 = 240 KiB, load 224 KiB, bound 200 KiB: 16 KiB lost. The arenas need not be full at the same
    # step, so the gap is that of the load: 24 / 200.
    assert "Arena 240 KiB" in head
    assert "16 KiB lost to fragmentation" in head
    assert "Gap 12 % 24 KiB above" in head


def test_peak_table_lists_live_buffers_largest_first(open_page):
    opened = open_page("small.html")
    assert "In the peak, step 2" in opened.text("#tabs")
    heads = [cell.inner_text().strip(" ↓↑\n") for cell in opened.page.query_selector_all("#table th")]
    assert heads == ["Buffer", "Kind", "Size", "Share", "Producer", "Last reader", "Live", "Address"]
    rows = [
        [cell.inner_text() for cell in row.query_selector_all("td")]
        for row in opened.page.query_selector_all("#table tbody tr")
    ]
    # 256 of 576 KiB is 44 %, 64 is 11 %.
    assert rows == [
        ["b", "temporary", "256 KiB", "44 %", "Conv conv1", "Conv conv3", "[0,4)", "0"],
        ["cat", "temporary", "256 KiB", "44 %", "Conv conv2", "MaxPool pool", "[2,6)", "262,144"],
        ["scratch of Conv conv2", "scratch", "64 KiB", "11 %", "Conv conv2", "-", "[2,3)", "524,288"],
    ]


def test_table_sorts_by_any_column(open_page):
    opened = open_page("network.html")
    opened.page.click("#tabs >> text=All buffers")
    opened.page.click("#table th >> text=Live")
    first = [
        int(row.query_selector_all("td")[7].inner_text()[1:].split(",")[0])
        for row in opened.page.query_selector_all("#table tbody tr")
    ]
    assert first == sorted(first, reverse=True) and len(set(first)) > 10
    opened.page.click("#table th >> text=Live")
    first = [
        int(row.query_selector_all("td")[7].inner_text()[1:].split(",")[0])
        for row in opened.page.query_selector_all("#table tbody tr")
    ]
    assert first == sorted(first)
    assert opened.page.get_attribute("#table th:nth-child(8)", "aria-sort") == "ascending"


def test_inputs_and_constants_are_listed_not_drawn(open_page):
    opened = open_page("small.html")
    opened.page.click("#tabs >> text=Not in an arena (2)")
    names = [row.query_selector("td").inner_text() for row in opened.page.query_selector_all("#table tbody tr")]
    assert names == ["x", "conv1.weight"]
    opened.page.click("#table tbody tr >> nth=0")
    assert "Its bytes belong to the caller" in opened.text("#panel")
    assert sorted(opened.run("() => Array.from(lowtide.charts[0].facts.placed)")) == [2, 3, 4, 5, 6, 7]


def test_tooltip_tells_what_is_under_the_pointer(open_page):
    opened = open_page("small.html")
    opened.page.mouse.move(*opened.centre(opened.buffer("cat")))
    opened.settle()
    tip = opened.text("#tooltip")
    assert tip == "cat and 2 more values temporary from Concat, 256 KiB (262,144 B) steps [2,6), address 262,144"
    layout = opened.run("() => lowtide.charts[0].layout.load")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.move(
        bounds["x"] + layout["x"] + layout["w"] * 5.5 / 9, bounds["y"] + layout["y"] + layout["h"] / 2
    )
    opened.settle()
    # Step 5: cat with 256 KiB and e with 64.
    assert opened.text("#tooltip") == "step 5 MaxPool pool live bytes 320 KiB (327,680 B)"


def test_click_on_the_load_curve_shows_that_step(open_page):
    opened = open_page("small.html")
    layout = opened.run("() => lowtide.charts[0].layout.load")
    bounds = opened.page.query_selector(".overlay").bounding_box()
    opened.page.mouse.click(bounds["x"] + layout["x"] + layout["w"] * 8.5 / 9, bounds["y"] + layout["y"] + 20)
    opened.settle()
    assert "At step 8" in opened.text("#tabs")
    assert opened.page.locator("#table tbody tr").count() == 2
    opened.page.click("#toolbar >> text=To peak")
    assert "In the peak, step 2" in opened.text("#tabs")


def test_colour_by_operator_and_legend_single_out(open_page):
    opened = open_page("network.html")
    opened.page.click("#toolbar >> text=Operator")
    opened.settle()
    opened.shoot("network_operators")
    legend = opened.text(".legend")
    assert legend.split() == ["Relu", "Concat", "Resize", "MaxPool", "Conv", "Softmax", "ArgMax"]
    middle = opened.centre(opened.buffer("/encoder/level0/conv2/relu_output_0"))
    place = (middle[0], middle[1] + 30)
    full = opened.pixel(*place)
    assert is_shade(full, opened.css("hue-0"))
    opened.page.click(".legend >> text=Concat")
    opened.settle()
    faded = opened.pixel(*place)
    ground = opened.css("map")
    assert sum(abs(a - b) for a, b in zip(faded, ground)) < 0.4 * sum(abs(a - b) for a, b in zip(full, ground))


def test_each_region_has_its_own_picture(open_page):
    opened = open_page("regions.html")
    assert opened.run("() => Array.from(lowtide.charts[0].facts.placed)") == [0, 2]
    opened.page.click("#toolbar >> text=dram")
    opened.settle()
    opened.shoot("regions_dram")
    assert opened.run("() => Array.from(lowtide.charts[0].facts.placed)") == [1]
    assert opened.run("() => lowtide.view.top") == 192 * KIB


@pytest.mark.parametrize(
    "name, words",
    [("empty.html", "This plan has no steps."), ("unplaced.html", "This plan has no buffer in this region.")],
)
def test_the_page_says_that_a_plan_is_empty(open_page, name, words):
    opened = open_page(name)
    opened.shoot(name.removesuffix(".html"))
    assert words in opened.text(".stage")
    opened.press("+", "ArrowLeft", "0", "p", ".", ",", "Enter", "]", "[", "c", "Escape")
    opened.page.click("#tabs >> text=All buffers")
    assert "No buffers." in opened.text("#table")


@pytest.mark.parametrize("width, height", [(1900, 1000), (1100, 760), (760, 1000), (390, 844)])
def test_page_fits_the_window(open_page, width, height):
    opened = open_page("network.html", "dark" if width == 390 else "light", width, height)
    opened.shoot(f"network_{width}")
    assert opened.run("() => document.documentElement.scrollWidth") <= width
    map_area = opened.run("() => lowtide.charts[0].layout.map")
    assert map_area["w"] >= 0.5 * min(width, 500) and map_area["h"] >= 120


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["small.html", "network.html", "bodies.html", "network_compare.html"])
def test_a_phone_shows_figures_and_picture_at_once(open_page, name, theme):
    opened = open_page(name, theme=theme, width=390, height=844, is_mobile=True, has_touch=True, device_scale_factor=2)
    opened.shoot(f"phone_{name.removesuffix('.html')}_{theme}")
    places = opened.run(
        """() => { const box = (element) => { const {left, right, top, bottom} = element.getBoundingClientRect();
             return {left, right, top, bottom}; };
           const shown = (selector) =>
             [...document.querySelectorAll(selector)].filter((each) => each.offsetParent !== null);
           return {
             metrics: shown('.metric').map(box), actions: shown('.actions > *').map(box),
             map: lowtide.charts[0].layout.map.y + box(lowtide.charts[0].overlay).top,
               wide: document.documentElement.scrollWidth,
             keys: shown('kbd, .for-keys').length, panel: box(document.getElementById('panel')) }; }"""
    )
    assert places["wide"] == 390
    # The figures in rows of three, all rows alike.
    lefts = sorted({round(box["left"]) for box in places["metrics"]})
    assert len(lefts) == 3 and len(places["metrics"]) == 6
    # Search, pictures, theme and help on one line.
    assert len({round((box["top"] + box["bottom"]) / 2 / 4) for box in places["actions"]}) == 1
    assert places["map"] < 844 * (0.8 if "compare" in name else 0.55)
    assert places["keys"] == 0
    # The help does not mention keys either.
    opened.page.tap("#open-help")
    words = opened.text("#help")
    assert "Double tap" in words and "Shift" not in words and "Keys" not in words


def test_prints_on_white(open_page):
    opened = open_page("network.html", "dark")
    opened.run("() => window.dispatchEvent(new Event('beforeprint'))")
    assert opened.run("() => document.documentElement.dataset.theme") == "light"
    assert close(opened.pixel(opened.page.query_selector(".overlay").bounding_box()["x"] + 3, 200), opened.css("panel"))
    opened.run("() => window.dispatchEvent(new Event('afterprint'))")
    assert opened.run("() => document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("width", [1400, 900, 390])
def test_names_in_the_map_are_apart_and_known_to_labels(open_page, width):
    opened = open_page("network.html", width=width)
    names, texts = opened.run(
        """() => { const proto = CanvasRenderingContext2D.prototype; const {fillText} = proto;
             const [chart] = lowtide.charts; const texts = [];
             proto.fillText = function (text, x, y, ...more) {
               if (/ [KM]iB$/.test(text) && this.textAlign === 'left' && chart.named.length < known)
                 texts.push([x, x + this.measureText(text).width, y - 5, y + 5]);
               return fillText.call(this, text, x, y, ...more); };
             const known = chart.named.length; chart.draw(); proto.fillText = fillText;
             return [chart.named.map(({x0, x1, y0, y1}) => [x0, x1, y0, y1]), texts]; }"""
    )
    assert len(texts) > 0
    for left, right, top, bottom in texts:
        assert any(x0 <= left and right <= x1 and y0 <= top and bottom <= y1 for x0, x1, y0, y1 in names)
    for at, one in enumerate(texts):
        for other in texts[:at]:
            assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_labels_of_the_peak_cover_no_names(open_page, width, height):
    """Names come to be where labels are, until none is left. Labels go to other places, and are absent in the end."""
    opened = open_page("network.html", width=width, height=height)
    rounds = opened.run(
        """() => { const [chart] = lowtide.charts; const rounds = [];
             for (let round = 0; round < 200; ++round) {
               const labels = [...lowtide.svg().matchAll(/<rect [^>]*height="16"[^>]*>/g)].map(([label]) => {
                 const [x0, y0, w] = ['x', 'y', 'width'].map((name) => Number(label.match(` ${name}="([^"]*)"`)[1]));
                 return {x0, x1: x0 + w, y0, y1: y0 + 16}; });
               rounds.push([labels, [...chart.named]]);
               if (labels.length === 0) break;
               chart.named.push(...labels);
             }
             return rounds; }"""
    )
    assert len(rounds[0][0]) > 0 and rounds[-1][0] == []
    for labels, names in rounds:
        for label in labels:
            for name in names:  # coordinates of the picture are rounded
                assert (label["x1"] <= name["x0"] + 0.1 or name["x1"] <= label["x0"] + 0.1
                        or label["y1"] <= name["y0"] + 0.1 or name["y1"] <= label["y0"] + 0.1)
